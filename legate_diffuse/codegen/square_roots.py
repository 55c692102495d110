# SPDX-License-Identifier: Apache-2.0
"""Square roots by Newton steps, each one checked.

AVX-512 has 1 / sqrt(x) with an error of at most 2^-14. Newton steps with fused
multiply-adds make of it some q near the root. With u the unit in the last place of the
number below q, q is the root rounded to nearest if |x - q^2| < q u, whatever q is: x,
q^2 and q u are multiples of v^2, where v is the unit in the last place of q, so that if
u = v the distance is at most q u - u^2, and (q - u / 2)^2 < x < (q + u / 2)^2. If q is
a power of two, u = v / 2, and no number lies between q^2 - q u and q^2. The distance is
rounded, but not past q u, which is a number.

On Sapphire Rapids that takes half the time of the instruction. The instruction is taken
for all lanes if the check fails in one of them, once in 2^27 roots that are next to
half-way between two numbers, or if an operand is negative, no number, or very large or
small.
"""

from typing import Final

from legate_diffuse.codegen.float_code import FloatCode
from legate_diffuse.codegen.guarded import Guarded
from legate_diffuse.maths.formats import FORMATS

_LEAST: Final = -900
"""Operands may be as small as this power of two: then v^2 is normal."""

_LANES: Final = 8
"""Doubles in a register."""

_ESTIMATE: Final = "@llvm.x86.avx512.rsqrt14.pd.512"


def emit_square_root(on: FloatCode, x: str) -> Guarded:
    """Emit the square roots of doubles, in a multiple of 8 lanes."""
    inverse = _estimate(on, x)
    root = on.on_floats("fmul", x, inverse)
    slope = on.on_floats("fmul", inverse, on.number(0.5))
    # these converge to the root and to half of its inverse
    error = on.multiply_subtract(root, slope, on.number(0.5))
    root = on.multiply_add(root, error, root)
    slope = on.multiply_add(slope, error, slope)
    for _ in range(2):
        root = on.multiply_add(on.multiply_subtract(root, root, x), slope, root)
    rest = on.multiply_subtract(root, root, x)

    below = on.on_bits("sub", on.bits_of(root), on.bits(1))
    fraction_bits = FORMATS[on.dtype].fraction_bits
    exponent = on.sign - (1 << fraction_bits)
    power = on.float_of(on.on_bits("and", below, on.bits(exponent)))
    # the unit is the power of two divided by this; both sides are multiplied by it
    bound = on.on_floats("fmul", root, power)
    scaled = on.on_floats("fmul", rest, on.number(2.0**fraction_bits))
    distance = on.lines.let(on.call("fabs", scaled))
    wrong = on.on_floats("fcmp uge", distance, bound)
    least = on.bits(on.bits_of_power(_LEAST))
    small = on.on_bits("icmp slt", on.bits_of(x), least)
    nonzero = on.on_floats("fcmp une", x, "zeroinitializer")
    doubtful = on.on_flags("and", on.on_flags("or", wrong, small), nonzero)
    rare = on.half().on_flags("or", *on.halves(on.flags, doubtful))
    result = on.select(nonzero, on.kind, root, x)
    return Guarded(on.kind, result, rare, on.call("sqrt", x))


def _estimate(on: FloatCode, x: str) -> str:
    """Emit 1 / sqrt(x) with an error of 2^-14, a register at a time."""
    lines, width = on.lines, _LANES
    part = f"<{width} x double>"
    declaration = f"declare {part} {_ESTIMATE}({part}, {part}, i8)"
    on.declarations[_ESTIMATE] = declaration
    parts = []
    for start in range(0, on.lanes, width):
        given = lines.shuffle(on.kind, x, "poison", range(start, start + width))
        passed = f"{part} {given}, {part} zeroinitializer, i8 -1"
        parts.append(lines.let(f"call {part} {_ESTIMATE}({passed})"))
    return lines.join("double", parts, width)
