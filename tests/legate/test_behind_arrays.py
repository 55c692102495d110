# SPDX-License-Identifier: Apache-2.0
"""Native code notes what is behind an array, and notices when it is another store.

A single element that was read is an array, which an operator may change in place.
"""

from __future__ import annotations

from test_small_arrays import run_fresh, run_here

# NumPy has a number of its own where cuPyNumeric has an array without dimensions.
SINGLE = """
def single(n, value):
    return np.array(value) if n is np else value
"""


def test_many_arrays_in_turn() -> None:
    run_here("""
def program(n):
    arrays = [n.arange(6.0) + k for k in range(600)]
    for step in range(3):
        for k, array in enumerate(arrays):
            array[step] += arrays[k - 1][step + 1] * 0.5
            array[1:4] -= arrays[k - 2][2:5]
        # others take their addresses
        del arrays[::2]
        arrays += [array * 2.0 for array in arrays[:100]]
        arrays += [array[1:] for array in arrays[:50]]
        arrays = [each if len(each) == 6 else n.ones(6) * each[0] for each in arrays]
    return arrays
agree(program)
""")


def test_a_store_that_takes_the_place_of_another_one() -> None:
    run_fresh("""
for values in ([3.0, float("nan"), 1.0, 2.0] * 3, list(range(12))[::-1]):
    for axis in (0, 1):
        a = cn.array(values).reshape(4, 3) + 1
        before = a[2, 1] * 2, a[1] + 1
        # NaN is left to the original, which puts another store behind the array
        a.sort(axis=axis)
        found = [float(a[2, 1]), (a[1] + 1).tolist()]
        sorted_by_it = np.asarray(a).copy()
        np.testing.assert_array_equal(found[0], sorted_by_it[2, 1])
        np.testing.assert_array_equal(found[1], sorted_by_it[1] + 1)
        a[1, 1] = 7
        sorted_by_it[1, 1] = 7
        np.testing.assert_array_equal(np.asarray(a[:2] - 1), sorted_by_it[:2] - 1)

a, b = cn.arange(8.0), cn.ones(8)
for array in (a, b):
    array[3] += 1.0
    array[2:4] *= 2.0
a._thunk = b._thunk
assert float(a[3]) == 4.0 and (a[2:4] + 1.0).tolist() == [3.0, 5.0]
# also where it stood for none yet
c = b + 1.0
c._thunk = a._thunk
assert c.tolist() == a.tolist() and float(c[3]) == 4.0
""")


def test_single_elements_change_in_place() -> None:
    run_here(
        SINGLE
        + """
def program(n):
    found = []
    for dtype in ("float64", "float32", "int32", "uint8", "complex64"):
        a = n.arange(12).astype(dtype).reshape(3, 4)
        for _ in range(3):
            x, z = single(n, a[1, 2]), single(n, a[2, 1])
            y = x
            for _ in range(3):
                x += 2
                x *= z
                z -= z
                z += a[0, 1]
                n.add(x, z, out=x)
                n.multiply(z, z, out=x)
                n.subtract(x, z, out=z)
                found += [x + 0, y + 0, z + 0]
            a[1, 2] = x
        found.append(a)
    return found
agree(program)
"""
    )


def test_what_may_not_change_in_place() -> None:
    run_here(
        SINGLE
        + """
def outcome(change):
    try:
        change()
    except Exception as error:
        return [type(error).__name__ == "ValueError" or "ast" in str(error)]
    return [False]

def program(n):
    found, a = [], n.arange(6) + 1
    for _ in range(3):
        x = single(n, a[2])
        x += 1
        found.append(x + 0)
        x.flags.writeable = False
        found += [x.flags["WRITEABLE"], x.flags.writeable]
        found += [n.ones(1).flags["WRITEABLE"], outcome(lambda: x.fill(3))]
        found += [outcome(lambda: x.__iadd__(1)), outcome(lambda: n.add(x, 1, out=x))]
        found.append(x + 0)
        y = single(n, a[3])
        found += [outcome(lambda: y.__itruediv__(2)), outcome(lambda: y.__iadd__(0.5))]
        found.append(y + 0)
    return found
agree(program)
"""
    )


def test_which_indices_show_a_single_element() -> None:
    run_here("""
def program(n):
    found = []
    for _ in range(3):
        a, b, c = n.arange(12.0).reshape(3, 4), n.ones((1, 1)), n.arange(3, 4)
        shown, copied = a[1, 2, ...], a[1, 2] + 0
        last, also = a[..., -1, -1], a[(2, 3)] + 0
        a[1, 2] = 9
        a[..., 2, 3] = 8
        a[0, 0, None] = 7
        found += [shown + 0, copied, last + 0, also, a]
        b[0, 0] = 5
        b[0, -1] += b[-1, 0]
        c[0] -= 1
        found += [b[0, 0] + 0, b, c[-1] + 0, c, a[c[0], 1] + 0, a[c[0], ...] + 0]
        # upstream has one array for all equal numbers
        d = n.full((), 2.0)
        e = d[()] + 0
        d[()] = 4
        d[...] += 1
        found += [d, e]
        for wrong in ((3, 0), (0, 4), (-4, 0), (0, 0, 0), (..., ...)):
            try:
                a[wrong]
                found.append(n.zeros(2))
            except (IndexError, ValueError):
                found.append(n.ones(2))
            try:
                a[wrong] = 1
                found.append(n.zeros(2))
            except (IndexError, ValueError):
                found.append(n.ones(2))
    return found
agree(program)
""")


def test_numbers_become_elements_of_each_type() -> None:
    run_here("""
import warnings
warnings.simplefilter("ignore")

def program(n):
    found = []
    types = "bool int8 uint8 int16 int32 uint32 int64 uint64 float32 float64"
    for dtype in (types + " complex64 complex128").split():
        a = n.zeros((2, 3), dtype=dtype)
        for value in (1, 2.0, True, np.float32(3.0), np.int16(4), np.bool_(True)):
            a[0, 1] = value
            a[1] = value
            found += [a.copy(), a[0, 1] + a[1, 1]]
            found.append(n.array([float(a[0, 1].real), bool(a[1, 1])]))
            found.append(n.array([abs(complex(a[0, 1])), 0.5]))
    return found
agree(program)
""")
