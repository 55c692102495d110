# SPDX-License-Identifier: Apache-2.0
"""Large results of NumPy's become arrays with their memory, which nobody else has."""

from __future__ import annotations

import pytest
from test_small_arrays import run_fresh, run_here

OURS = """
from legate_diffuse import _native as native
COUNT = 10**6

def made(call):
    return native.call_with_memory(call)

def taken(elements):
    small = native.SmallArray(8, (COUNT,))
    return small if small.adopt(elements) else None
"""


def test_memory_is_taken_and_used_again() -> None:
    run_here(
        OURS
        + """
numbers = np.arange(float(COUNT))
elements = made(lambda: np.arange(float(COUNT)))
address = elements.ctypes.data
small = taken(elements)
del elements
others = [made(lambda: np.full(COUNT, 7.0)) for _ in range(3)]
assert address not in [each.ctypes.data for each in others]
assert np.array_equal(np.frombuffer(small.value()), numbers)
del small
zeros = made(lambda: np.zeros(COUNT))
assert zeros.ctypes.data == address and not zeros.any()
""",
        fuses=False,
    )


def test_memory_that_is_freed_later() -> None:
    """It frees what was taken in vain, also where others have got it meanwhile."""
    run_here(
        OURS
        + """
elements = made(lambda: np.arange(float(COUNT)))
address = elements.ctypes.data
small = taken(elements)
del small
other = made(lambda: np.full(COUNT, 7.0))
assert other.ctypes.data == address
del elements
third = made(lambda: np.full(COUNT, 8.0))
assert third.ctypes.data != address and (other == 7.0).all()
""",
        fuses=False,
    )


def test_other_memory_is_not_taken() -> None:
    run_here(
        OURS
        + """
elements = made(lambda: np.arange(float(COUNT)))
assert taken(np.arange(float(COUNT))) is None
assert taken(made(lambda: elements[:])) is not None
# its memory is gone
assert taken(elements) is None
longer = made(lambda: np.arange(COUNT + 1.0))
assert taken(longer[1:]) is taken(longer[:-1]) is None
longer.resize(2 * COUNT, refcheck=False)
assert np.array_equal(longer[: COUNT + 1], np.arange(COUNT + 1.0))
few = made(lambda: np.arange(10.0))
few.resize(COUNT, refcheck=False)
assert np.array_equal(few[:10], np.arange(10.0)) and not few[10:].any()
assert not native.SmallArray(8, (10,)).adopt(made(lambda: np.arange(10.0)))
try:
    made(lambda: 1 // 0)
except ZeroDivisionError:
    pass
else:
    raise AssertionError
assert taken(np.arange(float(COUNT))) is None
""",
        fuses=False,
    )


def test_results_are_arrays_like_others() -> None:
    run_here(
        """
x = np.random.RandomState(5).rand(400, 500)
def program(n):
    a = n.array(x)
    found = []
    for k in range(4):
        flat = a.reshape(-1)
        both = n.concatenate((flat, n.sort(flat)))
        places = n.argsort(both[:100000])
        turned = n.flip(n.rot90(a))
        places[k] = 3
        both += 1.0
        found += [both, places, turned * 2.0, n.tile(flat, 2), n.nonzero(a > 0.5)[1]]
        a = turned.T * 0.5 + flat.reshape(400, 500)
    return found
agree(program)
"""
    )


# Indices of large arrays, by which elements are read and written in their places.
INDICES = """
count = 120000
random = np.random.RandomState(7)
values = random.rand(count)
places = random.randint(-count, count, count)
few = random.randint(0, count, 50)

def program(n):
    x, i, j = n.array(values), n.array(places), n.array(few)
    found = []
    for k in range(3):
        a = x[i]
        b = x[i.reshape(300, 400)] * 2.0 + k
        x[i] = a * 0.5
        x[j] = float(k)
        y = x + 1.0
        own = (i + count) % count
        own[own] = own
        own[own] = own[::1] + 1
        A = x.reshape(300, 400) * 1.0
        A[[3, 1, 299]] = k + 0.5
        A[:, [4, 2]] = A[:, [2, 4]]
        A[i[:40] % 300, j[:40] % 400] = y[:40]
        x[[5, 6]] = x[:2]
        c = x.astype(n.float32)
        c[i] = b.reshape(-1).astype(n.float32)
        own %= count
        found += [a, b, y, own, A, c, x[own], x * 1.0]
        x[1000:] = x[:-1000] * 1.0
        x.sort()
    return found
"""


