# SPDX-License-Identifier: Apache-2.0
"""Quotients by one divisor: a reciprocal for all of them, a correction for each.

Let y be 1 / b rounded to nearest, q0 the rounded product a y, r the rest a - b q0 from
a fused multiply-add, and q = q0 + r y from another one. Then q is a / b rounded to
nearest, unless an exponent is near an end of its range.

Proof, with a and b in [1, 2) and numbers of p bits. Let u be the unit in the last place
of the quotient, h = u / 2 and d = |a / b - q0|. If d < u, then r is exact: it is a
multiple of the product of b's and q0's last places, and not too large. If q were wrong,
q0 + h or q0 - h would lie between a / b = q0 + r / b and q0 + r y, so h / |r| = 1 / c,
where c has p bits, between 1 / b and y. But 1 / c is farther from 1 / b than y is, by
at most 2^-p / 2 (P. Markstein, "Computation of elementary functions on the IBM RISC
System/6000 processor", IBM Journal of Research and Development 34, 1990; J.-M. Muller
et al., "Handbook of Floating-Point Arithmetic", 2nd edition, section 4.7).

As a y is within a 2^-p / 2 of a / b, and q0 within h of a y, d < u if a >= b. If a < b,
then u = 2^-p, and d may lie in [u, 3 h): then |r| y must be in (h, 3 h). Let b be
2 - 2 k u, and e = |y - 1 / b|, so that a <= 2 - 2 (k + 1) u and e <= h. Then
d <= h + a e <= 3 h - (k + 1) u^2, |r| y <= d (1 + b e) < d + 3/2 u^2, and as r > 2 u is
rounded by at most 2 u^2, that adds 2 u^2 to the product if k > 2, and u^2 (1 + 4 u) if
k <= 2. If k = 1, y is 1/2 + u and d <= 3 h - 3 u^2 + 2 u^3. So |r| y < 3 h.

No quotient is half-way between two numbers. If b is positive, a zero keeps its sign,
as the rest b q0 - a is +0 and its product with -y is -0: so a gets the sign of b, and
b none.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from legate_diffuse.codegen.float_code import FloatCode
from legate_diffuse.codegen.guarded import Guarded
from legate_diffuse.kernel.ir import Kernel, Op

LEAST_DIVIDEND: Final = {"float32": -84, "float64": -900}
LARGEST_DIVISOR: Final = {"float32": 40, "float64": 100}
"""Powers of two: how small dividends, and how large and small divisors may be.

So the quotient is normal, and so is the product of the last places of b and q0. Of
dividends that are not finite, and of quotients that are too large, a NaN is made.
"""


@dataclass(frozen=True, slots=True)
class Divisor:
    """Names of vectors: a divisor, and what quotients by it need.

    `size` and `sign` make up the divisor, `reciprocal` is that of the size. `limit`, of
    half as many lanes, is above the places (see `_place`) of dividends for which the
    quotient may be wrong: of all of them, if the divisor is not allowed.
    """

    value: str
    size: str
    sign: str
    reciprocal: str
    limit: str


def shared_divisors(kernel: Kernel, uniform: list[bool]) -> set[int]:
    """Return the values by which several quotients are taken, or all of a row."""
    quotients = Counter(
        step.operands[1]
        for number, step in enumerate(kernel.body)
        if isinstance(step, Op) and step.name == "div" and not uniform[number]
    )
    return {by for by, count in quotients.items() if count > 1 or uniform[by]}


def emit_divisor(on: FloatCode, b: str) -> Divisor:
    """Emit what quotients by `b` need."""
    value, sign, size, reciprocal, limit = _parts(on, b)
    half = on.half()
    larger = half.call_on_bits("smax", *on.halves(on.pattern, limit))
    return Divisor(value, size, sign, reciprocal, on.lines.let(larger))


def emit_uniform_divisor(on: FloatCode, b: str) -> Divisor:
    """Emit the same for a `b` that is the same in all lanes: in one, and repeat it."""
    lines = on.lines
    single = FloatCode(lines, on.dtype, 1, on.declarations)
    _, sign, size, reciprocal, limit = _parts(
        single, lines.shuffle(on.kind, b, "poison", [0])
    )

    def repeated(kind: str, x: str, lanes: int = on.lanes) -> str:
        return lines.shuffle(kind, x, "poison", [0] * lanes)

    return Divisor(
        b,
        repeated(single.kind, size),
        repeated(single.pattern, sign),
        repeated(single.kind, reciprocal),
        repeated(single.pattern, limit, on.lanes // 2),
    )


def _parts(on: FloatCode, b: str) -> tuple[str, str, str, str, str]:
    bits = on.bits_of(b)
    sign = on.on_bits("and", bits, on.bits(on.sign))
    positive = on.on_bits("xor", bits, sign)
    size = on.float_of(positive)
    reciprocal = on.on_floats("fdiv", on.number(1.0), size)
    power = LARGEST_DIVISOR[on.dtype]
    least, most = on.bits_of_power(-power), on.bits_of_power(power)
    # as integers without a sign, counted from the least one
    place = on.on_bits("sub", positive, on.bits(least))
    allowed = on.on_bits("icmp ule", place, on.bits(most - least))
    smallest = 2 * on.bits_of_power(LEAST_DIVIDEND[on.dtype])
    limits = on.bits(smallest + on.sign - 2), on.bits(on.sign - 1)
    return b, sign, size, reciprocal, on.select(allowed, on.pattern, *limits)


def emit_quotient(on: FloatCode, a: str, by: Divisor) -> Guarded:
    """Emit a / b."""
    bits = on.bits_of(a)
    dividend = on.float_of(on.on_bits("xor", bits, by.sign))
    near = on.on_floats("fmul", dividend, by.reciprocal)
    # less than 0 if the quotient is too small
    rest = on.multiply_add(by.size, near, on.on_floats("fneg", dividend))
    quotient = on.multiply_subtract(rest, by.reciprocal, near)

    half = on.half()
    places = on.halves(on.pattern, _place(on, bits))
    first = on.lines.let(half.call_on_bits("smin", *places))
    small = half.on_bits("icmp sle", first, by.limit)
    unknown = half.on_floats("fcmp uno", *on.halves(on.kind, quotient))
    rare = half.on_flags("or", small, unknown)
    return Guarded(on.kind, quotient, rare, f"fdiv {on.kind} {a}, {by.value}")


def _place(on: FloatCode, bits: str) -> str:
    """Emit signed integers in the order of numbers' sizes, zeros at the end."""
    twice = on.on_bits("shl", bits, on.bits(1))
    # modulo its size, the integer of a zero becomes the largest one
    return on.on_bits("add", twice, on.bits(on.sign - 1))
