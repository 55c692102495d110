# SPDX-License-Identifier: Apache-2.0
"""Operations on small arrays run as they come, and wait for nothing."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

MANY_OPERANDS = """
    ARRAYS = {
        "float64": [1.5, -0.0, np.nan, np.inf, -3.0, 1e300],
        "float32": [1.5, -0.0, np.nan, -np.inf, -3.0, 1e30],
        "int64": [5, -7, 0, 2**62, -(2**63), 3],
        "int32": [5, -7, 0, 2**31 - 1, -(2**31), 3],
        "uint8": [5, 0, 255, 7, 1, 3],
        "bool": [True, False, True, True, False, False],
        "complex128": [1 + 2j, -0.0j, np.nan, 3, -1j, 2],
    }
    NUMBERS = [2, -3, 0, 2.5, -0.0, float("inf"), 2**60, True]
    np.seterr(all="ignore")
    def outcome(call):
        try:
            found = np.asarray(call())
        except Exception as error:
            return type(error)
        if found.dtype.kind in "fc":
            found = np.where(np.isnan(found), 7.0, found)
        return found.dtype, found.shape, found.tobytes()
""".replace("\n    ", "\n")


def test_operators_give_what_numpy_gives() -> None:
    run_here(
        MANY_OPERANDS
        + """
import operator as op
# a type of two arrays, and of an array and a number; twice: planned, and then known
for dtype, values in ARRAYS.items():
    a, b = np.array(values, dtype), np.array(values[::-1], dtype)
    x, y = cn.array(a), cn.array(b)
    for apply in (op.add, op.sub, op.mul, op.lt, op.ge, op.eq, op.ne):
        for _ in range(3):
            # NumPy subtracts no booleans, and the original does
            if dtype == "bool" and apply is op.sub or dtype == "complex128" and (
                apply in (op.lt, op.ge, op.mul)):
                continue
            assert outcome(lambda: apply(x, y)) == outcome(lambda: apply(a, b)), (
                dtype, apply)
            assert outcome(lambda: apply(x[::1], x)) == outcome(lambda: apply(a, a))
            if dtype in ("float64", "int64"):
                for number in NUMBERS:
                    if dtype == "int64" and type(number) is float:
                        continue
                    assert outcome(lambda: apply(x, number)) == outcome(
                        lambda: apply(a, number)), (dtype, apply, number)
                    assert outcome(lambda: apply(number, x)) == outcome(
                        lambda: apply(number, a)), (dtype, apply, number)
"""
    )


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4,)),
        ((3, 1), (4,)),
        ((3, 1), (1, 4)),
        ((2, 3, 4), (3, 1)),
        ((), (3,)),
        ((), ()),
        ((1,), (5,)),
        ((1,), (1,)),
        ((1, 1), ()),
        ((0, 3), (3,)),
        ((0,), (1,)),
        ((3,), (4,)),
    ],
)
def test_operands_are_broadcast(shapes: tuple[tuple[int, ...], ...]) -> None:
    run_here(f"""
def made(n, shape, first):
    volume = np.prod(shape, dtype=int)
    return n.array(np.arange(first, first + volume).reshape(shape) + 0.5)
for _ in range(4):
    fused, expected = [], []
    for n, out in ((cn, fused), (np, expected)):
        x, y = made(n, {shapes[0]}, 1), made(n, {shapes[1]}, 20)
        for one, other in ((x, y), (y, x)):
            try:
                z = one * other
                out += [z.shape, (z + one - other).shape]
                out.append(np.asarray(n.sqrt(z)).tolist())
                # NumPy's own are no arrays, and cuPyNumeric shares such constants
                if other.shape:
                    other += 1.0
                    other += one
            except ValueError:
                out.append("refused")
            out += [np.asarray(one).tolist(), np.asarray(other).tolist()]
    assert fused == expected, (fused, expected)
""")


def test_views_that_overlap_are_written_in_order() -> None:
    run_here("""
def program(n):
    x = n.arange(12.0)
    for _ in range(3):
        x[1:] += x[:-1]
        x[2:5] = x[1:4]
        x[::1] *= x
        x += x
        x -= x[3]
        y = n.zeros((3, 4))
        y[1], y[2] = x[4:8], x[8:]
        x[0] = x[5]
        x[x[1] > 0.0 and 2 or 3] = 4
        z = y.T
        w = n.zeros((3, 3))
        w[1] = w[:, 2] + x[:3]
        w += w.T + 1.0
        x /= 1e6
    return [x, w, y.T[1] + z[1], w.sum(), w.T.max(), n.sum(w), n.amin(x)]
agree(program)
""")


def test_nothing_waits_and_nothing_is_a_task() -> None:
    run_here("""
