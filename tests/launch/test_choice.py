# SPDX-License-Identifier: Apache-2.0
"""Threads share loops, or points divide arrays, by what a program's tasks want."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from recorder import Machine

from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.launch.choice import ThreadsOrPoints
from legate_diffuse.launch.state import ALL_SINGLE
from legate_diffuse.observe.processors import Use

LARGE = 1_000
READ_WRITE = READ | WRITE


class Cpus(Machine):
    """Several processors, whose threads share loops unless points divide arrays."""

    def __init__(self, threads: int = 2) -> None:
        super().__init__(pieces=2, threshold=LARGE)
        self._threads = threads

    def num_threads(self) -> int:
        return self._threads


def array(volume: int = LARGE) -> Any:
    return SimpleNamespace(volume=volume, nbytes=8 * volume, places=0)


def choices(choice: ThreadsOrPoints, count: int, *steps: Any) -> Iterator[bool]:
    """Yield at the beginning of so many windows whether points divide arrays."""
    for window in range(count):
        choice.choose(window)
        yield choice.single_below() != ALL_SINGLE
        for step in steps:
            step(choice)


def fused(*roots: Any) -> Any:
    """Return a step in which a fused task changes arrays."""
    return lambda choice: choice.note_fused(roots, [READ_WRITE] * len(roots))


def divided(*roots: Any) -> Any:
    """Return a step in which a task changes arrays that Legate divides."""
    return lambda choice: choice.note_task([(one, READ_WRITE, True) for one in roots])


def whole(*roots: Any) -> Any:
    """Return a step in which each point of a task uses all of some arrays."""
    return lambda choice: choice.note_task([(one, READ_WRITE, False) for one in roots])


def open_choice() -> ThreadsOrPoints:
    return ThreadsOrPoints(Cpus())


def test_threads_share_the_loops_of_programs_that_are_fused() -> None:
    choice = open_choice()
    assert not any(choices(choice, 1_000, fused(array(), array())))
    assert choice.facts().changes == []


def test_points_divide_what_goes_to_other_tasks() -> None:
    choice, x = open_choice(), array()
    found = list(choices(choice, 100, fused(x), divided(x)))
    # in the first window it is not known yet where the array lies
    assert found.index(True) == 3
    assert all(found[3:])
    facts = choice.facts()
    (change,) = facts.changes
    assert change.divides and change.windows == 3
    assert change.why == Use(used=3 * x.nbytes, exchanged=5 * x.nbytes)
    assert facts.divides and facts.count == 2
    # as many as if threads still shared the loops
    assert facts.last == Use(used=97 * x.nbytes, exchanged=97 * 2 * x.nbytes)


def test_small_arrays_do_not_count() -> None:
    choice, x = open_choice(), array(LARGE - 1)
    assert not any(choices(choice, 100, fused(x), divided(x)))


def test_what_each_point_needs_as_a_whole_does_not_count() -> None:
    choice, x = open_choice(), array()
    assert not any(choices(choice, 100, fused(x), whole(x)))


def test_what_goes_seldom_does_not_count() -> None:
    choice, x, y = open_choice(), array(), array()
    steps = [fused(x, y)] * 10
    assert not any(choices(choice, 100, *steps, divided(x)))


def test_what_others_only_read_is_copied_once() -> None:
    choice, x = open_choice(), array()

    def reads(choice: ThreadsOrPoints) -> None:
        choice.note_task([(x, READ, True)])
        choice.note_fused([x], [READ])

    assert not any(choices(choice, 100, reads))


def test_what_is_written_first_is_not_copied() -> None:
    choice, x = open_choice(), array()

    def writes(choice: ThreadsOrPoints) -> None:
        choice.note_task([(x, WRITE, True)])
        choice.note_fused([x], [WRITE])

    assert not any(choices(choice, 100, writes))


def test_threads_come_back_where_a_program_goes_on_without_other_tasks() -> None:
    choice, x = open_choice(), array()
    assert list(choices(choice, 10, fused(x), divided(x)))[-1]
    found = list(choices(choice, 200, fused(x)))
    assert found[0] and not found[-1]
    assert [change.divides for change in choice.facts().changes] == [True, False]


def test_changes_become_rare() -> None:
    """A program cannot make it change its mind all the time."""
    choice, x = open_choice(), array()
    for _ in range(400):
        list(choices(choice, 5, fused(x), divided(x)))
        list(choices(choice, 70, fused(x)))
    assert 2 <= len(choice.facts().changes) <= 16


def test_a_users_choice_wins() -> None:
    x = array()
    shared = ThreadsOrPoints(Cpus(), "the user says")
    assert not any(choices(shared, 100, fused(x), divided(x)))
    points = ThreadsOrPoints(Cpus(threads=1), "the user says")
    assert all(choices(points, 100, fused(x)))
    assert shared.facts().changes == points.facts().changes == []


def test_to_ask_changes_nothing() -> None:
    choice, x = open_choice(), array()
    choice.choose(0)
    for _ in range(100):
        for step in (fused(x), divided(x)):
            step(choice)
        assert choice.single_below() == ALL_SINGLE
    assert choice.facts().changes == []
    choice.choose(1)
    assert choice.single_below() == LARGE


def test_one_processor_has_no_choice() -> None:
    machine = Machine(pieces=1, threshold=LARGE)
    choice, x = ThreadsOrPoints(machine), array()
    assert not any(choices(choice, 100, fused(x), divided(x)))
