# SPDX-License-Identifier: Apache-2.0
"""Products of matrices in compressed rows, in the loops of fused tasks."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import cupynumeric as cn
import numpy as np
import other_library as other
import other_package
import pytest
from comparison import agree, counts
from hypothesis import given, settings
from hypothesis import strategies as st
from process import run_alone, run_checks
from scipy.sparse import csr_array
from tiers import some

import legate_diffuse
from legate_diffuse.libraries import registry

if "other" not in registry._registered:
    legate_diffuse.register("other", other_package.register())

ROWS, COLUMNS = 60, 40
ON_TILES = Path(__file__).with_name("sparse_tiles_agree.py")

pytestmark = pytest.mark.usefixtures("_two_threads")

# Lengths of rows, and whether columns come twice.
structures = st.tuples(
    st.lists(st.integers(0, 6), min_size=ROWS, max_size=ROWS).filter(
        lambda n: sum(n) > 1
    ),
    st.booleans(),
)


def matrix_of(structure: tuple[list[int], bool], dtype: str, index: str) -> Any:
    """Return a SciPy matrix."""
    lengths, twice = structure
    rng = np.random.default_rng(sum(lengths))
    columns = rng.integers(0, 3 if twice else COLUMNS, sum(lengths)).astype(index)
    values = rng.random(len(columns)) - 0.5
    if dtype.startswith("complex"):
        values = values * (1 + 0.7j)
    begins = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array((values.astype(dtype), columns, begins), (ROWS, COLUMNS))


def in_legate(matrix: Any) -> other.Matrix:
    columns = cn.array(matrix.indices)
    return other.Matrix(cn.array(matrix.indptr), columns, cn.array(matrix.data))


@settings(max_examples=8, deadline=None)
@given(structures)
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_what_surrounds_a_product_is_fused(
    dtype: str, index: str, structure: tuple[list[int], bool]
) -> None:
    given = matrix_of(structure, dtype, index)
    given.indices = given.indices.astype(index)
    matrix = in_legate(given)
    x = cn.arange(float(COLUMNS)).astype(dtype)

    def program() -> Any:
        y = cn.empty(ROWS, dtype)
        z = x + dtype_one
        matrix.product(z, y)
        return y * y - y

    dtype_one = np.dtype(dtype).type(1)
    y = given @ (np.arange(COLUMNS) + 1).astype(dtype)
    tolerance = 1e-3 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(
        agree(program), y * y - y, rtol=tolerance, atol=tolerance
    )
    assert counts(program)["tasks_submitted"] == 1


@settings(max_examples=8, deadline=None)
@given(structures)
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_a_diagonal_is_fused_with_what_uses_it(
    dtype: str, index: str, structure: tuple[list[int], bool]
) -> None:
    given = matrix_of(structure, dtype, index)
    given.indices = given.indices.astype(index)
    matrix = in_legate(given)

    def program() -> Any:
        y = cn.empty(ROWS, dtype)
        matrix.diagonal(y)
        return y * y - y

    expected = np.zeros(ROWS, dtype)
    for row, (first, last) in enumerate(pairwise(given.indptr)):
        for k in range(first, last):
            if given.indices[k] == row:
                expected[row] = given.data[k]
    np.testing.assert_allclose(agree(program), expected * expected - expected, 1e-5)
    assert counts(program)["groups"] == 1


def test_jacobi_sweeps_are_one_task() -> None:
    matrix = in_legate(square())

    def program() -> Any:
        x, y, d = cn.ones(1000), cn.empty(1000), cn.empty(1000)
        for _ in range(4):
            matrix.product(x, y)
            matrix.diagonal(d)
            x = x + 0.5 * (1.0 - y) / (d + 4.0)
        return x

    agree(program)
    assert counts(program)["tasks_submitted"] == 1


def square(n: int = 1000) -> Any:
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 5, n)
    columns, values = rng.integers(0, n, lengths.sum()), rng.random(lengths.sum())
    return csr_array((values, columns, np.concatenate([[0], lengths.cumsum()])), (n, n))


@pytest.fixture(scope="module")
def a_matrix() -> Any:
    return square()


def test_iterations_are_one_task(a_matrix: Any) -> None:
    matrix = in_legate(a_matrix)
    n = a_matrix.shape[0]

    def program() -> Any:
        x, y = cn.ones(n), cn.zeros(n)
        for _ in range(4):
            matrix.product(x, y)
            x = x + y / y.max()
        return x

    agree(program)
    found = counts(program)
    assert (found["tasks_submitted"], found["groups"]) == (1, 1)


@pytest.mark.parametrize(
    "program",
    {
        "x is used at each point as well": lambda a, x, y: (a(x, y), y * x)[1],
        "x is a part": lambda a, x, y: (a(x[3:], y), y + 1.0)[1],
        "x changes after it was read": lambda a, x, y: (
            x.__iadd__(1.0),
            a(x, y),
            x.__imul__(y),
            x + y,
        )[-1],
        "y is a part": lambda a, x, y: (a(x, y[:-3]), y * 2.0)[1],
        "two products": lambda a, x, y: (a(x, y), a(y, x), x + y)[-1],
        "only a sum is needed": lambda a, x, y: (a(x, y), y.max())[-1],
    }.items(),
    ids=lambda case: case[0],
)
def test_programs_agree(a_matrix: Any, program: Any) -> None:
    name, work = program
    n = a_matrix.shape[0]
    given = a_matrix
    if name.startswith("y is"):
        given = a_matrix[: n - 3]
    elif name == "x is a part":
        # Legate has no images of parts
        given = a_matrix.copy()
        given.indices = (given.indices // 3).astype("int32")
    matrix = in_legate(given)

    def run() -> Any:
        x, y = cn.arange(float(n)) + 0.0, cn.ones(n)
        return work(matrix.product, x, y)

    agree(run)
    assert counts(run)["groups"] > 0


@pytest.mark.parametrize("lengths", [[3], [0, 0], [0, 2], [2] * 5])
def test_matrices_of_few_elements(lengths: list[int]) -> None:
    begins = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.arange(begins[-1]) % 2
    given = csr_array((columns + 0.5, columns, begins), (len(lengths), 2))

    def program() -> Any:
        y = cn.ones(len(lengths))
        in_legate(given).product(cn.arange(2.0) + 1.0, y)
        return y + 1.0

    np.testing.assert_array_equal(agree(program), given @ np.array([1.0, 2.0]) + 1.0)
    assert counts(program)["groups"] > 0


CG = """
import os
import cupynumeric as cn
import numpy as np
import legate_diffuse
import other_library as other
import other_package
legate_diffuse.register("other", other_package.register())
side = int(os.environ["SIDE"])
n = side * side
grid = np.arange(n).reshape(side, side)
near = [(grid, grid, 4.0)]
for one, other_ in ((grid[1:], grid[:-1]), (grid[:, 1:], grid[:, :-1])):
    near += [(one, other_, -1.0), (other_, one, -1.0)]
