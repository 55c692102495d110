# SPDX-License-Identifier: Apache-2.0
"""Sums over rows of elements among other operations: a window, its loops, their order."""
# ruff: noqa: E501 (the lines of windows)

from __future__ import annotations

import pytest
from proven import refuted
from window_reader import parse

from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.legality import Refusal, refuse_alone
from legate_diffuse.fusion.pipeline import Pass, make_plan, verify_pass
from legate_diffuse.ir import OperationKind
from legate_diffuse.ir.text import render
from legate_diffuse.ir.verify import InvalidWindowError, verify_window
from legate_diffuse.libraries.cupynumeric.meanings import OPERATIONS
from legate_diffuse.libraries.operations import Operation, Operations
from legate_diffuse.libraries.table import call

PRODUCTS = [
    OperationKind("PRODUCT", "", ("rect1", index, "float64", "float64"), ("float64",))
    for index in ("int32", "int64")
]
MEANINGS = Operations(
    {**OPERATIONS, **dict.fromkeys(PRODUCTS, Operation(call("row_sum"), rows=True))}
)

HEAD = """
store %0 rect1 live single
store %1 int64 live single
store %2 float64 live single
store %3 float64 live single
store %4 float64 single undefined
store %5 float64 live single
view %0.0 shape 0 many [:]
view %1.1 shape 1 many [:]
view %2.2 shape 1 many [:]
view %3.3 shape 0 many [:]
view %4.4 shape 0 many [:]
view %5.5 shape 0 many [:]
"""
SUM = "PRODUCT(rect1, int64, float64, float64) -> (float64) shape 0: write %4.4, read %0.0, read(all) %1.1, read(all) %2.2, read(all) %3.3\n"
NEGATE = "UNARY_OP.NEGATIVE(float64) -> (float64) shape 0: write %{0}, read %{1}\n"


def passes(tasks: str, head: str = HEAD, *, can_be: bool = True) -> dict[str, str]:
    """Return the text of each pass; ``can_be`` says that views have extents."""
    window = parse(head + tasks)
    verify_window(window)
    assert parse(render(window)) == window
    found: dict[str, str] = {}

    def note(step: Pass, draft: Draft) -> None:
        verify_pass(step, draft)
        found[step.name] = step.render(draft)

    plan = make_plan(window, MEANINGS, note)
    if can_be:
        refutation = refuted(window, plan.launches, MEANINGS)
        assert refutation is None, refutation.reason
    return found


def test_what_is_read_whole_is_made_before_and_changed_after() -> None:
    tasks = (
        NEGATE.format("3.3", "5.5")
        + SUM
        + NEGATE.format("5.5", "4.4")
        + NEGATE.format("3.3", "5.5")
    )
    found = passes(tasks)
    assert found["launches"] == "fused: 0 | 1 2 | 3\n"
    bands = found["schedule"].split("band\n")[1:]
    assert bands[1:] == [
        "nest 1 shape 0 many rows 0 margin 0 0: write %5[:] @0, read %0[:] @0, read(all) %1[:] as (*), read(all) %2[:] as (*), read(all) %3[:] as (*)\n",
        "nest 2 shape 0 many rows 0 margin 0 0: write %3[:] @0, read %5[:] @0\n",
    ]


def test_it_may_be_read_at_each_point_as_well() -> None:
    add = "BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %5.5, read %4.4, read %3.3\n"
    found = passes(SUM + add)
    assert found["launches"] == "fused: 0 1\n"
    assert (
        "argument 4 float64 read whole\nargument 5 float64 read prefetch\n"
        in found["kernels"]
    )


def test_results_may_not_be_what_is_read_whole() -> None:
    text = HEAD + SUM.replace("write %4.4", "write %3.3")
    (task,) = parse(text).tasks
    assert refuse_alone(task) is Refusal.ANTI_DEPENDENCE


