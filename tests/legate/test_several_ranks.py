# SPDX-License-Identifier: Apache-2.0
"""What happens on one rank alone changes no decision of any rank.

Two processes stand in for two ranks: each has a Legate of its own, and decides as one
of several ranks does; they agree over a socket.
"""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from perturbed_ranks import (
    AGREED,
    NOTHING,
    STEPS,
    UNNOTICED,
    Perturbation,
    decisions_in,
    numpy_output,
    text_of,
)
from process import LEGATE_OPTIONS, run_python

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


def decisions_of(
    perturbation: Perturbation, folder: Path, connection: socket.socket | None = None
) -> list[str]:
    """Run the program on a rank, and return its decisions.

    The other rank is at the end of the connection, if any. The folder is for kernels,
    all of which are compiled if it is new.
    """
    environment = {
        "LEGATE_CONFIG": f"{' '.join(LEGATE_OPTIONS)} --cpus 2",
        "LEGATE_TEST": "1",
        "LEGATE_DIFFUSE_DUMP": "decisions",
        "LEGATE_DIFFUSE_THREADS": "1",
        "LEGATE_DIFFUSE_SYNC_COMPILE": "0",
        "LEGATE_DIFFUSE_CACHE_DIR": str(folder),
    }
    files = [] if connection is None else [connection.fileno()]
    done = run_python(
        SEVERAL + text_of(perturbation),
        *map(str, files),
        pass_fds=files,
        **environment | perturbation.environment,
    )
    if connection is not None:
        # the other rank waits no longer
        connection.shutdown(socket.SHUT_RDWR)
    assert (done.returncode, done.stdout) == (0, numpy_output()), done.stderr
    found = decisions_in(done.stderr)
    assert len(found) > STEPS // 40
    return found


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the kernels of the unperturbed program."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def unperturbed(kernels: Path) -> list[str]:
    """Return the decisions of a rank alone."""
    return decisions_of(NOTHING, kernels)


@pytest.mark.parametrize("name", UNNOTICED)
def test_a_rank_decides_as_ever(
    name: str, unperturbed: list[str], kernels: Path, tmp_path: Path
) -> None:
    folder = tmp_path if name == "cold cache" else kernels
    assert decisions_of(UNNOTICED[name], folder) == unperturbed


@pytest.mark.parametrize("name", AGREED)
def test_ranks_decide_alike(
    name: str, unperturbed: list[str], kernels: Path, tmp_path: Path
) -> None:
    # what one rank has compiled, the other must not find
    ranks = (NOTHING, kernels), (AGREED[name], tmp_path)
    connections = socket.socketpair()
    with connections[0], connections[1], ThreadPoolExecutor() as pool:
        running = [
            pool.submit(decisions_of, *rank, connection)
            for rank, connection in zip(ranks, connections, strict=True)
        ]
        first, second = [each.result() for each in running]
    assert first == second
    assert decisions_of(AGREED[name], tmp_path) != unperturbed
