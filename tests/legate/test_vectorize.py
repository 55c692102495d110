# SPDX-License-Identifier: Apache-2.0
"""Functions of users: Numba's bits, fused with neighbours, and what Numba refuses.

Arrays are partitioned over two CPUs here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import N, counted_differential, counts, numbers, same, unfused
from process import run_alone, run_python
from tiers import some

import legate_diffuse

numba = pytest.importorskip("numba")
sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from numba_functions import FUNCTIONS, arguments, by_numba  # noqa: E402


def larger(x: Any, y: Any) -> Any:
    if x > y:
        return x * y + 1.0
    return x - y


def as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize(
    ("function", "types", "bounds"),
    some(FUNCTIONS, 2),
    ids=[function.__name__ for function, *_ in FUNCTIONS],
)
def test_a_function_has_numbas_bits_in_one_task_with_its_neighbours(
    function: Callable[..., Any], types: str, bounds: tuple[float, float]
) -> None:
    given = arguments(types, bounds, N)
    with np.errstate(all="ignore"):
        wanted = [
            each(*[x.copy() for x in given]) for each in by_numba(function, types)
        ]
    vectorized = legate_diffuse.vectorize(function)
    results: list[tuple[Any, ...]] = []

    def program() -> None:
        # a neighbour before, and one after
        copies = [cn.array(each).copy() for each in given]
        made = as_tuple(vectorized(*copies))
        results.append((*made, made[0] + made[0]))

    program()
    found = counts(program)
    assert (found["tasks_submitted"], found["groups"]) == (1, 1)
    with unfused():
        program()
    for made in results:
        assert len(made) == len(wanted) + 1
        for left, right in zip(made, wanted, strict=False):
            same(left, right)


def test_a_function_is_fused_with_what_is_around_it() -> None:
    f = legate_diffuse.vectorize(larger)

    def program(x: Any) -> Any:
        return f(x * 2.0, x + 100.0) - f(x, 0.5)

    assert counted_differential(program)["tasks_submitted"] == 1


def test_arguments_broadcast() -> None:
    f = legate_diffuse.vectorize(larger)
    x, y = np.arange(40.0).reshape(8, 5), np.arange(5.0) * 3.0
    for given in ((x, y), (y, x), (x, x[:, :1]), (x, np.float64(3.0)), (2, x)):
        arrays = [cn.array(g) if isinstance(g, np.ndarray) else g for g in given]
        for _ in range(2):
            same(f(*arrays), numba.vectorize(larger)(*given))
        assert counts(lambda: f(*arrays))["groups"] == 1  # noqa: B023
        with unfused():
            same(f(*arrays), numba.vectorize(larger)(*given))
    with pytest.raises(ValueError, match="broadcast"):
        f(cn.zeros(3), cn.zeros(4))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (1, 1), (2, 3, 4)], ids=str)
def test_arrays_of_any_shape(shape: tuple[int, ...]) -> None:
    f = legate_diffuse.vectorize(larger)
    x = np.random.default_rng(1).normal(size=shape)
    for y in (x - 0.5, 0.25):
        given = cn.array(x), cn.array(y) if isinstance(y, np.ndarray) else y
        wanted = numba.vectorize(larger)(x, y)
        same(f(*given), wanted)
        # single elements are computed without a task
        found = counts(lambda: f(*given))  # noqa: B023
        assert found["groups"] == (x.size != 1)
        with unfused():
            same(f(*given), wanted)


def test_views_of_arrays() -> None:
    f = legate_diffuse.vectorize(larger)

    def program(x: Any) -> Any:
        a = x.reshape(20, 50) * 0.5
        b = f(a[1:, :], a[:-1, :]) + f(a[1:].T, 3.0).T
        a[1:] = f(a[1:], b)
        return a

    counted_differential(program)


@pytest.mark.parametrize(
    "types", ["ff", "fd", "ii", "id", "bb", "?d", "DD", "Fd", "LL", "hB"]
)
def test_types_are_those_of_numba(types: str) -> None:
    def function(x: Any, y: Any) -> Any:
        if y != 0:
            return x * y + 1
        return x + y

    given = arguments(types, (0, 50), N)
    wanted = numba.vectorize(function)(*given)
    f = legate_diffuse.vectorize(function)
    arrays = [cn.array(each) for each in given]
    same(f(*arrays), wanted)
    assert counts(lambda: f(*arrays))["groups"] == 1
    with unfused():
        same(f(*arrays), wanted)


def test_a_loop_for_other_types_is_taken_as_numpy_does() -> None:
    ours, theirs = legate_diffuse.vectorize(larger), numba.vectorize(larger)
    x = np.arange(N)
    for given in ((x * 0.5, x * 0.25), (x, x), (x.astype("float32"), 2), (x, 2.5)):
        arrays = [cn.array(g) if isinstance(g, np.ndarray) else g for g in given]
        same(ours(*arrays), theirs(*given))


def test_universal_functions_of_numba_take_arrays() -> None:
    @numba.vectorize(["float32(float32)", "float64(float64)"])
    def steps(x: float) -> float:
        n = 0.0
        while x > 1.0:
            x, n = x * 0.5, n + 1.0
        return n

    def program(x: Any) -> Any:
        return steps(x + 1.0) * 2.0

    assert counted_differential(program)["tasks_submitted"] == 1
    x = np.arange(N)
    same(steps(cn.array(x)), steps(x))
    with pytest.raises(TypeError, match="not supported for the input types"):
        steps(cn.array(x + 1j))


def test_a_function_named_like_one_of_numpys_is_not_taken_for_it() -> None:
    @numba.vectorize
    def add(x: Any, y: Any) -> Any:
        return x - y

    x = numbers()
    same(add(x, x), np.zeros(N))
    same(np.add(x, x), np.arange(float(N)) * 2.0)


def test_results_go_to_arrays_that_are_given() -> None:
    f = legate_diffuse.vectorize(larger)
    x = numbers()
    out = cn.zeros(N, "float32")
    assert f(x, 3.0, out=out) is out
    same(out, numba.vectorize(larger)(np.arange(float(N)), 3.0).astype("float32"))
    both = legate_diffuse.vectorize(lambda x: (x * 2.0, x > 5.0))
    outs = cn.zeros(N), cn.zeros(N, bool)
    assert both(x, out=outs) == outs
    same(outs[1], np.arange(N) > 5)
    with pytest.raises(ValueError, match="2 results"):
        both(x, out=outs[0])


def test_what_else_universal_functions_take_by_name() -> None:
    f = numba.vectorize(larger)
    x = np.arange(float(N))
    out, wanted = cn.zeros(N, int), np.zeros(N, int)
    f(x, 3.0)
    f(x, 3.0, out=wanted, casting="unsafe")
    f(cn.array(x), 3.0, out=out, casting="unsafe")
    same(out, wanted)


def test_numbers_around_a_function_are_part_of_it() -> None:
    def scaled(factor: float) -> Any:
        return legate_diffuse.vectorize(lambda x: x * factor if x > 2 else factor)

    def program(x: Any) -> Any:
        return scaled(2.0)(x) + scaled(3.0)(x)

    found = counted_differential(program)
    assert found["tasks_submitted"] == 1
    x = np.arange(float(N))
    same(program(numbers()), np.where(x > 2, x * 5.0, 5.0))


def test_numpys_own_arrays_stay_numpys() -> None:
    f = legate_diffuse.vectorize(larger)
    x = np.arange(5.0)
    assert type(f(x, 2.0)) is np.ndarray
    same(f(x, 2.0), numba.vectorize(larger)(x, 2.0))
    assert f(3.0, 2.0) == 7.0


def _shapes(x: Any) -> Any:
    return np.zeros(int(x)).shape


def _raises(x: Any) -> Any:
    if x < 0:
        raise ArithmeticError("below zero")
    return x


def _dictionary(x: Any) -> Any:
    return {0.0: 1.0, "1": 2.0}.get(x, x)


@pytest.mark.parametrize(
    ("function", "reason"),
    [(_raises, "it may raise"), (_dictionary, "Numba refuses")],
    ids=["raises", "dictionary"],
)
def test_what_is_refused_runs_in_numpy_with_one_sentence(
    function: Any, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    f = legate_diffuse.vectorize(function)
    for _ in range(2):
        result = f(numbers() + 1.0)
        same(result, np.vectorize(function)(np.arange(float(N)) + 1.0))
        assert isinstance(result, cn.ndarray)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert f"{function.__name__} runs in NumPy, as {reason}" in said[0]


def test_what_a_function_raises_is_raised() -> None:
    f = legate_diffuse.vectorize(_raises)
    with pytest.raises(ArithmeticError, match="below zero"):
        f(numbers() - 3.0)


def test_half_precision_runs_in_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    f = legate_diffuse.vectorize(lambda x: x * 2)
    x = np.arange(9, dtype="float16")
    same(f(cn.array(x)), x * 2)
    assert "float16" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_arguments_is_refused(count: int) -> None:
    f = legate_diffuse.vectorize(larger)
    for _ in range(2):
        with pytest.raises(TypeError, match="takes 2 arguments"):
            f(*[numbers()] * count)
        f(numbers(), 1.0)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        numba.vectorize(larger)(numbers())


def test_objects_are_refused() -> None:
    f = legate_diffuse.vectorize(larger)
    with pytest.raises(TypeError):
        f(numbers(), "text")
    with pytest.raises(TypeError):
        f(numbers(), [None] * N)


@pytest.mark.parametrize("function", [3, "x", None], ids=repr)
def test_only_functions_are_vectorised(function: Any) -> None:
    with pytest.raises(TypeError, match="takes a function"):
        legate_diffuse.vectorize(function)


@pytest.mark.parametrize(
    "function",
    [lambda *x: 1, lambda: 1, lambda *, x: x],
    ids=["any number", "none", "by name"],
)
def test_functions_without_a_number_of_arguments_are_refused(function: Any) -> None:
    with pytest.raises(TypeError, match="fixed number of arguments"):
        legate_diffuse.vectorize(function)


def test_without_numba_functions_run_in_numpy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "numba"]:
        monkeypatch.setitem(sys.modules, name, None)
    f = legate_diffuse.vectorize(larger)
    same(f(numbers(), 3.0), np.vectorize(larger)(np.arange(float(N)), 3.0))
    assert "pip install 'legate-diffuse[numba]'" in capsys.readouterr().err


_PROGRAM = """
import legate_diffuse
import cupynumeric as cn
import numpy as np
f = legate_diffuse.vectorize(lambda x, y: (x * y, 1) if x > y else (x - y, 0))
for n in (10, 5000):
    x = cn.arange(float(n))
    for _ in range(3):
        one, other = f(x * 2.0, 7.0)
        total = (one + other).sum()
    print(float(total), float(one[3]), int(other[3]), int(other[4]))
