# SPDX-License-Identifier: Apache-2.0
"""What a program of ``bench.py numpy`` is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Program:
    """A function of the package and a size; ``large`` takes NumPy about half a second.

    Attributes:
        name: the function's name.
        field: what it is about.
        run: makes data, computes, and returns the results.
        small: the size at which arrays have about a thousand elements.
        large: the size at which arrays have about a million.
    """

    name: str
    field: str
    run: Callable[[Any, int], tuple[Any, ...]]
    small: int
    large: int


class Field(list[Program]):
    """Collects the programs of a field."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def program(self, small: int, large: int) -> Callable[[Any], Any]:
        """Add a function that has these sizes."""

        def add(run: Any) -> Any:
            self.append(Program(run.__name__, self.name, run, small, large))
            return run

        return add
