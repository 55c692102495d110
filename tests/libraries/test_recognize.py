# SPDX-License-Identifier: Apache-2.0
"""Which submitted tasks can wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.libraries.recognize import TaskRecognizer


class _Library(NamedTuple):
    name: str
    raw_handle: int


@pytest.mark.parametrize(
    ("privilege", "dims", "shape", "waits"),
    [
        (WRITE, (0,), (3,), True),
        (WRITE, (0, -1), (3, 1), True),
        # several points write one element
        (WRITE, (0, -1), (3, 4), False),
        (READ, (0, -1), (3, 4), True),
    ],
)
def test_an_opaque_task_waits_unless_it_writes_what_repeats(
    privilege: int, dims: tuple[int, ...], shape: tuple[int, ...], waits: bool
) -> None:
    native = SimpleNamespace(describe_task=lambda *_: ("Task", False))
    legate: Any = SimpleNamespace(native=native)
    views = [
        SimpleNamespace(layout=SimpleNamespace(dims=d), shape=s)
        for d, s in ((dims, shape), ((0,), (3,)))
    ]
    library = _Library("lib", 1)
    task = SimpleNamespace(
        library=library, task_id=1, privileges=(privilege, WRITE), arguments=views
    )
    kind = TaskRecognizer(legate, {}).recognize_opaque(task)
    assert (kind is not None) == waits
