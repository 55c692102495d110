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
    # the last two fit in no way
    run_here(
        f"""
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
""",
        fuses=shapes != ((3,), (4,)),
    )


def test_parts_without_elements_of_a_single_element() -> None:
    run_here("""
def program(n):
    found = []
    for _ in range(3):
        for dtype in ("float64", "int64", "float32"):
            x, y = n.full((1,), 3, dtype), n.full((1, 1), 2, dtype)
            for part in (slice(0, 1), slice(0, 0), slice(1, None)):
                one, other = x[part], y[part]
                constant = n.array([3], dtype)[part]
                for summed in (constant, one, one + one):
                    found.append(n.sum(summed, axis=-1, keepdims=True))
                found += [one.sum(), n.prod(one), n.sum(other, axis=0), (one > 2).any()]
                found += [one + other[:, :1], n.where(one > 1, one, other)]
                other += 1
                one *= 2
            found += [x, y]
    return found
agree(program)
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


def test_parts_that_share_nothing_are_written_at_once() -> None:
    run_here("""
def program(n):
    p, q = n.zeros((5, 6)), n.ones((2, 3, 4))
    p += n.arange(6.0)
    for _ in range(3):
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] += p[2, 3]
        p[1:3, 2:4] *= p[3:5, 4:6]
        p[:2, :3] = p[3:, :3] + p[:2, 3:]
        q[0] -= q[1]
        q[:, 1] = q[:, 0] * 2.0
        q[1, :, 2:] = q[1, :, :2] + q[0, :, 2:]
        q.T[0] = q.T[3]
        q /= 8.0
    return [p, q]
agree(program)
found = counts(lambda: program(cn))
# nothing waits in a window
assert found["tasks_seen"] == found["ran_in_process"] == 46, found
assert found["plan_hits"] == found["plans_made"] == 0, found
""")


def test_parts_that_share_an_element_see_what_was_there_before() -> None:
    run_here("""
def program(n):
    x, p = n.arange(12.0), n.zeros((5, 6))
    p += n.arange(6.0)
    for _ in range(3):
        n.add(x[1:], x[:-1], out=x[1:])
        n.multiply(p[1:], p[:-1], out=p[1:])
        n.add(p[:, :5], p[:, 1:], out=p[:, :5])
        p[2:4, :] = p[1:3, :]
        w = n.zeros((3, 3))
        w += x[:3]
        n.subtract(w[:2], w.T[:2], out=w[:2])
        x /= 8.0
        p /= 8.0
    return [x, p, w]
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
for name in ("submit", "flush_for", "_submit"):
    delattr(window, name)
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
    run_here(
        """
x = cn.arange(100_000.0)
float(x[0])
found = counts(lambda: float(x.sum()))
assert (found["ran_in_process"], found["tasks_submitted"]) == (0, 1), found
""",
        LEGATE_DIFFUSE_SMALL_BYTES="393216",
    )


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


def test_numbers_alone_have_their_own_types() -> None:
    run_here("""
for n in range(3):
    for x, y in ((2.5, 3.5), (2, 3), (2, 3.5), (True, 2)):
        for name in ("add", "multiply", "maximum", "less", "true_divide"):
            found, expected = getattr(cn, name)(x, y), getattr(np, name)(x, y)
            assert found.dtype == expected.dtype, (name, x, y, found)
            assert found.tolist() == expected.tolist(), (name, x, y, found)
""")


def test_equal_constants_are_known_apart_from_different_ones() -> None:
    run_here(
        """
s, t = cn.array(2.0), cn.array(3.0)
for _ in range(3):
    assert float(s + s) == 4.0
    assert float(s + t) == 5.0
    assert float(t * s - s) == 4.0
""",
        LEGATE_DIFFUSE_SYNC_COMPILE="1",
    )


