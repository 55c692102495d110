# SPDX-License-Identifier: Apache-2.0
"""Vector routines that give, bit for bit, what glibc's exp, log, pow and so on give.

They do the operations of the algorithms that glibc has used since version 2.28, fused
where gcc fuses them in the variants that glibc chooses on processors with FMA. libm
itself computes elements that those treat specially.

Follows: Arm Optimized Routines (math/exp.c, exp2.c, log.c, log2.c, pow.c, expf.c,
exp2f.c, logf.c, log2f.c, powf.c)
"""

from collections.abc import Sequence
from typing import Final

from legate_diffuse.maths import power_tables as tables
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.vector_function import Vector, VectorFunction

_ROUND: Final = float.fromhex("1.8p+52")
"""Adding it rounds to an integer, which the low bits of the sum then hold."""
_INFINITY: Final = float("inf")


def exp(f: VectorFunction, x: Vector) -> Vector:
    """Return e^x for doubles."""
    y = _exp_of_sum(f, x, None)
    return _bounded(f, x, y, 512.0, 709.79, -745.14, "exp")


def _exp_of_sum(f: VectorFunction, x: Vector, tail: Vector | None) -> Vector:
    """Return exp(x + tail) for |x| < 512."""
    rounded = f.fma(x, tables.EXP_SCALE, _ROUND)
    pattern = rounded.bits()
    k = rounded - _ROUND
    r = f.fma(k, tables.EXP_STEP_LOW, f.fma(k, tables.EXP_STEP_HIGH, x))
    if tail is not None:
        r = r + tail
    i = pattern & (tables.EXP_STEPS - 1)
    low, power = f.lookup_pair("exp", i)
    power = _times_power_of_two(power, pattern << 45)
    c2, c3, c4, c5 = tables.EXP_POLYNOMIAL
    square = r * r
    p = f.fma(f.fma(r, c3, c2), square, r + low)
    p = f.fma(square * square, f.fma(r, c5, c4), p)
    return f.fma(power, p, power)


def log(f: VectorFunction, x: Vector) -> Vector:
    """Return the natural logarithm of doubles."""
    k, r, log = _reduced(f, x, "log", tables.LOG_START, tables.LOG_STEPS)
    w = f.fma(k, tables.LN2_HIGH, log)
    high = r + w
    low = f.fma(k, tables.LN2_LOW, (w - high) + r)
    a2, a3, a4, a5, a6 = tables.LOG_POLYNOMIAL
    square = r * r
    p = f.fma(f.fma(r, a6, a5), square, f.fma(r, a4, a3))
    y = f.fma(r * square, p, f.fma(square, a2, low)) + high
    near = _between(x, 0x3FEE000000000000, 0x3FF1090000000000)
    y = f.where_any(near, y, lambda: _log_near_1(f, x))
    special = _not_normal(x)
    return f.where_any(special, y, lambda: f.libm("log", special, x))


def _log_near_1(f: VectorFunction, x: Vector) -> Vector:
    b = tables.LOG_NEAR_1_POLYNOMIAL
    r = x - 1.0
    square = r * r
    cube = r * square
    p = f.fma(cube, b[10], f.fma(square, b[9], f.fma(r, b[8], b[7])))
    p = f.fma(p, cube, f.fma(square, b[6], f.fma(r, b[5], b[4])))
    p = f.fma(p, cube, f.fma(square, b[3], f.fma(r, b[2], b[1])))
    split = 2.0**27
    head = f.fma(r, -split, f.fma(r, split, r))
    rest = r - head
    w = head * head
    high = f.fma(w, b[0], r)
    low = f.fma(w, b[0], r - high)
    low = f.fma(rest * b[0], r + head, low)
    return high + f.fma(p, cube, low)


def _exp2(f: VectorFunction, x: Vector) -> Vector:
    """Until glibc 2.39 there is no variant with fused operations."""
    rounded = x + _ROUND / tables.EXP_STEPS
    pattern = rounded.bits()
    r = x - (rounded - _ROUND / tables.EXP_STEPS)
    i = pattern & (tables.EXP_STEPS - 1)
    low, power = f.lookup_pair("exp", i)
    power = _times_power_of_two(power, pattern << 45)
    c1, c2, c3, c4, c5 = tables.EXP2_POLYNOMIAL
    square = r * r
    p = (r * c3 + c2) * square + (r * c1 + low)
    p = p + (r * c5 + c4) * (square * square)
    return _bounded(f, x, power + power * p, 928.0, 1024.0, -1075.0, "exp2")


