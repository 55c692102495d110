# SPDX-License-Identifier: Apache-2.0
"""What a vector maths routine is."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from legate_diffuse.maths.vector_function import Vector, VectorFunction

MultiplyAdd = Callable[[Vector, Vector, Vector], Vector]


@dataclass(frozen=True, slots=True)
class Routine:
    """How a C function of `arity` operands of LLVM type `element` is computed.

    Of the `variants`, which emit code, the first one that gives what the machine's libm
    gives is used. The last one's results may be `ulps` units in the last place from
    libm's: its own error, less than one unit, and that of any glibc since 2.28.
    """

    variants: tuple[Callable[..., Vector], ...]
    element: str
    arity: int
    ulps: int = 0


def multiplier(f: VectorFunction, x: Vector, fused: bool) -> MultiplyAdd:
    """Return the function a * b + c; it rounds once if `fused`."""
    return f.fma if fused else lambda a, b, c: a * b + c


def variants(
    emit: Callable[..., Vector],
) -> tuple[Callable[..., Vector], ...]:
    """Return `emit` with fused operations, and without."""
    return partial(emit, fused=True), partial(emit, fused=False)
