# SPDX-License-Identifier: Apache-2.0
"""Meanings of cuPyNumeric's UNARY_OP.

Follows: cuPyNumeric (unary/unary_op_util.h)
"""

import math
from typing import Final

from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import (
    ALL,
    COMPLEX,
    FLOATS,
    HALF,
    INTEGERS,
    SIGNED,
    UNSIGNED,
)
from legate_diffuse.libraries.cupynumeric import complex_numbers
from legate_diffuse.libraries.cupynumeric.complex_functions import (
    COMPLEX_FUNCTIONS,
    is_finite,
    is_inf,
    is_nan,
)
from legate_diffuse.libraries.cupynumeric.complex_numbers import COMPLEX_ARITHMETIC
from legate_diffuse.libraries.table import Emitter, Lowering, Meaning, call, with_half

LOGICAL: Final = ("bool",)
INTEGRAL: Final = ("bool", *INTEGERS)
REAL: Final = INTEGRAL + FLOATS


def same(_: Emitter, x: Value) -> Value:
    """Return the operand."""
    return x


def in_double(name: str) -> Lowering:
    """Return the lowering to one operator over operands converted to float64."""

    def lower(emit: Emitter, *operands: Value) -> Value:
        return emit(name, *(emit.cast("float64", operand) for operand in operands))

    return lower


def constantly(value: bool) -> Lowering:
    """Return the lowering to a truth value."""
    return lambda emit, _: emit.constant("bool", value)


def per_component(lowering: Lowering) -> Lowering:
    """Return the lowering that treats real and imaginary parts alike."""

    def lower(emit: Emitter, *operands: Value) -> Value:
        real = lowering(emit, *(emit("real", operand) for operand in operands))
        imag = lowering(emit, *(emit("imag", operand) for operand in operands))
        return emit.complex(real, imag)

    return lower


def either_component(combine: str, lowering: Lowering) -> Lowering:
    """Return the lowering that joins a test of both parts by `and` or `or`."""

    def lower(emit: Emitter, *operands: Value) -> Value:
        real = lowering(emit, *(emit("real", operand) for operand in operands))
        imag = lowering(emit, *(emit("imag", operand) for operand in operands))
        return emit(combine, real, imag)

    return lower


def absolute(emit: Emitter, x: Value) -> Value:
    """Return x >= 0 ? x : -x."""
    return emit("select", emit("ge", x, emit.like(x, 0)), x, emit("neg", x))


def angle(emit: Emitter, x: Value, degrees: Value) -> Value:
    """Return atan2(0, x) in radians or degrees."""
    number = emit.cast("float64", x)
    radians = emit("atan2", emit.constant("float64", 0.0), number)
    return _in_degrees_if(emit, radians, degrees)


def complex_angle(emit: Emitter, z: Value, degrees: Value) -> Value:
    """Return atan2(imag, real) in radians or degrees."""
    radians = emit.cast("float64", emit("atan2", emit("imag", z), emit("real", z)))
    return _in_degrees_if(emit, radians, degrees)


def _in_degrees_if(emit: Emitter, radians: Value, degrees: Value) -> Value:
    return emit("select", degrees, rad2deg(emit, radians), radians)


def rad2deg(emit: Emitter, x: Value) -> Value:
    """Return x * 180.0 / pi, computed in float64 as C++ does with these constants."""
    scaled = emit("mul", emit.cast("float64", x), emit.constant("float64", 180.0))
    return emit.cast(x.dtype, emit("div", scaled, emit.constant("float64", math.pi)))


def deg2rad(emit: Emitter, x: Value) -> Value:
    """Return x * (pi / 180), with the factor rounded to the type of x."""
    return emit("mul", x, emit.like(x, math.pi / 180.0))


def half_rad2deg(emit: Emitter, x: Value) -> Value:
    """Return x * (180 / pi) for a float16, in float32."""
    single = emit.cast("float32", x)
    product = emit("mul", single, emit.like(single, 180.0 / math.pi))
    return emit.cast(HALF, product)


def clip(emit: Emitter, x: Value, low: Value, high: Value) -> Value:
    """Return x < low ? low : x > high ? high : x."""
    above = emit("select", emit("gt", x, high), high, x)
    return emit("select", emit("lt", x, low), low, above)


def conjugate(emit: Emitter, z: Value) -> Value:
    """Return the complex number with its imaginary part negated."""
    return emit.complex(emit("real", z), emit("neg", emit("imag", z)))


def frexp(emit: Emitter, x: Value) -> tuple[Value, Value]:
    """Return the fraction of x and its exponent."""
    return emit("fraction", x), emit("exponent", x)


def modf(emit: Emitter, x: Value) -> tuple[Value, Value]:
    """Return what follows the point, and x without it, both with the sign of x."""
    whole = emit("trunc", x)
    infinite = is_inf(emit, x)
    rest = emit("select", infinite, emit.like(x, 0), emit("sub", x, whole))
    return emit("copysign", rest, x), whole


