# SPDX-License-Identifier: Apache-2.0
"""A few elements of large arrays, and NumPy's functions of them, need no tasks.

Legate maps the memory of such arrays for this process, and has it back for its tasks.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

# Tasks are submitted until a few loops over parts of large arrays have come in a row.
SETTLED = """
def settled(program):
    agree(program)
    found = counts(lambda: program(cn))
    assert found["failures"] == 0, found
    return found["tasks_submitted"]
"""


@pytest.mark.parametrize("cpus", [1, 2])
def test_rows_and_elements(cpus: int) -> None:
    run_here(
        SETTLED
        + """
base = np.random.default_rng(1).integers(-9, 9, (400, 500)).astype(float)
L, b = cn.array(base), cn.array(base[0])
def program(n):
    a, v = (L, b) if n is cn else (base, base[0])
    x = n.zeros(500)
    for i in range(1, 400):
        x[i] = (v[i] - a[i, :i].max()) * 0.5 + a[i, i]
        x[i] -= a[i, i - 1] + (a[:i, i] * x[:i]).max() * 0.25
    return [x]
assert settled(program) == 0
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


def test_elements_of_large_arrays_as_indices() -> None:
    run_here(
        SETTLED
        + """
rng = np.random.default_rng(3)
places, values = rng.integers(0, 300, 90000), rng.random((300, 300))
P, V = cn.array(places), cn.array(values)
def program(n):
    p, v = (P, V.copy()) if n is cn else (places, values.copy())
    found = []
    for k in range(20):
        v[p[k], p[k + 1]] += 1.0
        v[p[k], 3] -= v[3, p[k + 2]]
        v[p[k + 3]] *= 0.5
        v[2:9, p[k]] = v[p[k], 2:9]
        found += [v[p[k], p[k]] * 2.0, v[p[k] : p[k] + 3, 0], v[p[k]] + 1.0]
    return [v, *found]
assert settled(program) == 0
P[5] = 300
for n, p, v in ((cn, P, V), (np, np.array(P), values)):
    try:
        v[p[5], 0]
    except IndexError:
        continue
    raise AssertionError(n)
""",
    )