def test_the_doctor_sees_every_operation() -> None:
    run_here("""
from cupynumeric.settings import settings
def program():
    y = x + x
    y[1] = x[2]
    return float(y[1]), float(y.sum())
x = cn.arange(4.0)
for _ in range(3):
    program()
seen = []
run = window.submitter.at_once.run
window.submitter.at_once.run = lambda one: seen.append(one) or run(one)
assert program() == (2.0, 12.0) and not seen
settings.doctor = True
assert program() == (2.0, 12.0) and len(seen) == 6
settings.doctor = False
assert program() == (2.0, 12.0) and len(seen) == 6
del window.submitter.at_once.run
""")


def test_programs_agree_with_their_tasks() -> None:
    """Values, types, shapes and errors are those of the operations one by one."""
    run_here("""
import warnings
from comparison import same_bits, unfused
from hypothesis import HealthCheck, given, settings, strategies as st
from legate_diffuse import stats
warnings.simplefilter("ignore")

DTYPES = ("float64", "float32", "int64", "int32", "int16", "bool", "complex128")
SHAPES = ((), (1,), (3,), (4,), (2, 3), (2, 1), (1, 3), (0, 3), (3, 2), (2, 2, 3))
# whose results on small integers are exact
BINARY = ("add", "subtract", "multiply", "maximum", "less", "equal", "copysign",
          "logical_and", "bitwise_xor", "true_divide", "left_shift", "power")
UNARY = ("negative", "absolute", "square", "logical_not", "isnan", "floor", "invert",
         "sqrt", "sign", "conjugate")
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")
IN_PLACE = ("__iadd__", "__isub__", "__imul__", "__itruediv__", "__iand__",
            "__ior__", "__ixor__")
NUMBERS = (0, 1, 3, -2, 2.5, -0.0, float("inf"), float("nan"), True, 1j, 2**40, 1e300,
           2**63, np.float32(1.5), np.int64(2))
INDICES = (0, -1, 5, (1, 0), (-1, 2), (0, 0, 1), slice(1, None), slice(None, -1), ...,
           np.int64(1), True, None, (slice(None), 1), slice(None, None, 2))
number = st.sampled_from(NUMBERS)
place = st.integers(0, 30)
operand = st.one_of(place, place, number.map(lambda value: (value,)))
index = st.sampled_from(INDICES)
step = st.one_of(
    st.tuples(st.just("binary"), st.sampled_from(BINARY), operand, operand),
    st.tuples(st.just("out"), st.sampled_from(BINARY), operand, operand, place),
    st.tuples(st.just("unary"), st.sampled_from(UNARY), place),
    st.tuples(st.just("in place"), st.sampled_from(IN_PLACE), place, operand),
    st.tuples(st.just("reduce"), st.sampled_from(REDUCTIONS), place),
    st.tuples(st.just("get"), place, index),
    st.tuples(st.just("set"), place, index, operand),
    st.tuples(st.just("number"), st.sampled_from((float, int, bool, complex)), place),
    st.tuples(st.just("full"), st.sampled_from(SHAPES), number,
              st.sampled_from((None, *DTYPES))),
)
start = st.tuples(st.sampled_from(DTYPES), st.sampled_from(SHAPES))

def take(step, arrays):
    kind, *rest = step
    def given(one):
        return one[0] if type(one) is tuple else arrays[one % len(arrays)]
    if kind == "binary":
        return getattr(cn, rest[0])(given(rest[1]), given(rest[2]))
    if kind == "out":
        return getattr(cn, rest[0])(given(rest[1]), given(rest[2]), out=given(rest[3]))
    if kind == "unary":
        return getattr(cn, rest[0])(given(rest[1]))
    if kind == "in place":
        return getattr(given(rest[1]), rest[0])(given(rest[2]))
    if kind == "reduce":
        if rest[0] in ("prod", "max", "min") and given(rest[1]).dtype.kind == "c":
            # Legate has no such reductions
            return None
        return getattr(given(rest[1]), rest[0])()
    if kind == "get":
        return given(rest[0])[rest[1]]
    if kind == "set":
        given(rest[0])[rest[1]] = given(rest[2])
        return None
    if kind == "number":
        return repr(rest[0](given(rest[1])))
    return cn.full(rest[0], rest[1], dtype=rest[2])

def results(starts, steps):
    arrays = [
        cn.array((np.arange(int(np.prod(shape))) + n - 1).reshape(shape).astype(dtype))
        for n, (dtype, shape) in enumerate(starts)
    ]
    told = []
    for step in steps:
        try:
            made = take(step, arrays)
        except Exception as error:
            told.append((type(error), str(error)))
            continue
        if made is NotImplemented or type(made) is str:
            told.append(made)
        elif isinstance(made, cn.ndarray) and not any(made is one for one in arrays):
            arrays.append(made)
        elif made is not None:
            told.append([made is one for one in arrays])
    return told, [np.array(one) for one in arrays]

@settings(max_examples=400, derandomize=True, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))
@given(st.lists(start, min_size=2, max_size=4), st.lists(step, min_size=1, max_size=14))
def agree(starts, steps):
    # the second time all is known
    for _ in range(2):
        found = results(starts, steps)
    with unfused():
        told, arrays = results(starts, steps)
    assert found[0] == told, (found[0], told)
    for one, other in zip(found[1], arrays, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), (one, other)
        assert same_bits(one, other).all(), (one, other)

before = stats()["ran_in_process"]
agree()
assert stats()["ran_in_process"] - before > 1000
assert stats()["failures"] == 0
""")