DOT = "DOT(float64, float64) -> (float64) shape 0: reduce(add) %6.6, read %3.3, read %4.4\n"
DIVIDED = HEAD.replace(" single", "") + (
    "store %6 float64 live replicated single\nview %6.6 shape 2 one []\n"
)
LIVE = DIVIDED.replace("store %4 float64", "store %4 float64 live")


def test_single_elements_that_sums_of_rows_find_change_after_them() -> None:
    head = LIVE + "view %6.7 shape 0 many [] as (*)\n"
    scaled = "BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 0: write %5.5, read %4.4, read %6.7\n"
    doubled = "BINARY_OP.ADD(float64, float64) -> (float64) shape 2: write %6.6, read %6.6, read %6.6\n"
    for tasks in (SUM + scaled + doubled, SUM + doubled + scaled, SUM + doubled):
        found = passes(tasks, head)
        assert found["liveness"].startswith("partitioned: 0 1")
        assert "late" in found["liveness"]


def test_points_sum_rows_to_whole_arrays_only() -> None:
    (task,) = parse(DIVIDED + SUM).tasks
    assert refuse_alone(task) is None
    (task,) = parse(
        DIVIDED.replace("%4.4 shape 0 many [:]", "%4.4 shape 0 many [1:]") + SUM
    ).tasks
    assert refuse_alone(task) is Refusal.GATHERS


def test_points_have_images_of_what_their_rows_and_columns_tell() -> None:
    found = passes(SUM + DOT, DIVIDED)
    assert found["launches"] == "partitioned: 0 1\n"
    assert (
        found["arguments"]
        == """\
partitioned
argument %6.6 reduce
argument %0.0 read
argument %1.1 read image of 1
argument %2.2 read image of 1
argument %3.3 read image of 2
argument %3.3 read
never made %4.4
"""
    )


@pytest.mark.parametrize("name", ["columns are int32", "x is a part"])
def test_without_images_points_have_all(name: str) -> None:
    head, tasks = DIVIDED, SUM + NEGATE.format("5.5", "4.4")
    if name == "x is a part":
        head = head.replace("%3.3 shape 0 many [:]", "%3.3 shape 0 many [1:]")
    else:
        head, tasks = (
            head.replace("%1 int64", "%1 int32"),
            tasks.replace("int64", "int32"),
        )
    assert "argument %3.3 read all\n" in passes(tasks, head)["arguments"]


def test_points_sum_the_rows_of_others_near_their_own() -> None:
    views = "view %4.7 shape 3 many [1:]\nview %5.8 shape 3 many [:-1]\n"
    near = "UNARY_OP.NEGATIVE(float64) -> (float64) shape 3: write %5.8, read %4.7\n"
    found = passes(SUM + near, DIVIDED + views)
    assert found["launches"] == "partitioned: 0 | 1\n"
    assert "scratch %4" in found["arguments"]
    assert "argument %2.2 read image of 0\n" in found["arguments"]


def test_what_is_gathered_may_change_in_a_later_task() -> None:
    found = passes(SUM + NEGATE.format("3.3", "5.5"), LIVE)
    assert found["launches"] == "partitioned: 0\npartitioned: 1\n"


UPDATE = "BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %3.3, read %5.5, read %3.3\n"


@pytest.mark.parametrize("made", ["is updated", "is made of others"])
def test_what_is_gathered_is_made_in_a_task_before(made: str) -> None:
    first = {
        "is updated": UPDATE,
        "is made of others": NEGATE.format("3.3", "5.5"),
    }
    found = passes(first[made] + SUM + DOT, DIVIDED)
    assert found["launches"] == "partitioned: 0\npartitioned: 1 2\n"
    assert "moves" not in found["arguments"]


def test_only_reads_are_whole() -> None:
    with pytest.raises(InvalidWindowError, match="write has the operator 'all'"):
        verify_window(parse(HEAD + SUM.replace("write %4.4", "write(all) %4.4")))
