# SPDX-License-Identifier: Apache-2.0
"""Windows that come again run while the program goes on, and who uses arrays waits.

Without the thread nothing runs before somebody waits, so whoever does not wait would
see what was there before.
"""

from __future__ import annotations

import pytest
from test_small_arrays import HALVED, run_begun, run_here

APART = """
import os
import pickle
from legate_diffuse import _native
_native.set_least_apart(0)
SIZE = 60000

def steps(n, x, y, count=150):
    # some windows are full meanwhile
    for k in range(count):
        old = x.copy()
        x[1:-1] = 0.25 * (old[:-2] + old[2:]) + 0.125 * y[1:-1]
        x[0] = k
        y = 0.25 * x + 0.5 * y
    return y

def begun(n):
    x, y = n.ones(SIZE), n.zeros(SIZE)
    x[:] = 2.0
    return x, steps(n, x, y)
"""

# What happens to arrays that are in use then.
NEXT = {
    "element": "found = [float(x[5]), float(y[-1])]",
    "elements": "found = [float(x[k]) for k in range(0, SIZE, 7000)]",
    "sum": "found = [float(x.max()), float(y.min())]",
    "written": "x[5] = 7.0; x[8:11] = 3.0; y[:] = 2.0; found = [x * 1.0, y * 1.0]",
    "filled": "x.fill(3.0); y *= 0.0; found = [x, y]",
    "copied": "z = x.copy(); x[3] = -1.0; found = [z, x]",
    "part": "z = x[100:200] * 2.0; w = y[:5] + 1.0; found = [z, w]",
    "flipped": "z = n.flip(x.copy()); x[0] = 9.0; found = [z, x]",
    "shaped": "z = x.reshape(-1, 100); found = [z[3] + 1.0, z.T[7] - 1.0]",
    "sorted": "found = [n.sort(x), n.argmax(y)]",
    "product": "found = [n.round(n.dot(x[:50], y[:50]), 6)]",
    "shown": "z = np.asarray(x); found = [z.copy()]; x[2] = 4.0; found += [z.copy()]",
    "bytes": "found = [pickle.loads(pickle.dumps(np.asarray(x)))]",
    "gone": "z = y + 1.0; del x, y; w = n.ones(SIZE); found = [z, w, w + z]",
    "swapped": "x, y = y, x; z = steps(n, x, y); found = [x, y, z]",
    "again": "y = steps(n, x, y, 40); found = [x, y]; y = steps(n, x, y); found += [y]",
    "task": "z = halved(n, x); found = [z, halved(n, y + z)]",
    "mask": "x[y > 1.0] = 0.0; found = [x, n.count_nonzero(x) > 2]",
    "random places": "p = n.arange(0, SIZE, 11); found = [x[p], y[p + 1]]",
    "joined": "found = [n.concatenate((x[:10], y[-10:]))]",
    "converted": "found = [x.astype('float32'), (y > 0.5).astype('int8')]",
}


def run_beside(steps: str, known: str = "") -> None:
    """Compare steps after windows that run apart with NumPy, with and without a thread.

    They put what is compared into ``found``, and may use what is ``known``.
    """
    run_here(
        known
        + HALVED
        + APART
        + f"""
def program(n):
    x, y = begun(n)
    {steps}
    return found
# plans are made, windows are noted
for _ in range(3):
    program(cn)
for thread in (False, True):
    _native.use_background_thread(thread)
    before = _native.num_run_apart()
    agree(program)
    assert _native.num_run_apart() > before
_native.set_least_apart(2**17)
"""
    )


@pytest.mark.parametrize("what", NEXT)
def test_who_uses_arrays_waits(what: str) -> None:
    run_beside(NEXT[what])


def test_memory_that_is_seen_is_not_left_behind() -> None:
    run_here(
        APART
        + """
_native.use_background_thread(False)
def program(n):
    x, y = n.ones(SIZE), n.zeros(SIZE)
    x[:] = 2.0
    seen = np.asarray(x)
    found = []
    for _ in range(3):
        y = steps(n, x, y, 100)
        found.append(seen.copy())
    return found
for _ in range(3):
    program(cn)
agree(program)
_native.use_background_thread(True)
_native.set_least_apart(2**17)
"""
    )


def test_a_process_that_is_forked_waits() -> None:
    run_here(
        APART
        + """
for _ in range(3):
    begun(cn)
x, y = begun(cn)
child = os.fork()
if not child:
    z = steps(cn, x, y, 100)
    os._exit(0 if 0.0 < float(x[5]) < 1e9 else 1)
_, status = os.waitpid(child, 0)
assert status == 0
assert np.array_equal(np.asarray(x), begun(np)[0])
_native.set_least_apart(2**17)
"""
    )


@pytest.mark.parametrize("last", ["", "raise SystemExit(0)", "del x, y", "_ = x + y"])
def test_a_program_may_end_meanwhile(last: str) -> None:
    done = run_begun(f"""{APART}
for _ in range(4):
    x, y = begun(cn)
assert _native.num_run_apart() > 0
{last}
""")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("cpus", [1, 2])
def test_only_with_a_core_to_spare(cpus: int) -> None:
    run_here(
        APART
        + f"""
cores = len(os.sched_getaffinity(0))
for _ in range(5):
    begun(cn)
assert (_native.num_run_apart() > 0) == (cores > {cpus})
_native.set_least_apart(2**60)
before = _native.num_run_apart()
begun(cn)
assert _native.num_run_apart() == before
_native.set_least_apart(2**17)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
        fresh=True,
    )
