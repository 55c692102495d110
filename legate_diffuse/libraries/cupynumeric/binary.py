# SPDX-License-Identifier: Apache-2.0
"""Meanings of cuPyNumeric's BINARY_OP.

Follows: cuPyNumeric (binary/binary_op_util.h)
"""

import math
from typing import Final

from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import (
    COMPLEX,
    FLOATS,
    HALF,
    INTEGERS,
    ITEMSIZE,
    SIGNED,
)
from legate_diffuse.kernel.operators import INTEGER_POWER
from legate_diffuse.libraries.cupynumeric import complex_functions, complex_numbers
from legate_diffuse.libraries.cupynumeric.unary import (
    INTEGRAL,
    LOGICAL,
    REAL,
    absolute,
    in_double,
    per_component,
    without_sign_of_nan,
)
from legate_diffuse.libraries.table import Emitter, Meaning, call, with_half


def maximum(emit: Emitter, a: Value, b: Value) -> Value:
    """Return std::max: a < b ? b : a (so a NaN counts only if it is the first)."""
    return emit("select", emit("lt", a, b), b, a)


def minimum(emit: Emitter, a: Value, b: Value) -> Value:
    """Return std::min: b < a ? b : a (so a NaN counts only if it is the first)."""
    return emit("select", emit("lt", b, a), b, a)


def is_close(emit: Emitter, a: Value, b: Value, rtol: Value, atol: Value) -> Value:
    """Return |a - b| <= atol + rtol * |b|; infinities are close if they are equal.

    The wheels are built with contraction: the product is not rounded before the sum.
    """
    first, second = emit.cast("float64", a), emit.cast("float64", b)
    distance = emit("abs", emit("sub", first, second))
    bound = emit("fma", rtol, emit("abs", second), atol)
    near = emit("le", distance, bound)
    infinity = emit.constant("float64", math.inf)
    infinite = emit(
        "or",
        emit("eq", emit("abs", first), infinity),
        emit("eq", emit("abs", second), infinity),
    )
    return emit("select", infinite, emit("eq", a, b), near)


def floor_divide(emit: Emitter, a: Value, b: Value) -> Value:
    """Return floor(a / b)."""
    return emit("floor", emit("div", a, b))


def integer_floor_divide(emit: Emitter, a: Value, b: Value) -> Value:
    """Return a / b rounded down.

    Division by 0 gives 0, as in NumPy, and the lowest number divided by -1 wraps
    around. Both end upstream's process, the latter only with 32 or 64 bits.
    """
    quotient = emit("quotient", a, b)
    if a.dtype not in SIGNED:
        return quotient
    # by 0 nothing is rounded
    divided = emit("ne", b, emit.like(b, 0))
    inexact = emit("and", divided, emit("ne", emit("mul", quotient, b), a))
    down = emit("and", inexact, _signs_differ(emit, a, b))
    return emit("sub", quotient, emit.cast(a.dtype, down))


def integer_mod(emit: Emitter, a: Value, b: Value) -> Value:
    """Return a - b * floor(a / b); 0 where upstream's process ends, see above."""
    remainder = emit("remainder", a, b)
    if a.dtype not in SIGNED:
        return remainder
    inexact = emit("ne", remainder, emit.like(a, 0))
    moved = emit("and", inexact, _signs_differ(emit, a, b))
    return emit("select", moved, emit("add", remainder, b), remainder)


def dividend(emit: Emitter, a: Value, b: Value) -> Value:
    """Return a truth value divided by True: upstream divides by nothing else."""
    return a


def no_remainder(emit: Emitter, a: Value, b: Value) -> Value:
    """Return the remainder of a truth value divided by True, which is False."""
    return emit.like(a, False)


def _signs_differ(emit: Emitter, a: Value, b: Value) -> Value:
    return emit("lt", emit("xor", a, b), emit.like(a, 0))


def lcm(emit: Emitter, a: Value, b: Value) -> Value:
    """Return the absolute value of a / gcd(a, b) * b; 0 if both are 0.

    `gcd` and `lcm` of the lowest number and -1 end upstream's process.
    """
    multiple = emit("mul", emit("quotient", a, emit("gcd", a, b)), b)
    return absolute(emit, multiple) if a.dtype in SIGNED else multiple


def mod(emit: Emitter, a: Value, b: Value) -> Value:
    """Return fmod moved to the sign of the divisor; a zero takes its sign from it."""
    zero = emit.like(a, 0)
    remainder = emit("fmod", a, b)
    differ = emit("xor", emit("lt", b, zero), emit("lt", remainder, zero))
    moved = emit("select", differ, emit("add", remainder, b), remainder)
    nonzero = emit("ne", remainder, zero)
    return emit("select", nonzero, moved, emit("copysign", zero, b))


