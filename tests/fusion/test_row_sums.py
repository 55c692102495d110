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
    OPERATIONS | dict.fromkeys(PRODUCTS, Operation(call("row_sum"), rows=True))
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


def test_single_elements_that_sums_of_rows_find_change_after_them() -> None:
    head = DIVIDED + "view %6.7 shape 0 many [] as (*)\n"
    scaled = "BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 0: write %5.5, read %4.4, read %6.7\n"
    doubled = "BINARY_OP.ADD(float64, float64) -> (float64) shape 2: write %6.6, read %6.6, read %6.6\n"
    for tasks in (SUM + scaled + doubled, SUM + doubled + scaled, SUM + doubled):
        found = passes(tasks, head)
        assert found["liveness"].startswith("partitioned: 0 1")
        assert "late" in found["liveness"]


def test_nobody_computes_again_what_nobody_gathers_in_the_end() -> None:
    views = "view %6.7 shape 0 many [] as (*)\nview %4.8 shape 3 many [1:]\nview %5.9 shape 3 many [:-1]\n"
    head = DIVIDED.replace("%5 float64 live", "%5 float64") + views
    scaled = "BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 0: write %3.3, read %3.3, read %6.7\n"
    moved = "COPY(float64) -> (float64) shape 3: write %5.9, read %4.8\n"
    found = passes(scaled + SUM + moved, head)
    assert found["launches"] == "partitioned: 0 | 1 | 2\n"
    assert found["kernels"].count("nest") == 2
    assert found["schedule"].count("nest") == 1


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
    found = passes(SUM + NEGATE.format("3.3", "5.5"), DIVIDED)
    assert found["launches"] == "partitioned: 0\npartitioned: 1\n"


UPDATE = "BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %3.3, read %5.5, read %3.3\n"


def test_points_compute_again_what_they_gather() -> None:
    found = passes(UPDATE + SUM + DOT, DIVIDED)
    assert found["launches"] == "partitioned: 0 | 1 2\n"
    assert (
        found["copies"]
        == """\
nest 0 shape 0: write %8.3, read %5.5, read %3.3
nest 1 shape 0 image %1 %0: write %7.3, read %3.3, read %5.5
nest 2 shape 0: reduce %6.6, read %0.0, read %1.1, read %2.2, read %7.3, read %8.3
"""
    )
    assert (
        found["arguments"]
        == """\
partitioned
argument %3.3 write moves
argument %5.5 read
argument %3.3 read
argument %0.0 read
argument %1.1 read image of 3
argument %3.3 read image of 4
argument %5.5 read image of 4
argument %6.6 reduce
argument %2.2 read image of 3
scratch %3.3 nests 1 2 as argument 5, in tiles as argument 0
never made %4.4
"""
    )


MADE = "BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %3.3, read %5.5, read %7.7\n"
MORE = DIVIDED + "store %7 float64 live\nview %7.7 shape 0 many [:]\n"


def test_what_points_compute_again_need_not_move() -> None:
    found = passes(MADE + SUM + DOT, MORE)
    assert found["launches"] == "partitioned: 0 | 1 2\n"
    assert "moves" not in found["arguments"]


def test_what_only_rows_use_is_computed_for_them_only() -> None:
    head = MORE.replace("%3 float64 live", "%3 float64 undefined")
    found = passes(MADE + SUM + NEGATE.format("5.5", "4.4"), head)
    assert found["launches"] == "partitioned: 0\npartitioned: 1 2\n"
    head = head + "store %8 float64 live\nview %8.8 shape 0 many [:]\n"
    found = passes(MADE + SUM + NEGATE.format("8.8", "4.4"), head)
    assert found["launches"] == "partitioned: 0 | 1 2\n"
    assert found["copies"].startswith("nest 0 shape 0 image %1 %0: write")
    assert found["copies"].count("\n") == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # there are no images
        ("int64", "int32"),
        # what was there must be read where others write, and cannot move
        ("%3 float64 live", "%3 float64 live fixed"),
        # there are no images of parts
        ("read(all) %3.3", "read(all) %3.9"),
        # elements are made from others
        ("write %3.3, read %5.5, read %3.3", "write %3.3, read %5.9, read %3.3"),
        ("write %3.3, read %5.5, read %3.3", "write %3.9, read %5.5, read %3.9"),
        # all that they are made from is read, or none
        ("ADD(float64, float64) -> (float64) shape 0: write %3.3, read %5.5, read", ""),
    ],
)
def test_points_compute_again_only_what_they_can(old: str, new: str) -> None:
    views = "store %9 float64 live\nview %9.8 shape 3 many [:]\n"
    text = DIVIDED + views
    if not new:
        update = "FILL(float64) -> (float64) shape 0: write %3.3\n"
        found = passes(update + SUM + NEGATE.format("5.5", "4.4"), text)
        assert found["launches"].count("\n") == 2
        return
    view = (
        "view %5.9 shape 0 many [-1:]\n"
        if "%5.9" in new
        else "view %3.9 shape 0 many [1:]\n"
    )
    assert old in text + UPDATE + SUM
    tasks = UPDATE.replace(old, new) + SUM.replace(old, new) + DOT
    found = passes(tasks, text.replace(old, new) + view, can_be="9" not in new)
    assert found["launches"] == "partitioned: 0\npartitioned: 1 2\n"


