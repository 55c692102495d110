# SPDX-License-Identifier: Apache-2.0
"""Meanings of arithmetic and comparisons of complex numbers.

Follows: CCCL (libcudacxx/include/cuda/std/complex)
Follows: cuPyNumeric (the comparisons of binary/binary_op_util.h)
"""

from typing import Final

from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import COMPONENT
from legate_diffuse.libraries.table import Emitter, Lowering

Pair = tuple[Value, Value]
"""The real and the imaginary part."""


def parts(emit: Emitter, z: Value) -> Pair:
    """Return the real and the imaginary part."""
    return emit("real", z), emit("imag", z)


def select(emit: Emitter, mask: Value, a: Value, b: Value) -> Value:
    """Return mask ? a : b for values of any type."""
    if a.dtype not in COMPONENT:
        return emit("select", mask, a, b)
    return emit.complex(*select_pair(emit, mask, parts(emit, a), parts(emit, b)))


def select_pair(emit: Emitter, mask: Value, a: Pair, b: Pair) -> Pair:
    """Return mask ? a : b."""
    return emit("select", mask, a[0], b[0]), emit("select", mask, a[1], b[1])


def add(emit: Emitter, a: Value, b: Value) -> Value:
    """Return a + b."""
    pairs = zip(parts(emit, a), parts(emit, b), strict=True)
    return emit.complex(*(emit("add", x, y) for x, y in pairs))


def square(emit: Emitter, z: Value) -> Value:
    """Return z * z."""
    return emit("complex_mul", z, z)


def magnitude(emit: Emitter, z: Value) -> Value:
    """Return the absolute value, which is hypot of the parts."""
    return emit("hypot", *parts(emit, z))


def reciprocal(emit: Emitter, z: Value) -> Value:
    """Return z != 0 ? 1 / z : 0."""
    zero = emit.like(z, 0)
    inverse = emit("complex_div", emit.like(z, 1), z)
    return select(emit, not_equal(emit, z, zero), inverse, zero)


def sign(emit: Emitter, z: Value) -> Value:
    """Return z / abs(z), and 0 for 0."""
    size = magnitude(emit, z)
    x, y = (emit("div", part, size) for part in parts(emit, z))
    is_zero = emit("eq", size, emit.like(size, 0))
    return select(emit, is_zero, emit.like(z, 0), emit.complex(x, y))


def equal(emit: Emitter, a: Value, b: Value) -> Value:
    """Return whether both parts are equal."""
    (ax, ay), (bx, by) = parts(emit, a), parts(emit, b)
    return emit("and", emit("eq", ax, bx), emit("eq", ay, by))


def not_equal(emit: Emitter, a: Value, b: Value) -> Value:
    """Return whether a part differs."""
    return emit("not", equal(emit, a, b))


def less(emit: Emitter, a: Value, b: Value) -> Value:
    """Return whether a comes first by its real, then by its imaginary part."""
    (ax, ay), (bx, by) = parts(emit, a), parts(emit, b)
    tie = emit("and", emit("not", emit("lt", bx, ax)), emit("lt", ay, by))
    return emit("or", emit("lt", ax, bx), tie)


def greater(emit: Emitter, a: Value, b: Value) -> Value:
    """Return b < a."""
    return less(emit, b, a)


def less_equal(emit: Emitter, a: Value, b: Value) -> Value:
    """Return !(b < a), which is true beside a NaN."""
    return emit("not", less(emit, b, a))


def greater_equal(emit: Emitter, a: Value, b: Value) -> Value:
    """Return !(a < b), which is true beside a NaN."""
    return emit("not", less(emit, a, b))


def maximum(emit: Emitter, a: Value, b: Value) -> Value:
    """Return a < b ? b : a."""
    return select(emit, less(emit, a, b), b, a)


def minimum(emit: Emitter, a: Value, b: Value) -> Value:
    """Return b < a ? b : a."""
    return select(emit, less(emit, b, a), b, a)


def clip(emit: Emitter, z: Value, low: Value, high: Value) -> Value:
    """Return z < low ? low : z > high ? high : z."""
    above = select(emit, greater(emit, z, high), high, z)
    return select(emit, less(emit, z, low), low, above)


def is_close(emit: Emitter, a: Value, b: Value, rtol: Value, atol: Value) -> Value:
    """Return abs(a - b) <= atol + rtol * abs(b), the product not rounded."""
    (ax, ay), (bx, by) = parts(emit, a), parts(emit, b)
    distance = emit("hypot", emit("sub", ax, bx), emit("sub", ay, by))
    size = emit.cast("float64", magnitude(emit, b))
    return emit("le", emit.cast("float64", distance), emit("fma", rtol, size, atol))


COMPLEX_ARITHMETIC: Final[dict[str, Lowering]] = {
    "RECIPROCAL": reciprocal,
    "SIGN": sign,
    "SQUARE": square,
}
"""Operations of one complex number that give another one."""

COMPLEX_COMPARISONS: Final[dict[str, Lowering]] = {
    "EQUAL": equal,
    "GREATER": greater,
    "GREATER_EQUAL": greater_equal,
    "LESS": less,
    "LESS_EQUAL": less_equal,
    "NOT_EQUAL": not_equal,
}
