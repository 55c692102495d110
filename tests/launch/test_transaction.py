# SPDX-License-Identifier: Apache-2.0
"""An operation is in a window with all that belongs to it, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from recorder import Recorder

from legate_diffuse.launch.state import close


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
