# SPDX-License-Identifier: Apache-2.0
"""Points divide small temporaries between arrays that they divide, and no others."""

from __future__ import annotations

import pytest
from window_golden import covered
from window_reader import parse

from legate_diffuse.fusion.division import divide_small_arrays
from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.ir.text import render
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

# 0 is divided; 1 to 4 are columns, and 5 is a column that the program has
COLUMNS = """
store %0 float64 live
store %1 float64 single undefined
store %2 float64 single undefined
store %3 float64 single undefined
store %4 float64 single undefined
store %5 float64 live single
view %0.0 shape 0 many [1:-1, 0]
view %0.10 shape 0 many [1:-1, -1]
view %0.20 shape 0 many [:-2, 0]
view %1.1 shape 0 many [:]
view %2.2 shape 0 many [:]
view %3.3 shape 0 many [:]
view %4.4 shape 0 many [:]
view %5.5 shape 0 many [:]
"""
ADD = "BINARY_OP.ADD(float64, float64) -> (float64) shape 0:"
COPY = "COPY(float64) -> (float64) shape 0:"
FIRST = f"{ADD} write %1.1, read %0.10, read %0.20\n"
LAST = f"{COPY} write %0.0, read %3.3\n"


@pytest.mark.parametrize(
    ("tasks", "divided"),
    [
        pytest.param(
            FIRST
            + f"{ADD} write %2.2, read %1.1, read %1.1\n"
            + f"{ADD} write %3.3, read %2.2, read %1.1\n"
            + LAST,
            {1, 2, 3},
            id="between",
        ),
        pytest.param(
            FIRST + f"{COPY} write %3.3, read %2.2\n" + LAST,
            set(),
            id="nothing comes from one and goes to the other",
        ),
        pytest.param(
            FIRST + f"{COPY} write %5.5, read %1.1\n",
            set(),
            id="somebody sees the end",
        ),
        pytest.param(
            FIRST
            + f"{ADD} write %2.2, read %1.1, read %5.5\n"
            + f"{ADD} write %3.3, read %2.2, read %1.1\n"
            + f"{ADD} write %4.4, read %3.3, read %3.3\n"
            + LAST,
            set(),
            id="what stays in one piece is beside them",
        ),
    ],
)
def test_what_lies_between_divided_arrays_is_divided(
    tasks: str, divided: set[int]
) -> None:
    window = parse(COLUMNS + tasks)
    after = divide_small_arrays(window, covered)
    was = {store.id for store in window.stores if store.single}
    assert was - {store.id for store in after.stores if store.single} == divided
    undivided = render(after).splitlines()
    for number in divided:
        undivided = [
            line.replace("float64 undefined", "float64 single undefined")
            if line.startswith(f"store %{number} ")
            else line
            for line in undivided
        ]
    assert undivided == render(window).splitlines()


# 0 is a matrix, which is divided, and all others have one element for each row
PRODUCT = """
store %0 float64 live
store %1 float64 live single
store %2 float64 single undefined
store %3 float64 single undefined
store %4 float64 live single undefined
store %5 float64 live replicated single
view %0.0 shape 1 many [:, :]
view %1.1 shape 0 many [:]
view %1.11 shape 1 many [:] as (*, 0)
view %2.2 shape 0 many [:]
view %2.12 shape 1 many [:] as (0, *)
view %3.3 shape 0 many [:]
view %4.4 shape 0 many [:]
view %4.14 shape 2 many [1:]
view %3.13 shape 2 many [:-1]
view %5.5 shape 0 many []
FILL(float64) -> (float64) shape 0: write %2.2, read %5.5
"""
PRODUCT += (
    "MATVECMUL(float64, float64) -> (float64) shape 1: "
    "reduce(add) %2.12, read %0.0, read %1.11\n"
)


@pytest.mark.parametrize(
    ("tasks", "divided"),
    [
        pytest.param("", {2}, id="the sums"),
        pytest.param(
            f"{ADD} write %3.3, read %1.1, read %2.2\n{COPY} write %4.4, read %3.3\n",
            {2, 3, 4},
            id="what is computed of them",
        ),
        pytest.param(
            f"{ADD} write %3.3, read %1.1, read %2.2\n"
            "COPY(float64) -> (float64) shape 2: write %4.14, read %3.13\n",
            set(),
            id="one point uses them at a distance",
        ),
        pytest.param(
            f"{COPY} write %3.3, read %2.2\n"
            "DOT(float64, float64) -> () shape 0: "
            "reduce(add) %5.5, read %3.3, read %1.1\n",
            set(),
            id="one point adds them up",
        ),
    ],
)
def test_what_is_computed_of_sums_is_divided(tasks: str, divided: set[int]) -> None:
    _check_divided(PRODUCT + tasks, divided)


def test_what_is_computed_of_sums_of_other_tasks_is_not_divided() -> None:
    sums = PRODUCT.replace(
        "MATVECMUL(float64, float64) -> (float64)", "UNKNOWN_TASK() -> ()"
    )
    _check_divided(sums + f"{ADD} write %4.4, read %1.1, read %2.2\n", set())


def _check_divided(text: str, divided: set[int]) -> None:
    window = parse(text)
    after = divide_small_arrays(window, covered)
    was = {store.id for store in window.stores if store.single}
    assert was - {store.id for store in after.stores if store.single} == divided


@pytest.mark.parametrize(
    ("before", "divided"),
    [
        pytest.param("", {1, 3}, id="it is written first"),
        pytest.param(
            f"{ADD} write %0.0, read %0.0, read %3.3\n", set(), id="it is read first"
        ),
    ],
)
def test_what_was_there_before_does_not_matter(before: str, divided: set[int]) -> None:
    columns = COLUMNS.replace("%3 float64 single undefined", "%3 float64 single")
    tasks = f"{before}{FIRST}{COPY} write %3.3, read %1.1\n{LAST}"
    window = parse(columns + tasks)
    after = divide_small_arrays(window, covered)
    was = {store.id for store in window.stores if store.single}
    assert was - {store.id for store in after.stores if store.single} == divided


def test_a_boundary_condition_on_small_columns_is_one_loop() -> None:
    tasks = (
        FIRST
        + f"{ADD} write %2.2, read %1.1, read %1.1\n"
        + f"{ADD} write %3.3, read %2.2, read %1.1\n"
        + f"{COPY} write %4.4, read %3.3\n"
        + f"{COPY} write %0.0, read %4.4\n"
    ).replace("%0.20", "%0.0")
    (launch,) = make_plan(parse(COLUMNS + tasks), MEANINGS).launches
    assert launch.partitioned
    assert [group.tasks for group in launch.groups] == [(0, 1, 2, 3, 4)]
