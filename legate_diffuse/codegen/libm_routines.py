# SPDX-License-Identifier: Apache-2.0
"""Vector routines that give, bit for bit, what glibc's exp, log, pow and so on give.

They do the operations of the algorithms that glibc has used since version 2.28 (Arm's
Optimized Routines, math/exp.c, exp2.c, log.c, pow.c, expf.c, exp2f.c, logf.c, log2f.c
and powf.c), fused where gcc fuses them in the variants that glibc chooses on processors
with FMA. libm itself computes elements that those treat specially.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from legate_diffuse.codegen import libm_tables as tables
from legate_diffuse.codegen.vector_function import Vector, VectorFunction

_ROUND: Final = float.fromhex("1.8p+52")
"""Adding it rounds to an integer, which the low bits of the sum then hold."""
_INFINITY: Final = float("inf")


def _exp(f: VectorFunction, x: Vector) -> Vector:
    y = _exp_of_sum(f, x, None)
    large = f.fabs(x).compare("uge", 512.0)

    def far() -> Vector:
        over, under = x.compare("ogt", 709.79), x.compare("olt", -745.14)
        known = f.select(over, _INFINITY, f.select(under, 0.0, y))
        unknown = f.select(over, 0.0, f.select(under, 0.0, x))
        rest = f.fabs(unknown).compare("uge", 512.0)
        return f.where_any(rest, known, lambda: f.libm("exp", rest, x))

    return f.where_any(large, y, far)


def _exp_of_sum(f: VectorFunction, x: Vector, tail: Vector | None) -> Vector:
    """Return exp(x + tail) for |x| < 512."""
    rounded = f.fma(x, tables.EXP_SCALE, _ROUND)
    pattern = rounded.bits()
    k = rounded - _ROUND
    if tail is None:
        r = f.fma(k, tables.EXP_STEP_LOW, f.fma(k, tables.EXP_STEP_HIGH, x))
    else:
        r = tail + f.fma(k, tables.EXP_STEP_LOW, f.fma(k, tables.EXP_STEP_HIGH, x))
    i = pattern & (tables.EXP_STEPS - 1)
    low = f.lookup("exp_tail", i, "double")
    scale = f.lookup("exp_scale", i, "i64") + (pattern << 45)
    c2, c3, c4, c5 = tables.EXP_POLYNOMIAL
    square = r * r
    p = f.fma(f.fma(r, c3, c2), square, r + low)
    p = f.fma(square * square, f.fma(r, c5, c4), p)
    power = scale.converted("bitcast", "double")
    return f.fma(power, p, power)


def _log(f: VectorFunction, x: Vector) -> Vector:
    pattern = x.bits()
    start = pattern - tables.LOG_START
    i = (start >> 45) & (tables.LOG_STEPS - 1)
    k = start.arithmetic_shift(52).converted("sitofp", "double")
    z = (pattern - (start & (0xFFF << 52))).converted("bitcast", "double")
    r = f.fma(z, f.lookup("log_inverse", i, "double"), -1.0)
    w = f.fma(k, tables.LN2_HIGH, f.lookup("log_log", i, "double"))
    high = r + w
    low = f.fma(k, tables.LN2_LOW, (w - high) + r)
    a0, a1, a2, a3, a4 = tables.LOG_POLYNOMIAL
    square = r * r
    p = f.fma(f.fma(r, a4, a3), square, f.fma(r, a2, a1))
    y = f.fma(r * square, p, f.fma(square, a0, low)) + high
    low_1, high_1 = 0x3FEE000000000000, 0x3FF1090000000000
    near = (pattern - low_1).compare("ult", high_1 - low_1)
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
    low = f.lookup("exp_tail", i, "double")
    scale = f.lookup("exp_scale", i, "i64") + (pattern << 45)
    c1, c2, c3, c4, c5 = tables.EXP2_POLYNOMIAL
    square = r * r
    p = (r * c3 + c2) * square + (r * c1 + low)
    p = p + (r * c5 + c4) * (square * square)
    power = scale.converted("bitcast", "double")
    y = power + power * p

    def far() -> Vector:
        over, under = x.compare("oge", 1024.0), x.compare("ole", -1075.0)
        known = f.select(over, _INFINITY, f.select(under, 0.0, y))
        unknown = f.select(over, 0.0, f.select(under, 0.0, x))
        rest = f.fabs(unknown).compare("uge", 928.0)
        return f.where_any(rest, known, lambda: f.libm("exp2", rest, x))

    return f.where_any(f.fabs(x).compare("uge", 928.0), y, far)


def _expf(f: VectorFunction, x: Vector) -> Vector:
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
    scale = f.lookup("expf_scale", i, "i64") + (pattern << 47)
    c1, c2, c3 = polynomial
    p = f.fma(f.fma(r, c3, c2), r * r, f.fma(r, c1, 1.0))
    return (p * scale.converted("bitcast", "double")).converted("fptrunc", "float")


def _bounded_f(
    f: VectorFunction, x: Vector, y: Vector, size: float, high: float, low: float
) -> Vector:
    """Return y, but infinity for x > high, and 0 for x < low; |high|, |low| >= size."""

    def far() -> Vector:
        bounded = f.select(x.compare("ogt", high), _INFINITY, y)
        bounded = f.select(x.compare("olt", low), 0.0, bounded)
        return f.select(x.compare("uno", x), x + x, bounded)

    return f.where_any(f.fabs(x).compare("uge", size), y, far)


def _logf(f: VectorFunction, x: Vector) -> Vector:
    k, r, log = _reduced_f(f, x, "logf_log")
    base = r + f.fma(k, tables.LN2, log)
    a2, a3, a4 = tables.LOGF_POLYNOMIAL
    square = r * r
    p = f.fma(square, a4, f.fma(r, a3, a2))
    y = f.fma(square, p, base).converted("fptrunc", "float")
    special = _not_normal(x)
    return f.where_any(special, y, lambda: f.libm("logf", special, x))


def _log2f(f: VectorFunction, x: Vector) -> Vector:
    k, r, log = _reduced_f(f, x, "log2f_log")
    a1, a2, a3, a4 = tables.LOG2F_POLYNOMIAL
    square = r * r
    p = f.fma(square, a4, f.fma(r, a3, a2))
    y = f.fma(square, p, f.fma(r, a1, k + log)).converted("fptrunc", "float")
    special = _not_normal(x)
    return f.where_any(special, y, lambda: f.libm("log2f", special, x))


def _powf(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    k, r, log = _reduced_f(f, x, "log2f_log")
    a1, a2, a3, a4, a5 = tables.POWF_LOG2_POLYNOMIAL
    square = r * r
    p = f.fma(square, f.fma(r, a3, a2), f.fma(r, a1, k + log))
    log2 = f.fma(f.fma(r, a5, a4), square * square, p)
    product = y.converted("fpext", "double") * log2
    result = _exp2_of_double(f, product)
    size = f.fabs(y)
    odd_y = size.compare("ueq", 0.0) | size.compare("ueq", _INFINITY)
    special = _not_normal(x) | odd_y | f.fabs(product).compare("uge", 126.0)
    return f.where_any(special, result, lambda: f.libm("powf", special, x, y))


def _reduced_f(
    f: VectorFunction, x: Vector, table: str
) -> tuple[Vector, Vector, Vector]:
    """Return doubles k, r, and log(c), from `table`, with x = 2^k c (1 + r)."""
    pattern = x.bits()
    start = pattern - tables.LOGF_START
    i = (start >> 19) & (tables.LOGF_STEPS - 1)
    k = start.arithmetic_shift(23).converted("sitofp", "double")
    z = (pattern - (start & (0x1FF << 23))).converted("bitcast", "float")
    z = z.converted("fpext", "double")
    r = f.fma(z, f.lookup("logf_inverse", i, "double"), -1.0)
    return k, r, f.lookup(table, i, "double")


def _not_normal(x: Vector) -> Vector:
    """Return where x is zero, subnormal, infinite, not a number or negative."""
    least, end = (
        (1 << 52, 0x7FF << 52) if x.element == "double" else (1 << 23, 0xFF << 23)
    )
    return (x.bits() - least).compare("uge", end - least)


def _pow(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    pattern = x.bits()
    start = pattern - tables.POW_LOG_START
    i = (start >> 45) & (tables.LOG_STEPS - 1)
    k = start.arithmetic_shift(52).converted("sitofp", "double")
    z = (pattern - (start & (0xFFF << 52))).converted("bitcast", "double")
    r = f.fma(z, f.lookup("pow_inverse", i, "double"), -1.0)
    a2, a3, a4, a5, a6, a7, a8 = tables.POW_LOG_POLYNOMIAL
    t1 = f.fma(k, tables.LN2_HIGH, f.lookup("pow_log", i, "double"))
    t2 = r + t1
    low_1 = f.fma(k, tables.LN2_LOW, f.lookup("pow_log_tail", i, "double"))
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
    size = f.fabs(y)
    odd_y = size.compare("ult", 2.0**-65) | size.compare("uge", 2.0**63)
    special = _not_normal(x) | odd_y | f.fabs(product).compare("uge", 512.0)
    return f.where_any(special, result, lambda: f.libm("pow", special, x, y))


@dataclass(frozen=True, slots=True)
class Routine:
    """How a C function of LLVM type `element` is computed.

    `samples` has, for each operand, ranges that together take all paths.
    """

    emit: Callable[..., Vector]
    element: str
    samples: tuple[tuple[tuple[float, float], ...], ...]

    @property
    def arity(self) -> int:
        """The number of operands."""
        return len(self.samples)


_EXPONENTS: Final = (2.0**-30, 1100.0), (-(2.0**-30), -1100.0)
_POSITIVE: Final = (0.0, _INFINITY), (0.5, 1.5), (0.93, 1.07)
_BASES_AND_EXPONENTS: Final = (
    ((1e-5, 1e5), (0.9, 1.1)),
    ((0.1, 50.0), (-0.1, -500.0)),
)
ROUTINES: Final = {
    "exp": Routine(_exp, "double", (_EXPONENTS,)),
    "exp2": Routine(_exp2, "double", (_EXPONENTS,)),
    "exp2f": Routine(_exp2f, "float", (_EXPONENTS,)),
    "expf": Routine(_expf, "float", (_EXPONENTS,)),
    "log": Routine(_log, "double", (_POSITIVE,)),
    "log2f": Routine(_log2f, "float", (_POSITIVE,)),
    "logf": Routine(_logf, "float", (_POSITIVE,)),
    "pow": Routine(_pow, "double", _BASES_AND_EXPONENTS),
    "powf": Routine(_powf, "float", _BASES_AND_EXPONENTS),
}
