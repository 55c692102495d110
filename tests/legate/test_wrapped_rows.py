# SPDX-License-Identifier: Apache-2.0
"""Rows wrap around, and loops take turns on them all the same.

Each test runs in a process of its own, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from program_reader import parse_program
from test_small_arrays import run_here
from tiers import examples, some

from legate_diffuse.fusion.wrapping import passes_over_memory

sys.path.append(str(Path(__file__).parents[1] / "fusion"))

import recorded_windows

# Sweeps over arrays with ghost rows and columns. Rows of small ones are near both ends.
PROGRAM = """
import random
from legate_diffuse.fusion import wrapping

again = 0
find = wrapping._Writer.run
def count(self, reads):
    global again
    again += len(reads)
    return find(self, reads)
wrapping._Writer.run = count

def wrap(q, rng):
    pairs = [(slice(0, 2), slice(-4, -2)), (slice(-2, None), slice(2, 4))]
    for to, of in rng.sample(pairs, rng.choice((1, 2, 2, 2))):
        q[to] = -q[of] if rng.random() < 0.2 else q[of]
    if rng.random() < 0.5:
        for to, of in pairs:
            q[:, to] = q[:, of]

def sweeps(n, rows, columns, seed):
    rng = random.Random(seed)
    q, r, s = ((n.arange(float(rows * columns)) * k % 7.0).reshape((rows, columns))
               for k in (3, 5, 2))
    for _ in range(2):
        rate = 0.5 * (q[:-4, 2:-2] - q[4:, 2:-2]) + q[2:-2, 2:-2] * q[2:-2, 1:-3]
        p = q.copy() if rng.random() < 0.7 else n.zeros(q.shape)
        if rng.random() < 0.5:
            p[2:-2, 2:-2] += 0.25 * rate
        else:
            p[2:-2] = q[1:-3] + 0.125 * s[3:-1]
        wrap(p, rng)
        r[2:-2, 2:-2] = p[:-4, 2:-2] - p[4:, 2:-2]
        if rng.random() < 0.4:
            wrap(r, rng)
        q[2:-2] = 0.5 * (q[2:-2] + p[2:-2] + 0.25 * r[2:-2])
        if rng.random() < 0.7:
            wrap(q, rng)
        if rng.random() < 0.3:
            s[1:-1] = p[:-2] * 0.5 + r[2:]
    return [q, r, s]

"""


# each cache and each number of processors is in the first tier
MACHINES = [(cache, cpus) for cache in (0, 2048, 1_000_000) for cpus in (1, 2, 3)]


@pytest.mark.parametrize(("cache_bytes", "cpus"), some(MACHINES, 4))
def test_values(cache_bytes: int, cpus: int) -> None:
    run_here(
        PROGRAM
        + f"""
SEEDS, LEAST = {examples(3, 8)}, {examples(8, 20)}
"""
        + """
for rows, columns in ((5, 6), (6, 5), (7, 9), (8, 5), (9, 40), (12, 7), (300, 9),
                      (40, 700)):
    for seed in range(SEEDS):
        agree(lambda n: sweeps(n, rows, columns, seed))
wrapping._Writer.run = find
assert again > LEAST, again
assert counts(lambda: sweeps(cn, 300, 9, 0))["groups"] > 0
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
        LEGATE_DIFFUSE_CACHE_BYTES=str(cache_bytes),
    )


def test_shallow_water_keeps_few_arrays_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = {"shallow_water": ("--size 20", 2)}
    monkeypatch.setattr(recorded_windows, "RECORDED", step)
    printed = recorded_windows.sections(recorded_windows.record("shallow_water"))
    recorded = dict(printed)
    assert recorded["window"].count(" -> ") == 491
    assert passes_over_memory(parse_program(recorded["schedule"])) == 33