"""
_PRINTED = "536.0 -1.0 0 1\n174969896.0 -1.0 0 1\n"


@pytest.mark.parametrize(
    "variables",
    some(
        [
            {"LEGATE_DIFFUSE": "0"},
            {"LEGATE_DIFFUSE": "1", "LEGATE_DIFFUSE_SMALL_BYTES": "0"},
            {"LEGATE_DIFFUSE": "1"},
            {"LEGATE_DIFFUSE": "1", "LEGATE_DIFFUSE_PROOF": "0"},
            {"LEGATE_DIFFUSE": "1", "LEGATE_DIFFUSE_CHECK": "1"},
            {"LEGATE_DIFFUSE": "1", "LEGATE_DIFFUSE_MATH": "libm"},
        ],
        2,
    ),
    ids=str,
)
def test_a_program_gives_the_same_however_it_runs(variables: dict[str, str]) -> None:
    run = run_python if variables["LEGATE_DIFFUSE"] == "0" else run_alone
    done = run(_PROGRAM, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == _PRINTED


def test_the_program_of_the_page_is_one_task() -> None:
    page = Path(legate_diffuse.__file__).parent / "guide" / "functions.md"
    _, program, _ = re.split(r"```(?:python\n)?", page.read_text("utf-8"))
    program += """
