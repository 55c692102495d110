# SPDX-License-Identifier: Apache-2.0
"""Meanings of functions of complex numbers.

Special values are the header's, which are not always those of C99 or NumPy.

Follows: CCCL (libcudacxx/include/cuda/std/complex)
"""

import math
from collections.abc import Callable
from typing import Final

from legate_diffuse.kernel.builder import Value
from legate_diffuse.libraries.cupynumeric.complex_numbers import (
    Pair,
    add,
    magnitude,
    parts,
    select_pair,
)
from legate_diffuse.libraries.table import Emitter, Lowering


def log(emit: Emitter, z: Value) -> Value:
    """Return the logarithm of abs(z) plus i arg(z)."""
    x, y = parts(emit, z)
    return emit.complex(emit("log", magnitude(emit, z)), emit("atan2", y, x))


def log10(emit: Emitter, z: Value) -> Value:
    """Return log(z) with both parts divided by log(10)."""
    pair = parts(emit, log(emit, z))
    return emit.complex(
        *(emit("div", part, emit.like(part, math.log(10))) for part in pair)
    )


def log2(emit: Emitter, z: Value) -> Value:
    """Return log(z) / (log(2) + 0i)."""
    return emit("complex_div", log(emit, z), emit.like(z, math.log(2)))


def log1p(emit: Emitter, z: Value) -> Value:
    """Return log(1 + z)."""
    return log(emit, add(emit, emit.like(z, 1), z))


def exp(emit: Emitter, z: Value) -> Value:
    """Return cos(y) + i sin(y) times the exponential of x."""
    x, y = parts(emit, z)
    size, zero, one = emit("exp", x), emit.like(x, 0), emit.like(x, 1)
    infinite, finite = is_inf(emit, x), is_finite(emit, y)
    unbounded = emit("and", infinite, emit("not", finite))
    vanishes = emit("and", unbounded, emit("lt", x, zero))
    turn = emit("select", vanishes, one, y)
    waves = emit("cos", turn), emit("sin", turn)
    result = emit("mul", size, waves[0]), emit("mul", size, waves[1])
    grows = emit("and", unbounded, emit("gt", x, zero))
    result = select_pair(emit, grows, (x, emit.like(x, math.nan)), result)
    real = emit("eq", y, zero)
    return emit.complex(*select_pair(emit, real, (size, y), result))


def exp2(emit: Emitter, z: Value) -> Value:
    """Return exp((log(2) + 0i) * z)."""
    return exp(emit, emit("complex_mul", emit.like(z, math.log(2)), z))


def expm1(emit: Emitter, z: Value) -> Value:
    """Return exp(z) - 1."""
    x, y = parts(emit, exp(emit, z))
    return emit.complex(emit("sub", x, emit.like(x, 1)), y)


def power(emit: Emitter, a: Value, b: Value) -> Value:
    """Return exp(b * log(a)); a power of 0 is NaN unless it is infinite."""
    return exp(emit, emit("complex_mul", b, log(emit, a)))


def sqrt(emit: Emitter, z: Value) -> Value:
    """Return cos(t) + i sin(t), t half of arg(z), times the root of abs(z)."""
    x, y = parts(emit, z)
    zero, infinity = emit.like(x, 0), emit.like(x, math.inf)
    size = emit("sqrt", magnitude(emit, z))
    turn = emit("div", emit("atan2", y, x), emit.like(x, 2))
    polar = []
    for wave in ("cos", "sin"):
        part = emit("mul", size, emit(wave, turn))
        missing = emit("and", is_nan(emit, part), emit("not", is_nan(emit, size)))
        polar.append(emit("select", missing, zero, part))
    result = polar[0], polar[1]
    unknown = is_nan(emit, y)
    right = x, emit("select", unknown, y, emit("copysign", zero, y))
    left = emit("select", unknown, y, zero), emit("copysign", x, y)
    beyond = select_pair(emit, emit("gt", x, zero), right, left)
    result = select_pair(emit, is_inf(emit, x), beyond, result)
    return emit.complex(*select_pair(emit, is_inf(emit, y), (infinity, y), result))


def cos(emit: Emitter, z: Value) -> Value:
    """Return cosh(iz)."""
    x, y = parts(emit, z)
    return emit.complex(*_cosh(emit, emit("neg", y), x))


def acosh(emit: Emitter, z: Value) -> Value:
    """Return log(z + sqrt(z * z - 1)) in the right half of the plane."""
    x, y = parts(emit, z)
    zero = emit.like(x, 0)
    u, v = parts(emit, _log_with_root(emit, z, -1))
    result = emit("copysign", u, zero), emit("copysign", v, y)
    size, unknown = emit("abs", x), is_nan(emit, y)
    high = emit("abs", y), _angle(emit, math.pi / 2, y)
    result = select_pair(emit, is_inf(emit, y), high, result)
    lost = emit("select", is_inf(emit, y), emit("abs", y), x), x
    result = select_pair(emit, is_nan(emit, x), lost, result)
    ahead = emit("gt", x, zero)
    flat = emit("select", ahead, emit("copysign", zero, y), _angle(emit, math.pi, y))
    quarter, far = (_angle(emit, part * math.pi, y) for part in (0.25, 0.75))
    diagonal = emit("select", ahead, quarter, far)
    turn = emit("select", is_inf(emit, y), diagonal, flat)
    beyond = size, emit("select", unknown, y, turn)
    return emit.complex(*select_pair(emit, is_inf(emit, x), beyond, result))


