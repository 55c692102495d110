# SPDX-License-Identifier: Apache-2.0
"""Tasks of a library that another package registers, with real Legate.

The library is ``other_library`` beside this file. Its tasks are in C++.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import cupynumeric as cn
import legate.core as lc
import numpy as np
import other_library as other
import other_package
import pytest
from comparison import N, counted_differential, numbers, same
from process import run_alone
from tiers import some

import legate_diffuse
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window
from legate_diffuse.libraries.registry import Library

legate_diffuse.register("other", other_package.register())


class Csr(NamedTuple):
    """A sparse matrix: where each row begins, the columns and the values."""

    begins: Any
    columns: Any
    values: Any

    def dense(self, columns: int) -> Any:
        lengths = np.diff(self.begins)
        found = np.zeros((len(lengths), columns))
        found[np.repeat(np.arange(len(lengths)), lengths), self.columns] = self.values
        return found

    def in_legate(self) -> other.Matrix:
        return other.Matrix(*map(cn.array, self))


def random_matrix(rows: int, columns: int) -> Csr:
    """Return a matrix of which some rows are empty."""
    rng = np.random.default_rng(1)
    chosen = [
        np.sort(rng.choice(columns, count, replace=False))
        for count in rng.integers(0, 5, rows)
    ]
    begins = np.cumsum([0, *map(len, chosen)])
    assert (np.diff(begins) == 0).any()
    return Csr(begins, np.concatenate(chosen), rng.random(begins[-1]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_element_wise_task_is_fused(dtype: str) -> None:
    def program(x: Any) -> Any:
        x = x.astype(dtype)
        y = x * 2 + 1
        other.axpy(cn.full((1,), 0.1, dtype), x - 3, y)
        return y * y

    found = counted_differential(program)
    assert (found["tasks_submitted"], found["groups"]) == (1, 1)


def test_a_registration_asks_how_the_library_was_compiled() -> None:
    library = Library(other._LIBRARY, real.legate)
    pending = cn.arange(float(N)) + 1.0
    near = 2.0**-30
    # the library's products are rounded before they are added
    found = library.compute(other.OpCode.AXPY, (1 + near, 1 + near, -1.0))
    assert found == 2 * near
    assert library.sum_row(other.OpCode.PRODUCT, 0.3, 3) == 0.3 * 0.3 * 2 + 0.3 * 0.3
    np.testing.assert_array_equal(np.asarray(pending), np.arange(N) + 1.0)


@pytest.mark.parametrize("back", [False, True])
def test_scalar_arguments_are_operands(back: bool) -> None:
    def program(x: Any) -> Any:
        y = cn.empty(N)
        other.shift(x * 2.0, y, 0.1, back)
        return y * y

    assert counted_differential(program)["tasks_submitted"] == 1


def test_a_python_task_is_fused() -> None:
    program = """
    import legate_diffuse
    import numpy as np
    import cupynumeric as cn
    from legate.core.task import InputStore, OutputStore, task
    @task
    def scale(x: InputStore, y: OutputStore, factor: float) -> None:
        np.asarray(y)[...] = np.asarray(x) * factor
    def register(library):
        @library.elementwise(scale.task_id, "float64; float64 -> float64")
        def meaning(k, x, factor):
            return x * factor
    legate_diffuse.register("legate.core", register)
    x = cn.arange(10000.0)
    float(x[0])
    before = legate_diffuse.stats()["tasks_submitted"]
    y = cn.empty(10000)
    scale(x + 1.0, y, 0.5)
    z = y - x
    result = z[9999]
    print(float(result), legate_diffuse.stats()["tasks_submitted"] - before)
    """
    done = run_alone(program, LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "-4999.0 1\n"


def test_a_wrong_meaning_is_found_in_check_mode() -> None:
    program = """
    import legate_diffuse
    import cupynumeric as cn
    import other_library as other
    def register(library):
        @library.elementwise(other.OpCode.SHIFT, "float64; float64 bool -> float64")
        def shift(k, x, distance, back):
            return x + distance
    legate_diffuse.register("other", register)
    x = cn.arange(100.0) + 1.0
    y = cn.empty(100)
    other.shift(x, y, 0.5, BACK)
    print(float(y[3]))
    """
    path = {"LEGATE_DIFFUSE_CHECK": "1", "PYTHONPATH": str(Path(__file__).parent)}
    for back in (False, True):
        text = program.replace("BACK", str(back))
        done = run_alone(text, LEGATE_DIFFUSE="1", **path)
        assert done.returncode == back, done.stderr
        assert ("found a wrong result" in done.stderr) == back


CHECKED = """
import legate_diffuse
import cupynumeric as cn
import other_library as other
from other_library import OpCode
def register(library):
    @library.elementwise(OpCode.AXPY, "T T[1] T -> T", types=("float32", "float64"))
    def axpy(k, x, a, y):
        return AXPY
    @library.reduction(OpCode.LENGTH, "float64 float64 -> float64", "add")
    def length(k, x, y):
        return LENGTH
