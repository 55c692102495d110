# SPDX-License-Identifier: Apache-2.0
"""What happens on one rank alone changes no decision of any rank.

Two processes stand in for two ranks: each has a Legate of its own, and decides as one
of several ranks does; they agree over a socket.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

import pytest
from perturbed_ranks import (
    AGREED,
    BEGIN,
    NOTHING,
    OTHER_SEED,
    STEPS,
    UNNOTICED,
    Perturbation,
    decisions_in,
    numpy_output,
    text_of,
)
from process import LEGATE_OPTIONS, prepare, run_forked
from tiers import some

# Comes before the program.
SEVERAL = """
import socket
import sys
from legate_diffuse.launch import ranks
ranks.are_several = lambda runtime: True

class Match:
    def __init__(self, numbers):
        self.numbers = numbers
        print(*numbers, file=outgoing, flush=True)
    def wait(self):
        return set(map(int, incoming.readline().split())) & set(self.numbers)

if len(sys.argv) > 1:
    connection = socket.socket(fileno=int(sys.argv[1]))
    incoming, outgoing = connection.makefile("r"), connection.makefile("w")
    ranks.Match = Match
"""


def run_rank(
    text: str,
    folder: Path,
    connection: socket.socket | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    """Run a program on a rank.

    The other rank is at the end of the connection, if any. The folder is for kernels,
    all of which are compiled if it is new.
    """
    own = {
        "LEGATE_CONFIG": f"{' '.join(LEGATE_OPTIONS)} --cpus 2",
        "LEGATE_TEST": "1",
        "LEGATE_DIFFUSE_DUMP": "decisions",
        "LEGATE_DIFFUSE_THREADS": "1",
        "LEGATE_DIFFUSE_SYNC_COMPILE": "0",
        # as programs prove, which decides on plans, too
        "LEGATE_DIFFUSE_PROOF": "1",
        "LEGATE_DIFFUSE_CACHE_DIR": str(folder),
    }
    files = [] if connection is None else [connection.fileno()]
    done = run_forked(
        "-c",
        SEVERAL + text,
        *map(str, files),
        pass_fds=files,
        **{**own, **environment},
    )
    if connection is not None:
        # the other rank waits no longer
        connection.shutdown(socket.SHUT_RDWR)
    return done


def run_two(
    *texts: str, folders: Sequence[Path]
) -> list[subprocess.CompletedProcess[str]]:
    """Run the programs of two ranks, which have other orders of sets."""
    connections = socket.socketpair()
    seeds: tuple[dict[str, str], ...] = ({}, OTHER_SEED)
    for environment in seeds:
        prepare(**environment)
    with connections[0], connections[1], ThreadPoolExecutor() as pool:
        running = [
            pool.submit(run_rank, *rank)
            for rank in zip(texts, folders, connections, seeds, strict=True)
        ]
        return [each.result() for each in running]


def decisions_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the decisions of a rank that has run the program."""
    assert (done.returncode, done.stdout) == (0, numpy_output()), done.stderr
    found: list[str] = decisions_in(done.stderr)
    assert len(found) > STEPS // 40
    return found


def decisions_alone(perturbation: Perturbation, folder: Path) -> list[str]:
    """Run the program on a rank alone, and return its decisions."""
    environment = perturbation.environment
    return decisions_of(run_rank(text_of(perturbation), folder, None, environment))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the kernels of the unperturbed program."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def unperturbed(kernels: Path) -> list[str]:
    """Return the decisions of a rank alone."""
    return decisions_alone(NOTHING, kernels)


@pytest.mark.parametrize("name", UNNOTICED)
def test_a_rank_decides_as_ever(
    name: str, unperturbed: list[str], kernels: Path, tmp_path: Path
) -> None:
    folder = tmp_path if name == "cold cache" else kernels
    assert decisions_alone(UNNOTICED[name], folder) == unperturbed


@pytest.mark.parametrize("name", some(AGREED, 10))
def test_ranks_decide_alike(
    name: str, unperturbed: list[str], kernels: Path, tmp_path: Path
) -> None:
    texts = text_of(NOTHING), text_of(AGREED[name])
    # what one rank has compiled, the other must not find
    first, second = map(decisions_of, run_two(*texts, folders=(kernels, tmp_path)))
    assert first == second
    assert decisions_alone(AGREED[name], tmp_path) != unperturbed


STEADY = f"""{BEGIN}
def awaited():
    return legate_diffuse.stats()["matches_awaited"]

x = cn.arange(64.0)
for step in range(60):
    y = x * 2.0 + 1.0
    x = (y - x) * 0.25 + cn.array(np.full(64, 0.5))
    change = (x * x).sum()
    if step % 3 == 2:
        float(change)
    if step == 29:
        before = awaited()
print(before > 0, awaited() - before, legate_diffuse.stats()["matches"] > 20)
"""


def test_windows_seen_before_are_awaited_by_nobody(tmp_path: Path) -> None:
    for done in run_two(STEADY, STEADY, folders=(tmp_path, tmp_path)):
        assert done.stdout == "True 0 True\n", done.stderr


def test_one_rank_agrees_on_nothing(tmp_path: Path) -> None:
    alone = "del ranks.Match; ranks.are_several = lambda runtime: False\n"
    counted = "print(legate_diffuse.stats()['matches'])\n"
    text = alone + text_of(NOTHING) + counted
    done = run_rank(text, tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{numpy_output()}0\n"), done.stderr


# The last sum is read on one rank, and the other has let go of it.
FORSAKEN = f"""{BEGIN}
x = cn.arange(64.0)
kept = []
for step in range(20):
    y = x * 2.0 + 1.0
    change = y.sum()
    x = y * 0.5
    if step == 18 and KEEPS:
        kept = [change]
    if step % 2:
        print(float(x[0]))
change = None
for one in kept:
    print(float(one))
"""


def test_what_another_rank_let_go_of_is_not_read(tmp_path: Path) -> None:
    texts = [FORSAKEN.replace("KEEPS", keeps) for keeps in ("False", "True")]
    first, second = run_two(*texts, folders=(tmp_path, tmp_path))
    assert first.returncode == 0, first.stderr
    assert "and so it was not computed: let all ranks keep it" in second.stderr
    assert second.stdout == first.stdout