def test_elements_of_large_arrays_as_bounds() -> None:
    """Rows of a sparse matrix, whose arrays were computed a moment before."""
    run_here(
        """
def program(n, rows=40000):
    starts, values = n.arange(rows + 1) * 5, n.arange(5.0 * rows)
    found = n.zeros((rows // 400, 5))
    for k in range(0, rows, 400):
        row = values[starts[k] : starts[k + 1]]
        values[starts[k] : starts[k] + 2] *= 0.5
        found[k // 400, : starts[k + 1] - starts[k]] = row
    return [values, found]
program(cn), program(cn)
found = counts(lambda: float(program(cn)[1][3, 3]))
assert found["tasks_submitted"] <= 1, found
agree(program)
"""
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_indices_that_wait_for_large_arrays(cpus: int) -> None:
    """What they wait for is computed, and NumPy takes what they say."""
    run_here(
        SETTLED
        + """
rng = np.random.default_rng(3)
values = rng.random((5000, 20)) - 0.5
V, R = cn.array(values).copy(), cn.arange(5000)
def program(n):
    v, rows = (V, R) if n is cn else (values, np.arange(5000))
    some = (v > 0.0).sum(axis=1)
    flat, w = v.ravel(), v * 2.0
    found = [v[rows, some - 1] / (some + 1), w[rows, v.argmax(axis=1)], flat[some]]
    w[rows, some - 1] = 3.0
    w[rows, some - 2] += 1.0
    w[some] = v[some] * 2.0
    return [w, *found, v[:, (v > 0.0).sum(axis=0) % 20]]
assert settled(program) == 0
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_values_are_put_where_masks_say(cpus: int) -> None:
    """Those that no loop over all elements can compute, and as many as there are."""
    run_here(
        SETTLED
        + """
rng = np.random.default_rng(3)
values, floats = rng.integers(0, 100, (300, 300)), rng.random((300, 300))
V, F = cn.array(values).copy(), cn.array(floats).copy()
def program(n):
    v, f = (V + 1, F * 2.0) if n is cn else (values + 1, floats * 2.0)
    v[v > 90] //= 2
    v[v > 80] <<= 1
    high, low = v > 70, v < 20
    k = min(int(high.sum()), int(low.sum()))
    high, low = (each & ((each.ravel() * 1).cumsum().reshape(300, 300) <= k)
                 for each in (high, low))
    v[high] = v[low]
    f[low] = v[high] * 2.0
    f[high] = n.arange(k)
    g = f.ravel() + 1.0
    g[low.ravel()] = f[high]
    return [v, f, g]
assert settled(program) == 0
def refusal(n):
    v = V + 1 if n is cn else values + 1
    try:
        v[v > 90] = n.arange(7)
    except (ValueError, IndexError) as error:
        return type(error), v.sum()
    raise AssertionError(n)
assert refusal(cn)[1] == refusal(np)[1]
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_parts_that_change_between_tasks(cpus: int) -> None:
    """Loops over all elements, tasks of Legate's and NumPy see what parts have got."""
    run_here(
        SETTLED
        + """
def program(n):
    u = n.arange(120000.0).reshape(300, 400) % 17.0
    found = []
    for k in range(40):
        u[0, :] = k
        u[:, -1] = u[:, 1]
        u[k, 3:9] += u[k + 1, 4:10]
        if k % 5 == 0:
            u = u * 0.5 + u[::1, :]
        if k % 7 == 0:
            found.append(n.sort(u, axis=0)[3, :5])
        if k % 9 == 0:
            found.append(np.asarray(u)[2:4].copy())
        if k % 4 == 0:
            found.append(float(u[k, 7]))
    return [u, *found]
agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


def test_new_large_arrays_that_are_written_in_parts() -> None:
    run_here(
        SETTLED
        + """
x = cn.arange(40.0)
def program(n):
    v = x if n is cn else np.arange(40.0)
    made = n.empty((40, 40, 40), "float64")
    for i in range(40):
        for j in range(40):
            made[:, i, j] = v * i - j
    return [made]
settled(program)
# what waits runs at once again as soon as nothing else does; the array is filled first
found = counts(lambda: program(cn))
assert found["tasks_submitted"] <= 6 and found["groups"] > 1600, found
"""
    )


def test_many_short_operations_end_a_window() -> None:
    """Rows of an array that a task has written are asked for once 32 of them wait."""
    run_here(
        SETTLED
        + """
base = np.random.default_rng(1).integers(-9, 9, (400, 500)).astype(float)
L = cn.array(base)
def program(n):
    a = L * 2.0 if n is cn else base * 2.0
    for i in range(399):
        a[i + 1] += 0.5 * a[i] - i
    return [a]
agree(program)
found = counts(lambda: program(cn))
# the multiplication may be one
assert found["tasks_submitted"] <= 1, found
assert found["plans_made"] == 0 and found["groups"] > 380, found
"""
    )


# Statements on large arrays that NumPy does on the memory that is mapped.
HOSTED = (
    "x @ A",
    "A.T @ y",
    "A @ B",
    "x[:300] @ A[:, 10:310] + 1.0",
    "np.sort(flat)",
    "flat[places]",
    "flat[flat > 3.0]",
    "A[rows]",
    "np.histogram(flat, 20)[0]",
    "np.concatenate((flat, flat[:9]))",
    "A.reshape(500, 300)",
    "A[1:].reshape(-1)",
    "np.repeat(flat[:90000], 3)",
    "np.cumsum(flat)",
    "np.unique(ints)",
    "ints[np.argsort(ints)]",
    "np.nonzero(A > 7.0)[1]",
    "np.take(A, rows, axis=1)",
    "np.linalg.inv(square)",
    "flat[5]",
    "A[7, 9:12]",
)


def test_functions_of_numpy() -> None:
    run_here(
        f"""
rng = np.random.default_rng(2)
plain = dict(
    A=rng.integers(-9, 9, (300, 500)).astype(float),
    B=rng.integers(-9, 9, (500, 310)).astype(float),
    square=rng.normal(size=(250, 250)) + 250 * np.eye(250),
    x=rng.integers(-9, 9, 300).astype(float),
    y=rng.integers(-9, 9, 300).astype(float),
    flat=rng.integers(-9, 9, 100000).astype(float),
    ints=rng.integers(0, 999, 80000),
    places=rng.integers(-100000, 100000, 60000),
    rows=rng.integers(0, 300, 200),
)
for statement in {HOSTED!r}:
    own = {{name: cn.array(value) for name, value in plain.items()}}
    kept = {{name: value.copy() for name, value in plain.items()}}
    right = eval(statement, {{"np": np}} | kept)
    def fused():
        return eval(statement, {{"np": cn}} | own)
    for _ in range(2):
        made = fused()
        found = np.asarray(made)
        assert (found.dtype, found.shape) == (right.dtype, right.shape), statement
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
        # new arrays are their own
        if found.ndim:
            made[...] = made * 0 + 1
            assert float(made[(0,) * made.ndim]) == 1.0, statement
            if "A[7" in statement:
                own["A"] = cn.array(plain["A"])
    for name, value in own.items():
        np.testing.assert_array_equal(np.asarray(value), plain[name], statement)
    assert counts(fused)["tasks_submitted"] <= 1, (statement, counts(fused))
assert legate_diffuse.stats()["failures"] == 0
""",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 1000",
    )


def test_whoever_limits_arrays_here_has_no_large_ones_mapped() -> None:
    run_here(
        """
x = cn.array(np.arange(100000.0))
for k in range(40):
    x[k] = x[k + 1] * 2.0
    float(x[k])
assert not window.submitter.small.may_be_mapped(x._thunk.base._view.root)
assert x._thunk.base._view.root.mapped is None
found = counts(lambda: float((x[3:9] * 2.0).sum()))
assert found["tasks_submitted"] > 0, found
""",
        LEGATE_DIFFUSE_SMALL_BYTES="393216",
    )


def test_arrays_in_tiles_are_not_mapped() -> None:
    run_here(
        """
base = np.arange(90000.0).reshape(300, 300)
x = cn.array(base) * 1.0
for k in range(1, 60):
    x[k, 2:9] = x[k - 1, 1:8] + 1.0
    base[k, 2:9] = base[k - 1, 1:8] + 1.0
assert x._thunk.base._view.root.mapped is None
np.testing.assert_array_equal(np.asarray(x), base)
""",
        LEGATE_CONFIG="--cpus 2 --gpus 0 --sysmem 1000",
        LEGATE_DIFFUSE_THREADS="1",
        LEGATE_TEST="1",
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_products_for_which_something_waits(cpus: int) -> None:
    """What waits for a factor runs before NumPy multiplies; sums are exact."""
    run_here(
        SETTLED
        + """
def outcome(call):
    try:
        return [call()]
    except ValueError:
        return [np.zeros(3)]

def program(n):
    found = []
    for dtype in ("float64", "float32"):
        a = (n.arange(340.0 * 360).reshape(340, 360) % 5.0).astype(dtype)
        b = (n.arange(360.0 * 20).reshape(360, 20) % 7.0).astype(dtype)
        for k in range(0, 60, 7):
            x = (a[k:, k] + a[k:, 3]) % 3
            a[k:, 2:] = (a[k:, 2:] + 1) % 5
            y = x @ a[k:, :]
            z = a[:, k:] @ (y[k:] % 4)
            w = a[: k + 9].T @ x[: k + 9]
            found += [x, y, z, w, (a.T + 0) @ a[:, k], a @ b, a[k:, :20].T @ a[k:]]
            found += outcome(lambda: x @ a)
            found += outcome(lambda: a @ b[k:, 3])
            b[k:, :5] = (b[k:, :5] + b[k:, 5:10]) % 7
            found += [b.argmax(axis=0), a[:, 9].copy(), a[k:, :9].max(axis=0)]
    return found
agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )
