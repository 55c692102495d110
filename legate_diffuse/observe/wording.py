# SPDX-License-Identifier: Apache-2.0
"""A window's operations and arrays in words for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from legate_diffuse.ir.privilege import READ
from legate_diffuse.observe.quantities import runs

TITLE: Final = "What legate_diffuse makes of "
"""How every explanation begins that is text."""
DATA_MARK: Final = f'{{\n "title": "{TITLE}'
"""How every explanation begins that is JSON."""
PAGE_MARK: Final = "<!-- written by legate_diffuse explain -->"
"""How every page begins."""

_ENDINGS: Final = {
    "read": "the program reads a value",
    "full window": "it is as long as a window may be",
    "shutdown": "the program ends",
    "native call": "a library calls Legate directly",
    "fence": "the program waits for its tasks",
    "escape": "a library gets at Legate's own array",
    "task that cannot be fused": "a task comes that cannot wait",
    "read of shared memory": "it reads an array that NumPy holds as well",
    "write to a constant": "a constant is overwritten",
    "memory of dead arrays": "it keeps the memory of many arrays that are gone",
}


class Names:
    """Names the arrays of a ``ClosedWindow``: a1, a2, ..., and s1, s2, ... for scalars.

    Constants are named by their value.
    """

    def __init__(self, window: Any) -> None:
        counts = {"a": 0, "s": 0}
        self._names: dict[Any, str] = {}
        self._kinds: dict[str, list[str]] = {}
        for position, root in enumerate(window.roots):
            if window.is_constant(position):
                self._names[root] = number(root.initial)
                continue
            letter = "s" if root.scalar_storage else "a"
            counts[letter] += 1
            name = self._names[root] = f"{letter}{counts[letter]}"
            self._kinds.setdefault(_describe_root(root), []).append(name)

    def root(self, root: Any) -> str:
        """Return the name of an array."""
        return self._names[root]

    def roots(self, roots: Iterable[Any]) -> str:
        """Return the names of arrays, each once."""
        return _runs(list(dict.fromkeys(self._names[root] for root in roots)))

    def legend(self) -> list[tuple[str, str]]:
        """Return the names of the arrays of one size and type, for each of them."""
        return [(_runs(names), kind) for kind, names in self._kinds.items()]

    def view(self, view: Any) -> str:
        """Return an array, with the part of it that a view shows."""
        root, layout = view.root, view.layout
        name = self._names[root]
        if root.scalar_storage:
            return name
        if not layout.affine:
            return f"{name}, rearranged"
        if layout.extents != root.shape:
            part = ", ".join(
                f"{low}:{low + extent}"
                for low, extent in zip(layout.low, layout.extents, strict=True)
            )
            name += f"[{part}]"
        used = [dim for dim in layout.dims if dim >= 0]
        if used != sorted(used):
            name += ", transposed"
        if -1 in layout.dims:
            name += ", repeated"
        return name

    def operation(self, operation: Any) -> str:
        """Return an operation as an assignment."""
        targets: list[str] = []
        operands: list[str] = []
        for privilege, view in zip(operation.privileges, operation.views, strict=True):
            (operands if privilege == READ else targets).append(self.view(view))
        operands += [
            number(value)
            for value, _ in operation.scalars
            if operation.kind.operation.task == "FILL"
        ]
        separator = "; " if any("," in operand for operand in operands) else ", "
        return f"{', '.join(targets)} = {verb(operation)}({separator.join(operands)})"


def verb(operation: Any) -> str:
    """Return what an operation does, as NumPy calls it where there is such a name."""
    kind = operation.kind.operation
    if kind.task == "CONVERT":
        return f"as {kind.outputs[0]}"
    name = kind.code or kind.task.removesuffix("_TASK")
    return str(name).lower()


def number(scalar: Any) -> str:
    """Return the value of a ``legate.core.Scalar``."""
    value = scalar.value()
    return f"{value:g}" if isinstance(value, float) else str(value)


def ending(cause: str) -> str:
    """Return where a window ends, given what ended it."""
    return _ENDINGS.get(cause, cause)


def plural(count: int, noun: str) -> str:
    """Return a number of things, as in '2 tasks'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def extents(shape: Sequence[int]) -> str:
    """Return a shape, as in '4 x 5'."""
    return " x ".join(f"{extent:,}" for extent in shape) or "one element"


def positions(numbers: Iterable[int]) -> str:
    """Return positions counted from 1, as in 'operations 1-3 and 5'."""
    parts = runs(position + 1 for position in numbers)
    text = " and ".join([part for part in (", ".join(parts[:-1]), parts[-1]) if part])
    return f"operation{'' if text.isdecimal() else 's'} {text}"


def _runs(names: Sequence[str]) -> str:
    """Return names, as in 'a1, a3-a5, s1'."""
    numbers: dict[str, set[int]] = {}
    for name in sorted(names):
        if name[1:].isdecimal() and name[0] in "as":
            numbers.setdefault(name[0], set()).add(int(name[1:]))
    parts = [name for name in names if name[1:] == "" or name[0] not in "as"]
    for letter, found in numbers.items():
        parts += runs(found, prefix=letter)
    return ", ".join(parts)


def _describe_root(root: Any) -> str:
    if root.scalar_storage:
        return f"one {root.dtype}"
    return f"{extents(root.shape)} {root.dtype}"