def acos(emit: Emitter, z: Value) -> Value:
    """Return log(z + sqrt(z * z - 1)), turned to where the signs of z want it."""
    x, y = parts(emit, z)
    zero, below = emit.like(x, 0), emit("signbit", y)
    u, v = (emit("abs", part) for part in parts(emit, _log_with_root(emit, z, -1)))
    result = v, emit("select", below, u, emit("neg", u))
    opposite, unknown = emit("neg", y), is_nan(emit, y)
    right_angle = emit.like(x, math.pi / 2), opposite
    at_zero = emit("and", emit("eq", x, zero), emit("or", emit("eq", y, zero), unknown))
    upright = emit("or", is_inf(emit, y), at_zero)
    result = select_pair(emit, upright, right_angle, result)
    lost = x, emit("select", is_inf(emit, y), opposite, x)
    result = select_pair(emit, is_nan(emit, x), lost, result)
    behind = emit("lt", x, zero)
    turns = [emit.like(x, part * math.pi) for part in (0.75, 0.25, 1.0)]
    diagonal = emit("select", behind, turns[0], turns[1]), opposite
    size = emit("abs", x)
    flat = (
        emit("select", behind, turns[2], zero),
        emit("select", below, size, emit("neg", size)),
    )
    beyond = select_pair(emit, is_inf(emit, y), diagonal, flat)
    beyond = select_pair(emit, unknown, (y, x), beyond)
    return emit.complex(*select_pair(emit, is_inf(emit, x), beyond, result))


def _of_parts(function: Callable[[Emitter, Value, Value], Pair]) -> Lowering:
    """Return the lowering to a function that is given, and gives, both parts."""
    return lambda emit, z: emit.complex(*function(emit, *parts(emit, z)))


def _turned(function: Callable[[Emitter, Value, Value], Pair]) -> Lowering:
    """Return the lowering to -i f(iz) for such a function f."""

    def lower(emit: Emitter, z: Value) -> Value:
        x, y = parts(emit, z)
        u, v = function(emit, emit("neg", y), x)
        return emit.complex(v, emit("neg", u))

    return lower


def _log_with_root(emit: Emitter, z: Value, number: int) -> Value:
    """Return log(z + sqrt(z * z + number)), the real part of the square not rounded."""
    x, y = parts(emit, z)
    difference, total = emit("sub", x, y), emit("add", x, y)
    real = emit("fma", difference, total, emit.like(x, number))
    imag = emit("mul", emit("mul", emit.like(x, 2), x), y)
    root = sqrt(emit, emit.complex(real, imag))
    return log(emit, add(emit, z, root))


def _angle(emit: Emitter, angle: float, sign: Value) -> Value:
    return emit("copysign", emit.like(sign, angle), sign)


def _asinh(emit: Emitter, x: Value, y: Value) -> Pair:
    """Return the parts of log(z + sqrt(z * z + 1)) with the signs of z."""
    zero, infinite = emit.like(x, 0), is_inf(emit, y)
    u, v = parts(emit, _log_with_root(emit, emit.complex(x, y), 1))
    result = emit("copysign", u, x), emit("copysign", v, y)
    high = emit("copysign", y, x), _angle(emit, math.pi / 2, y)
    result = select_pair(emit, infinite, high, result)
    lost = select_pair(emit, emit("eq", y, zero), (x, y), (x, x))
    lost = select_pair(emit, infinite, (y, x), lost)
    result = select_pair(emit, is_nan(emit, x), lost, result)
    diagonal, flat = _angle(emit, math.pi * 0.25, y), emit("copysign", zero, y)
    turn = emit("select", infinite, diagonal, flat)
    beyond = x, emit("select", is_nan(emit, y), y, turn)
    return select_pair(emit, is_inf(emit, x), beyond, result)


def _atanh(emit: Emitter, x: Value, y: Value) -> Pair:
    """Return the parts of log((1 + z) / (1 - z)) / 2 with the signs of z."""
    zero, one, two = (emit.like(x, number) for number in (0, 1, 2))
    ahead = emit.complex(emit("add", x, one), y)
    behind = emit.complex(emit("add", emit("neg", x), one), emit("neg", y))
    pair = parts(emit, log(emit, emit("complex_div", ahead, behind)))
    u, v = (emit("div", part, two) for part in pair)
    result = emit("copysign", u, x), emit("copysign", v, y)
    flat, upright = emit("copysign", zero, x), _angle(emit, math.pi / 2, y)
    infinity = _angle(emit, math.inf, x)
    at_pole = emit("and", emit("eq", emit("abs", x), one), emit("eq", y, zero))
    pole = infinity, emit("copysign", zero, y)
    result = select_pair(emit, at_pole, pole, result)
    result = select_pair(emit, is_inf(emit, x), (flat, upright), result)
    result = select_pair(emit, is_nan(emit, x), (x, x), result)
    kept = emit("or", is_inf(emit, x), emit("eq", x, zero))
    lost = emit("select", kept, flat, y), y
    result = select_pair(emit, is_nan(emit, y), lost, result)
    return select_pair(emit, is_inf(emit, y), (flat, upright), result)


