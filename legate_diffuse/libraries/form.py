# SPDX-License-Identifier: Apache-2.0
"""How libraries submit their tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from re import sub
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """How a library submits a task.

    Attributes:
        name: of its operations.
        opaque_name: of the task where it runs as it is, if that is another one.
        own_scalars: how many scalar arguments come before those of the operation.
        code_scalar: which of them is the operation code, None if there is none.
        codes: names of the operation codes.
        repeated: which of its inputs are one element that is used at all points.
        suits: whether it is better fused than as it is; None: always.
        fuse: false if it always runs as it is.
        strict: it must be submitted as it was registered.
        rows: says of a task that reads rows of elements, with images as constraints,
            whether it is submitted as it was registered; None: it is no such task.
        overwrites: it writes all elements of what it writes; else it may leave some.
        repeatable: a second run gives the same results and has no other effects.
        waits: false if more than its stores ties it to its place in the program.
    """

    name: str
    opaque_name: str = ""
    own_scalars: int = 0
    code_scalar: int | None = None
    codes: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    repeated: tuple[int, ...] = ()
    suits: Callable[[Any], bool] | None = None
    fuse: bool = False
    strict: bool = False
    rows: Callable[[Any], bool] | None = None
    overwrites: bool = False
    repeatable: bool = False
    waits: bool = True


def task_name(library: str, task: str) -> str:
    """Return the name of a task's operations, given Legate's names."""
    prefix = f"{library}::"
    return sub(r"[^\w:]+", "_", prefix + task.removeprefix(prefix))
