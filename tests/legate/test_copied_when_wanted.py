# SPDX-License-Identifier: Apache-2.0
"""Elements in another order are copied when somebody wants them, and are as they were.

Programs run in workers, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

CPUS = pytest.mark.parametrize("cpus", [1, 2])
# Few elements, as many as are worth it, and so many that operations on them wait.
SHAPES = [(3, 5), (80, 90), (240, 260)]

MADE = """
import itertools
def orders(n, A):
    v, T = A[1], A.reshape(1, -1, A.shape[1])
    # NumPy shows the elements themselves
    keep = np.copy if n is np else lambda made: made
    return [keep(each) for each in (
        n.flip(A), n.flip(A, 0), n.flip(A, axis=1), n.flip(A, (0, -1)), n.flip(v),
        n.flipud(A), n.fliplr(A), n.flipud(v), n.rot90(A), n.rot90(A, 2), n.rot90(A, 3),
        n.rot90(A, -1), n.rot90(A, k=5), n.rot90(A, 1, (1, 0)), n.flip(T, 1),
        n.fliplr(A.T), n.rot90(A[1:, 2:]), n.flip(A[:, :-1], 1), n.rot90(T, 1, (1, 2)),
        n.flip(n.flip(A), 1), n.rot90(n.rot90(A)),
    )]
"""


@CPUS
@pytest.mark.parametrize("shape", SHAPES)
def test_orders_are_those_of_numpy(shape: tuple[int, int], cpus: int) -> None:
    run_here(
        MADE
        + f"""
def program(n):
    rows, columns = {shape}
    found = []
    for kind in ("float64", "int8", "complex128"):
        A = (n.arange(rows * columns) % 101).reshape(rows, columns).astype(kind)
        found += orders(n, A)
    return found
for _ in range(2):
    agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 4000",
    )


@CPUS
@pytest.mark.parametrize("shape", SHAPES)
def test_both_sides_change(shape: tuple[int, int], cpus: int) -> None:
    run_here(
        MADE
        + f"""
def program(n):
    rows, columns = {shape}
    A = n.arange(float(rows * columns)).reshape(rows, columns) + 1.0
    found = []
    # the source changes: an element, a part, all of it, in place
    for change in range(5):
        made = orders(n, A)
        if change == 0:
            A[0, 0] = -1.0
        elif change == 1:
            A[1:] += 2.0
        elif change == 2:
            A *= 2.0
        elif change == 3:
            A[:] = 5.0
        else:
            A.sort(axis=1)
        found += made
        made = orders(n, A)
        first = [each.copy() for each in made[:2]]
        # those change that have the order
        for at, each in enumerate(made):
            if at % 3 == 0:
                each[0] = 9.0
            elif at % 3 == 1:
                each += 1.0
            else:
                each[...] = each * 2.0
        found += [*made, *first, A.copy()]
    # one of another, without the first one
    keep = np.copy if n is np else lambda made: made
    B = keep(n.flip(n.fliplr(A)))
    del A
    C = keep(n.rot90(B))
    B[0, 1] = 3.0
    found += [B, C, n.flip(C)[1:].sum(axis=0), n.fliplr(C) + C, C[2, 2], C.T.copy()]
    return found
for _ in range(2):
    agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 4000",
    )


def test_numpy_and_tasks_see_them() -> None:
    run_here(
        """
def program(n):
    found = []
    for size in (100, 10_000, 1_000_000):
        x = n.arange(float(size))
        keep = np.copy if n is np else lambda made: made
        y = keep(n.flip(x))
        seen = n.asarray(y) if n is np else np.asarray(y)
        x[0] = 7.0
        found.append(seen.copy())
        seen = np.asarray(x)
        z = keep(n.flip(x))
        # NumPy may change it meanwhile, so that it is copied before
        seen[1] = 8.0 if seen.flags.writeable else seen[1]
        found += [z[:-2], n.linalg.norm(n.flip(y)), n.flip(y) @ x, n.flip(x).sum()]
        found += [n.reshape(n.flip(x), (10, -1)), n.flip(x.reshape(10, -1)).reshape(-1)]
        w = keep(n.flip(x))
        w2 = keep(w.reshape(10, -1))
        w[3] = 1.0
        found += [w, w2[:, 1]]
    return [each if np.ndim(each) else float(each) for each in found]
for _ in range(2):
    for one, other in zip(program(cn), program(np), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, 1e-9)
tasks = window.counters.tasks_submitted
x = cn.array(np.arange(40_000.0))
for _ in range(9):
    cn.flip(x), cn.rot90(x.reshape(200, 200))
assert window.counters.tasks_submitted == tasks
""",
        fuses=False,
    )


def test_memory_is_taken_when_it_is_wanted() -> None:
    run_here(
        """
native = legate_diffuse._native
x = cn.zeros((1000, 30))
x[3] = 7.0
before = native.small_array_bytes()
made = [cn.flip(x) for _ in range(50)]
assert native.small_array_bytes() < before + 40 * x.nbytes
assert all([each[996, 2] == 7.0 for each in made])
assert native.small_array_bytes() >= before + 40 * x.nbytes
# nobody else uses it any more: it is no copy
del made
found = cn.flip(x)
del found
x[4] = 1.0
assert native.small_array_bytes() <= before + x.nbytes
""",
        fuses=False,
    )
