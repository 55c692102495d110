# SPDX-License-Identifier: Apache-2.0
"""Legion remembers its analysis of launches that come again, and answers stay."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from process import run_alone

PROGRAM = """
import json
import numpy
import cupynumeric
from legate_diffuse import stats

def solve(np):
    # what is made anew each time takes the places of arrays that are gone
    x, r = np.zeros(ROWS), np.arange(ROWS) % 7 * 1.0
    p, rr = r.copy(), np.sum(r * r)
    for _ in range(12):
        q = 2.0 * p
        q[1:] -= p[:-1]
        q[:-1] -= p[1:]
        alpha = rr / np.sum(p * q)
        x += alpha * p
        r -= alpha * q
        last, rr = rr, np.sum(r * r)
        if float(rr) < 1e-30:
            break
        p = r + rr / last * p
    return x, r, p

def exchange(np):
    # arrays that change places, by turns of two and three
    a, b, c = (np.arange(ROWS) * each for each in (1.0, 2.0, 3.0))
    found = []
    for turn in range(14):
        d = a + 0.5 * b[::1]
        d[1:] += c[:-1]
        a, b, c = (b, c, d) if turn % 3 else (d, a, c)
        found.append(float(d[5]))
    return a, b, c, np.array(found)

def mixed(np):
    # other tasks between, parts that the program writes, and two sums or one
    a, found = np.arange(ROWS) % 11 * 1.0, []
    for turn in range(14):
        b = np.sort(a + 1.0)
        a = 0.5 * b + a
        a[turn] = -1.0
        a[2:-2] = a[:-4] * 0.5 + a[4:]
        found.append(float(a.sum()) + (float((a * b).sum()) if turn % 2 else 0.0))
    return a, np.array(found)

def shrinking(np):
    # extents of which none comes twice, and then all again
    a, found = np.arange(ROWS) * 1.0, []
    for turn in (*range(6), *range(6)):
        part = a[turn : ROWS - turn]
        part *= 0.5
        part += part[::1] * 2.0
        found.append(float(part.max()))
    return a, np.array(found)

def shown(np):
    # what NumPy has seen stays mapped, and is not for traces
    a, found = np.arange(ROWS) % 13 * 1.0, []
    for turn in range(24):
        a[1:-1] = 0.5 * (a[:-2] + a[2:])
        b = a * 2.0
        float(b.sum())
        if turn in (12, 13, 19):
            found += [numpy.asarray(b).copy(), numpy.asarray(a).copy()]
    return a, *found

def freed(np):
    # arrays of many sizes that are gone at once
    found = []
    for turn in range(15):
        a = np.arange(ROWS + turn % 3) * 0.5
        b = a * a + 1.0
        c = b[1:] - b[:-1]
        found.append(float(c.sum()))
    return (np.array(found),)

traced = []
wrong = []
results = []
for program in (solve, exchange, mixed, shrinking, shown, freed):
    before = stats()["launches_traced"]
    expected, found = (
        [numpy.asarray(each) for each in program(np)] for np in (numpy, cupynumeric)
    )
    traced.append(stats()["launches_traced"] - before)
    for one, other in zip(expected, found):
        if not numpy.allclose(one, other, rtol=1e-10, atol=1e-10):
            wrong.append(program.__name__)
    results += [each.tobytes().hex() for each in found]
print(json.dumps([wrong, traced, stats()["groups"], results]))
"""


def run(repeats: str, cpus: int, rows: int, **environment: str) -> Any:
    done = run_alone(
        PROGRAM.replace("ROWS", str(rows)),
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 500",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_THREADS="1",
        LEGATE_DIFFUSE_TRACES=repeats,
        LEGATE_DIFFUSE_SMALL_BYTES="0",
        LEGATE_TEST="1",
        **environment,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("cpus", [2, 3])
def test_launches_that_come_again_are_traced(cpus: int) -> None:
    wrong, traced, groups, results = run("1", cpus, 301)
    assert not wrong
    assert groups > 0
    assert all(traced), traced
    none_wrong, none_traced, _, right = run("0", cpus, 301)
    assert not none_wrong
    assert not any(none_traced)
    assert results == right


def test_usual_number_of_repeats() -> None:
    wrong, traced, _, _ = run("", 2, 301)
    assert not wrong
    assert traced[0] > 0


OWN = """
import ctypes
import json
import cupynumeric as np
import legate.core
from legate_diffuse import stats

net = ctypes.CDLL(None)
(library,) = {
    line.split()[-1] for line in open("/proc/self/maps") if "liblegate.so" in line
}
get_runtime = ctypes.CDLL(library)._ZN6legate7Runtime11get_runtimeEv
get_runtime.restype = ctypes.c_void_p
runtime = ctypes.c_void_p(get_runtime())

def sweep(x):
    x[1:-1] = 0.5 * (x[:-2] + x[2:])
    x[1:-1] = x[2:] - x[:-2]

x, traced = np.arange(300.0), []
for turn in range(12):
    before = stats()["launches_traced"]
    if turn >= 6:
        net._ZN6legate7Runtime11begin_traceEj(runtime, 7)
    sweep(x)
    if turn >= 6:
        net._ZN6legate7Runtime9end_traceEj(runtime, 7)
    else:
        legate.core.get_legate_runtime().issue_mapping_fence()
    traced.append(stats()["launches_traced"] - before)
print(json.dumps([traced, float(x.sum())]))
"""


def test_programs_have_traces_of_their_own() -> None:
    done = run_alone(
        OWN,
        LEGATE_CONFIG="--cpus 2 --gpus 0 --sysmem 500",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_THREADS="1",
        LEGATE_DIFFUSE_TRACES="2",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
        LEGATE_TEST="1",
    )
    assert done.returncode == 0, done.stderr[-4000:]
    traced, total = json.loads(done.stdout.splitlines()[-1])
    assert any(traced[:6])
    assert not any(traced[6:])
    right = np.arange(300.0)
    for _ in range(12):
        right[1:-1] = 0.5 * (right[:-2] + right[2:])
        right[1:-1] = right[2:] - right[:-2]
    np.testing.assert_allclose(total, right.sum())