rows = np.concatenate([one.ravel() for one, _, _ in near])
columns = np.concatenate([other_.ravel() for _, other_, _ in near])
values = np.concatenate([np.full(one.size, value) for one, _, value in near])
order = np.lexsort((columns, rows))
begins = np.concatenate([[0], np.cumsum(np.bincount(rows))])
a = other.Matrix(*map(cn.array, (begins, columns[order], values[order])))
def submitted():
    stats = legate_diffuse.stats()
    return stats["tasks_submitted"] - stats["fills_submitted"]
x, q = cn.zeros(n), cn.zeros(n)
r = cn.ones(n)
p = r.copy()
rho = cn.dot(r, r)
for step in range(3 * side + 60):
    if step == 3 * side:
        before = submitted()
    a.product(p, q)
    alpha = rho / cn.dot(p, q)
    x += alpha * p
    r -= alpha * q
    new = cn.dot(r, r)
    p = r + (new / rho) * p
    rho = new
after = submitted()
print((after - before) / 60)
assert float(rho) < 1e-8
print(np.abs(np.asarray(x)).sum())
"""


@cache
def solve(side: int = 20, **environment: str) -> tuple[float, float]:
    """Return the tasks of an iteration of conjugate gradients, and the result."""
    folder = {"PYTHONPATH": str(Path(__file__).parent)}
    environment.setdefault("LEGATE_DIFFUSE_SMALL_BYTES", "0")
    done = run_alone(CG, SIDE=str(side), **folder, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    tasks, result = done.stdout.splitlines()
    return float(tasks), float(result)


def test_conjugate_gradients() -> None:
    _, expected = solve(LEGATE_DIFFUSE="0")
    tasks, found = solve(LEGATE_DIFFUSE="1")
    assert found == pytest.approx(expected, rel=1e-12)
    assert tasks <= 0.2


def test_small_arrays_in_this_process() -> None:
    _, expected = solve(LEGATE_DIFFUSE="0")
    tasks, found = solve(LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_SMALL_BYTES="32768")
    assert found == pytest.approx(expected, rel=1e-12)
    assert tasks == 0


PRODUCTS = """
from hashlib import sha256
import cupynumeric as cn
import numpy as np
import legate_diffuse
import other_library as other
import other_package
legate_diffuse.register("other", other_package.register())
rng = np.random.default_rng(3)
made = []
def counted():
    stats = legate_diffuse.stats()
    return stats["ran_in_process"], sum(stats["flushes"].values())