def test_arrays_made_at_once_have_all_fields() -> None:
    run_here("""
for _ in range(3):
    made = cn.array([1.0, 2.0]) * 2.0
root = made._thunk.base._view.root
missing = {name for name in type(root).__slots__ if not hasattr(root, name)}
assert not missing, missing
""")


def test_reductions_keep_dimensions_and_means_are_sums_at_once() -> None:
    run_here("""
import numpy
from comparison import unfused
from legate_diffuse.check.elements import same_bits
names = [
    f"{function.format(name)}{rest})"
    for function in ("{}.sum(", "{}.max(", "{}.mean(", "np.mean({}, ", "np.sum({}, ")
    for name in "xyz"
    for rest in (
        *(
            f"axis={axis}, keepdims={keeps}"
            for axis in (0, 1, -1)
            for keeps in (False, True)
        ),
        "axis=None",
        "axis=(0, 1)",
        "axis=1, dtype='float64'",
    )
    if "max" not in function or "dtype" not in rest
]
def results(np):
    x = np.array(numpy.arange(12.0).reshape(3, 4)) + 0
    y = np.array(numpy.arange(8, dtype="float32").reshape(2, 4)) + numpy.float32(0)
    z = np.array(numpy.arange(6).reshape(2, 3)) + 0
    return [eval(each, {"np": np, "x": x, "y": y, "z": z}) for each in names]
for _ in range(3):
    found = results(cn)
with unfused():
    told = results(cn)
for name, one, other, third in zip(names, found, told, results(numpy), strict=True):
    assert (one.dtype, one.shape) == (other.dtype, other.shape), name
    assert same_bits(numpy.asarray(one), numpy.asarray(other)).all(), name
    assert one.shape == third.shape and numpy.allclose(one, third), name
x = cn.array(numpy.arange(12.0).reshape(3, 4)) + 0
for call in (
    lambda: x.max(axis=1, keepdims=True),
    lambda: x.mean(axis=0),
    lambda: cn.mean(x, axis=-1, keepdims=True),
    lambda: x.mean(1),
    lambda: cn.mean(x),
):
    for _ in range(3):
        call()
    found = counts(call)
    assert found["ran_in_process"] and not found["tasks_submitted"], found
# what keeps a dimension has memory of its own
made = x.sum(axis=1, keepdims=True)
made += 1.0
assert x.sum() == 66.0 and made.tolist() == [[7.0], [23.0], [39.0]]
""")