def logical_not(emit: Emitter, x: Value) -> Value:
    """Return whether x is zero (a NaN is true in C++)."""
    return emit("eq", x, emit.like(x, 0))


def reciprocal(emit: Emitter, x: Value) -> Value:
    """Return x != 0 ? 1 / x : 0."""
    quotient = emit("div", emit.like(x, 1), x)
    return emit("select", emit("ne", x, emit.like(x, 0)), quotient, emit.like(x, 0))


def integer_reciprocal(emit: Emitter, x: Value) -> Value:
    """Return the same for integers: x if it is 1 or -1, otherwise 0."""
    unit = emit("eq", x, emit.like(x, 1))
    if x.dtype in SIGNED:
        unit = emit("or", unit, emit("eq", x, emit.like(x, -1)))
    return emit("select", unit, x, emit.like(x, 0))


def round_to(emit: Emitter, x: Value, decimals: Value, factor: Value) -> Value:
    """Return x rounded half to even to `decimals`; factor is 10 ** abs(decimals)."""
    scale = emit.cast(x.dtype, factor)
    coarse = emit("mul", emit("rint", emit("div", x, scale)), scale)
    fine = emit("div", emit("rint", emit("mul", x, scale)), scale)
    return emit("select", emit("lt", decimals, emit.like(decimals, 0)), coarse, fine)


def round_integer(emit: Emitter, x: Value, decimals: Value, factor: Value) -> Value:
    """Return the same for an integer: scaled in 64 bits, then rounded in float64.

    To less than units, upstream so cuts digits off.
    """
    wide = "uint64" if x.dtype == "uint64" else "int64"
    number, scale = emit.cast(wide, x), emit.cast(wide, factor)
    real = emit.cast("float64", factor)
    tens = emit.cast("float64", emit("quotient", number, scale))
    scaled = emit.cast("float64", emit("mul", number, scale))
    down = emit("lt", decimals, emit.like(decimals, 0))
    coarse, fine = emit("mul", tens, real), emit("div", scaled, real)
    return emit.cast(x.dtype, emit("select", down, coarse, fine))


def round_half(emit: Emitter, x: Value, decimals: Value, factor: Value) -> Value:
    """Return the same for a float16: the scaled number is rounded to float16 first."""
    single, scale = emit.cast("float32", x), emit.cast("float32", factor)
    coarse = emit("mul", emit("rint", emit("div", single, scale)), scale)
    rounded = emit.cast("float32", emit.cast(HALF, scale))
    scaled = emit.cast("float32", emit.cast(HALF, emit("mul", single, rounded)))
    fine = emit("div", emit("rint", scaled), scale)
    down = emit("lt", decimals, emit.like(decimals, 0))
    return emit.cast(HALF, emit("select", down, coarse, fine))


def round_complex(emit: Emitter, z: Value, decimals: Value, factor: Value) -> Value:
    """Return both parts rounded."""
    parts = complex_numbers.parts(emit, z)
    return emit.complex(*(round_to(emit, part, decimals, factor) for part in parts))


def sign(emit: Emitter, x: Value) -> Value:
    """Return x > 0 ? 1 : x < 0 ? -1 : 0 (a NaN gives 0)."""
    zero = emit.like(x, 0)
    rest = zero
    if x.dtype in SIGNED + FLOATS:
        rest = emit("select", emit("lt", x, zero), emit.like(x, -1), zero)
    return emit("select", emit("gt", x, zero), emit.like(x, 1), rest)


def half_signbit(emit: Emitter, x: Value) -> Value:
    """Return whether x is negative; a NaN loses its sign in upstream's conversion."""
    return emit("signbit", without_sign_of_nan(emit, emit.cast("float32", x)))


def without_sign_of_nan(emit: Emitter, x: Value) -> Value:
    """Return x, or a positive NaN for any NaN."""
    return emit("select", emit("eq", x, x), x, emit("abs", x))


def square(emit: Emitter, x: Value) -> Value:
    """Return x * x."""
    return emit("mul", x, x)


def _float_function(name: str) -> tuple[Meaning, ...]:
    return (Meaning(FLOATS, "T -> T", call(name)),)


def _any_function(name: str) -> tuple[Meaning, ...]:
    """C++ computes these functions of integers in double precision."""
    of_integers = Meaning(INTEGRAL, "T -> float64", in_double(name))
    return (*_float_function(name), of_integers)


