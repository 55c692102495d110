# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for partitioning constraints: ``align``, ``broadcast``, and so on.

A constraint is kept as the call that would have made it, until its task is
really built. Strings instead of variables belong to Python tasks
(``legate.core.task``), whose constraints Legate itself resolves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from legate_diffuse.interpose.originals import real


class Variable:
    """Partition symbol of one argument of a stand-in task."""

    __slots__ = ("declare",)

    def __init__(self, declare: tuple[Any, ...] | int) -> None:
        # position among the task's arguments, or the call that declares it
        self.declare = declare


class Constraint:
    """A constraint over stand-in variables, as the call that makes it."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name = name
        self.arguments = arguments

    def build(self, resolve: Callable[[Variable], Any]) -> Any:
        """Make the real constraint (or list of them) from real variables."""
        return getattr(real, self.name)(*_resolve_all(self.arguments, resolve))


def _resolve_all(
    arguments: tuple[Any, ...], resolve: Callable[[Variable], Any]
) -> tuple[Any, ...]:
    return tuple(
        resolve(argument)
        if isinstance(argument, Variable)
        else type(argument)(_resolve_all(tuple(argument), resolve))
        if isinstance(argument, (tuple, list))
        else argument
        for argument in arguments
    )


def _stand_in(name: str) -> Callable[..., Any]:
    def constraint(*arguments: Any, **options: Any) -> Any:
        if any(isinstance(argument, Variable) for argument in arguments):
            return [Constraint(name, (*arguments, *options.values()))]
        return getattr(real, name)(*arguments, **options)

    constraint.__name__ = constraint.__qualname__ = name
    constraint.__doc__ = f"Stand-in for ``legate.core.{name}``."
    return constraint


align = _stand_in("align")
broadcast = _stand_in("broadcast")
image = _stand_in("image")
scale = _stand_in("scale")
bloat = _stand_in("bloat")
min_extents = _stand_in("min_extents")
