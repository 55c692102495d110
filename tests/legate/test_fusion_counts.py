# SPDX-License-Identifier: Apache-2.0
"""How many tasks real programs submit, exactly."""

from __future__ import annotations

from typing import Any

import cupynumeric as cn
import legate.core as lc
import numpy as np
import pytest
from comparison import counts, differential, same
from cupynumeric.config import CuPyNumericOpCode

import legate_diffuse
from legate_diffuse.interpose.window import window
from legate_diffuse.launch.policy import CAPACITY


def chain(x: Any) -> Any:
    y = x * (1.0 - x)
    y = y * 3.5
    y = (y + 0.25) / 1.25
    return y * y - y + 1.0


def made(n: int = 100) -> Any:
    x = cn.arange(n, dtype=np.float64) * 0.01
    window.flush("test")
    return x


def test_a_chain_is_one_task() -> None:
    x = made()
    found = counts(lambda: chain(x))
    assert found["tasks_seen"] == 8
    assert found["tasks_submitted"] == 1
    assert found["temporaries_removed"] == 7
    assert found["temporaries_removed_bytes"] == 7 * 100 * 8


def test_a_stencil_is_one_task() -> None:
    grid = cn.ones((20, 20))
    window.flush("test")

    def step() -> None:
        work = 0.2 * (
            grid[1:-1, 1:-1]
            + grid[:-2, 1:-1]
            + grid[2:, 1:-1]
            + grid[1:-1, :-2]
            + grid[1:-1, 2:]
        )
        grid[1:-1, 1:-1] = work

    found = counts(step)
    assert found["tasks_seen"] == 6
    assert found["tasks_submitted"] == 1


@pytest.mark.parametrize(
    ("rows", "columns", "transposed", "fused"),
    [
        (2048, 2048, False, True),
        (2049, 2048, False, False),
        (256, 256, True, True),
        (257, 257, True, False),
        (16, 100, False, True),
        (7, 100, False, False),
    ],
)
def test_products_of_small_matrices_are_fused(
    rows: int, columns: int, transposed: bool, fused: bool
) -> None:
    values = np.arange(float(rows * columns)).reshape(rows, columns) % 7.0
    a, x = cn.array(values), cn.arange(float(columns)) % 5.0
    if transposed:
        values, a = values.T, a.T
    window.flush("test")
    results: list[Any] = []
    found = counts(lambda: results.append(2.0 * (a @ x)))
    # the opaque product, and a loop after it
    tasks = found["tasks_submitted"] - found["fills_submitted"]
    assert tasks == (1 if fused else 2)
    assert found["groups"] == 1
    expected = 2.0 * (values @ (np.arange(float(columns)) % 5.0))
    np.testing.assert_array_equal(np.asarray(results[0]), expected)


def test_what_nobody_reads_is_not_computed() -> None:
    x = made()

    def forgetful() -> None:
        chain(x)

    found = counts(forgetful)
    assert found["tasks_submitted"] == 0
    assert found["temporaries_removed"] == 8


def test_a_result_that_is_kept_is_stored() -> None:
    x = made()
    kept: list[Any] = []

    def keep() -> Any:
        y = x + 1.0
        kept.append(y)
        return y * 2.0

    found = counts(keep)
    assert found["tasks_submitted"] == 1
    assert found["temporaries_removed"] == 0
    same(kept[0], np.asarray(x) + 1.0)


def test_a_view_keeps_its_store() -> None:
    x = made()
    views: list[Any] = []

    def keep() -> Any:
        y = x + 1.0
        views.append(y[10:20])
        return y * 2.0

    found = counts(keep)
    assert found["groups"] == 1
    assert found["temporaries_removed"] == 0
    same(views[0], np.asarray(x)[10:20] + 1.0)


def test_points_compute_what_others_need_of_a_store() -> None:
    x = made(64)

    def program() -> Any:
        y = x + 1.0
        return y[1:] + y[:-1]  # another shape: another group

    found = counts(program)
    assert found["tasks_submitted"] == 1
    assert found["temporaries_removed"] == 1


def test_results_that_begin_elsewhere_share_a_task() -> None:
    x = made(64)
    results: list[Any] = []

    def program() -> None:
        y = x + 1.0
        results.append((y, y[1:-1] * 2.0, y[2:] - y[:-2]))

    found = counts(program)
    assert found["tasks_submitted"] == 1
    y = np.asarray(x) + 1.0
    for result, expected in zip(
        results[0], (y, y[1:-1] * 2.0, y[2:] - y[:-2]), strict=True
    ):
        same(result, expected)


def test_a_repeated_window_is_planned_and_compiled_once() -> None:
    x = made()

    def iterate() -> None:
        for _ in range(5):
            y = chain(x)
            window.flush("test")
            del y

    iterate()
    found = counts(iterate)
    assert found["plans_made"] == 0
    assert found["kernels_compiled"] == 0
    assert found["plan_hits"] == 5