def test_points_compute_again_what_one_loop_makes() -> None:
    views = (
        "store %8 float64 live\nview %8.8 shape 0 many [:]\n"
        "view %8.9 shape 3 many [1:]\nview %3.10 shape 3 many [1:]\n"
    )
    tasks = (
        UPDATE
        + "UNARY_OP.NEGATIVE(float64) -> (float64) shape 3: write %8.9, read %3.10\n"
        + UPDATE.replace("%5.5", "%8.8")
        + SUM
        + DOT
    )
    found = passes(tasks, MORE + views)
    assert found["launches"] == "partitioned: 0 | 1 | 2\npartitioned: 3 4\n"


def test_points_compute_again_what_is_made_from_arrays() -> None:
    fill = "FILL(float64) -> (float64) shape 0: write %3.3\n"
    found = passes(fill + NEGATE.format("7.7", "5.5") + SUM + DOT, MORE)
    assert found["arguments"].count("partitioned") == 2


def test_two_matrices_may_tell_what_is_gathered_of_what_a_task_before_makes() -> None:
    head = MORE + (
        "store %8 int32 live\nview %8.8 shape 1 many [:]\n"
        "store %9 float64 live\nview %9.9 shape 0 many [:]\n"
    )
    other = SUM.replace("int64", "int32").replace("%1.1", "%8.8")
    other = other.replace("%4.4", "%9.9")
    found = passes(MADE + SUM + DOT + other, head)
    assert found["launches"] == "partitioned: 0\npartitioned: 1 2 3\n"


def test_rows_of_two_matrices_tell_of_what_a_task_before_makes() -> None:
    head = MORE + (
        "store %8 rect1 live\nview %8.8 shape 0 many [:]\n"
        "store %9 float64 live\nview %9.9 shape 0 many [:]\n"
    )
    other = SUM.replace("%0.0", "%8.8").replace("%4.4", "%9.9")
    found = passes(MADE + SUM + DOT + other, head)
    assert found["launches"] == "partitioned: 0\npartitioned: 1 2 3\n"


def test_what_is_computed_again_is_not_computed_from() -> None:
    head = MORE + (
        "store %8 float64 live\nview %8.8 shape 0 many [:]\n"
        "store %9 float64 live\nview %9.9 shape 0 many [:]\n"
    )
    product = "BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 0: write %8.8, read %3.3, read %{0}\n"
    other = SUM.replace("%3.3", "%8.8").replace("%4.4", "%9.9")
    found = passes(MADE + SUM + product.format("4.4") + other, head)
    assert found["launches"] == "partitioned: 0 | 1 2\npartitioned: 3\n"
    # which is not in the first loop, as it changes what was read
    before = "BINARY_OP.MULTIPLY(float64, float64) -> (float64) shape 0: write %10.10, read %4.4, read %8.8\n"
    head += "store %10 float64 live\nview %10.10 shape 0 many [:]\n"
    found = passes(MADE + SUM + before + product.format("7.7") + other, head)
    assert found["launches"] == "partitioned: 0 | 1 2 3\npartitioned: 4\n"


@pytest.mark.parametrize("changed", ["", "%1.1", "%0.0"])
def test_it_is_known_whether_a_window_changes_what_tells(changed: str) -> None:
    tasks = MADE + SUM + DOT
    if changed:
        dtype, shape = ("int64", 1) if changed == "%1.1" else ("rect1", 0)
        tasks += f"FILL({dtype}) -> ({dtype}) shape {shape}: write {changed}\n"
    plan = make_plan(parse(MORE + tasks), MEANINGS)
    assert plan.launches[0].images == ((1, 0, not changed),)


def test_the_old_vector_is_not_what_points_gather_of_their_own() -> None:
    views = (
        "store %8 float64 live\nview %8.8 shape 3 many [1:]\n"
        "view %3.9 shape 3 many [1:]\n"
    )
    before = "UNARY_OP.NEGATIVE(float64) -> (float64) shape 3: write %8.8, read %3.9\n"
    found = passes(before + UPDATE + SUM + DOT, DIVIDED + views)
    arguments = found["arguments"]
    place = next(n for n, line in enumerate(arguments.splitlines()) if "moves" in line)
    assert place == 3
    assert f", in tiles as argument {place - 1}\n" in arguments


def test_what_points_compute_again_from_does_not_change() -> None:
    for before, after in (
        (NEGATE.format("5.5", "7.7"), ""),
        ("", NEGATE.format("5.5", "4.4")),
        ("", NEGATE.format("3.3", "4.4")),
    ):
        tasks = (before and f"{SUM}{before}") + UPDATE + SUM + after
        found = passes(tasks, MORE)
        number = len(found["launches"].splitlines())
        assert number == 2, found["launches"]


def test_only_reads_are_whole() -> None:
    with pytest.raises(InvalidWindowError, match="write has the operator 'all'"):
        verify_window(parse(HEAD + SUM.replace("write %4.4", "write(all) %4.4")))