def _bounded(
    f: VectorFunction,
    x: Vector,
    y: Vector,
    size: float,
    high: float,
    low: float,
    function: str,
) -> Vector:
    """Return y, but infinity from `high` on, 0 up to `low`, and libm's near these."""

    def far() -> Vector:
        over, under = x.compare("oge", high), x.compare("ole", low)
        known = f.select(over, _INFINITY, f.select(under, 0.0, y))
        unknown = f.select(over, 0.0, f.select(under, 0.0, x))
        rest = f.fabs(unknown).compare("uge", size)
        return f.where_any(rest, known, lambda: f.libm(function, rest, x))

    return f.where_any(f.fabs(x).compare("uge", size), y, far)


def _log2(f: VectorFunction, x: Vector) -> Vector:
    k, r, log = _reduced(f, x, "log2", tables.LOG_START, tables.LOG2_STEPS)
    scaled = r * tables.LOG2_SCALE_HIGH
    error = f.fma(r, tables.LOG2_SCALE_HIGH, -scaled)
    error = f.fma(r, tables.LOG2_SCALE_LOW, error)
    w = k + log
    high = scaled + w
    low = ((w - high) + scaled) + error
    a2, a3, a4, a5, a6, a7 = tables.LOG2_POLYNOMIAL
    square = r * r
    p = f.fma(f.fma(r, a5, a4), square, f.fma(r, a3, a2))
    p = f.fma(f.fma(r, a7, a6), square * square, p)
    y = f.fma(square, p, low) + high
    near = _between(x, 0x3FEEA4AF00000000, 0x3FF0B55900000000)
    y = f.where_any(near, y, lambda: _log2_near_1(f, x))
    special = _not_normal(x)
    return f.where_any(special, y, lambda: f.libm("log2", special, x))


def _log2_near_1(f: VectorFunction, x: Vector) -> Vector:
    b2, b3, b4, b5, b6, b7, b8, b9, b10, b11 = tables.LOG2_NEAR_1_POLYNOMIAL
    r = x - 1.0
    scaled = r * tables.LOG2_SCALE_HIGH
    error = f.fma(r, tables.LOG2_SCALE_HIGH, -scaled)
    error = f.fma(r, tables.LOG2_SCALE_LOW, error)
    square = r * r
    fourth = square * square
    p = f.fma(r, b3, b2)
    high = f.fma(p, square, scaled)
    low = f.fma(p, square, scaled - high) + error
    q = f.fma(f.fma(r, b11, b10), square, f.fma(r, b9, b8))
    q = f.fma(q, fourth, f.fma(f.fma(r, b7, b6), square, f.fma(r, b5, b4)))
    return high + f.fma(q, fourth, low)


def _reduced(
    f: VectorFunction, x: Vector, table: str, start: int, steps: int
) -> tuple[Vector, Vector, Vector]:
    """Return doubles k, r, and log(c), from `table`, with x = 2^k c (1 + r)."""
    pattern = x.bits()
    offset = pattern - start
    i = (offset >> (53 - steps.bit_length())) & (steps - 1)
    k = offset.arithmetic_shift(52).converted("sitofp", "double")
    z = (pattern - (offset & (0xFFF << 52))).converted("bitcast", "double")
    inverse, log = f.lookup_pair(table, i)
    return k, f.fma(z, inverse, -1.0), log


def expf(f: VectorFunction, x: Vector) -> Vector:
    """Return e^x for singles."""
    wide = x.converted("fpext", "double")
    rounded = f.fma(wide, tables.EXPF_SCALE, _ROUND)
    r = f.fma(wide, tables.EXPF_SCALE, -(rounded - _ROUND))
    steps = tables.EXPF_STEPS
    c = [c / steps**k for k, c in enumerate(tables.EXP2F_POLYNOMIAL, 1)]
    y = _power_of_two_f(f, r, rounded.bits(), c)
    return _bounded_f(f, x, y, 88.0, 88.72283172607422, -103.97207641601562)