def logaddexp(emit: Emitter, a: Value, b: Value) -> Value:
    """Return log(exp(a) + exp(b)) in the form that does not overflow."""
    distance = emit("neg", emit("abs", emit("sub", a, b)))
    apart = emit("add", maximum(emit, a, b), emit("log1p", emit("exp", distance)))
    twice = emit("add", a, emit.like(a, math.log(2.0)))
    return emit("select", emit("eq", a, b), twice, apart)


def logaddexp2(emit: Emitter, a: Value, b: Value) -> Value:
    """Return log2(2 ** a + 2 ** b) in the form that does not overflow."""
    one = emit.like(a, 1)
    distance = emit("neg", emit("abs", emit("sub", a, b)))
    correction = emit("log2", emit("add", one, emit("exp2", distance)))
    apart = emit("add", maximum(emit, a, b), correction)
    return emit("select", emit("eq", a, b), emit("add", a, one), apart)


def left_shift(emit: Emitter, a: Value, b: Value) -> Value:
    """Return (a << b) * (b >= 0)."""
    shifted = _shifted("shl", emit, a, b)
    zero = emit.like(a, 0)
    return emit("select", emit("ge", b, zero), shifted, zero)


def right_shift(emit: Emitter, a: Value, b: Value) -> Value:
    """Return a >> b."""
    return _shifted("shr", emit, a, b)


