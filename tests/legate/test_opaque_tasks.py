# SPDX-License-Identifier: Apache-2.0
"""Tasks whose meaning nobody knows wait in the window, in their places."""

from __future__ import annotations

from typing import Any

import cupynumeric as cn
import legate.core as lc
import numpy as np
import pytest
from comparison import N, counted_differential, counts, numbers, same, unfused
from legate.core.task import ADD, InputStore, OutputStore, ReductionStore, task
from process import run_in_worker
from tiers import some

import legate_diffuse


@task(constraints=(lc.align("x", "y"),))
def scale(x: InputStore, y: OutputStore, factor: float, negative: bool = False) -> None:
    sign = -1.0 if negative else 1.0
    np.asarray(y)[...] = np.asarray(x) * (sign * factor)


@task
def count(x: InputStore, y: OutputStore, places: int) -> None:
    np.asarray(y)[...] = np.asarray(x) + places


@task
def total(x: InputStore, result: ReductionStore[ADD]) -> None:
    np.asarray(result)[...] += np.asarray(x).sum()


@task
def shout(words: str, x: InputStore, y: OutputStore) -> None:
    np.asarray(y)[...] = np.asarray(x) + len(words)


@task(options=lc.VariantOptions(may_throw_exception=True))
def refuse(x: InputStore, y: OutputStore) -> None:
    raise ArithmeticError("as declared")


def test_what_does_not_touch_its_arrays_moves_past_a_task() -> None:
    def program(x: Any) -> Any:
        b = x * 2.0 + 1.0
        c = cn.empty(N)
        scale(b, c, 3.0)
        d = x * 5.0 - 2.0
        return (c + d) * b

    found = counted_differential(program)
    assert (found["tasks_seen"], found["tasks_submitted"]) == (8, 3)
    assert (found["groups"], found["fills_submitted"]) == (2, 0)
    assert found["temporaries_removed"] == 3


def test_tasks_come_in_the_order_in_which_they_use_an_array() -> None:
    def program(x: Any) -> Any:
        b = x + 1.0
        scale(b, b, 2.0)
        b += 1.0
        scale(b, b, 2.0, True)
        b += 1.0
        return b

    found = counted_differential(program)
    assert (found["tasks_submitted"], found["groups"]) == (5, 3)


def test_a_task_may_change_a_part_of_an_array() -> None:
    def program(x: Any) -> Any:
        b = x + 1.0
        scale(x[:10], b[-10:], -1.0)
        b[:-10] += 5.0
        return b

    counted_differential(program)


def test_a_task_may_reduce() -> None:
    def program(x: Any) -> Any:
        result = cn.zeros(())
        total(x + 1.0, result)
        total(x, result)
        return result * 2.0

    found = counted_differential(program)
    assert found["tasks_seen"] - found["tasks_submitted"] <= 1
    assert found["groups"] >= 1


def test_a_result_that_nobody_wants_is_computed() -> None:
    def program(x: Any) -> Any:
        scale(x + 1.0, cn.empty(N), 2.0)
        return x

    assert counted_differential(program)["tasks_submitted"] == 2


@pytest.mark.parametrize(
    "argument", [1, True, np.float64(2.0), "2.0", None, [2.0]], ids=repr
)
def test_an_argument_that_a_task_does_not_take_is_refused_in_the_call(
    argument: Any,
) -> None:
    x, y = numbers() + 1.0, cn.zeros(N)

    def call() -> type | None:
        try:
            scale(x, y, argument)
        except Exception as error:
            return type(error)
        return None

    found = call()
    with unfused():
        assert found is call()
    assert (found is None) == isinstance(argument, float)