def _exp2f(f: VectorFunction, x: Vector) -> Vector:
    y = _exp2_of_double(f, x.converted("fpext", "double"))
    below_150 = -149.99998474121094
    return _bounded_f(f, x, y, 128.0, 127.99999237060547, below_150)


def _exp2_of_double(f: VectorFunction, x: Vector) -> Vector:
    """Return 2^x as a float."""
    shift = _ROUND / tables.EXPF_STEPS
    rounded = x + shift
    r = x - (rounded - shift)
    return _power_of_two_f(f, r, rounded.bits(), tables.EXP2F_POLYNOMIAL)


def _power_of_two_f(
    f: VectorFunction, r: Vector, pattern: Vector, polynomial: Sequence[float]
) -> Vector:
    """Return 2^(pattern / EXPF_STEPS) times 1 + polynomial(r)."""
    i = pattern & (tables.EXPF_STEPS - 1)
    power = _times_power_of_two(f.lookup("expf", i), pattern << 47)
    c1, c2, c3 = polynomial
    p = f.fma(f.fma(r, c3, c2), r * r, f.fma(r, c1, 1.0))
    return (p * power).converted("fptrunc", "float")


def _times_power_of_two(x: Vector, exponent: Vector) -> Vector:
    """Add to the exponent in the bit pattern of x."""
    return (x.bits() + exponent).converted("bitcast", "double")


def _bounded_f(
    f: VectorFunction, x: Vector, y: Vector, size: float, high: float, low: float
) -> Vector:
    """Return y, but infinity for x > high, and 0 for x < low; |high|, |low| >= size."""

    def far() -> Vector:
        bounded = f.select(x.compare("ogt", high), _INFINITY, y)
        bounded = f.select(x.compare("olt", low), 0.0, bounded)
        return f.select(x.compare("uno", x), x + x, bounded)

    return f.where_any(f.fabs(x).compare("uge", size), y, far)


def logf(f: VectorFunction, x: Vector) -> Vector:
    """Return the natural logarithm of singles."""
    k, r, log = _reduced_f(f, x, "logf")
    base = r + f.fma(k, tables.LN2, log)
    a2, a3, a4 = tables.LOGF_POLYNOMIAL
    square = r * r
    p = f.fma(square, a4, f.fma(r, a3, a2))
    y = f.fma(square, p, base).converted("fptrunc", "float")
    special = _not_normal(x)
    return f.where_any(special, y, lambda: f.libm("logf", special, x))


def _log2f(f: VectorFunction, x: Vector) -> Vector:
    k, r, log = _reduced_f(f, x, "log2f")
    a1, a2, a3, a4 = tables.LOG2F_POLYNOMIAL
    square = r * r
    p = f.fma(square, a4, f.fma(r, a3, a2))
    y = f.fma(square, p, f.fma(r, a1, k + log)).converted("fptrunc", "float")
    special = _not_normal(x)
    return f.where_any(special, y, lambda: f.libm("log2f", special, x))


