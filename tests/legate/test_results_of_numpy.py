# SPDX-License-Identifier: Apache-2.0
"""Large results of NumPy's become arrays with their memory, which nobody else has."""

from __future__ import annotations

from test_small_arrays import run_here

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


def test_memory_that_NumPy_frees_later() -> None:
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