@pytest.mark.parametrize(
    "arguments", [(), (1.0,), (1.0, 2.0), ("x", "y", 2.0)], ids=repr
)
def test_wrong_arguments_are_refused_in_the_call(arguments: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        scale(*arguments)


def test_a_number_that_no_type_holds_is_refused_in_the_call() -> None:
    x, y = numbers(), cn.zeros(N)
    with pytest.raises((OverflowError, ValueError)):
        count(x, y, 2**70)


def test_a_call_takes_keywords_and_defaults() -> None:
    def program(x: Any) -> Any:
        b, c = cn.empty(N), cn.empty(N)
        scale(y=b, x=x, negative=True, factor=2.0)
        scale(x, factor=3.0, y=c)
        return b + c

    found = counted_differential(program)
    assert found["tasks_submitted"] - found["fills_submitted"] == 3


def test_an_argument_that_legate_pickles_ends_the_window() -> None:
    def program(x: Any) -> Any:
        b = cn.empty(N)
        shout("abc", x + 1.0, b)
        return b + 1.0

    assert counted_differential(program)["tasks_submitted"] == 3


def test_a_prepared_call_takes_no_more_arguments() -> None:
    x, y = numbers(), cn.zeros(N)
    (array,) = x.__legate_data_interface__["data"].values()
    prepared = scale.prepare_call(x, y, 2.0)
    with pytest.raises(RuntimeError, match="prepared Python task"):
        prepared.add_input(array)
    with pytest.raises(RuntimeError, match="prepared Python task"):
        prepared.add_scalar_arg(1, lc.int64)
    lc.get_legate_runtime().submit(prepared)
    same(y, np.arange(float(N)) * 2.0)


def test_a_task_that_may_raise_ends_the_window() -> None:
    x, y = numbers(), cn.zeros(N)
    x += 1.0
    before = legate_diffuse.stats()["groups"]
    with pytest.raises(ArithmeticError, match="as declared"):
        refuse(x, y)
    assert legate_diffuse.stats()["groups"] == before + 1
    same(x, np.arange(float(N)) + 1.0)


@pytest.mark.parametrize("form", ["side_effect", "concurrent"])
def test_what_a_task_declares_ends_the_window(form: str) -> None:
    x, y = numbers(), cn.zeros(N)
    x += 1.0
    prepared = scale.prepare_call(x, y, 2.0)
    getattr(prepared, f"set_{form}")(True)
    before = legate_diffuse.stats()["tasks_submitted"]
    prepared.execute()
    assert legate_diffuse.stats()["tasks_submitted"] == before + 2
    same(y, np.arange(float(N)) * 2.0 + 2.0)


def test_a_task_that_the_library_lacks_is_legates_affair() -> None:
    runtime = lc.get_legate_runtime()
    x = numbers() + 1.0
    (array,) = x.__legate_data_interface__["data"].values()
    with pytest.raises(IndexError):
        wrong = runtime.create_auto_task(runtime.core_library, 10**6)
        wrong.add_output(array.data)
        wrong.execute()
    same(x, np.arange(float(N)) + 1.0)


PROGRAM = """
import legate_diffuse
import numpy as np
import cupynumeric as cn
from legate.core.task import InputStore, OutputStore, task
calls = []
@task
def work(x: InputStore, y: OutputStore, by: int) -> None:
    calls.append(by)
    np.asarray(y)[...] = np.asarray(x) * by
x = cn.arange(100.0)
x += 1.0
y = cn.zeros(100)
y[50:] = x[:50] * 2.0
@task
def poke(y: OutputStore, place: int) -> None:
    np.asarray(y)[place] = -1.0
for step in range(3):
    work(x, y[:100], step + 2)
    y += 1.0
    z = y.copy()
    poke(y, step)
    y += z
    x[:50] = y[50:] + 1.0
print(calls, float(x.sum()), float(y.sum()))
"""


@pytest.mark.parametrize(
    ("check", "small"),
    some([("0", "0"), ("0", "32768"), ("1", "32768"), ("1", "0")], 2),
)
def test_a_task_runs_once_in_every_mode(check: str, small: str) -> None:
    expected = run_in_worker(PROGRAM, LEGATE_DIFFUSE="0")
    fused = run_in_worker(
        PROGRAM,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_CHECK=check,
        LEGATE_DIFFUSE_SMALL_BYTES=small,
    )
    assert (fused.returncode, fused.stderr) == (0, "")
    assert fused.counters["groups"] > 0
    assert fused.stdout == expected.stdout
    assert fused.stdout.startswith("[2, 3, 4] ")


@pytest.mark.parametrize("dim", range(2, 7))
def test_arrays_get_as_many_dimensions_as_legate_has(dim: int) -> None:
    values = np.arange(3.0**dim)
    given = cn.array(values).reshape((3,) * dim)
    found: list[Any] = []
    assert counts(lambda: found.append(given + 1.0))["groups"] == 1
    np.testing.assert_array_equal(
        np.asarray(found[0]), values.reshape((3,) * dim) + 1.0
    )
