# SPDX-License-Identifier: Apache-2.0
"""Plans: what the native part is asked to run, and with which privileges."""

# ruff: noqa: E501 (the lines of windows)

from __future__ import annotations

import pytest
from launch_forms import ORIGINAL, PARTITIONED, WHOLE, Form, form_of
from window_golden import covered
from window_reader import parse

from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.fusion.plan import Plan, PlannedLaunch, unfused_plan
from legate_diffuse.fusion.root_users import Buffer
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.ir.verify import InvalidWindowError
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

BOTH = READ | WRITE

# Views n, 10 + n and 20 + n are store n whole, shifted, and in another shape.
STORES = """
# not partitioned: 0 and 1 live, 2 dead, 3 live and undefined, 4 dead and undefined
store %0 int8 live single
store %1 int8 live single
store %2 int8 single
store %3 int8 live single undefined
store %4 int8 single undefined
view %0.0 shape 0 many [:]
view %1.1 shape 0 many [:]
view %2.2 shape 0 many [:]
view %3.3 shape 0 many [:]
view %4.4 shape 0 many [:]
view %0.10 shape 0 many [1:]
view %1.11 shape 0 many [1:]
view %2.12 shape 0 many [1:]
view %3.13 shape 0 many [1:]
view %4.14 shape 0 many [1:]
view %0.20 shape 1 many [:-1]
view %1.21 shape 1 many [:-1]
view %2.22 shape 1 many [:-1]
view %3.23 shape 1 many [:-1]
view %4.24 shape 1 many [:-1]
view %0.30 shape 1 many [:]
# futures: 6 live, 7 dead, 9 constant
store %6 int8 live replicated
store %7 int8 replicated
store %9 int8 replicated constant
view %6.6 shape 2 one []
view %7.7 shape 2 one []
view %9.9 shape 2 one []
view %6.16 shape 0 many [] as (*)
view %7.17 shape 0 many [] as (*)
view %9.19 shape 0 many [] as (*)
# partitioned
store %50 int8 live
store %51 int8
view %50.50 shape 0 many [:]
view %51.51 shape 0 many [:]
# vectors that are reduced to
store %60 int64 live single
store %61 int64 single
view %60.60 shape 0 many [:]
view %61.61 shape 0 many [:]
view %60.70 shape 1 many [:] as (0, *)
view %61.71 shape 1 many [:] as (0, *)
"""


def plan_of(text: str) -> Plan:
    """Plan tasks over the stores above."""
    return make_plan(parse(STORES + text), MEANINGS)


def launch_of(text: str, form: Form = WHOLE) -> PlannedLaunch:
    """Plan tasks that are one launch."""
    (launch,) = plan_of(text).launches
    assert form_of(launch) == form
    return launch


