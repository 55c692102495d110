# SPDX-License-Identifier: Apache-2.0
"""Which arrays a task uses, and which of them Legate may divide over processors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from legate_diffuse.interpose.constraints import Constraint, Variable
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View


class Built(Protocol):
    """An ``AutoTask``."""

    arguments: list[Any]
    privileges: list[int]
    variables: list[Variable | None]
    constraints: list[Constraint]
    calls: list[tuple[Any, ...]]


def uses(task: Built) -> Iterator[tuple[Root, int, bool]]:
    """Yield of each store its root, its privilege, and whether Legate may divide it.

    It may not where constraints say that each point needs all of it.
    """
    undivided = _undivided(task)
    for position, argument in enumerate(task.arguments):
        if isinstance(argument, View):
            kept = undivided.get(position, ())
            extents = enumerate(argument.shape)
            is_divided = any(
                [extent > 1 and dim not in kept for dim, extent in extents]
            )
            yield argument.root, task.privileges[position], is_divided


def _undivided(task: Built) -> dict[int, set[int]]:
    """Return the dimensions of which each point has all, by argument."""
    found: dict[int, set[int]] = {}
    aligned: list[list[int]] = []
    constraints = [(one.name, *one.arguments) for one in task.constraints]
    for name, *arguments in (*constraints, *task.calls):
        if name in ("align", "add_alignment"):
            aligned.append(_positions(task, arguments))
        elif name in ("broadcast", "add_broadcast"):
            for position in _positions(task, arguments):
                dims: Any = arguments[-1]
                if isinstance(dims, int):
                    dims = (dims,)
                elif dims is None or isinstance(dims, (Variable, View)):
                    dims = range(len(task.arguments[position].shape))
                found.setdefault(position, set()).update(dims)
    for together in aligned:
        kept = {dim for position in together for dim in found.get(position, ())}
        for position in together:
            found.setdefault(position, set()).update(kept)
    return found


def _positions(task: Built, symbols: Sequence[Any]) -> list[int]:
    """Return at which positions arguments are that constraints name."""
    return [
        position
        for position, (own, view) in enumerate(
            zip(task.variables, task.arguments, strict=True)
        )
        if any(
            symbol is own or symbol.declare == position
            if isinstance(symbol, Variable)
            else isinstance(symbol, View) and symbol == view
            for symbol in symbols
        )
    ]
