# SPDX-License-Identifier: Apache-2.0
"""Small arrays are reshaped, rolled, multiplied and reduced along an axis as they come.

Each result is compared with NumPy's; counts say that no task was needed.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here
from tiers import examples

# Arrays of a type: dense ones, parts, transposes, repeated ones, none and one element.
MANY_SHAPES = """
def many(n, dtype):
    a = n.arange(1.0, 49.0) % 7.0 - 3.0
    if dtype[0] == "c":
        a = a + 2j
    elif dtype[0] == "f":
        # no zero of a product or an extremum has a sign of its own
        a = a + 0.5
    a = a.astype(dtype)
    b = a.reshape(6, 8)
    c = a.reshape(2, 4, 6)
    return [a, a[5:29], a[:1], a[3], a[:0], b, b.T, b[1:5, 2:], b[:, :1], b[2:3], b[1],
            b[:, 3], b[:, None, 2:], c, c[:, 1:, :5], c.T, c[1], c[:, :0]]
TYPES = ["bool", "int32", "int64", "uint8", "float32", "float64", "complex64",
         "complex128"]
def outcome(call):
    try:
        found = np.asarray(call())
    except (ValueError, TypeError, IndexError, NotImplementedError) as error:
        return type(error)
    return found.dtype, found.shape, found.tolist()
def same(make, fits=lambda a: True):
    # make(n, array) for all arrays that fit, three times each
    for dtype in TYPES:
        for number, (x, y) in enumerate(zip(many(cn, dtype), many(np, dtype))):
            if not fits(y):
                continue
            for _ in range(3):
                one, other = outcome(lambda: make(cn, x)), outcome(lambda: make(np, y))
                assert one == other, (dtype, number, one, other)
    assert legate_diffuse.stats()["failures"] == 0
"""


@pytest.mark.parametrize(
    "shape", ["-1", "(4, 12)", "48", "(2, 3, -1)", "(1, 48)", "(3, -1, 1)", "(5, -1)"]
)
def test_reshaped(shape: str) -> None:
    run_here(
        MANY_SHAPES
        + f"""
# cuPyNumeric refuses open extents of what is empty and has several dimensions
same(lambda n, a: a.reshape({shape}), lambda a: a.size or a.ndim == 1)
"""
    )


def test_ways_to_reshape() -> None:
    run_here(
        MANY_SHAPES
        + """
for make in (lambda n, a: a.ravel(), lambda n, a: a.flatten(),
             lambda n, a: n.reshape(a, (-1, 2)), lambda n, a: a.reshape(-1, 2),
             lambda n, a: a.reshape([2, -1]), lambda n, a: a.reshape((-1, -1)),
             lambda n, a: a.reshape(np.int64(2), -1)):
    same(make, lambda a: a.size or a.ndim == 1)
"""
    )


def test_what_is_reshaped_is_a_copy_unless_extents_of_one_come_or_go() -> None:
    # cuPyNumeric copies where NumPy shows the same elements
    run_here("""
for _ in range(3):
    x = cn.arange(12.0)
    y = x.reshape(3, 4)
    y += 1.0
    y[0] = 5.0
    assert np.asarray(x).tolist() == list(range(12))
    assert np.asarray(y).tolist()[0] == [5.0] * 4
    assert np.asarray(y).tolist()[1:] == [[5, 6, 7, 8], [9, 10, 11, 12]]
    z = y.reshape(3, 1, 4)
    z[2] = 0.0
    assert float(y[2].sum()) == 0.0
    z = y[1].reshape(1, 4)
    z += 1.0
    assert np.asarray(y[1]).tolist() == [6, 7, 8, 9]
    assert x.reshape(12) is x
assert legate_diffuse.stats()["failures"] == 0
""")


def test_rolls() -> None:
    run_here(
        MANY_SHAPES
        + f"""
# elements of several sizes are copied
TYPES = TYPES[:: {examples(3, 1)}]
for shift in (1, -2, 0, 48, 7, -100, (1, 2), True):
    for axis in (None, 0, 1, -1, 2, -3, (0, 1)):
        same(lambda n, a: n.roll(a, shift, axis))
"""
    )


@pytest.mark.parametrize("method", ["sum", "prod", "max", "min"])
def test_reductions_along_an_axis(method: str) -> None:
    run_here(
        MANY_SHAPES
        + f"""
