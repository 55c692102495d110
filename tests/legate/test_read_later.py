# SPDX-License-Identifier: Apache-2.0
"""Parts of memory that Legate maps are copied when somebody wants them, as they were.

Programs run in workers, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import pytest
from test_small_arrays import HALVED, run_fresh, run_here

CPUS = pytest.mark.parametrize("cpus", [1, 2])

# Lets arrays lie in memory of Legate's, and be mapped.
MAPPED = """
def root_of(a):
    return a._thunk.base._view.root

def given(*arrays):
    for a in arrays:
        if type(a) is cn.ndarray:
            window.flush("test")
            root_of(a).materialize()
            assert not root_of(a).is_here

def mapped(*arrays):
    given(*arrays)
    for a in arrays:
        if type(a) is cn.ndarray:
            window.submitter.small.bring(root_of(a))

def parts(n, A):
    # NumPy shows the elements themselves
    keep = np.copy if n is np else lambda made: made
    return [keep(each) for each in (
        n.flip(A), n.fliplr(A), n.flip(A[3]), n.rot90(A), n.rot90(A[1:, 2:], 3),
        A.diagonal(), A.diagonal(7), n.diag(A, -3), n.diag(A[5:, :-2]), A.T.diagonal(),
    )]
"""

CHANGES = """
def change(n, A, how):
    if how == 0:
        A[0, 0] = -1
    elif how == 1:
        A[1:] += 2
    elif how == 2:
        A *= 2
    elif how == 3:
        A[:] = 5
    elif how == 4:
        A.sort(axis=1)
    elif how == 5:
        A[:, 3] = A[:, 5]
    elif how == 6:
        np.asarray(A)[3] = 8
    elif how == 7:
        A[n.arange(9), n.arange(9)] = 4
    elif how == 8:
        n.add(A, 1, out=A)
    elif how == 9:
        A[A.real > 50] = 3
    elif how == 10 and n is cn:
        root_of(A).materialize()
"""


@CPUS
@pytest.mark.parametrize("kind", ["float64", "float32", "int16", "complex128"])
def test_both_sides_change(kind: str, cpus: int) -> None:
    run_here(
        MAPPED
        + CHANGES
        + f"""
def program(n):
    found = []
    for how in range(11):
        A = (n.arange(500.0 * 400) % 101).reshape(500, 400).astype("{kind}") + 1
        mapped(A)
        made = parts(n, A)
        change(n, A, how)
        found += [each + 1 for each in made]
        made = parts(n, A)
        first = made[how % len(made)].copy()
        for at, each in enumerate(made):
            if at % 2 == 0:
                each[1] = 9
            else:
                each += 1
        found += [*made, first, A]
    return found
agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 4000",
    )


def test_nothing_is_copied_before_it_is_wanted() -> None:
    run_fresh(
        MAPPED
        + """
A = cn.arange(4e6).reshape(2000, 2000) - 7.0
mapped(A)
assert root_of(A).is_mapped
before = native.small_array_bytes()
made = parts(cn, A)
assert native.small_array_bytes() < before + A.nbytes // 100
assert root_of(A).is_mapped
expected = parts(np, np.arange(4e6).reshape(2000, 2000) - 7.0)
# what changes copies what is read
A[0, 0] = 3.0
assert native.small_array_bytes() > before + 3 * A.nbytes
for one, other in zip(made, expected, strict=True):
    np.testing.assert_array_equal(np.asarray(one), other)
""",
        fuses=False,
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 4000",
    )


def test_sources_that_are_gone() -> None:
    run_fresh(
        MAPPED
        + """
import weakref
base = np.arange(1e6).reshape(1000, 1000)
kept = []
for k in range(12):
    A = cn.array(base) + k
    mapped(A)
    gone = weakref.ref(root_of(A))
    one, other, flat = A.diagonal(), cn.flip(A), cn.rot90(A)
    del A, flat
    gc.collect()
    assert gone() is None
    # others get the memory, if they can
    for _ in range(3):
        B = cn.full((1000, 1000), 7.0) * 2.0
        given(B)
    kept.append((one, other, k))
for one, other, k in kept:
    np.testing.assert_array_equal(np.asarray(one), np.diagonal(base) + k)
    np.testing.assert_array_equal(np.asarray(other), np.flip(base) + k)
""",
        fuses=False,
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 4000",
    )