def _powf(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    x_size, y_size = f.fabs(x), f.fabs(y)
    k, r, log = _reduced_f(f, x_size, "log2f")
    a1, a2, a3, a4, a5 = tables.POWF_LOG2_POLYNOMIAL
    square = r * r
    p = f.fma(square, f.fma(r, a3, a2), f.fma(r, a1, k + log))
    log2 = f.fma(f.fma(r, a5, a4), square * square, p)
    product = y.converted("fpext", "double") * log2
    result = _exp2_of_double(f, product)
    odd_y = y_size.compare("ueq", 0.0) | y_size.compare("ueq", _INFINITY)
    far = f.fabs(product).compare("uge", 126.0)
    return _of_any_base(f, x, y, result, odd_y, far, "powf")


def _reduced_f(
    f: VectorFunction, x: Vector, table: str
) -> tuple[Vector, Vector, Vector]:
    """Return doubles k, r, and log(c), from `table`, with x = 2^k c (1 + r)."""
    pattern = x.bits()
    start = pattern - tables.LOGF_START
    i = ((start >> 19) & (tables.LOGF_STEPS - 1)).converted("zext", "i64")
    k = start.arithmetic_shift(23).converted("sitofp", "double")
    z = (pattern - (start & (0x1FF << 23))).converted("bitcast", "float")
    z = z.converted("fpext", "double")
    inverse, log = f.lookup_pair(table, i)
    return k, f.fma(z, inverse, -1.0), log


def _not_normal(x: Vector) -> Vector:
    """Return where x is zero, subnormal, infinite, not a number or negative."""
    least, end = (
        (1 << 52, 0x7FF << 52) if x.element == "double" else (1 << 23, 0xFF << 23)
    )
    return (x.bits() - least).compare("uge", end - least)


def _between(x: Vector, low: int, high: int) -> Vector:
    """Return where the bit pattern of x is at least `low` and below `high`."""
    return (x.bits() - low).compare("ult", high - low)


def _pow(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    x_size, y_size = f.fabs(x), f.fabs(y)
    k, r, log = _reduced(f, x_size, "pow", tables.POW_LOG_START, tables.LOG_STEPS)
    i = ((x_size.bits() - tables.POW_LOG_START) >> 45) & (tables.LOG_STEPS - 1)
    log_tail = f.lookup("pow_tail", i)
    a2, a3, a4, a5, a6, a7, a8 = tables.POW_LOG_POLYNOMIAL
    t1 = f.fma(k, tables.LN2_HIGH, log)
    t2 = r + t1
    low_1 = f.fma(k, tables.LN2_LOW, log_tail)
    low_2 = (t1 - t2) + r
    half = r * a2
    half_square = r * half
    half_cube = r * half_square
    high = t2 + half_square
    low_3 = f.fma(half, r, -half_square)
    low_4 = (t2 - high) + half_square
    p = f.fma(f.fma(r, a8, a7), half_square, f.fma(r, a6, a5))
    p = f.fma(half_square, p, f.fma(r, a4, a3))
    low = f.fma(half_cube, p, ((low_1 + low_2) + low_3) + low_4)
    log = high + low
    log_tail = (high - log) + low
    product = y * log
    tail = f.fma(y, log_tail, f.fma(log, y, -product))
    result = _exp_of_sum(f, product, tail)
    odd_y = y_size.compare("ult", 2.0**-65) | y_size.compare("uge", 2.0**63)
    far = f.fabs(product).compare("uge", 512.0)
    return _of_any_base(f, x, y, result, odd_y, far, "pow")


def _of_any_base(
    f: VectorFunction,
    x: Vector,
    y: Vector,
    result: Vector,
    odd_y: Vector,
    far: Vector,
    function: str,
) -> Vector:
    """Return x^y, given |x|^y where that is neither `far` nor `odd_y`."""
    size = f.fabs(x)
    least = 2.0**-1022 if x.element == "double" else 2.0**-126
    normal = size.compare("oge", least) & size.compare("olt", _INFINITY)
    extreme = size.compare("oeq", 0.0) | size.compare("ueq", _INFINITY)

    def signed() -> Vector:
        # beyond 2^62 all numbers are even integers
        bounded = f.select(f.fabs(y).compare("olt", 2.0**62), y, 2.0)
        integer = bounded.converted("fptosi", "i64")
        is_integer = integer.converted("sitofp", y.element).compare("oeq", bounded)
        odd = is_integer & (integer & 1).compare("ne", 0)
        negative = f.copysign(f.constant(x.element, 1.0), x).compare("olt", 0.0)
        square = x * x
        square = f.select(negative & odd, -square, square)
        edge = f.select(y.compare("olt", 0.0), 1.0 / square, square)
        power = f.select(negative & odd, -result, result)
        power = f.select(negative & ~is_integer, float("nan"), power)
        return f.select(extreme, edge, power)

    anywhere = f.where_any(~normal | x.compare("ult", 0.0), result, signed)
    special = odd_y | ~(normal | extreme) | (normal & far)
    return f.where_any(special, anywhere, lambda: f.libm(function, special, x, y))


ROUTINES: Final = {
    "exp": Routine((exp,), "double", 1),
    "exp2": Routine((_exp2,), "double", 1),
    "exp2f": Routine((_exp2f,), "float", 1),
    "expf": Routine((expf,), "float", 1),
    "log": Routine((log,), "double", 1),
    "log2": Routine((_log2,), "double", 1),
    "log2f": Routine((_log2f,), "float", 1),
    "logf": Routine((logf,), "float", 1),
    "pow": Routine((_pow,), "double", 2),
    "powf": Routine((_powf,), "float", 2),
}
