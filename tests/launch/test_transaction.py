# SPDX-License-Identifier: Apache-2.0
"""An operation is in a window with all that belongs to it, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from recorder import Recorder

from legate_diffuse.ir.privilege import WRITE
from legate_diffuse.launch.queue import LaunchQueue, Step
from legate_diffuse.launch.state import ClosedWindow, close
from legate_diffuse.launch.steps import FusedStep, Waiting
from legate_diffuse.stores.root import Root


class Interrupted(list[Any]):
    """Views of which the last one is not reached."""

    def __iter__(self) -> Iterator[Any]:
        for position, view in enumerate(super().__iter__(), 1):
            if position == len(self):
                raise KeyboardInterrupt
            yield view


@pytest.mark.parametrize("known", [True, False])
def test_an_operation_whose_recording_is_broken_off_is_forgotten(known: bool) -> None:
    recorder = Recorder()
    x, y, z = (recorder.array(8) for _ in range(3))
    first = recorder.task("COPY", [x, y])
    broken = Recorder().task("COPY", [y, z])
    broken.views = Interrupted([x if known else z, y, z])
    window = recorder.window
    state = window.state
    key = list(state.key)
    state.recording = True
    with pytest.raises(KeyboardInterrupt):
        state.add(broken)
    assert state.key != key
    window._make_ready(state)
    assert not window.state.recording
    assert (window.state.key, window.state.operations) == (key, [first])
    assert close(window.state, "test").spells_operations()


def test_a_key_that_is_not_of_the_windows_operations_is_noticed() -> None:
    """Then the window's plan is not remembered."""
    recorder = Recorder()
    x, y, z = (recorder.array(8) for _ in range(3))
    recorder.task("COPY", [x, y])
    recorder.task("BINARY_OP.ADD", [z, x, y])
    closed = close(recorder.window.state, "test")
    assert closed.spells_operations()
    fewer = closed._replace(operations=closed.operations[:-1])
    more = closed._replace(operations=[*closed.operations, closed.operations[0]])
    other = closed._replace(views=closed.views[::-1])
    for wrong in (fewer, more, other):
        assert not wrong.spells_operations()


def test_a_window_that_is_closed_sees_no_change() -> None:
    recorder = Recorder()
    x, y = recorder.array(8), recorder.array(8)
    recorder.task("COPY", [x, y])
    closed = close(recorder.window.state, "test")
    alive = list(closed.alive)
    recorder._owners.clear()
    assert (True, closed.alive) == (alive[0], alive)
    assert close(recorder.window.state, "test").alive == [False, False]


def test_nested_work_while_an_element_gets_a_future_of_its_own() -> None:
    """The task of the nested work has put the element into another shared future."""

    class Native:
        def submit_program(self, *arguments: object) -> None:
            root.shared_future = shared

    shared = object()
    root = Recorder().scalar().root
    root.legate = SimpleNamespace(native=Native())
    root._handle, root.shared_future = 1, object()
    root.settle()
    assert root.shared_future is shared


@pytest.mark.parametrize("is_head", [True, False])
def test_what_follows_from_a_step_is_noted_while_it_is_the_head(is_head: bool) -> None:
    """Nested work may have finished it and gone on."""
    recorder = Recorder()
    views = [recorder.scalar(), recorder.scalar()]
    launch = SimpleNamespace(nests=(None,), arguments=(0, 1), privileges=(WRITE, WRITE))
    step = FusedStep(None, launch, [], views, [], (), 0, Waiting())
    queue = LaunchQueue(None)
    queue.head = step if is_head else None
    step.finish(queue)
    first, second = (view.root.shared_future for view in views)
    assert first is second
    assert (first is not None) == is_head


def test_a_read_submits_all_of_a_window_that_was_cut() -> None:
    """An exception came after the cut, or a handler reads there."""
    recorder = Recorder()
    x, y = recorder.array(8), recorder.array(8)
    operations = [recorder.task("COPY", [x, y]) for _ in range(6)]
    window = recorder.window
    submitted: list[Any] = []

    def prepare(
        closed: ClosedWindow, may_wait: bool, wanted: Root | None
    ) -> tuple[list[Step], Waiting]:
        return [Done(submitted, one) for one in closed.operations], Waiting()

    window.submitter.prepare = prepare
    window.queue.native = SimpleNamespace(last_launch=lambda: 0)
    window._policy.cut = lambda operations, *_, **__: len(operations) // 2
    window._cut(window.state)
    assert window.state.rest
    window.flush_for(x.root)
    assert submitted == operations


@pytest.mark.parametrize("reads", [False, True])
def test_a_window_of_a_known_length_waits_for_one_operation_more(reads: bool) -> None:
    """What its result replaces is dead then; a read while it comes submits all."""
    recorder = Recorder()
    x, y, z = (recorder.array(8) for _ in range(3))
    operations = [Recorder().task("COPY", views) for views in ([x, y], [y, z], [z, x])]
    fourth = Recorder().task("COPY", [x, z])
    window = recorder.window
    windows: list[ClosedWindow] = []

    def prepare(
        closed: ClosedWindow, may_wait: bool, wanted: Root | None
    ) -> tuple[list[Step], Waiting]:
        windows.append(closed)
        return [], Waiting()

    def examine(operation: Any) -> bool:
        if reads and operation is operations[2] and window.state.operations:
            window.flush_for(x.root)
        return False

    window.submitter.prepare = prepare
    window._examine = examine
    window.queue.native = SimpleNamespace(last_launch=lambda: 0)
    window._policy.lengths = {2}
    window._policy.ends_at = lambda pending: pending == operations[:2]
    for operation in operations:
        window.submit(operation)
    assert [one.operations for one in windows] == ([operations[:2]] if reads else [])
    assert window.state.rest == (() if reads else (operations[2],))
    recorder._owners.clear()
    window.submit(fourth)
    assert [one.operations for one in windows] == [operations[:2]]
    assert window.state.operations == [operations[2], fourth]
    assert window.counters.tasks_seen == 4
    # the one that waited uses z and x
    assert windows[0].alive == ([True] * 3 if reads else [True, False, True])


class Done(Step):
    """An operation that is done as soon as it is submitted."""

    def __init__(self, done: list[Any], operation: Any) -> None:
        super().__init__()
        self.run = lambda queue, launch: done.append(operation)