def test_extents_and_values_are_not_part_of_a_plan() -> None:
    def program(n: int, c: float) -> Any:
        return cn.ones(n) * c + c

    counts(lambda: program(50, 2.0))
    found = counts(lambda: program(71, 3.0))
    assert found["plans_made"] == 0
    assert found["groups"] > 0
    same(program(71, 3.0), np.full(71, 6.0))


@pytest.mark.parametrize("pair", ["ab_ba", "ab_ab"])
def test_windows_that_differ_in_which_arrays_repeat_have_plans_of_their_own(
    pair: str,
) -> None:
    def program(np_: Any, a: Any, b: Any) -> tuple[Any, Any]:
        a, b = a + 0.0, b + 0.0
        a += b
        if pair == "ab_ba":
            b += a
        else:
            a += b
        return a, b

    differential(program, np.arange(40.0), np.ones(40))


def test_a_full_window_is_submitted() -> None:
    x = cn.arange(100.0)
    window.flush("test")
    before = legate_diffuse.stats()["flushes"].get("full window", 0)
    y = x
    for _ in range(CAPACITY + 1):
        y = y + 1.0
    assert legate_diffuse.stats()["flushes"]["full window"] > before
    same(y, np.asarray(x) + CAPACITY + 1)


@pytest.mark.parametrize(
    ("length", "tasks"),
    # a loop nest has at most 128 operations
    [(3, 1), (9, 1), (23, 1), (50, 1), (67, 1), (100, 1), (140, 2), (250, 4)],
)
def test_windows_follow_a_loop(length: int, tasks: int) -> None:
    x = made()

    def body(x: Any) -> Any:
        y = x
        for number in range(length):
            # a body that looks different everywhere
            y = y * x if number % 7 in (1, 3) else y + x
        return y - x

    def iterate(times: int) -> None:
        for _ in range(times):
            kept[0] = body(x)

    kept: list[Any] = [None]
    iterate(200)
    before = legate_diffuse.stats()
    iterate(60)
    after = legate_diffuse.stats()
    for counter in ("plans_made", "kernels_compiled"):
        assert after[counter] == before[counter]
    assert after["tasks_submitted"] - before["tasks_submitted"] <= 60 * tasks
    same(kept[0], body(np.asarray(x)))


def test_a_window_holds_a_whole_step_of_a_long_loop() -> None:
    """As soon as the step was seen to come again."""

    def step(x: Any) -> Any:
        half = x * 0.5
        y = x
        for number in range(250):
            y = y * half if number % 7 in (1, 3) else y + half
        return y - half

    x = made()
    for _ in range(10):
        kept = step(x)
    window.flush("test")
    before = legate_diffuse.stats()
    for _ in range(10):
        kept = step(x)
    window.flush("test")
    after = legate_diffuse.stats()
    assert sum(after["flushes"].values()) - sum(before["flushes"].values()) == 10
    # both loop nests, which have at most 128 operations each
    assert after["tasks_submitted"] - before["tasks_submitted"] == 10
    same(kept, step(np.asarray(x)))


def test_one_element_and_empty_arrays_run_as_they_are() -> None:
    def program(np_: Any, x: Any) -> tuple[Any, ...]:
        one = x[:1] + 1.0
        empty = x[:0] * 2.0
        zero_d = x.sum() + 1.0
        return one, empty, zero_d, x + zero_d

    differential(program, np.arange(40.0), originals=3)


def test_reading_a_value_submits_what_is_pending() -> None:
    x = made()
    y = x + 1.0
    assert float(y[3]) == np.asarray(x)[3] + 1.0
    assert bool(cn.all(y > 0.5))
    assert f"{(y * 0.0)[:2]}" == "[0. 0.]"
    assert counts(lambda: float((x + 1.0).sum()))["groups"] > 0


def test_a_constant_that_is_written_is_no_constant() -> None:
    # a value of its own: cuPyNumeric shares the store of equal constants, and
    # changes them all
    c = cn.array(7.0625)
    x = made()
    first = x * c
    c += 1.0
    second = x * c
    same(first, np.asarray(x) * 7.0625)
    same(second, np.asarray(x) * 8.0625)


def test_a_constant_that_a_task_gets_as_an_array_is_no_constant() -> None:
    c = cn.array(3.0625)
    x = made()
    first = x * c  # waits, with the old value
    store = c._thunk.base
    task = lc.get_legate_runtime().create_auto_task(
        c._thunk.library, CuPyNumericOpCode.FILL
    )
    task.add_output(lc.LogicalArray.from_store(store))
    task.add_input(cn.array(5.0625)._thunk.base)
    task.execute()
    second = x * c
    same(first, np.asarray(x) * 3.0625)
    same(second, np.asarray(x) * 5.0625)