for rows, columns, most, dtype, index in [
    (300, 300, 5, "float64", "int64"), (40, 700, 9, "float32", "int64"),
    (7, 3, 40, "complex128", "int64"), (100, 60, 3, "float64", "int32"),
]:
    lengths = rng.integers(0, most + 1, rows)
    lengths[0] = 2
    begins = np.concatenate([[0], np.cumsum(lengths)])
    places = rng.integers(0, columns, begins[-1]).astype(index)
    values = (rng.random(begins[-1]) - 0.5).astype(dtype)
    a = other.Matrix(cn.array(begins), cn.array(places), cn.array(values))
    x = cn.array(np.linspace(-1.0, 2.0, columns).astype(dtype))
    y = cn.array(np.zeros(2 * rows, dtype))
    other_y = cn.array(np.zeros(rows, dtype))
    for step in range(6):
        if step == 4:
            # all that they use is in the process by now
            before = counted()
        a.product(x, y[rows:])
        a.product(x, other_y)
        a.diagonal(y[:rows])
        y[rows:] *= 0.5
        other_y -= y[rows:]
        x[:3] += other_y[:3]
        if step < 4:
            x[0].item()
    after = counted()
    made += [np.asarray(each).copy() for each in (x, y, other_y)]
    print(after[0] - before[0], after[1] - before[1])
print(sha256(b"".join(each.tobytes() for each in made)).hexdigest())
"""


def test_small_products_run_at_once() -> None:
    found = {}
    for fused in "01":
        done = run_alone(
            PRODUCTS, PYTHONPATH=str(Path(__file__).parent), LEGATE_DIFFUSE=fused
        )
        assert (done.returncode, done.stderr) == (0, "")
        *found[fused], found[f"digest {fused}"] = done.stdout.splitlines()
    assert found["digest 1"] == found["digest 0"]
    # six operations of each of two steps
    assert found["1"] == ["12 0"] * 4


def test_conjugate_gradients_in_check_mode() -> None:
    tasks, _ = solve(LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_CHECK="1")
    assert tasks <= 0.2


def test_an_explanation_tells_how_many_rows_there_are(tmp_path: Path) -> None:
    report = tmp_path / "report"
    solve(LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_EXPLAIN=str(report))
    loops = re.findall(r"loop +\d+ over ([^:]*):", report.read_text("utf-8"))
    assert set(loops) <= {"400", "one element"}
    assert "400" in loops


# Where caches are small, points take few rows at a time.
@pytest.mark.parametrize(
    ("cpus", "cache_bytes"), some([(3, 300), (3, 0), (2, 0), (4, 0)], 4)
)
def test_products_on_several_processors(cpus: int, cache_bytes: int) -> None:
    settings = {
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 1000 --utility 1",
        "LEGATE_DIFFUSE_THREADS": "1",
        "LEGATE_TEST": "1",
        **({"LEGATE_DIFFUSE_CACHE_BYTES": str(cache_bytes)} if cache_bytes else {}),
        # Legion looks whether partitions have the kind that it is told
        "LEGION_DEFAULT_ARGS": "-lg:partcheck",
    }
    status, told = run_checks(ON_TILES, settings)
    assert status == 0, told[-8000:]


@pytest.mark.parametrize("cpus", some([3, 2, 4], 3))
def test_conjugate_gradients_on_several_processors(cpus: int) -> None:
    setting = {
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 500",
        "LEGATE_TEST": "1",
        "LEGION_DEFAULT_ARGS": "-lg:partcheck",
    }
    _, expected = solve(40, LEGATE_DIFFUSE="0", **setting)
    setting |= {"LEGATE_DIFFUSE_THREADS": "1"}
    tasks, found = solve(40, LEGATE_DIFFUSE="1", **setting)
    assert found == pytest.approx(expected, rel=1e-12)
    assert tasks <= 3


WRONG = """
import legate_diffuse
from legate_diffuse.libraries.operations import Operations
right = Operations.lower
def wrong(self, kind, builder, operands):
    (value,) = right(self, kind, builder, operands)
    return [builder.op("neg", value.dtype, value) if self.sums_rows(kind) else value]
Operations.lower = wrong
import cupynumeric as cn
import numpy as np
import other_library as other
import other_package
legate_diffuse.register("other", other_package.register())
n = 100
a = other.Matrix(cn.arange(n + 1), cn.array(np.arange(n)[::-1].copy()), cn.ones(n))
x, y = cn.sin(cn.arange(float(n))) + 1.0, cn.zeros(n)
x = x / cn.dot(x, x)
a.product(x, y)
print(float((y * 2.0).sum()))
"""


def test_a_wrong_kernel_is_found_in_check_mode() -> None:
    """Although x is uncertain, as it follows from a sum."""
    folder = str(Path(__file__).parent)
    setting = {"LEGATE_DIFFUSE_CHECK": "1", "PYTHONPATH": folder}
    done = run_alone(WRONG, LEGATE_DIFFUSE="1", **setting)
    assert done.returncode == 1
    assert "found a wrong result" in done.stderr
