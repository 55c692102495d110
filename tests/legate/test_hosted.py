# SPDX-License-Identifier: Apache-2.0
"""What NumPy does on small arrays is what cuPyNumeric's own tasks do, without tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_alone
from test_small_arrays import run_here
from tiers import some


def run_both(statements: str, dtype: str, path: Path) -> None:
    """Compare what statements give fused with what they give unfused."""
    program = f"""
from hosted_statements import *
from outcomes import different, keep, outcomes
found = outcomes({statements}, {dtype!r})
"""
    # unfused processes become slower with each array that they have had
    done = run_alone(
        f"{program}keep(found, {str(path)!r})\n",
        LEGATE_DIFFUSE="0",
        PYTHONPATH=str(Path(__file__).parent),
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    run_here(
        f"{program}wrong = different(found, {str(path)!r}, {dtype!r})\n"
        'assert not wrong, "\\n".join(map(str, wrong))\n'
    )


DTYPES = ["float64", "int32", "complex128", "float32", "bool", "uint8", "int64"]


@pytest.mark.parametrize("dtype", some(DTYPES, 4))
def test_results_are_those_of_tasks(dtype: str, tmp_path: Path) -> None:
    run_both("CALLS + CHANGES", dtype, tmp_path / "unfused")


@pytest.mark.parametrize("dtype", some(DTYPES, len(DTYPES)))
def test_the_smallest_arrays_are_no_other_ones(dtype: str, tmp_path: Path) -> None:
    run_both("EDGES", dtype, tmp_path / "unfused")


def test_many_elements_are_lent_to_numpy() -> None:
    run_here(
        """
def results(n):
    # 64 KiB, and parts of it
    a = (n.arange(8192.0) * 37 % 101).reshape(128, 64)
    found = []
    for part in (a, a.T, a[3:, 1:60], a[5:100].T):
        found += [n.sort(part, axis=0), n.cumsum(part, axis=1), part @ part.T]
        found += [part.sum(axis=(0, 1)), part.max(axis=(0, 1))]
        found += [part.argmax(axis=0), part.argmin(axis=0), part.argmax(axis=1)]
        # what NumPy has read can be written, and is read anew
        part[2:4] += 1.0
        part[7] = part[8]
        found.append(n.argsort(part[7], kind="stable"))
    return [*found, a]
tasks = window.counters.tasks_submitted
for _ in range(3):
    for one, other in zip(results(cn), results(np), strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)
assert window.counters.tasks_submitted == tasks
""",
        fuses=False,
    )


def test_reductions_are_those_of_numpy_however_many_elements() -> None:
    run_here(
        """
def check(values, axis, *names):
    for name in names:
        found = getattr(cn.array(values), name)(axis=axis)
        wanted = getattr(values, name)(axis=axis)
        assert found.dtype == wanted.dtype, (name, values.dtype)
        same = np.allclose(np.asarray(found), wanted, 1e-4)
        assert same, (name, axis, values.dtype, values.shape)
rng = np.random.default_rng(7)
for dtype in ("float64", "float32", "int64"):
    for shape in ((700, 300), (40, 50, 60), (3, 4, 5), (2, 3, 9000), (4, 1, 3)):
        values = (rng.random(shape) * 50 - 20).astype(dtype)
        for each in (values, values.T, values[1:, ..., 1:], values * 0):
            for axis in range(-each.ndim, each.ndim):
                check(each, axis, "argmax", "argmin")
        if len(shape) > 2:
            for axes in ((0, 1), (-1, 0), (1, 2)):
                check(values, axes, "sum", "max", "min")
                check(values.T[:4, :4, :4] % 3, axes, "prod")
""",
        fuses=False,
    )


def test_extremes_of_rows_with_nan_are_left_to_the_original() -> None:
    run_here(
        """
counters = window.counters
for count in (3, 31, 32, 33, 64, 100):
    for place in (None, 0, count // 2, count - 1):
        values = np.arange(count) % 7 - 3.0
        if place is not None:
            values[place] = np.nan
        before = counters.tasks_submitted
        found = int(cn.array(values).argmax())
        window.flush("test")
        assert (counters.tasks_submitted == before) == (place is None), (count, place)
        assert place is not None or found == values.argmax()
""",
        fuses=False,
    )


def test_rows_at_a_mask_are_assigned_in_this_process() -> None:
    run_here(
        """
def results(n, rows):
    v = (n.arange(3.0 * rows) % 11).reshape(rows, 3)
    mask = v[:, 1] > 4
    v[mask] *= (n.arange(1.0 * rows) % 3)[mask][:, None]
    v[mask] = v[mask][:, :1]
    return v
for rows in (20, 40_000):
    tasks = window.counters.tasks_submitted
    assert np.array_equal(results(cn, rows), results(np, rows))
    assert rows > 20 or window.counters.tasks_submitted == tasks
""",
        fuses=False,
    )


def test_flags_are_counted_in_words() -> None:
    # 255 words of flags, and a few more and less
    run_here(
        """
rng = np.random.default_rng(3)
for count in (*range(1, 18), 2039, 2040, 2041, 2048, 4087, 20000):
    for share in (0.0, 0.3, 1.0):
        values, flags = rng.random((2, count)), rng.random((2, count)) < share
        x, m = cn.array(values), cn.array(flags)
        # no row of flags begins at a word, and columns are not in one piece
        for part in ((1,), (slice(None), slice(1, None)), (slice(None), count // 2)):
            found, wanted = x[part][m[part]], values[part][flags[part]]
            assert np.array_equal(found, wanted), (count, share, part)
assert legate_diffuse.stats()["ran_in_process"] > 0
""",
        fuses=False,
    )


def test_places_of_bools_are_those_of_numpy() -> None:
    run_here(
        """
for values in ([True], [False], [True, True], [False, True, False, True]):
    for name in ("argmax", "argmin"):
        found = getattr(cn, name)(cn.array(values))
        wanted = getattr(np, name)(np.array(values))
        assert (int(found), found.dtype) == (wanted, wanted.dtype), (name, values)
tasks = window.counters.tasks_submitted
grid = np.arange(20).reshape(4, 5) % 3 == 1
for axis in (0, 1):
    assert np.array_equal(cn.array(grid).argmax(axis=axis), grid.argmax(axis=axis))
assert window.counters.tasks_submitted == tasks
""",
        fuses=False,
    )


# They show the elements of an array, or have arguments that are none.
OTHERS = [
    "sort([3, 1, 2])",
    "argmax([3, 1, 2])",
    "cumsum([1, 2])",
    "trace([[1, 2]])",
    "median([1.0, 2.0])",
    "array_equal([1], [1])",
    "array_equal(x, [1])",
    "matmul(A, [[1, 2, 3, 4]] * 4)",
    "dot([1.0], [2.0])",
    "var([1.0, 2.0])",
    "einsum('i,i', x4, [1, 2, 3, 4])",
    "percentile([1.0, 3.0], 50)",
    "take(x, [])",
    "einsum('ij->ji', A)",
    "cross([1, 2, 3], [3, 4, 5])",
    "linalg.solve(P, [1.0, 2.0, 3.0, 4.0])",
    "rot90(A, 0)",
    "rot90(A, 4)",
    "mean([1, 2], axis=0)",
    "tile([1, 2], 2)",
    "concatenate(([1, 2], [3]))",
    "stack(([1, 2], [3, 4]))",
    "diag([1, 2])",
    "maximum.reduce(f)",
    "add.reduce([1.0, 2.0])",
    "histogram(w, bins=s)",
]


def test_what_is_no_array_is_left_to_the_original(tmp_path: Path) -> None:
    run_both(repr(OTHERS), "float64", tmp_path / "unfused")


def test_no_task_is_needed() -> None:
    run_here(
        """
from hosted_statements import *
from outcomes import outcome
# what cuPyNumeric refuses, or gives no new array of
ASIDE = ("sort(e", "cumsum(e", "flip(e", "nonzero(e", "diag(e", "unique(e",
         "x[2].sum(0", "x[..., 2].max", "x[2].any", "take(e", "x[x > 2]", "A[A", "x[(x",
         "nan_to_num(x", "convolve(x, x4)",
         "pad(x, 2, mode='r", "pad(x, 2, mode='w", "unique(r, r", "x.conj", "isin",
         "sort(f)", "arg", "median(f", "T[:, i3", "nanmean", "sum", "max",
         "cumsum(x, d",
         "A.T", "count_nonzero(A, ", "ravel_", "unravel", "diag_", "lexsort", "tri",
         "array_equal(x, A", "A.flatten", "roll(", "A[A[:, 0]", "unique(A)",
         "repeat(x, r", "tile(x, [T", "dot(A, x4", "linalg.pinv",
         "einsum('ii", "einsum('ij->",
         "partition(A, 2, N", "partition(f", "nanmedian(f", "nanarg", "all(z",
         "logspace", "histogram2d", "roots", "histogramdd(c[:, :2], 4, ",
         "histogramdd(c[:, 1:]", "histogramdd(c /", "histogramdd(A[:, :2] *",
         "put(x, [30]", "put(x, i, i)",
         "place(x, r", "putmask(x, x > 2, i4",
         "putmask(x, x > 2, x4", "putmask(A, A > 2, x[:3]", "copyto(A, A.T",
         "x.sort(kind", "histogram(w / w", "histogram(x.astype", "digitize(r, s[:1], T",
         "searchsorted(s, float('n", "searchsorted(s, w *", "linalg.eig",
         # LAPACK chooses signs and orders
         "linalg.svd", "linalg.qr", "linalg.matrix_power(P, -", "linalg.norm(A, 'n",
         "linalg.norm(A, 2", "diag(T", "diag(A, 9", "diag(A, array", "diag(A, k=-",
         "trace(A, offset=-9", "diff(x, n=0", "var(A, axis=(", "var(x, ddof=1",
         "cov(A, ddof=1", "isclose(x, x, e", "allclose(x, x, e", "stack([x, x], axis=T",
         "repeat(A, 2, axis=T", "insert(x, T", "histogram(x, range=(1", "compress(",
         "nanmedian(w /", "cross(A[:, :2",
         "nanquantile(f,", "nanquantile(w /", "nanpercentile(c, 130", "dot(T, T)",
         # a task, which is fused or runs as it was submitted
         "mgrid",
         # no places
         "A[[0, 1], i4", "A[[0, 1], [2, 5", "x[[1, 20]]", "A[:, :, i3]", "A[:, i4]",
         # one element is none of an array, but a future
         "cumsum(o", "sort(o", "searchsorted(o", "trace(o", "fill_diagonal(A, True")
before = legate_diffuse.stats()["tasks_submitted"]
submitted = {}
for statement in CALLS + CHANGES:
    if statement.startswith(ASIDE):
        continue
    outcome(statement, "float64")
    now = legate_diffuse.stats()["tasks_submitted"]
    if now != before:
        submitted[statement] = now - before
    before = now
assert not submitted, submitted
""",
        fuses=False,
    )


def test_arrays_come_back_from_legate() -> None:
    run_here(
        """
x = cn.arange(100.0)
shared = np.asarray(x)
y = x * 2.0
assert shared[3] == 3.0
del shared
for _ in range(3):
    np.testing.assert_array_equal(cn.sort(-y), np.sort(-np.arange(100.0) * 2.0))
before = legate_diffuse.stats()["tasks_submitted"]
for _ in range(10):
    cn.sort(x), cn.cumsum(y), x.argmax(), str(x), x.tolist(), x + y
assert legate_diffuse.stats()["tasks_submitted"] == before
x[2:4] = 7
assert x.tolist()[:5] == [0.0, 1.0, 7.0, 7.0, 4.0]
""",
        fuses=False,
    )


def test_large_arrays_are_left_to_tasks() -> None:
    run_here(
        """
x = cn.arange(200_000.0)[::1] * 1.0
assert int(x.argmax()) == 199_999
np.testing.assert_array_equal(cn.sort(-x), np.sort(-np.arange(200_000.0)))
# neither does what two small arrays give
y = np.arange(1000.0)
np.testing.assert_array_equal(cn.outer(cn.array(y), cn.array(y)), np.outer(y, y))
""",
        fuses=False,
    )


def test_numbers_of_another_type_are_assigned_at_once() -> None:
    run_here(
        """
def program(n):
    u = n.zeros((5, 6))
    v = n.ones(8, dtype="float32")
    i = n.zeros(4, dtype="int32")
    for _ in range(3):
        u[0, :] = 1
        u[:, 2] = 2
        u[3, 3] = 5
        u[1:3, 1:3] = True
        v[2:5] = 2.5
        v[0] = 3
        i[1:3] = 7
        u[u > 4] = -1
    return [u, v, i]
for found, wanted in zip(program(cn), program(np)):
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype
u = cn.zeros((41, 41))
u[0, :] = 1
before = legate_diffuse.stats()
for _ in range(10):
    u[0, :] = 1
    u[:, 0] = 2
    u[3, 4] = 5
after = legate_diffuse.stats()
assert after["tasks_submitted"] == before["tasks_submitted"]
assert after["ran_in_process"] - before["ran_in_process"] == 30
""",
        fuses=False,
    )


def test_cupynumeric_warns_of_conversions_if_it_is_asked_to() -> None:
    run_here(
        """
import warnings
from cupynumeric.settings import settings
x = cn.zeros(10)
x[2:4] = 1
settings.warn = True
try:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x[2:4] = 1
        x[5] = 2
        x[cn.array([0, 1])] = 3
    assert len(caught) == 3, caught
finally:
    settings.warn = False
assert x.tolist() == [3, 3, 1, 1, 0, 2, 0, 0, 0, 0]
assert legate_diffuse.stats()["ran_in_process"] > 0
""",
        fuses=False,
    )


def test_an_assignment_does_not_undo_what_came_between() -> None:
    run_here(
        """
from legate_diffuse.interpose.originals import real
native = real.legate.native
x = cn.arange(4.0)
content = native.elements_of(x)
assert (content.shape, content.dtype) == ((4,), "float64")
changed = np.array([9.0, 8.0, 7.0, 6.0])
x[1] = 5.0
assert not native.put_elements(x, content, changed)
assert x.tolist() == [0.0, 5.0, 2.0, 3.0]
content = native.elements_of(x)
assert native.put_elements(x, content, changed)
assert x.tolist() == [9.0, 8.0, 7.0, 6.0]
assert native.elements_of(3) is None
assert not native.put_elements(x, changed, changed[1:])
""",
        fuses=False,
    )


def test_what_shows_arrays_in_another_shape_shows_the_same_elements() -> None:
    run_here(
        """
WAYS = [
    lambda n, a: a.T, lambda n, a: n.transpose(a), lambda n, a: a.transpose((1, 0, 2)),
    lambda n, a: a.swapaxes(0, 1), lambda n, a: n.swapaxes(a, 0, 2),
    lambda n, a: a.squeeze(), lambda n, a: n.squeeze(a),
    lambda n, a: n.expand_dims(a, 0), lambda n, a: n.expand_dims(a, (0, 2)),
    lambda n, a: n.moveaxis(a, 0, 2), lambda n, a: a.T.T, lambda n, a: a[1:].T[:2],
    lambda n, a: a.T.squeeze(), lambda n, a: a.swapaxes(0, 9), lambda n, a: a.T + 1,
]
SHAPES = [(2, 3, 4), (2, 1, 3), (4, 4), (1, 5), (6,), (0, 3), (1, 1, 1), ()]
def outcome(make, n, shape, change):
    a = n.array(np.arange(24.0)[:int(np.prod(shape))].reshape(shape))
    found = []
    for _ in range(3):
        try:
            b = make(n, a)
            if change and b.shape and b.size:
                # whether it shows the elements themselves
                b[(0,) * len(b.shape)] = 70.5
            found.append((b.shape, b.tolist(), a.tolist()))
        except (ValueError, IndexError, AttributeError, TypeError) as error:
            found.append("refused")
    return found
for make in WAYS:
    for shape in SHAPES:
        for change in (False, True):
            one = outcome(make, cn, shape, change)
            other = outcome(make, np, shape, change)
            assert "refused" in other or one == other, (shape, change, one)
assert legate_diffuse.stats()["ran_in_process"] > 0
""",
        fuses=False,
    )


def test_bools_are_assigned_and_single_items_are_read_at_once() -> None:
    run_here(
        """
def program(n):
    x, b, i = n.zeros(6), n.zeros(6, dtype=bool), n.arange(6)
    A = n.arange(6.0).reshape(2, 3)
    for _ in range(3):
        x[1:3], x[4], b[1], b[2:], i[2], i[3:] = True, True, True, True, False, True
        x[b], b[b] = False, True
    return [x.tolist(), b.tolist(), i.tolist(), A.item(1, 2), A.item(4), i.item(-1)]
assert program(cn) == program(np), program(cn)
x = cn.arange(6.0)
def refused(call):
    try:
        return call()
    except Exception as error:
        return type(error), str(error)
original = cn.ndarray.item.__wrapped__
for index in ((6,), (-7,), (0, 0), ("a",), (2.0,), ()):
    found = refused(lambda: x.item(*index))
    assert found == refused(lambda: original(x, *index)), index
before = legate_diffuse.stats()["tasks_submitted"]
for _ in range(5):
    x[1:3], x[4] = True, False
    x.item(3)
assert legate_diffuse.stats()["tasks_submitted"] == before
""",
        fuses=False,
    )