legate_diffuse.register("other", register)
x = cn.sin(cn.arange(5000.0))
y, total = x * 2.0, cn.zeros(())
other.length(x, y + 1.0, total)
factor = total.reshape(1) * 0.01
other.axpy(factor, x, y)
z = y * y
print(float(z.sum()))
assert legate_diffuse.stats()["groups"] > 0
"""


@pytest.mark.parametrize(
    ("axpy", "length", "wrong"),
    [
        ("a * x + y", "k.hypot(x, y)", False),
        ("a * x - y", "k.hypot(x, y)", True),
        ("a * x + y", "k.hypot(x, x)", True),
    ],
)
def test_float_functions_and_sums_have_tolerances(
    axpy: str, length: str, wrong: bool
) -> None:
    """What follows from an uncertain sum is still compared."""
    done = run_alone(
        CHECKED.replace("AXPY\n", f"{axpy}\n").replace("LENGTH\n", f"{length}\n"),
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_CHECK="1",
        PYTHONPATH=str(Path(__file__).parent),
    )
    assert done.returncode == wrong, done.stderr
    assert ("found a wrong result" in done.stderr) == wrong


def test_a_reduction_is_fused() -> None:
    def program(x: Any) -> Any:
        n = x.astype("int64")
        result = cn.zeros((), "int64")
        other.distance(n * 3, n * n, result)
        return result

    found = counted_differential(program)
    assert found["groups"] == 1
    assert found["tasks_submitted"] - found["fills_submitted"] == 1


def test_types_that_are_not_registered_run_as_they_are(capfd: Any) -> None:
    y = numbers() + 1.0
    for _ in range(2):
        other.axpy(cn.full((1,), 2.0, "float64"), y, y[:])
    other.distance(y, y, cn.zeros((), "int64"))
    window.flush("test")
    told = capfd.readouterr().err.splitlines()
    assert [line for line in told if line.startswith("legate_diffuse")] == [
        "legate_diffuse: other::Distance: it was submitted with other arguments, "
        "shapes or constraints than were registered, so it runs as it was submitted"
    ]
    same(y, (np.arange(float(N)) + 1.0) * 9.0)


def test_a_task_that_reads_neighbours_stays_in_its_place() -> None:
    def program(x: Any) -> Any:
        y = cn.empty(N)
        other.smooth(x * 2.0, y)
        z = x * x + 1.0
        return y - z

    found = counted_differential(program)
    # what the task overwrites is not filled before
    assert (found["tasks_submitted"], found["groups"]) == (3, 2)


def test_a_task_may_change_one_element() -> None:
    def program(x: Any) -> Any:
        y = x + 1.0
        other.flip(y, 7)
        return y + x

    assert counted_differential(program)["tasks_submitted"] == 3


def test_a_sparse_product_is_fused_on_several_processors() -> None:
    given = random_matrix(N, N)
    matrix = given.in_legate()

    def program(x: Any) -> Any:
        y, z = cn.empty(N), x * x
        matrix.product(x + 1.0, y)
        return y * 2.0 + z

    # the vector that points gather, and all else
    found = counted_differential(program)
    assert found["tasks_seen"] == 6
    assert found["tasks_submitted"] - found["fills_submitted"] == 2
    expected = given.dense(N) @ (np.arange(float(N)) + 1.0)
    y = cn.empty(N)
    matrix.product(numbers() + 1.0, y)
    np.testing.assert_allclose(y, expected, rtol=1e-14)


def test_rows_are_made_and_used_in_one_window() -> None:
    given = random_matrix(N // 2, N)

    def program(x: Any) -> Any:
        y = cn.empty(N // 2)
        given.in_legate().product(x, y)
        return y + 1.0

    counted_differential(program)


def test_results_of_unknown_length() -> None:
    x = numbers() - 990.5
    found = other.positive(x)
    same(np.asarray(found.get_physical_store()), np.arange(9.0) + 0.5)


def test_an_exception_is_raised_in_the_call() -> None:
    x, y = numbers() - 1.0, cn.zeros(N)
    with pytest.raises(ValueError, match="a negative element"):
        other.check(x, y)
    other.check(x + 1.0, y)
    same(y, np.arange(float(N)))


@pytest.mark.parametrize("length", [N // 2, N + 1])
def test_arguments_that_cannot_be_aligned_are_refused_in_the_call(length: int) -> None:
    x, y = numbers() + 1.0, cn.arange(float(length))
    with pytest.raises(ValueError, match=r"[Aa]lign"):
        other.axpy(cn.full((1,), 2.0), y, x)
    same(x + 1.0, np.arange(float(N)) + 2.0)


def test_fills_of_rows_are_legates_affair() -> None:
    runtime = lc.get_legate_runtime()
    rows = runtime.create_store(lc.types.rect_type(1), (8,))
    assert (rows.shape, rows.ndim, rows.unbound) == ((8,), 1, False)
    with pytest.raises(ValueError):
        runtime.issue_fill(rows, lc.Scalar(1, lc.int64))


THREE = """
import legate_diffuse
import numpy as np
import cupynumeric as cn
import other_library as other
import other_package
from legate.core import align
from legate.core.task import InputStore, OutputStore, task

