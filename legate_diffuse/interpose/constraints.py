# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for partitioning constraints: ``align``, ``broadcast``, and so on.

A constraint is kept as the call that makes it, until the real task is built.
Strings in the place of variables belong to Python tasks (``legate.core.task``);
Legate resolves those itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

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


@cache
def symbol(number: int) -> Variable:
    """Return the symbol of an argument; the same one for all tasks."""
    return Variable(number)


def align(*variables: Any) -> list[Any]:
    """Stand-in for ``legate.core.align``."""
    if not variables or not isinstance(variables[0], Variable):
        return list(real.align(*variables))
    for variable in variables:
        if not isinstance(variable, Variable):
            raise TypeError(f"only variables can be aligned, not {type(variable)}")
    first, *others = variables
    return [Constraint("align", (first, other)) for other in others]


_ANY: Final = Variable(("any",))
"""Stands for any variable."""


@lru_cache(maxsize=256, typed=True)
def _makes_list(name: str, *arguments: Any, **options: Any) -> bool:
    """Whether Legate makes a list of constraints of arguments; raises its errors."""
    trial = getattr(real, name)(
        *_resolve_all(arguments, lambda _: _any_variable()), **options
    )
    return isinstance(trial, list)


def _stand_in(name: str) -> Callable[..., Any]:
    def constraint(*arguments: Any, **options: Any) -> Any:
        if not any(isinstance(argument, Variable) for argument in arguments):
            return getattr(real, name)(*arguments, **options)
        shown = [_ANY if isinstance(each, Variable) else each for each in arguments]
        try:
            is_list = _makes_list(name, *shown, **options)
        except TypeError:
            # one of them has no hash, or Legate refuses it
            is_list = _makes_list.__wrapped__(name, *shown, **options)
        made = Constraint(name, (*arguments, *options.values()))
        return [made] if is_list else made

    constraint.__name__ = constraint.__qualname__ = name
    constraint.__doc__ = f"Stand-in for ``legate.core.{name}``."
    return constraint


@cache
def _any_variable() -> Any:
    """Return a real variable, of a task that is never submitted."""
    library = real.runtime.find_library("legate_diffuse")
    return real.runtime.create_auto_task(library, 0).declare_partition()


broadcast = _stand_in("broadcast")
image = _stand_in("image")
scale = _stand_in("scale")
bloat = _stand_in("bloat")
min_extents = _stand_in("min_extents")