@pytest.mark.parametrize("cpus", [1, 2])
def test_indices_of_many_elements(cpus: int) -> None:
    run_fresh(
        INDICES
        + """
agree(program)
before = legate_diffuse.stats()["tasks_submitted"]
program(cn)
assert legate_diffuse.stats()["tasks_submitted"] - before < 30
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


def test_indices_of_arrays_in_parts() -> None:
    run_fresh(
        INDICES + "agree(program)",
        LEGATE_TEST="1",
        LEGATE_CONFIG="--cpus 3 --gpus 0 --sysmem 1000",
    )


def test_wrong_indices_change_nothing() -> None:
    run_here(
        INDICES
        + """
for wrong in ("x[[count]] = 1", "x[i] = cn.ones(3)"):
    x, i = cn.array(values) * 1.0, cn.array(places)
    try:
        exec(wrong)
    except (IndexError, ValueError):
        assert np.array_equal(np.asarray(x), values)
    else:
        raise AssertionError(wrong)
""",
    )


def test_what_is_in_order_and_what_has_no_order() -> None:
    run_here(
        """
many = np.random.RandomState(3).rand(70000)
rows = many.reshape(100, 700)
ordered = np.arange(70000.0) // 3
def program(n):
    found = []
    for each in (many, ordered, many.astype("f"), np.arange(70000) % 999):
        x = n.array(each)
        found += [n.sort(x), n.sort(n.sort(x)), n.unique(x), n.argmax(x), x.argmin()]
    A = n.array(rows)
    B = A[1:, 5:]
    found += [A.argmax(axis=0), B.argmin(axis=1, keepdims=True), B.argmax()]
    found += [n.sort(A, axis=0), n.sort(A, axis=None), n.unique(B)]
    return [each + 0 for each in found]
agree(program)

many[5] = many[9] = np.nan
with_nan = cn.array(many)
for function in ("sort", "argmax", "argmin"):
    tasks = counts(lambda: getattr(cn, function)(with_nan))["tasks_submitted"]
    assert tasks > 0, function
"""
    )


COPIES = """
values = np.arange(600000.0).reshape(600, 1000)
def program(n):
    x = n.array(values)
    turned = n.array(values.T)
    narrow = n.array(values[:, ::2], dtype=n.float32)
    x[3] = 5.0
    return [x * 2.0, turned + 1.0, narrow * n.float32(0.5), x[2:].sum(axis=0)]
"""


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("most", ["", "393216", "500000"])
def test_copies_of_arrays_of_numpy(cpus: int, most: str) -> None:
    """Those that have no place in the process are Legate's."""
    limits = {"LEGATE_DIFFUSE_SMALL_BYTES": most} if most else {}
    run_fresh(
        COPIES
        + """
agree(program)
agree(program)
assert np.array_equal(values, np.arange(600000.0).reshape(600, 1000))
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
        **limits,
    )


def test_copies_are_in_memory_of_their_own() -> None:
    run_here(
        COPIES
        + """
x = cn.array(values)
assert x._thunk.base._view.root.is_here
y = x + 1.0
values[0] = -1.0
assert np.asarray(y)[0, 1] == 2.0 and np.asarray(x)[0, 1] == 1.0
"""
    )


def test_scans_of_many_elements() -> None:
    run_here(
        """
random = np.random.RandomState(11)
def program(n):
    found = []
    for each in (random.rand(90, 800), random.rand(800, 90), random.rand(9, 90, 80)):
        for dtype in map(np.dtype, ("f8", "f4", "i8", "i4", "c16", "u1")):
            x = n.array((each * 9 + 0.5).astype(dtype))
            for axis in (None, *range(-1, each.ndim)):
                if dtype != np.uint8:
                    found.append(n.cumsum(x, axis=axis))
                if dtype in (np.float64, np.int64):
                    found.append(n.cumprod(x, axis))
            if dtype == np.float64:
                found += [n.cumsum(x.T, axis=0), n.cumsum(x[1:, 2:], axis=0)]
                found += [x[3:].cumsum(axis=1), n.cumsum(x[:, 1:])]
    return [each * 1 for each in found]
random.seed(11)
fused = program(cn)
random.seed(11)
with np.errstate(all="ignore"):
    expected = program(np)
for one, other in zip(fused, expected, strict=True):
    one = np.asarray(one)
    assert one.dtype == other.dtype and one.shape == other.shape, (one, other)
    assert one.tobytes() == other.tobytes(), (one, other)
"""
    )
