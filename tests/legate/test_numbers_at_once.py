# SPDX-License-Identifier: Apache-2.0
"""Numbers of all kinds, and arrays that overlap, take the short way with arrays."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

# Expressions of an array, and statements that change it.
PROGRAM = """
import warnings
warnings.simplefilter("ignore")
EXPRESSIONS = [
    "A * np.float64(2.5)", "np.float64(2.5) * A", "A + np.int64(3)", "np.int64(3) - A",
    "A * np.float32(0.1)", "np.float32(0.1) * A", "np.float64(0.3) < A",
    "A / np.float64(3)", "np.maximum(A, np.float64(2))", "A * np.float64('nan')",
    "A * 2j", "2j * A", "A - (1 + 2j)", "1j - A", "A / 2j", "A == 1j",
    "A * complex(0.0, 1.0)", "A * complex(-0.0, 1.0)", "A + complex(0.0, -0.0)",
    "z * 2", "z / 2.5", "2 - z", "z + 1", "z * 1j", "z != 0", "z * A[0]", "A[0] + z",
    "z * np.float64(2)", "A[0, 1] * np.float64(2)", "n.sqrt(50.0)", "n.sqrt(50)",
    "n.floor(2.5)", "n.floor(2)", "n.ceil(2)", "n.square(3.0)", "A.astype(complex)",
]
CHANGES = [
    "A[1:] = A[:-1]", "A[:-1] = A[1:]", "A[0] = A[:, 0]",
    "A[1:3, 1:3] = A[:2, :2].T", "A[1:] += A[:-1]", "A[:, 1:] -= A[:, :-1]",
    "A += A.T", "A *= A[0]", "A[0] = i", "A[1] = n.arange(4)", "i[:] = A[0]",
    "z[:] = i", "z[1:] = A[0, 1:]", "z[0] = 1", "z[1] = 1j", "z += 1", "z *= 2.5",
    "z *= 1j", "A *= np.float64(2.5)", "A[1] += np.int64(2)", "z[1:3] = True",
    "z[z == 3.0] = 2j", "z[n.array([0, 2])] = 1 - 1j", "z[2] = complex(-0.0, -0.0)",
    "A **= 2", "A **= 0.5", "A[1:] **= 3", "i **= 2", "z **= 2", "A **= A[0]",
    "z[:2] = complex('nan')", "z[1:] = complex(float('inf'), -1.0)", "z[3] = 2**60 + 1",
]
def outcome(n, statement, dtype):
    A = n.array((np.arange(16) % 7).reshape(4, 4).astype(dtype))
    z = n.array(np.array([1 + 2j, -1j, 3.0, 0.0]))
    i = n.array(np.array([4, 3, 2, 1]))
    names = {"A": A, "z": z, "i": i, "n": n, "np": np if n is cn else n}
    try:
        if statement in CHANGES:
            exec(statement, names)
            return [np.array(names[name]) for name in "Azi"]
        return [np.array(eval(statement, names))]
    except TypeError:
        return []
"""


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_results_are_those_of_numpy(dtype: str) -> None:
    run_here(
        PROGRAM
        + f"""
for statement in EXPRESSIONS + CHANGES:
    # NumPy refuses what cuPyNumeric converts
    if {dtype!r} != "float64" and statement in CHANGES and "np." in statement:
        continue
    if {dtype!r} == "float32" and "j" in statement or "complex" in statement:
        continue
    for _ in range(3):
        found = outcome(cn, statement, {dtype!r})
        wanted = outcome(np, statement, {dtype!r})
        assert len(found) == len(wanted), statement
        for one, other in zip(found, wanted):
            assert one.dtype == other.dtype, (statement, one.dtype, other.dtype)
            np.testing.assert_allclose(one, other, rtol=1e-6, err_msg=statement)
""",
        fuses=False,
    )


def test_no_task_is_needed() -> None:
    run_here(
        PROGRAM
        + """
submitted = {}
for statement in EXPRESSIONS + CHANGES:
    for _ in range(3):
        before = legate_diffuse.stats()["tasks_submitted"]
        outcome(cn, statement, "float64")
        after = legate_diffuse.stats()["tasks_submitted"]
    if after != before:
        submitted[statement] = after - before