@CPUS
def test_tasks_and_numpy_change_the_source(cpus: int) -> None:
    run_here(
        MAPPED
        + HALVED
        + """
def program(n):
    keep = np.copy if n is np else lambda made: made
    x = n.arange(300_000.0)
    mapped(x)
    y, seen = keep(n.flip(x)), np.asarray(x)
    seen[2] = 9.0
    z = keep(n.flip(x))
    seen[3] = 10.0
    w = halved(n, x)
    del seen
    gc.collect()
    u = keep(n.flip(w))
    read = np.asarray(u)
    w[0] = -1.0
    v = halved(n, u)
    u += 1.0
    return [x, y, z[:-5], w, u, v, np.copy(read)]
agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 4000",
    )


def test_zeros_of_diagonals_have_no_sign() -> None:
    run_here(
        MAPPED
        + """
for dtype in ("float64", "float32", "complex64", "complex128"):
    A = cn.zeros((900, 900), dtype) * -1.0
    mapped(A)
    for found in (A.diagonal(), cn.diag(A, 5), A.trace(), cn.trace(A, 1)):
        found = np.asarray(found)
        assert not np.signbit(found.real).any() and found.dtype == dtype
        assert not np.signbit(found.imag).any() and not found.any()
""",
        fuses=False,
    )


@CPUS
def test_what_is_elsewhere_is_shown(cpus: int) -> None:
    """Wherever elements are, what an index shows needs no view before it is used."""
    run_here(
        MAPPED
        + """
def shown(n, x, A):
    return [
        x[7:], x[-3:], x[None, :], x[..., None], A[3], A[:, 3], A[1:-1, 1:-1], A.T,
        A[3:5, None, 2], A.transpose(), A[:7, 7], A.T[2:5], x.ravel(), A.swapaxes(0, 1),
        A[None].squeeze(), n.expand_dims(x, 0), A[2:9][3:, 1:], A.T[3][5:], x[9:9],
    ]

def program(n):
    x, A = n.arange(90_000.0), n.arange(90_000.0).reshape(300, 300) * 0.5
    given(x, A)
    tasks = window.counters.tasks_submitted
    views = shown(n, x, A)
    sizes = [(*each.shape, each.ndim, each.size, len(each)) for each in views]
    assert window.counters.tasks_submitted == tasks
    found = [each * 2.0 for each in views]
    # changed, and then changed through views
    x += 1.0
    A[2:] *= 3.0
    views[0][3] = -1.0
    views[6][:] = 4.0
    views[7][1] += 2.0
    views[16][0] = 8.0
    waiting = n.sqrt(A + 1.0)
    views += shown(n, waiting[0], waiting)
    found += [each + 1.0 for each in views] + [x, A, waiting, np.array(sizes[0])]
    return [*found, *[np.array(each) for each in sizes], x[5], A[2, 3], A[-1, -1]]
agree(program)

x = cn.arange(90_000.0)
given(x)
for key in (90_000, (1, 2), (..., ...)):
    try:
        x[key]
    except (IndexError, TypeError, ValueError, NotImplementedError):
        continue
    raise AssertionError(key)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 4000",
    )


def test_lists_of_numbers() -> None:
    run_here(
        """
LISTS = (
    [1.0, 2.0], [1, 2, 3], [1, 2.5], (4, -0.0, 7), [2**53 + 1, 0.5], [2**62, -2**62],
    [2**70, 1.0], [True, 1], [True, False], [1, 1j], [0.0], [5], [], [[1, 2], [3.0, 4]],
    list(range(32)), list(range(33)), [1.0] * 40, [float("nan"), 1], [np.int8(3), 4],
)
def program(n):
    found = [n.array(each) for each in LISTS if 2**70 not in each]
    x = n.arange(50.0)
    found += [x[[1, 2, 3]], x[:3] + [1, 2.5, 3]]
    return [*found, n.add([1, 2], [0.5, 1]), n.sqrt([4, 9])]
agree(program)
""",
    )


def test_arrays_are_split() -> None:
    run_here(
        """
def program(n):
    x, A = n.arange(24.0), n.arange(60.0).reshape(6, 10)
    found = [
        *n.split(x, 4), *n.array_split(x, 5), *n.array_split(x, 24), *n.split(A, 3),
        *n.array_split(A, 4, axis=1), *n.hsplit(A, 5), *n.vsplit(A, 2), *n.split(A, 1),
        *n.array_split(x, [3, 9]), *n.array_split(A[::1, 2:], 3, 1),
    ]
    found[0][1] = -1.0
    found[1] += 2.0
    return [*found, x, A]
agree(program)
x = cn.arange(10.0)
for call in (lambda: cn.split(x, 3), lambda: cn.array_split(x, 0),
             lambda: cn.split(x, 2, 1), lambda: cn.array_split(x, 2.0)):
    try:
        call()
    except (ValueError, TypeError, IndexError):
        continue
    raise AssertionError
""",
    )