# -- programs: privileges --------------------------------------------------------
# the tasks, and the privilege of each root by its store
PRIVILEGES: dict[str, tuple[str, dict[int, int]]] = {
    "read": (
        "COPY(int8) -> (int8) shape 0: write %1.1, read %0.10",
        {0: READ, 1: WRITE},
    ),
    "the whole is written": (
        "COPY(int8) -> (int8) shape 0: write %1.1, read %0.0",
        {0: READ, 1: WRITE},
    ),
    "a part is written, so the rest must stay": (
        "COPY(int8) -> (int8) shape 0: write %1.11, read %0.0",
        {0: READ, 1: BOTH},
    ),
    "a part is written of what has no rest yet": (
        "COPY(int8) -> (int8) shape 0: write %3.13, read %0.0",
        {0: READ, 3: WRITE},
    ),
    "in place": (
        "UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.0, read %0.0",
        {0: BOTH},
    ),
    "read, then the whole is written": (
        """
        COPY(int8) -> (int8) shape 1: write %1.21, read %0.20
        COPY(int8) -> (int8) shape 0: write %0.0, read %1.1
        """,
        {1: BOTH, 0: BOTH},
    ),
    "the whole is written, then read": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 1: write %0.30, read %1.21
        """,
        {1: WRITE, 0: BOTH},
    ),
    "the whole is written, then a part": (
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 1: write %1.21, read %0.20
        """,
        {1: WRITE, 0: READ},
    ),
    "a part is written, then the whole": (
        """
        COPY(int8) -> (int8) shape 1: write %1.21, read %0.20
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        """,
        {1: WRITE, 0: READ},
    ),
    "a part is written and read, then the whole is written": (
        """
        COPY(int8) -> (int8) shape 1: write %1.21, read %0.20
        COPY(int8) -> (int8) shape 1: write %3.23, read %1.21
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        """,
        {1: BOTH, 0: READ, 3: WRITE},
    ),
    "a part is written, then all is read": (
        """
        COPY(int8) -> (int8) shape 0: write %1.11, read %0.0
        COPY(int8) -> (int8) shape 0: write %0.0, read %1.1
        """,
        {1: BOTH, 0: BOTH},
    ),
    "an undefined store is written in part, then read": (
        """
        COPY(int8) -> (int8) shape 0: write %3.13, read %0.0
        COPY(int8) -> (int8) shape 1: write %1.21, read %3.23
        """,
        {3: WRITE, 0: READ, 1: BOTH},
    ),
    "an undefined store is read": (
        "COPY(int8) -> (int8) shape 0: write %1.1, read %3.3",
        {1: WRITE, 3: READ},
    ),
    "a future is read": (
        "BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %6.16",
        {1: WRITE, 0: READ, 6: READ},
    ),
    "a constant goes by value": (
        "BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %9.19",
        {1: WRITE, 0: READ},
    ),
    "a reduction reads what it starts from": (
        "SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0",
        {6: BOTH, 0: READ},
    ),
    "a reduction that the program initialises": (
        """
        FILL(int8) -> (int8) shape 2: write %6.6
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %0.0
        """,
        {6: WRITE, 0: READ},
    ),
    "a reduction along an axis": (
        "UNARY_RED.SUM(int8) -> (int64) shape 1: reduce(add) %60.70, read %0.30",
        {60: BOTH, 0: READ},
    ),
    "a reduction along an axis that the program initialises": (
        """
        FILL(int64) -> (int64) shape 0: write %60.60
        UNARY_RED.SUM(int8) -> (int64) shape 1: reduce(add) %60.70, read %0.30
        """,
        {60: WRITE, 0: READ},
    ),
}


@pytest.mark.parametrize(("text", "expected"), PRIVILEGES.values(), ids=PRIVILEGES)
def test_privileges_of_roots(text: str, expected: dict[int, int]) -> None:
    launch = launch_of(text)
    views = {view.id: view for view in parse(STORES + text).views}
    roots = [views[number].store.id for number in launch.arguments]
    assert dict(zip(roots, launch.privileges, strict=True)) == expected


def test_a_store_is_fresh_in_its_first_launch_only() -> None:
    text = """
        COPY(int8) -> (int8) shape 0: write %3.13, read %0.0
        SORT(int8) -> (int8) shape 0: write %0.0, read %3.3
        COPY(int8) -> (int8) shape 1: write %3.23, read %0.20
    """
    first, _, last = plan_of(text).launches
    assert first.privileges == bytes([WRITE, READ])
    assert last.privileges == bytes([BOTH, READ])


# -- programs: operands and scratch ----------------------------------------------
def test_operands_name_roots_and_scratch_buffers() -> None:
    launch = launch_of("""
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %2.2, read %0.0
        COPY(int8) -> (int8) shape 0: write %4.4, read %2.12
        BINARY_OP.ADD(int8, int8) -> (int8) shape 1: write %1.21, read %4.24, read %0.20
    """)
    assert launch.tasks == (0, 1, 2)
    assert launch.arguments == (0, 21)
    assert launch.privileges == bytes([READ, BOTH])
    assert launch.scratch == (Buffer(2, 0, 1, 0), Buffer(4, 1, 2, 0))
    assert [nest.nest.arguments for nest in launch.nests] == [
        (2, 0),
        (4, 12),
        (21, 24, 20),
    ]
    assert [nest.operands for nest in launch.nests] == [(-1, 0), (-2, -1), (1, -2, 0)]
    assert launch.temporaries == (2, 4)