def _sinh(emit: Emitter, x: Value, y: Value) -> Pair:
    """Return the parts of the hyperbolic sine, from functions of the parts."""
    result = (
        emit("mul", emit("sinh", x), emit("cos", y)),
        emit("mul", emit("cosh", x), emit("sin", y)),
    )
    zero, nan = emit.like(x, 0), emit.like(x, math.nan)
    finite = is_finite(emit, x)
    real = emit("and", emit("eq", y, zero), emit("not", finite))
    result = select_pair(emit, real, (x, y), result)
    extreme = emit("or", is_inf(emit, x), emit("eq", x, zero))
    unbounded = emit("and", extreme, emit("not", is_finite(emit, y)))
    return select_pair(emit, unbounded, (x, nan), result)


def _cosh(emit: Emitter, x: Value, y: Value) -> Pair:
    """Return the parts of the hyperbolic cosine, from functions of the parts."""
    result = (
        emit("mul", emit("cosh", x), emit("cos", y)),
        emit("mul", emit("sinh", x), emit("sin", y)),
    )
    zero, nan = emit.like(x, 0), emit.like(x, math.nan)
    size, unbounded = emit("abs", x), emit("not", is_finite(emit, y))
    at_zero, real = emit("eq", x, zero), emit("eq", y, zero)
    endless = emit("and", real, emit("not", is_finite(emit, x)))
    result = select_pair(emit, endless, (size, y), result)
    result = select_pair(emit, emit("and", at_zero, real), (emit.like(x, 1), y), result)
    result = select_pair(emit, emit("and", at_zero, unbounded), (nan, x), result)
    beyond = emit("and", is_inf(emit, x), unbounded)
    return select_pair(emit, beyond, (size, nan), result)


def _tanh(emit: Emitter, x: Value, y: Value) -> Pair:
    """Return those of (sinh(2x) + i sin(2y)) / (cosh(2x) + cos(2y))."""
    zero, one = emit.like(x, 0), emit.like(x, 1)
    twice = [emit("mul", emit.like(x, 2), part) for part in (x, y)]
    wave, growth = emit("sin", twice[1]), emit("sinh", twice[0])
    divisor = emit("add", emit("cosh", twice[0]), emit("cos", twice[1]))
    result = emit("div", growth, divisor), emit("div", wave, divisor)
    limit = (
        emit("select", emit("gt", growth, zero), one, emit.like(x, -1)),
        emit("select", emit("gt", twice[1], zero), zero, emit.like(x, -0.0)),
    )
    overflow = emit("and", is_inf(emit, growth), is_inf(emit, divisor))
    result = select_pair(emit, overflow, limit, result)
    unknown = emit("and", is_nan(emit, x), emit("eq", y, zero))
    result = select_pair(emit, unknown, (x, y), result)
    turn = emit("select", is_finite(emit, y), emit("copysign", zero, wave), zero)
    at_end = emit("copysign", one, x), turn
    return select_pair(emit, is_inf(emit, x), at_end, result)


def is_inf(emit: Emitter, x: Value) -> Value:
    """Return whether x is an infinity."""
    return emit("eq", emit("abs", x), emit.like(x, math.inf))


def is_finite(emit: Emitter, x: Value) -> Value:
    """Return whether x is neither infinite nor NaN."""
    return emit("lt", emit("abs", x), emit.like(x, math.inf))


def is_nan(emit: Emitter, x: Value) -> Value:
    """Return whether x is not a number."""
    return emit("ne", x, x)


COMPLEX_FUNCTIONS: Final[dict[str, Lowering]] = {
    "ARCCOS": acos,
    "ARCCOSH": acosh,
    "ARCSIN": _turned(_asinh),
    "ARCSINH": _of_parts(_asinh),
    "ARCTAN": _turned(_atanh),
    "ARCTANH": _of_parts(_atanh),
    "COS": cos,
    "COSH": _of_parts(_cosh),
    "EXP": exp,
    "EXP2": exp2,
    "EXPM1": expm1,
    "LOG": log,
    "LOG10": log10,
    "LOG1P": log1p,
    "LOG2": log2,
    "SIN": _turned(_sinh),
    "SINH": _of_parts(_sinh),
    "SQRT": sqrt,
    "TAN": _turned(_tanh),
    "TANH": _of_parts(_tanh),
}
"""Functions of one complex number, by operation code."""