# halves are added without rounding; cuPyNumeric has no extrema of bools
TYPES = TYPES[{method in ("max", "min"):d}:{4 if method == "prod" else 6}]
# cuPyNumeric takes any axis of one element
fits = lambda a: a.ndim > 0
for axis in (0, 1, -1, 2, -3, None):
    same(lambda n, a: a.{method}(axis=axis), fits)
same(lambda n, a: a.{method}(1), fits)
same(lambda n, a: a.{method}(axis=0, keepdims=True), fits)
same(lambda n, a: n.{method}(a, axis=0), fits)
"""
    )


def test_tests_along_an_axis() -> None:
    run_here(
        MANY_SHAPES
        + """
TYPES = ["bool", "int64"]
for axis in (0, 1, -1, 2):
    same(lambda n, a: (a > 0).any(axis=axis), lambda a: a.ndim > 0)
    same(lambda n, a: (a == a).all(axis=axis), lambda a: a.ndim > 0)
    same(lambda n, a: n.all(a > 0, axis=axis), lambda a: a.ndim > 0)
"""
    )


def test_nan_and_infinity_along_an_axis() -> None:
    run_here("""
import warnings
warnings.simplefilter("ignore")
nan, inf = float("nan"), float("inf")
for rows in ([[nan, 1.0], [2.0, 3.0]], [[inf, -inf], [1.0, inf]], [[-0.0, 1.0]] * 2):
    x, y = cn.array(rows), np.array(rows)
    for axis in (0, 1):
        # cuPyNumeric's extrema are those of the numbers
        for name in ("sum", "prod", "mean"):
            for _ in range(3):
                one = np.asarray(getattr(x, name)(axis=axis))
                np.testing.assert_array_equal(one, getattr(y, name)(axis=axis))
""")


def test_means() -> None:
    run_here(
        MANY_SHAPES
        + """
import warnings
warnings.simplefilter("ignore")
# what is added is exact, and so is the quotient's rounding
TYPES = ["bool", "int32", "float32", "float64"]
def close(n, a, **options):
    found = np.asarray(a.mean(**options))
    return np.round(found, 5).astype("float64") + 0.0
for options in ({}, {"axis": 0}, {"axis": -1}, {"axis": 1}, {"axis": None},
                {"axis": 0, "keepdims": True}, {"axis": (0, 1)}):
    for dtype in TYPES:
        for x, y in zip(many(cn, dtype), many(np, dtype)):
            if not y.size:
                continue
            for _ in range(3):
                one, other = (outcome(lambda: close(n, a, **options))
                              for n, a in ((cn, x), (np, y)))
                assert one == other, (dtype, options, one, other)
                if one is not None and not isinstance(one, type):
                    assert x.mean(**options).dtype == y.mean(**options).dtype
"""
    )


def test_products_of_two_matrices() -> None:
    run_here(
        MANY_SHAPES
        + """
TYPES = TYPES[4:]
for dtype in TYPES:
    for x, y in zip(many(cn, dtype), many(np, dtype)):
        # cuPyNumeric repeats what has an extent of one
        if y.ndim != 2 or 1 in y.shape:
            continue
        for form in (lambda a: a.dot(a.T), lambda a: a @ a.T, lambda a: a.T.dot(a),
                     lambda a: a[:3] @ a[1:].T, lambda a: a @ a,
                     lambda a: a.T[1:] @ a[:, ::1], lambda a: a[:, :1] @ a[:1]):
            for _ in range(3):
                one, other = outcome(lambda: form(x)), outcome(lambda: form(y))
                assert one == other, (dtype, y.shape, one, other)
x = cn.ones((4, 5))
for wrong in (lambda: x @ x, lambda: x.dot(cn.ones((4, 5))), lambda: cn.dot(x, x)):
    try:
        wrong()
    except ValueError:
        continue
    raise AssertionError("multiplied")
inf = cn.array([[float("inf"), 1.0], [2.0, float("nan")]])
with np.errstate(invalid="ignore"):
    np.testing.assert_array_equal(np.asarray(inf @ inf),
                                  np.asarray(inf) @ np.asarray(inf))
"""
    )


def test_products_round_as_those_of_blas_do() -> None:
    run_here("""
