# SPDX-License-Identifier: Apache-2.0
"""Powers as NumPy computes them: with some exponents they are simpler functions.

A product, a root and a reciprocal are rounded correctly, and `pow` is not always. NumPy
looks at the exponent of all elements; here an element's result depends on its own
operands only, and not on how its loop came to be.
"""

from collections.abc import Callable
from typing import Final

from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE, literal

Emit = Callable[..., str]
"""`(operator, *operands)`: emits an operator over floats of one type."""

_SIMPLER: Final[dict[float, Callable[[Emit, str, str], str]]] = {
    2.0: lambda emit, x, _: emit("mul", x, x),
    0.5: lambda emit, x, _: emit("sqrt", x),
    -1.0: lambda emit, x, one: emit("div", one, x),
}

SIMPLER_POWERS: Final = tuple(_SIMPLER)
"""Exponents. With 0 and 1, `pow` gives the bits that NumPy gives."""

_MOST_SQUARED: Final = 94906265.0
"""Squares of integers up to this one are integers that a float64 has."""


def emit_power(
    lines: Lines, dtype: str, emit: Emit, x: str, exponent: str, of_integers: bool
) -> str:
    """Emit x ** exponent: one way for all lanes if they have such an exponent."""
    lanes, kind = lines.lanes, lines.vector(LLVM_TYPE[dtype])
    one = literal(dtype, 1.0)
    simpler = {2.0: _SIMPLER[2.0]} if of_integers else _SIMPLER
    masks = [emit("eq", exponent, literal(dtype, number)) for number in simpler]
    if of_integers:
        for operator, bound in (("ge", -_MOST_SQUARED), ("le", _MOST_SQUARED)):
            is_within = emit(operator, x, literal(dtype, bound))
            masks[0] = lines.let(f"and <{lanes} x i1> {masks[0]}, {is_within}")
    bits = [lines.let(f"bitcast <{lanes} x i1> {mask} to i{lanes}") for mask in masks]
    joined = lines.new_label("joined")
    found: list[tuple[str, str]] = []

    def arrive(value: str) -> None:
        found.append((value, lines.label))
        lines.do(f"br label %{joined}")

    for simple, flags in zip(simpler.values(), bits, strict=True):
        every = lines.let(f"icmp eq i{lanes} {flags}, -1")
        then, otherwise = lines.new_label("then"), lines.new_label("otherwise")
        lines.do(f"br i1 {every}, label %{then}, label %{otherwise}")
        lines.block(then)
        arrive(simple(emit, x, one))
        lines.block(otherwise)
    value = emit("pow", x, exponent)
    some = bits[0]
    for flags in bits[1:]:
        some = lines.let(f"or i{lanes} {some}, {flags}")
    none = lines.let(f"icmp eq i{lanes} {some}, 0")
    mixed = lines.new_label("mixed")
    found.append((value, lines.label))
    lines.do(f"br i1 {none}, label %{joined}, label %{mixed}")
    lines.block(mixed)
    for simple, mask in zip(simpler.values(), masks, strict=True):
        value = lines.let(
            f"select <{lanes} x i1> {mask}, "
            f"{kind} {simple(emit, x, one)}, {kind} {value}"
        )
    arrive(value)
    lines.block(joined)
    ways = ", ".join(f"[ {value}, %{label} ]" for value, label in found)
    return lines.let(f"phi {kind} {ways}")
