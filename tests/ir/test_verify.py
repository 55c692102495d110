# SPDX-License-Identifier: Apache-2.0
"""Each rule of the IR has a window that breaks it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from window_reader import parse

from legate_diffuse.ir import Access, IndexTask, Points, Privilege, Window
from legate_diffuse.ir.privilege import OPERATORS
from legate_diffuse.ir.verify import InvalidWindowError, verify_window
from legate_diffuse.kernel.reductions import REDUCTIONS

STORES = """
store %0 int8 live
store %1 int8 live
store %2 int8 replicated
store %3 int8 replicated constant
view %0.0 shape 0 many [:]
view %1.1 shape 0 many [:]
view %0.10 shape 0 many [2] as (*)
view %0.20 shape 0 many nonaffine
view %2.2 shape 1 one []
view %2.12 shape 0 many [] as (*)
view %2.22 shape 2 none [] as (new)
view %0.30 shape 2 none [2] as (*)
view %2.32 shape 0 many [] as (new)
view %3.3 shape 1 one []
view %3.13 shape 0 many [] as (*)
"""

BROKEN = {
    "a constant is written": (
        "COPY(int8) -> (int8) shape 1: write %3.3, read %2.2",
        "task 0: constant 3 is changed",
    ),
    "a constant is reduced to": (
        "MAX(int8) -> (int8) shape 0: reduce(max) %3.3, read %0.0",
        "task 0: constant 3 is changed",
    ),
    "a repeating view is written": (
        "COPY(int8) -> (int8) shape 0: write %0.10, read %1.1",
        "task 0: view 10 repeats and is written",
    ),
    "a replicated store is written at many points": (
        "COPY(int8) -> (int8) shape 0: write %2.32, read %1.1",
        "task 0: replicated store 2 is written at many points",
    ),
    "nothing changes": (
        "NOTHING(int8) -> () shape 0: read %1.1",
        "task 0: it changes nothing",
    ),
    "more inputs than the operation has": (
        "COPY(int8) -> (int8) shape 0: write %0.0, read %1.1, read %1.1",
        "task 0: it has 2 inputs and 1 outputs, unlike its kind",
    ),
    "more outputs than the operation has": (
        "COPY(int8) -> (int8) shape 0: write %0.0, write %1.1",
        "task 0: it has 0 inputs and 2 outputs, unlike its kind",
    ),
    "fewer outputs than the operation has": (
        "DIVMOD(int8) -> (int8, int8) shape 0: write %0.0, read %1.1",
        "task 0: it has 1 inputs and 1 outputs, unlike its kind",
    ),
    "a reduction without an operator": (
        "MAX(int8) -> (int8) shape 0: reduce %2.2, read %0.0",
        "task 0: reduce has the operator ''",
    ),
    "an operator that nobody knows": (
        "MAX(int8) -> (int8) shape 0: reduce(xor) %2.2, read %0.0",
        "task 0: reduce has the operator 'xor'",
    ),
    "a write with an operator": (
        "COPY(int8) -> (int8) shape 0: write(add) %0.0, read %1.1",
        "task 0: write has the operator 'add'",
    ),
    "a read with an operator": (
        "COPY(int8) -> (int8) shape 0: write %0.0, read(add) %1.1",
        "task 0: read has the operator 'add'",
    ),
}

VIEWS = {
    "two numbers for one view": (
        "view %1.91 shape 0 many [:]",
        "task 0: views 1 and 91 are one",
    ),
    "a view with other dimensions than its store": (
        "view %1.91 shape 0 many [:, 1]",
        "task 0: view 91 has other dimensions than its store",
    ),
    "a view along a dimension of which it shows a point": (
        "view %1.91 shape 0 many [2] as (0)",
        "task 0: view 91 does not have ranges along its dimensions",
    ),
}

VALID = {
    "operands may repeat": "COPY(int8) -> (int8) shape 0: write %1.1, read %0.10",
    "no element repeats": "COPY(int8) -> (int8) shape 2: write %0.30, read %1.1",
    "no element is at many points": (
        "COPY(int8) -> (int8) shape 2: write %2.22, read %1.1"
    ),
    "what is not affine may seem to": (
        "SORT(int8) -> (int8) shape 0: write %0.20, read %1.1"
    ),
    "the value of a fill is an argument": (
        "FILL(int8) -> (int8) shape 0: write %0.0, read %2.12"
    ),
    "or not": "FILL(int8) -> (int8) shape 0: write %0.0",
    "a constant is read": "COPY(int8) -> (int8) shape 0: write %0.0, read %3.13",
    "a reduction to a scalar": (
        "MAX(int8) -> (int8) shape 0: reduce(max) %2.2, read %0.0"
    ),
    "a reduction to a scalar as an array of one element": (
        "MAX(int8) -> (int8) shape 0: reduce(max) %2.12, read %0.0"
    ),
    "a reduction along an axis": (
        "MAX(int8) -> (int8) shape 0: reduce(max) %0.10, read %1.1"
    ),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidWindowError) as raised:
        verify_window(parse(STORES + text))
    assert str(raised.value) == message


@pytest.mark.parametrize(("view", "message"), VIEWS.values(), ids=VIEWS)
def test_a_broken_rule_for_views_is_named(view: str, message: str) -> None:
    text = "ADD(int8, int8) -> (int8) shape 0: write %0.0, read %1.1, read %1.91"
    with pytest.raises(InvalidWindowError) as raised:
        verify_window(parse(f"{STORES}{view}\n{text}"))
    assert str(raised.value) == message


def test_landmarks_are_in_order_along_the_dimensions_of_the_store() -> None:
    text = """
        store %0 int8 live where a < b, -
        view %0.0 shape 0 many [a:b]
        FILL(int8) -> (int8) shape 0: write %0.0
    """
    with pytest.raises(InvalidWindowError, match="view 0 has other dimensions than"):
        verify_window(parse(text))


@pytest.mark.parametrize("text", VALID.values(), ids=VALID)
def test_valid_windows_pass(text: str) -> None:
    verify_window(parse(STORES + text))


def test_an_empty_window_is_valid() -> None:
    verify_window(Window(()))


def test_the_message_says_which_task_it_is() -> None:
    good, bad = VALID["or not"], BROKEN["a constant is written"][0]
    with pytest.raises(InvalidWindowError, match=r"^task 2: "):
        verify_window(parse("\n".join((STORES, good, good, bad))))


def _reading(task: IndexTask, access: Access) -> IndexTask:
    """Return a task that reads something else."""
    return replace(task, accesses=(task.accesses[0], access))


def test_a_number_has_one_meaning() -> None:
    copy = "COPY(int8) -> (int8) shape 0: write %1.1, read %0.0"
    (task,) = parse(STORES + copy).tasks
    view = task.reads[0]
    read = Access(Privilege.READ, replace(view, points=Points.ONE))
    with pytest.raises(InvalidWindowError, match="task 1: view number 0 has two mean"):
        verify_window(Window((task, _reading(task, read))))
    store = replace(view.store, live=False)
    read = Access(Privilege.READ, replace(view, id=99, store=store))
    with pytest.raises(InvalidWindowError, match="task 1: store number 0 has two mean"):
        verify_window(Window((task, _reading(task, read))))


def test_an_access_of_a_task_reads_or_writes() -> None:
    copy = "COPY(int8) -> (int8) shape 0: write %1.1, read %0.0"
    (task,) = parse(STORES + copy).tasks
    both = Access(Privilege.READ_WRITE, task.accesses[0].view)
    task = replace(task, accesses=(both, task.accesses[1]))
    with pytest.raises(InvalidWindowError, match="task 0: an access reads and writes"):
        verify_window(Window((task,)))


def test_the_operators_are_those_of_kernels() -> None:
    assert set(OPERATORS) == set(REDUCTIONS)