rng = np.random.default_rng(3)
for dtype, most in (("float64", 2.0**-52), ("float32", 2.0**-23)):
    for m, k, n in ((32, 32, 1), (32, 1, 32), (17, 40, 23), (60, 60, 60)):
        a = rng.normal(size=(m, k)).astype(dtype)
        b = rng.normal(size=(k, n)).astype(dtype)
        found = np.asarray(cn.array(a) @ cn.array(b)).astype("longdouble")
        right = a.astype("longdouble") @ b.astype("longdouble")
        # the bound of a sum in any order
        limit = k * most * (abs(a).astype("longdouble") @ abs(b).astype("longdouble"))
        assert (abs(found - right) <= limit).all(), (dtype, m, k, n)
""")


def test_none_of_them_is_a_task() -> None:
    run_here("""
def program(n):
    found = []
    x = n.arange(48.0) % 5.0
    for _ in range(3):
        a = x.reshape(6, 8)
        b = n.roll(n.roll(a, 1, 0), -2, 1)
        c = b.T.reshape(4, -1).ravel()
        d = a.dot(b.T) + b @ a.T
        e = a.sum(axis=0) + b.max(axis=0) - (a > 1.0).sum(axis=0)
        f = a - a.mean(axis=1)[:, None] * 0.0
        found += [a, b, c, d, e, f, float(x.mean()), (x > 2.0).sum()]
        x = n.roll(x, 7)
    return found
here(program)
""")


def test_counts_of_operations_are_those_of_the_window() -> None:
    run_here("""
from comparison import counts
x, a = cn.arange(48.0), cn.ones((6, 8))
def once():
    x.reshape(6, 8), cn.roll(a, 1, 0), a.sum(axis=0), a @ a.T
for _ in range(3):
    once()
found = counts(once)
# both parts are rolled; NumPy multiplies matrices, without a fill before it
assert found["tasks_seen"] == 6 and found["fills_seen"] == 1, found
assert found["groups"] == found["ran_in_process"] == 6, found
""")


def test_what_is_shown_in_another_shape_goes_on_waiting() -> None:
    run_here(
        """
def program(n):
    x = n.arange(60000.0) / 7.0
    y = (x * 2.0).reshape(-1, 1)
    z = (y + 1.0).reshape((1, 60000)).reshape([60000])
    w = n.roll(z - 1.0, 3) - n.roll(x, -1)
    return [y, z, w.ravel() * 0.5]
for _ in range(3):
    agree(program)
found = counts(lambda: float(program(cn)[2][5]))
assert found["plan_hits"] + found["plans_made"] == 1, found
for n in (cn, np):
    x = n.arange(60000.0) * 2.0
    for shape in ((-1, 7), (7, -1, -1), (59999,), (1, 0, -1)):
        try:
            x.reshape(shape)
        except ValueError:
            continue
        raise AssertionError(shape)
    for shape in (60000, -1, (-1,), (1, -1), (300, 200), (-1, 30000), (2, -1, 1)):
        assert x.reshape(shape).shape == np.arange(60000).reshape(shape).shape
"""
    )


def test_few_results_of_many_elements_do_not_wait() -> None:
    run_here(
        """
def program(n, dtype):
    x = (n.arange(300.0 * 400.0) % 97.0).reshape(300, 400).astype(dtype)
    y = x[2:, 3:]
    float(x[0, 0])
    found = [x.sum(axis=0), y.sum(axis=1), x.max(axis=1), y.min(axis=0),
             x.T.sum(axis=0), x.reshape(30, 10, 400).sum(axis=(0, 2))]
    return [*found, found[0] * 2 + 1, found[1] - found[1].sum()]
for dtype in ("float64", "float32", "int64"):
    for _ in range(3):
        agree(lambda n: program(n, dtype))
# what follows a product runs as it comes after some time, though the matrix has waited
def solve(n, size=280, terms=12):
    a = n.array(np.random.default_rng(4).random((size, size))) * 0.1 + 2.0 * n.eye(size)
    q, h = n.zeros((size, terms + 1)), n.zeros((terms + 1, terms))
    q[0, 0] = 1.0
    for k in range(terms):
        y = a @ q[:, k]
        for j in range(k + 1):
            h[j, k] = (q[:, j] * y).sum()
            y = y - h[j, k] * q[:, j]
        h[k + 1, k] = n.sqrt((y * y).sum())
        q[:, k + 1] = y / h[k + 1, k]
    return h
for _ in range(3):
    np.testing.assert_allclose(np.asarray(solve(cn)), solve(np), rtol=1e-7, atol=1e-9)
found = counts(lambda: float(solve(cn)[3, 2]))
# an operation that runs as it comes is a group of its own
assert found["groups"] > 2 * found["tasks_seen"] // 3, found
"""
    )