assert not submitted, submitted
""",
        fuses=False,
    )


def test_numbers_of_numpy_of_all_types() -> None:
    """They make the same of an array as in NumPy, at once where Python's do."""
    run_here(
        """
import warnings
warnings.simplefilter("ignore")
types = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
numbers = [np.dtype(t).type(v) for t in types.split() for v in (1, 3)] + [
    np.float64("nan"), np.float64(1e300), np.uint64(2**64 - 1), np.float32(0.1),
    np.longlong(5), np.longdouble(1.5), np.complex64(1 + 2j)]
def outcome(n, call, dtype, number):
    a = n.array((np.arange(12) % 5).reshape(3, 4).astype(dtype))
    with np.errstate(all="ignore"):
        try:
            made = call(a, number)
        except (TypeError, OverflowError, ValueError):
            return None
    return np.asarray(a if made is None else made)
def put(a, number):
    a[1, 2] = number
def put_row(a, number):
    a[1, 1:] = number
for dtype in ("float64", "float32", "int64", "int32", "uint8", "bool"):
    for number in numbers:
        for call in (lambda a, v: a * v, lambda a, v: v * a, lambda a, v: a[2, 3] + v,
                     lambda a, v: v + a[2, 3], lambda a, v: a < v, put, put_row):
            wanted = outcome(np, call, dtype, number)
            if wanted is None:
                continue
            for _ in range(2):
                found = outcome(cn, call, dtype, number)
                if found is None:  # what cuPyNumeric does not have
                    break
                assert found.dtype == wanted.dtype, (dtype, repr(number))
                np.testing.assert_array_equal(found, wanted, repr((dtype, number)))
g, A, x = np.float64(2.5), cn.arange(16.0).reshape(4, 4), cn.arange(50.0)
def statements():
    A[1, 2] = g
    A[1] = g
    return g * x + x * np.int64(3) - np.float32(0.5) * A[1, 2]
statements()
before = legate_diffuse.stats()
statements()
after = legate_diffuse.stats()
assert after["tasks_submitted"] == before["tasks_submitted"]
assert after["ran_in_process"] - before["ran_in_process"] >= 6
""",
        fuses=False,
    )


def test_numbers_of_numpy_that_come_first() -> None:
    run_here(
        """
import operator
types = "float64 float32 int64 int32 int16 int8 uint64 uint32 uint16 uint8"
names = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift"
names = [*names.split(), *"lt le eq ne gt ge".split()]
class Own(np.float64):
    pass
def results(n):
    found = []
    for number in [*(np.dtype(each).type(3) for each in types.split()), Own(1.5)]:
        x = n.array(np.arange(1, 7).astype(number.dtype))
        for name in names:
            for operand in (x, x[2]):
                try:
                    found.append(getattr(operator, name)(number, operand))
                except TypeError:
                    found.append(None)
    return found
for _ in range(2):  # what a number and an array are is learned once
    found = results(cn)
for one, wanted in zip(found, results(np), strict=True):
    assert (one is None) == (wanted is None)
    if one is not None:
        assert type(one) is cn.ndarray and one.dtype == wanted.dtype
        np.testing.assert_array_equal(one, wanted)
""",
        fuses=False,
    )


def test_a_narrow_product_lets_nothing_wait() -> None:
    run_here(
        """
X, w = cn.arange(40.0).reshape(10, 4) / 40, cn.ones(4)
def step():
    p = 1 / (1 + cn.exp(-X @ w))
    return X.T @ (p - 0.5)
for _ in range(3):
    float(step()[0])
before = legate_diffuse.stats()
step()
after = legate_diffuse.stats()
# nothing of it waits: all but the products ran before anybody asks
assert after["ran_in_process"] - before["ran_in_process"] >= 5
assert after["tasks_submitted"] == before["tasks_submitted"]
plain = np.arange(40.0).reshape(10, 4) / 40
wanted = plain.T @ (1 / (1 + np.exp(-plain @ np.ones(4))) - 0.5)
np.testing.assert_allclose(step(), wanted)
""",
        fuses=False,
    )


def test_truth_values_are_counted_along_several_axes() -> None:
    run_here(
        """
t = np.arange(48).reshape(3, 4, 4) % 7 > 2
x = cn.array(t)
for axis in ((1, 2), (0, 2), (0, 1), (0, 1, 2), (2, -3)):
    for keepdims in (False, True):
        found = x.sum(axis=axis, keepdims=keepdims)
        wanted = t.sum(axis=axis, keepdims=keepdims)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(cn.sum(x, axis), t.sum(axis))
""",
        fuses=False,
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )


def test_complex_numbers_have_the_truth_of_the_original() -> None:
    """It looks at the real part alone, other than NumPy."""
    run_here(
        """
for dtype in ("float32", "float64", "int64", "bool"):
    for _ in range(3):
        x = cn.array(np.array([-2, 0, 1], dtype))
        assert not np.asarray(cn.logical_and(x, 1j)).any()
        assert np.asarray(cn.logical_or(1j, x)).tolist() == [True, False, True]
""",
        fuses=False,
    )


def test_choices_between_two_numbers_are_fused_with_their_masks() -> None:
    run_here(
        """
L = np.random.default_rng(0).random((700, 700))
def program(n):
    x = n.array(L)
    mask = (x > 0.3) & (x < 0.8)
    found = n.where(mask, 1, 0.5) + n.where(mask, 1.0, -1.0) * x
    return [found, n.where(x > 0.5, 2, -1)]
expected = program(np)
for _ in range(2):
    found = counts(lambda: [np.asarray(each) for each in program(cn)])
    assert found["groups"] < 3 and found["failures"] == 0, found
for one, other in zip(map(np.asarray, program(cn)), expected, strict=True):
    assert one.dtype == other.dtype and np.array_equal(one, other)
"""
    )