def test_a_reduction_that_is_read_again_is_a_cell_of_scratch() -> None:
    launch = launch_of("""
        FILL(int8) -> (int8) shape 2: write %7.7
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %7.7, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %7.17
    """)
    # the fill by itself, the reduction, and what reads it
    assert [nest.nest.arguments for nest in launch.nests] == [
        (7,),
        (7, 0),
        (1, 0, 17),
    ]
    assert launch.scratch == (Buffer(7, 0, 2),)
    assert [nest.operands for nest in launch.nests] == [(-1,), (-1, 0), (1, 0, -1)]
    assert launch.hoisted == (), "what is hoisted is a nest of the program"
    assert launch.temporaries == (7,)


def test_nests_of_which_nothing_is_needed_are_left_out() -> None:
    launch = launch_of("""
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.0
        COPY(int8) -> (int8) shape 1: write %1.21, read %0.20
    """)
    assert [nest.nest.arguments for nest in launch.nests] == [(21, 20)]
    assert launch.scratch == ()


def test_a_window_of_which_nothing_is_needed_has_no_launch() -> None:
    plan = plan_of("""
        COPY(int8) -> (int8) shape 0: write %2.2, read %0.0
        COPY(int8) -> (int8) shape 0: write %4.14, read %2.12
    """)
    assert plan.launches == ()


def test_a_register_in_one_nest_is_no_argument() -> None:
    launch = launch_of("""
        COPY(int8) -> (int8) shape 0: write %2.12, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %2.12
    """)
    assert launch.arguments == (1, 0)
    assert launch.temporaries == (12,)


# -- other forms -----------------------------------------------------------------
def test_a_partitioned_launch_has_one_nest_and_names_views() -> None:
    launch = launch_of(
        """
        COPY(int8) -> (int8) shape 2: write %6.6, read %7.7
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %51.51, read %50.50, read %6.16
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %50.50, read %51.51
        """,
        PARTITIONED,
    )
    (nest,) = launch.nests
    assert nest.nest.arguments == (50, 7)
    assert nest.nest.privileges == bytes([BOTH, READ])
    assert nest.operands == (0, 1)
    assert launch.arguments == nest.nest.arguments
    assert launch.privileges == nest.nest.privileges
    assert launch.scratch == ()
    assert launch.hoisted == launch.deferrable == (0,)
    assert launch.temporaries == (51,)


def test_original_tasks_have_no_nests() -> None:
    opaque, scalar = plan_of("""
        SORT(int8) -> (int8) shape 0: write %51.51, read %50.50
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %6.6, read %7.7
    """).launches
    assert form_of(opaque) == form_of(scalar) == ORIGINAL
    assert opaque.nests == scalar.nests == []
    assert opaque.deferrable == ()
    assert scalar.deferrable == (1,)


def test_launches_are_in_an_order_that_keeps_conflicts() -> None:
    launches = plan_of("""
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        SORT(int8) -> (int8) shape 0: write %51.51, read %50.50
        COPY(int8) -> (int8) shape 1: write %3.23, read %1.21
        SORT(int8) -> (int8) shape 0: write %0.0, read %3.3
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
    """).launches
    assert [launch.tasks for launch in launches] == [(0, 2), (1,), (3,), (4,)]


def test_the_unfused_plan_runs_every_task_in_order() -> None:
    (launch,) = unfused_plan(3).launches
    assert form_of(launch) == ORIGINAL
    assert launch.tasks == (0, 1, 2)
    assert launch.deferrable == ()


def test_an_empty_window_has_no_launches() -> None:
    assert plan_of("").launches == ()


def test_invalid_windows_are_not_planned() -> None:
    with pytest.raises(InvalidWindowError):
        plan_of("COPY(int8) -> (int8) shape 2: write %9.9, read %7.7")


def test_coverage_follows_the_table_of_operations() -> None:
    tasks = parse(
        STORES
        + """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        SCALAR_UNARY_RED.SUM(int8) -> (int64) shape 0: reduce(add) %60.60, read %0.0
        SCALAR_UNARY_RED.ARGMAX(int8) -> (int64) shape 0: reduce(max) %60.60, read %0.0
        SORT(int8) -> (int8) shape 0: write %1.1, read %0.0
        """
    ).tasks
    assert [covered(task) for task in tasks] == [True, True, False, False]