_OF_REALS: Final[dict[str, tuple[Meaning, ...]]] = {
    "ABSOLUTE": (
        Meaning(LOGICAL + UNSIGNED, "T -> T", same),
        Meaning(SIGNED, "T -> T", absolute),
        Meaning(FLOATS, "T -> T", call("abs")),
        Meaning(COMPLEX, "T -> R", complex_numbers.magnitude),
    ),
    "ANGLE": (
        Meaning(REAL, "T; bool -> float64", angle),
        Meaning(COMPLEX, "T; bool -> float64", complex_angle),
    ),
    "ARCCOS": _float_function("acos"),
    "ARCCOSH": _float_function("acosh"),
    "ARCSIN": _float_function("asin"),
    "ARCSINH": _float_function("asinh"),
    "ARCTAN": _float_function("atan"),
    "ARCTANH": _float_function("atanh"),
    "CBRT": _float_function("cbrt"),
    "CEIL": _float_function("ceil"),
    "CLIP": (
        Meaning(REAL, "T; T T -> T", clip),
        Meaning(COMPLEX, "T; T T -> T", complex_numbers.clip),
    ),
    "CONJ": (
        Meaning((*REAL, HALF), "T -> T", same),
        Meaning(COMPLEX, "T -> T", conjugate),
    ),
    "COPY": (Meaning(ALL, "T -> T", same),),
    "COS": _float_function("cos"),
    "COSH": _float_function("cosh"),
    "DEG2RAD": (Meaning(FLOATS, "T -> T", deg2rad),),
    "EXP": _any_function("exp"),
    "EXP2": _float_function("exp2"),
    "EXPM1": _float_function("expm1"),
    "FLOOR": _float_function("floor"),
    "FREXP": (Meaning(FLOATS, "T -> T int32", frexp),),
    "IMAG": (Meaning(COMPLEX, "T -> R", call("imag")),),
    "INVERT": (Meaning(INTEGERS, "T -> T", call("not")),),
    "ISFINITE": (
        Meaning(INTEGRAL, "T -> bool", constantly(True)),
        Meaning(FLOATS, "T -> bool", is_finite),
        Meaning(COMPLEX, "T -> bool", either_component("and", is_finite)),
    ),
    "ISINF": (
        Meaning(INTEGRAL, "T -> bool", constantly(False)),
        Meaning(FLOATS, "T -> bool", is_inf),
        Meaning(COMPLEX, "T -> bool", either_component("or", is_inf)),
    ),
    "ISNAN": (
        Meaning(INTEGRAL, "T -> bool", constantly(False)),
        Meaning(FLOATS, "T -> bool", is_nan),
        Meaning(COMPLEX, "T -> bool", either_component("or", is_nan)),
    ),
    "LOG": _float_function("log"),
    "LOG10": _float_function("log10"),
    "LOG1P": _float_function("log1p"),
    "LOG2": _float_function("log2"),
    "LOGICAL_NOT": (
        Meaning(REAL, "T -> bool", logical_not),
        Meaning(
            COMPLEX, "T -> bool", lambda emit, z: logical_not(emit, emit("real", z))
        ),
    ),
    "MODF": (Meaning(FLOATS, "T -> T T", modf),),
    "NEGATIVE": (
        Meaning(LOGICAL, "T -> T", same),
        Meaning(INTEGERS + FLOATS, "T -> T", call("neg")),
        Meaning(COMPLEX, "T -> T", per_component(call("neg"))),
    ),
    "POSITIVE": (Meaning(ALL, "T -> T", same),),
    "RAD2DEG": (
        Meaning(FLOATS, "T -> T", rad2deg),
        Meaning((HALF,), "T -> T", half_rad2deg),
    ),
    "REAL": (Meaning(COMPLEX, "T -> R", call("real")),),
    "RECIPROCAL": (
        Meaning(INTEGRAL, "T -> T", integer_reciprocal),
        Meaning(FLOATS, "T -> T", reciprocal),
    ),
    "RINT": (
        *_any_function("rint"),
        Meaning(COMPLEX, "T -> T", per_component(call("rint"))),
    ),
    "ROUND": (
        Meaning(FLOATS, "T; int64 int64 -> T", round_to),
        Meaning(INTEGRAL, "T; int64 int64 -> T", round_integer),
        Meaning((HALF,), "T; int64 int64 -> T", round_half),
        Meaning(COMPLEX, "T; int64 int64 -> T", round_complex),
    ),
    "SIGN": (Meaning(REAL, "T -> T", sign),),
    "SIGNBIT": (
        Meaning(FLOATS, "T -> bool", call("signbit")),
        Meaning((HALF,), "T -> bool", half_signbit),
    ),
    "SIN": _float_function("sin"),
    "SINH": _float_function("sinh"),
    "SQRT": _any_function("sqrt"),
    "SQUARE": (
        Meaning(LOGICAL, "T -> T", same),
        Meaning(INTEGERS + FLOATS, "T -> T", square),
    ),
    "TAN": _float_function("tan"),
    "TANH": _float_function("tanh"),
    "TRUNC": _float_function("trunc"),
}

_OF_COMPLEX: Final = {
    code: (Meaning(COMPLEX, "T -> T", lowering),)
    for code, lowering in (COMPLEX_ARITHMETIC | COMPLEX_FUNCTIONS).items()
}

UNARY: Final[dict[str, tuple[Meaning, ...]]] = {
    code: with_half(_OF_REALS.get(code, ()) + _OF_COMPLEX.get(code, ()))
    for code in (*_OF_REALS, *_OF_COMPLEX)
}
"""The meanings of each operation code; the first that fits the types counts."""
