# SPDX-License-Identifier: Apache-2.0
"""Which processes have Realm's locks replaced by yielding ones, and nothing else."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from process import run_alone, run_python
from tiers import some

NET, LOCKS = "liblegate_diffuse_net", "liblegate_diffuse_locks"
SLOW_LOCKS = {
    f"_ZN5Realm15FastReservation11{kind}lock_slowENS0_8WaitModeE"
    for kind in ("rd", "wr")
}
# of UCX, which wheels with networking use (tests/ranks)
POLL = "ucp_worker_progress"
SUBMIT = "_ZN6legate7Runtime6submitEONS_8AutoTaskE"

# Point tasks on two CPUs, reductions, and results that are read in each iteration.
PROGRAM = """
import numpy as np
import legate_diffuse

def run(np):
    x = np.arange(1000.0)
    sums = []
    for i in range(20):
        x = x * 0.5 + 1.0
        x[1:] += x[:-1]
        sums.append(float(np.max(x)))
    return sums, np.asarray(x)

import cupynumeric
(sums, x), (expected_sums, expected_x) = run(cupynumeric), run(np)
assert sums == expected_sums
assert np.array_equal(x, expected_x)
print("fused" if legate_diffuse.stats()["groups"] else "unfused")
"""
CASES = [
    # fusion, the switch, whether locks yield; every other one in the first tier
    ("1", None, True),
    ("1", "1", True),
    ("1", "0", False),
    ("0", "0", False),
    ("0", "1", True),
    ("0", None, False),
]


@pytest.mark.parametrize(("fusion", "switch", "yields"), some(CASES, 2))
def test_locks_are_ours_where_they_are_asked_for(
    fusion: str, switch: str | None, yields: bool, tmp_path: Path
) -> None:
    chosen = {} if switch is None else {"LEGATE_DIFFUSE_YIELD": switch}
    done = run_python(
        PROGRAM,
        LEGATE_CONFIG="--cpus 2 --gpus 0 --sysmem 500",
        LEGATE_TEST="1",
        LEGATE_DIFFUSE=fusion,
        # the dynamic linker writes down where it finds each symbol, when it loads
        LD_BIND_NOW="1",
        LD_DEBUG="bindings",
        LD_DEBUG_OUTPUT=str(tmp_path / "bindings"),
        **chosen,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("fused\n" if fusion == "1" else "unfused\n")
    bound = bindings(tmp_path)
    for symbol in SLOW_LOCKS:
        locks = LOCKS if yields else "librealm-legate"
        assert bound["liblegion-legate", symbol] == locks
    assert bound["runtime", SUBMIT] == (NET if fusion == "1" else "liblegate")
    # they replace nothing else
    replaced = {symbol for (_, symbol), library in bound.items() if library == LOCKS}
    assert replaced <= (SLOW_LOCKS | {POLL} if yields else set())


def bindings(folder: Path) -> dict[tuple[str, str], str]:
    """Return the library where another one's symbol was found, without suffixes."""
    line = re.compile(r"binding file (\S+) \[0\] to (\S+) \[0\]: normal symbol `(\w+)'")
    found = {}
    for path in folder.iterdir():
        for user, library, symbol in line.findall(path.read_text(errors="replace")):
            found[stem(user), symbol] = stem(library)
        # 20 MB
        path.unlink()
    return found


@functools.cache
def stem(path: str) -> str:
    return Path(path).name.split(".")[0]


def test_locks_of_an_untested_legate_stay_as_they_are() -> None:
    done = run_alone(
        "import legate.core",
        LEGATE_DIFFUSE="0",
        LEGATE_DIFFUSE_YIELD="1",
        LEGATE_USE_VERSION="26.8.0",
    )
    assert done.returncode == 0
    assert done.stderr == (
        "legate_diffuse: Legate 26.8.0 was not tested with it, so "
        "LEGATE_DIFFUSE_YIELD has no effect; install legate>=26.1,<26.7\n"
    )