@task(constraints=(align("x", "y"),))
def halve(x: InputStore, y: OutputStore) -> None:
    np.asarray(y)[...] = np.asarray(x) * 0.5

n = 4000
x = cn.arange(float(n))
columns = cn.array(np.arange(n)[::-1].copy())
matrix = other.Matrix(cn.arange(n + 1), columns, cn.full((n,), 0.5))
v = cn.empty(n)
a = cn.full((1,), 0.25)
far = cn.zeros((), "int64")
for step in range(4):
    if step == 2:
        float(x[0])
        before = legate_diffuse.stats()
    y = x * 2.0 + 1.0
    other.axpy(a, x, y)
    z = y - 3.0
    w = cn.empty(n)
    halve(z, w)
    matrix.product(x, v)
    u = x * x - y + v
    other.smooth(w, z)
    x = z + u / (1.0 + abs(w))
    x = x / abs(x).max()
    m = (x * 100.0).astype("int64")
    other.distance(m, m * 2, far)
float(x[0])
after = legate_diffuse.stats()
print(after["tasks_submitted"] - before["tasks_submitted"])
print(np.asarray(x).tobytes().hex()[:4000], int(far))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    for name, fuse in (("on", True), ("off", False)):
        other_package.install(folder / name, fuse=fuse)
    return folder


def three(package: Path | None, **environment: str) -> tuple[int, str]:
    """Run the program of three libraries; return its tasks and its results."""
    folders = (Path(__file__).parent, *([package] if package else []))
    path = os.pathsep.join(map(str, folders))
    done = run_alone(THREE, PYTHONPATH=path, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    tasks, results = done.stdout.splitlines()
    return int(tasks), results


@pytest.fixture(scope="module")
def expected() -> str:
    """What the program gives unfused."""
    return three(None)[1]


@pytest.mark.parametrize(
    ("environment", "tasks"),
    some(
        [
            ({}, (15, 6)),
            ({"LEGATE_DIFFUSE_SMALL_BYTES": "0"}, (17, 7)),
            (
                {
                    "LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 500",
                    "LEGATE_TEST": "1",
                    "LEGATE_DIFFUSE_THREADS": "1",
                },
                (22, 13),
            ),
            ({"LEGATE_DIFFUSE_CHECK": "1"}, (17, 7)),
        ],
        2,
    ),
)
def test_programs_of_three_libraries(
    installed: Path,
    expected: str,
    environment: dict[str, str],
    tasks: tuple[int, int],
) -> None:
    off, without = three(None, LEGATE_DIFFUSE="1", **environment)
    assert without == expected
    _, not_fused = three(installed / "off", LEGATE_DIFFUSE="1", **environment)
    assert not_fused == expected
    on, registered = three(installed / "on", LEGATE_DIFFUSE="1", **environment)
    assert registered == expected
    assert (off, on) == tasks
