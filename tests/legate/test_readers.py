# SPDX-License-Identifier: Apache-2.0
"""What is read later is as it was, whatever runs apart or is mapped meanwhile.

Without the thread nothing runs before somebody waits, see ``test_runs_apart.py``.
"""

from __future__ import annotations

import pytest
from test_read_later import MAPPED
from test_runs_apart import run_beside
from test_small_arrays import HALVED, run_here
from tiers import some

KEEP = "keep = np.copy if n is np else (lambda made: made)"

# Who reads memory that windows use, and what comes then.
READERS = {
    "source in use": """
    z, w = keep(n.flip(x)), keep(y.reshape(-1, 100))
    v = steps(n, x, y)
    x[7], y[9] = -1.0, -2.0
    found = [z, w, v, x, y]""",
    "source is written": """
    A = keep(x.reshape(300, 200))
    z, w = keep(A.diagonal()), keep(n.diag(A, -3))
    u = keep(n.rot90(A))
    for k in range(150):
        A[1:-1] = 0.5 * A[1:-1] + 0.25 * A[2:]
        A[0] = k
    found = [z, w, u, A, x]""",
    "source is gone": """
    z, w = keep(n.flip(x)), keep(x.reshape(300, 200).diagonal())
    v = steps(n, x, y)
    del x, y
    gone = n.ones(SIZE) * 3.0
    found = [w, v, gone, z]""",
    "reader is written": """
    z, before = keep(n.flip(x)), keep(n.flip(y))
    w = keep(n.flip(z))
    v = steps(n, z, y)
    found = [x, z, w, v, before]""",
    "reader of a mapped one": """
    mapped(x)
    A, B = keep(x.reshape(-1, 100)), n.zeros((SIZE // 100, 100))
    z = keep(n.flip(A))
    for _ in range(150):
        B = 0.5 * B + A
    x[5] = -1.0
    x[50:60] = 3.0
    found = [A, B, z, x]""",
    "reader of a mapped one is gone": """
    mapped(x)
    A, B = keep(x.reshape(-1, 100)), n.zeros((SIZE // 100, 100))
    for _ in range(150):
        B = 0.5 * B + A
    del A
    x *= 0.0
    found = [B, halved(n, x), B + 1.0]""",
    "mapped one is given back": """
    mapped(x)
    A, B = keep(x.reshape(-1, 100)), n.zeros((SIZE // 100, 100))
    for _ in range(150):
        B = 0.5 * B + A
    v = halved(n, x)
    x.fill(2.0)
    found = [B, v, halved(n, x), A]""",
    "mapped one is seen": """
    mapped(x)
    A, B = keep(x.reshape(-1, 100)), n.zeros((SIZE // 100, 100))
    z = keep(n.flip(x))
    for _ in range(150):
        B = 0.5 * B + A
    seen = np.asarray(x)
    seen[:] = 5.0
    found = [z, A, B, x]""",
}


@pytest.mark.parametrize("what", READERS)
def test_readers_beside_windows_that_run_apart(what: str) -> None:
    run_beside(f"{KEEP}\n    {READERS[what].strip()}", MAPPED)


# Programs of random steps over matrices of one shape, whose windows run apart, and
# which share memory from a few bytes on.
RANDOM = f"""
import random
from legate_diffuse.launch import pending
N = 24

class Any(str):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = str.__hash__

REORDERED = [
    lambda n, a: n.flip(a), lambda n, a: n.rot90(a), lambda n, a: n.fliplr(a),
    lambda n, a: n.rot90(a, 2), lambda n, a: n.flip(a.T), lambda n, a: n.rot90(a, 3),
    lambda n, a: a.reshape(-1).reshape(N, N), lambda n, a: a.copy(),
    lambda n, a: a.reshape(2, -1)[1:].reshape(N // 2, N).reshape(-1, N)[0],
    lambda n, a: a.diagonal(), lambda n, a: n.diag(a, 2), lambda n, a: n.flip(a[3]),
    lambda n, a: n.flip(a[2:].reshape(-1)),
]

def change(n, a, how):
    if how == 0:
        a[1] = 4.0
    elif how == 1:
        a *= 0.5
    elif how == 2:
        a[1:-1] = 0.25 * (a[2:] + a[:-2])
    elif how == 3:
        a.sort(axis=0)
    elif how == 4:
        a[2:, 3] += 1.0
    elif how == 5:
        a[:] = 2.0
    elif how == 6:
        np.asarray(a)[0] = -3.0
    elif how == 7:
        a.fill(1.5)

def program(n, seed):
    {KEEP}
    rng = random.Random(seed)
    matrices = [n.arange(float(N * N)).reshape(N, N) * k for k in range(4)]
    rows, found = [], []
    for step in range(60):
        at, to = rng.randrange(4), rng.randrange(4)
        kind, how = rng.randrange(8), rng.randrange(99)
        a = matrices[at]
        if kind < 3:
            made = keep(REORDERED[how % len(REORDERED)](n, a))
            if made.ndim == 2:
                matrices[to] = made
            else:
                rows.append(made)
        elif kind == 3:
            change(n, a, how % 8)
        elif kind == 4:
            # the same every time
            b = matrices[to]
            for _ in range(2):
                matrices[at] = 0.5 * a + b
                a = matrices[at]
            if n is cn:
                window.flush("test")
        elif kind == 5 and n is cn:
            (mapped if how % 2 else given)(a)
        elif kind == 6 and rows:
            row = rows[how % len(rows)]
            row += 1.0
            found.append(row[0] + a[0, 0])
        elif kind == 7 and rows:
            del rows[how % len(rows)]
        elif kind == 7:
            matrices[at] = halved(n, a)
    return [*matrices, *rows, *found]
"""


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("start", some(list(range(0, 400, 50)), 2))
def test_random_readers(thread: bool, start: int) -> None:
    run_here(
        MAPPED
        + HALVED
        + RANDOM
        + f"""
_native = native
least, shared = _native.set_least_apart(0), _native.set_least_shared(16)
_native.use_background_thread({thread})
full, pending.FULL = pending.FULL, Any("full window")
try:
    before = _native.num_run_apart()
    for seed in range({start}, {start} + 50):
        try:
            agree(lambda n: program(n, seed))
        except AssertionError as error:
            raise AssertionError(seed) from error
    assert _native.num_run_apart() > before
finally:
    pending.FULL = full
    _native.set_least_apart(least), _native.set_least_shared(shared)
    _native.use_background_thread(True)
"""
    )
