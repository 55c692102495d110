# SPDX-License-Identifier: Apache-2.0
"""How a kernel's arguments and values change along a row."""

from __future__ import annotations

from legate_diffuse.kernel.ir import Constant, Index, Kernel, Load, Op, Scalar


def invariant(kernel: Kernel, argument: int) -> bool:
    """Return whether an argument is loaded once before the loop."""
    a = kernel.arguments[argument]
    return a.whole or (a.broadcast and a.reads and not a.writes)


def updated(kernel: Kernel) -> list[int]:
    """Return the reducing arguments that may have an element for each point of a row.

    If there are any, they have a variant of the loop, `@update`.
    """
    return [
        number
        for number, argument in enumerate(kernel.arguments)
        if argument.reduces is not None and not argument.broadcast
    ]


def uniform(kernel: Kernel) -> list[bool]:
    """Return which values are the same at all points of a row."""
    found: list[bool] = []
    for step in kernel.body:
        match step:
            case Load(argument):
                found.append(invariant(kernel, argument))
            case Index():
                found.append(False)
            case Op(_, _, operands):
                found.append(all(found[operand] for operand in operands))
            case Scalar() | Constant():
                found.append(True)
    return found