def step():
    y = x * 2.0 + x
    y[3] = y[1] * 0.5 - y[2]
    y[4] = 7.0
    z = cn.zeros(1000) + cn.full(1000, 2.0) + cn.ones((1000,), dtype=float)
    z += y
    return float(z.sum()), float(np.float64(3.0)), bool(cn.any(z > 1.0)), z[2].item()
x = cn.arange(1000.0)
for _ in range(3):
    first = step()
calls = []
for name in ("submit", "flush_for", "_submit"):
    def note(*arguments, call=getattr(window, name), name=name):
        calls.append(name)
        return call(*arguments)
    setattr(window, name, note)
found = counts(step)
# 2 and 6 operations, 3 fills, 3 of z, a sum, a comparison, any, an element
assert found["tasks_submitted"] == found["plans_made"] == 0, found
assert (found["ran_in_process"], found["tasks_seen"]) == (18, 20), found
assert calls == [], calls
assert step() == first
""")


def test_what_waits_comes_first() -> None:
    run_here("""
large = cn.arange(100_000.0)
small = cn.arange(4.0)
small[0] = 5.0
waits = large * 2.0 + small[0]
total = waits.sum()
shown = small + 1.0
assert window.state.count > 0
# it waits for the sum, and its operand is changed after it
late = small + total
small += 1.0
small[1] = 9.0
np.testing.assert_array_equal(np.asarray(late), np.array([5.0, 1, 2, 3]) + float(total))
np.testing.assert_array_equal(np.asarray(small), [6.0, 9, 3, 4])
np.testing.assert_array_equal(np.asarray(shown), [6.0, 2, 3, 4])
assert float(waits[7]) == 19.0
""")


def test_a_large_sum_fills_its_result_in_its_own_task() -> None:
    run_here("""
x = cn.arange(100_000.0)
float(x[0])
found = counts(lambda: float(x.sum()))
assert (found["ran_in_process"], found["tasks_submitted"]) == (0, 1), found
""")


def test_numbers_are_made_as_the_original_makes_them() -> None:
    run_here("""
for dtype in ("float64", "float32", "int64", "int32", "bool", "uint8"):
    x, a = cn.array([3], dtype)[0] * 1, np.array([3], dtype)[0] * 1
    for convert in (float, int, bool, complex, lambda one: one.item()):
        fused, expected = [], []
        for one, out in ((x, fused), (a, expected)):
            try:
                with np.errstate(all="ignore"):
                    value = convert(one)
                out.append((type(value), value))
            except Exception as error:
                out.append(type(error))
        assert fused == expected, (dtype, fused, expected)
for value in (float("nan"), float("inf")):
    x = cn.array([value, 1.0])
    for _ in range(2):
        try:
            int(x[0])
            raise AssertionError
        except (ValueError, OverflowError):
            pass
try:
    float(cn.arange(3.0))
    raise AssertionError
except TypeError:
    pass
try:
    cn.arange(3.0)[3]
    raise AssertionError
except ValueError:  # of Legate's
    pass
read_only = cn.arange(3.0)
read_only._writeable = False
for write in (lambda: read_only.__setitem__(0, 1.0), lambda: read_only.__iadd__(1.0)):
    try:
        write()
        raise AssertionError
    except ValueError:
        pass
assert read_only.tolist() == [0.0, 1.0, 2.0]
""")


def test_new_arrays_have_the_types_that_numpy_gives() -> None:
    run_here("""
def program(n):
    return [
        n.zeros(3), n.zeros((2, 0)), n.ones(()), n.zeros((2, 3), dtype=int),
        n.ones(4, dtype="float32"), n.ones(2, dtype=bool), n.full(3, 2),
        n.full((1,), 2.5),
        n.full((2, 2), 7, dtype="uint8"), n.full(2, True), n.full(2, 3, dtype=float),
        n.zeros(2, dtype=n.float32) + n.ones(2, dtype=np.dtype("float32")),
    ]
agree(program)
agree(program)
for wrong in (-1, (2, -1)):
    try:
        cn.zeros(wrong)
        raise AssertionError
    except ValueError:
        pass
""")


def test_integers_are_divided_by_zero_without_a_trap() -> None:
    run_here("""
x = cn.array([7, -7, 0, -(2**63)])
zero, minus = cn.array([0, 0, 0, 0]), cn.array([-1, 2, -3, -1])
for _ in range(3):
    assert (x // zero).tolist() == [0, 0, 0, 0]
    assert (x % zero).tolist() == [0, 0, 0, 0]
    assert (x[:3] // minus[:3]).tolist() == [-7, -4, 0]
    assert (x // 0).tolist() == [0, 0, 0, 0]
""")