def _shifted(name: str, emit: Emitter, a: Value, b: Value) -> Value:
    """Shift as the machine does: at least 32 bits wide, the count modulo the width."""
    widened = {"int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
    wide = widened.get(a.dtype, a.dtype)
    count = emit.cast(wide, b)
    modulo = emit("and", count, emit.like(count, 8 * ITEMSIZE[wide] - 1))
    return emit.cast(a.dtype, emit(name, emit.cast(wide, a), modulo))


def truth(emit: Emitter, x: Value) -> Value:
    """Return x as a truth value; of a complex number, its real part."""
    return emit.cast("bool", emit("real", x) if x.dtype in COMPLEX else x)


def power(emit: Emitter, a: Value, b: Value) -> Value:
    """Return the power in double precision, rounded to the type of the operands."""
    return emit.cast(a.dtype, in_double("power")(emit, a, b))


def half_copysign(emit: Emitter, a: Value, b: Value) -> Value:
    """Return a with the sign of b, which a NaN loses in upstream's conversion."""
    size, sign = (emit.cast("float32", x) for x in (a, b))
    sign = without_sign_of_nan(emit, sign)
    return emit.cast(HALF, emit("copysign", size, sign))


def half_power(emit: Emitter, a: Value, b: Value) -> Value:
    """Return pow of numbers in float16 in single precision."""
    single = [emit.cast("float32", x) for x in (a, b)]
    return emit.cast(HALF, emit("pow", *single))


def complex_float_power(emit: Emitter, a: Value, b: Value) -> Value:
    """Return the power of complex numbers in double precision."""
    wide = []
    for z in (a, b):
        x, y = complex_numbers.parts(emit, z)
        wide.append(emit.complex(emit.cast("float64", x), emit.cast("float64", y)))
    return complex_functions.power(emit, *wide)


def integer_power(emit: Emitter, a: Value, b: Value) -> Value:
    """Return pow in double precision, rounded half away from zero and converted."""
    number = emit("round", in_double(INTEGER_POWER)(emit, a, b))
    return emit.cast(a.dtype, number)


def _arithmetic(name: str, of_truth_values: str) -> tuple[Meaning, ...]:
    return (
        Meaning(LOGICAL, "T T -> T", call(of_truth_values)),
        Meaning(INTEGERS + FLOATS, "T T -> T", call(name)),
    )


def _sum(name: str, of_truth_values: str) -> tuple[Meaning, ...]:
    of_complex = Meaning(COMPLEX, "T T -> T", per_component(call(name)))
    return (*_arithmetic(name, of_truth_values), of_complex)


def _logical(name: str) -> tuple[Meaning, ...]:
    def lower(emit: Emitter, a: Value, b: Value) -> Value:
        return emit(name, truth(emit, a), truth(emit, b))

    return (Meaning(REAL + COMPLEX, "T T -> bool", lower),)


def _bitwise(name: str) -> tuple[Meaning, ...]:
    return (Meaning(INTEGRAL, "T T -> T", call(name)),)


def _comparison(name: str) -> tuple[Meaning, ...]:
    return (Meaning(REAL, "T T -> bool", call(name)),)


def _float_function(name: str) -> tuple[Meaning, ...]:
    return (Meaning(FLOATS, "T T -> T", call(name)),)


_MEANINGS: Final[dict[str, tuple[Meaning, ...]]] = {
    "ADD": _sum("add", of_truth_values="or"),
    "ARCTAN2": _float_function("atan2"),
    "BITWISE_AND": _bitwise("and"),
    "BITWISE_OR": _bitwise("or"),
    "BITWISE_XOR": _bitwise("xor"),
    "COPYSIGN": (
        *_float_function("copysign"),
        Meaning((HALF,), "T T -> T", half_copysign),
    ),
    "DIVIDE": (
        Meaning(INTEGRAL, "T T -> float64", in_double("div")),
        Meaning(FLOATS, "T T -> T", call("div")),
        Meaning(COMPLEX, "T T -> T", call("complex_div")),
    ),
    "EQUAL": _comparison("eq"),
    "FLOAT_POWER": (
        Meaning(("float64",), "T T -> T", call("pow")),
        Meaning(COMPLEX, "T T -> complex128", complex_float_power),
    ),
    "FLOOR_DIVIDE": (
        Meaning(LOGICAL, "T T -> T", dividend),
        Meaning(INTEGERS, "T T -> T", integer_floor_divide),
        Meaning(FLOATS, "T T -> T", floor_divide),
    ),
    "FMOD": (
        Meaning(INTEGERS, "T T -> T", call("remainder")),
        *_float_function("fmod"),
    ),
    "GCD": (Meaning(INTEGERS, "T T -> T", call("gcd")),),
    "GREATER": _comparison("gt"),
    "GREATER_EQUAL": _comparison("ge"),
    "HYPOT": _float_function("hypot"),
    "ISCLOSE": (
        Meaning(REAL, "T T; float64 float64 -> bool", is_close),
        Meaning(COMPLEX, "T T; float64 float64 -> bool", complex_numbers.is_close),
    ),
    "LCM": (Meaning(INTEGERS, "T T -> T", lcm),),
    "LDEXP": (Meaning(FLOATS, "T int32 -> T", call("ldexp")),),
    "LEFT_SHIFT": (Meaning(INTEGERS, "T T -> T", left_shift),),
    "LESS": _comparison("lt"),
    "LESS_EQUAL": _comparison("le"),
    "LOGADDEXP": (Meaning(FLOATS, "T T -> T", logaddexp),),
    "LOGADDEXP2": (Meaning(FLOATS, "T T -> T", logaddexp2),),
    "LOGICAL_AND": _logical("and"),
    "LOGICAL_OR": _logical("or"),
    "LOGICAL_XOR": _logical("xor"),
    "MAXIMUM": (
        Meaning(REAL, "T T -> T", maximum),
        Meaning(COMPLEX, "T T -> T", complex_numbers.maximum),
    ),
    "MINIMUM": (
        Meaning(REAL, "T T -> T", minimum),
        Meaning(COMPLEX, "T T -> T", complex_numbers.minimum),
    ),
    "MOD": (
        Meaning(LOGICAL, "T T -> T", no_remainder),
        Meaning(INTEGERS, "T T -> T", integer_mod),
        Meaning(FLOATS, "T T -> T", mod),
    ),
    "MULTIPLY": (
        *_arithmetic("mul", of_truth_values="and"),
        Meaning(COMPLEX, "T T -> T", call("complex_mul")),
    ),
    "NEXTAFTER": _float_function("nextafter"),
    "NOT_EQUAL": _comparison("ne"),
    "POWER": (
        Meaning(INTEGRAL, "T T -> T", integer_power),
        Meaning(FLOATS, "T T -> T", power),
        Meaning((HALF,), "T T -> T", half_power),
        Meaning(COMPLEX, "T T -> T", complex_functions.power),
    ),
    "RIGHT_SHIFT": (Meaning(INTEGERS, "T T -> T", right_shift),),
    "SUBTRACT": _sum("sub", of_truth_values="xor"),
}

_OF_COMPLEX: Final = {
    code: (Meaning(COMPLEX, "T T -> bool", lowering),)
    for code, lowering in complex_numbers.COMPLEX_COMPARISONS.items()
}

BINARY: Final[dict[str, tuple[Meaning, ...]]] = {
    code: with_half(meanings + _OF_COMPLEX.get(code, ()))
    for code, meanings in _MEANINGS.items()
}
"""The meanings of each operation code."""
