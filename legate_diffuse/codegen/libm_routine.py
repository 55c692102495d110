# SPDX-License-Identifier: Apache-2.0
"""What a vector maths routine is."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from legate_diffuse.codegen.vector_function import Vector, VectorFunction

MultiplyAdd = Callable[[Vector, Vector, Vector], Vector]


@dataclass(frozen=True, slots=True)
class Routine:
    """How a C function of `arity` operands of LLVM type `element` is computed.

    Results are at most `ulps` units in the last place from glibc's. Of the `variants`,
    which emit code, the first one that agrees with the machine's libm is used.
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