before = legate_diffuse.stats()["tasks_submitted"]
for _ in range(2):
    u = np.linspace(0.0, 1.0, 1_000_000) ** 2
    before = legate_diffuse.stats()["tasks_submitted"]
    flux = limited(u[1:-1] - u[:-2], u[2:] - u[1:-1]) * 0.5
    last = flux[-1].item()
print(legate_diffuse.stats()["tasks_submitted"] - before, abs(last - 1e-6) < 1e-11)
"""
    done = run_alone(program, LEGATE_DIFFUSE="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 True\n"


def test_a_function_of_a_library_may_branch() -> None:
    program = """
    import legate_diffuse
    import numba
    import numpy as np
    import cupynumeric as cn
    from legate.core.task import InputStore, OutputStore, task
    @task
    def clip(x: InputStore, y: OutputStore, low: float) -> None:
        np.asarray(y)[...] = np.maximum(np.asarray(x), low)
    def register(library):
        @library.elementwise(clip.task_id, "float64; float64 -> float64")
        @numba.njit
        def meaning(x, low):
            if x < low:
                return low
            return x
    legate_diffuse.register("legate.core", register)
    x = cn.arange(10000.0)
    float(x[0])
    before = legate_diffuse.stats()["tasks_submitted"]
    y = cn.empty(10000)
    clip(x - 5.0, y, 0.5)
    z = y * 2.0
    result = z[9]
    print(float(result), legate_diffuse.stats()["tasks_submitted"] - before)
    print(float(z[2]))
    """
    for check in ("0", "1"):
        done = run_alone(
            program,
            LEGATE_DIFFUSE="1",
            LEGATE_DIFFUSE_SMALL_BYTES="0",
            LEGATE_DIFFUSE_SYNC_COMPILE="1",
            LEGATE_DIFFUSE_CHECK=check,
        )
        assert (done.returncode, done.stderr) == (0, "")
        first, second = done.stdout.splitlines()
        assert (first.split()[0], second) == ("8.0", "1.0")
        assert check == "1" or first == "8.0 1"


def test_small_arrays_are_computed_in_the_process() -> None:
    program = """
    import legate_diffuse
    import cupynumeric as cn
    f = legate_diffuse.vectorize(lambda x, y: x * y if x > y else x - y)
    x = cn.arange(100.0)
    f(x, 2.0), f(x, x)
    before = legate_diffuse.stats()
    a = f(f(x, 2.0), x + 1.0)
    after = legate_diffuse.stats()
    names = "tasks_seen", "ran_in_process", "tasks_submitted"
    print(*[after[name] - before[name] for name in names], float(a[1]), float(a[9]))
    """
    done = run_alone(program, LEGATE_DIFFUSE="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "3 3 0 -3.0 180.0\n"


def test_several_results_of_a_function_are_computed_in_the_process() -> None:
    program = """
    import legate_diffuse
    import numpy as np
    import cupynumeric as cn
    @legate_diffuse.vectorize
    def f(x, y):
        n = 0
        while x > y:
            x -= 1.0
            n += 1
        return n, x
    def count(*operands):
        for _ in range(2):
            f(*operands)
        before = legate_diffuse.stats()
        n, x = f(*operands)
        after = legate_diffuse.stats()
        names = "tasks_seen", "ran_in_process", "groups"
        counts = [after[name] - before[name] for name in names]
        return *counts, n.shape, n.dtype.name, n.sum().item(), x.sum().item()
    x = cn.arange(24.0).reshape(4, 6) + 0.5
    print(*count(x, x[1]))
    print(*count(x[0], x[1]))
    print(*count(x, 3))
    print(*count(cn.array(7.5), 3.0))
    large = cn.arange(200_000) % 8.0
    n, rest = f(large, 3.0)
    print(n.sum().item(), rest.max().item())
    y = cn.zeros(6)
    m = cn.zeros(6, dtype=np.int64)
    f(x[2], x[0], out=(m, y))
    print(m, y)
    """
    done = run_alone(program, LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_SYNC_COMPILE="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "2 2 2 (4, 6) int64 108 180.0",
        "2 2 2 (6,) int64 0 18.0",
        "2 2 2 (4, 6) int64 231 57.0",
        "2 2 2 () int64 5 2.5",
        "250000 3.0",
        "[12 12 12 12 12 12] [0.5 1.5 2.5 3.5 4.5 5.5]",
    ]
