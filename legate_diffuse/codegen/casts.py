# SPDX-License-Identifier: Apache-2.0
"""Conversions between types, as C++ compiled for x86-64 does them.

C++ leaves the result undefined when an integer type cannot hold a float. The machine's
conversion then gives the most negative integer ("integer indefinite"); to types of
less than 32 bits it gives the low bits of the conversion to int32, and to uint32 those
of the conversion to int64. LLVM's `fptosi` gives poison, which a select keeps away.

Processors convert float16 from and to float32 only. A float64 is first rounded to a
float32 whose last bit says whether anything was cut off ("rounding to odd"), so that
the float16 is rounded as if in one step.
"""

from collections.abc import Callable

from legate_diffuse.kernel.dtypes import FLOATS, HALF, ITEMSIZE, SIGNED
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE, literal

_CUT_BITS = 52 - 23
"""By how many bits the fraction of a float64 is longer than that of a float32."""

FloatToInteger = Callable[[Lines, str, str, str], str]
"""Emits the conversion of a float32 or float64 to an integer type."""


def emit_cast(
    lines: Lines,
    source: str,
    target: str,
    value: str,
    float_to_integer: FloatToInteger | None = None,
) -> str:
    """Emit the conversion of `value` and return its result.

    `float_to_integer` stands in for x86-64's conversions.
    """
    if source == target:
        return value
    if source == HALF:
        single = convert(lines, "fpext", HALF, "float32", value)
        return emit_cast(lines, "float32", target, single, float_to_integer)
    if target == HALF:
        if source != "float32":
            wide = emit_cast(lines, source, "float64", value)
            value = _round_to_odd(lines, wide)
        return convert(lines, "fptrunc", "float32", HALF, value)
    if target == "bool":
        return _to_bool(lines, source, value)
    if target in FLOATS:
        return _to_float(lines, source, target, value)
    if source in FLOATS:
        return (float_to_integer or _float_to_integer)(lines, source, target, value)
    return _resize(lines, source, target, value)


def _round_to_odd(lines: Lines, value: str) -> str:
    double, bits = lines.vector("double"), lines.vector("i64")
    pattern = lines.let(f"bitcast {double} {value} to {bits}")
    cut_bits = literal("int64", (1 << _CUT_BITS) - 1)
    cut = lines.let(f"and {bits} {pattern}, {cut_bits}")
    kept = lines.let(f"xor {bits} {pattern}, {cut}")
    # carries into the last kept bit unless nothing is cut off
    carried = lines.let(f"add {bits} {cut}, {cut_bits}")
    last = lines.let(f"and {bits} {carried}, {literal('int64', 1 << _CUT_BITS)}")
    odd = lines.let(f"or {bits} {kept}, {last}")
    number = lines.let(f"bitcast {bits} {odd} to {double}")
    return convert(lines, "fptrunc", "float64", "float32", number)


def _to_bool(lines: Lines, source: str, value: str) -> str:
    compare = "fcmp une" if source in FLOATS else "icmp ne"
    kind = lines.vector(LLVM_TYPE[source])
    return lines.let(f"{compare} {kind} {value}, zeroinitializer")


def _to_float(lines: Lines, source: str, target: str, value: str) -> str:
    if source in FLOATS:
        step = "fpext" if target == "float64" else "fptrunc"
    else:
        step = "sitofp" if source in SIGNED else "uitofp"
    return convert(lines, step, source, target, value)


def _resize(lines: Lines, source: str, target: str, value: str) -> str:
    if source != "bool" and ITEMSIZE[source] == ITEMSIZE[target]:
        return value
    if source != "bool" and ITEMSIZE[source] > ITEMSIZE[target]:
        return convert(lines, "trunc", source, target, value)
    step = "sext" if source in SIGNED else "zext"
    return convert(lines, step, source, target, value)


def _float_to_integer(lines: Lines, source: str, target: str, value: str) -> str:
    if target == "int64" or target == "int32":
        return _float_to_signed(lines, source, target, value)
    if target == "uint64":
        return _float_to_uint64(lines, source, value)
    middle = "int64" if target == "uint32" else "int32"
    wide = _float_to_signed(lines, source, middle, value)
    return convert(lines, "trunc", middle, target, wide)


def _float_to_signed(lines: Lines, source: str, target: str, value: str) -> str:
    limit = 2.0 ** (8 * ITEMSIZE[target] - 1)
    kind = lines.vector(LLVM_TYPE[source])
    high = literal(source, limit)
    below = lines.let(f"fcmp olt {kind} {value}, {high}")
    if source == "float64" and target == "int32":
        low = literal(source, -limit - 1)
        above = lines.let(f"fcmp ogt {kind} {value}, {low}")
    else:
        low = literal(source, -limit)
        above = lines.let(f"fcmp oge {kind} {value}, {low}")
    flags = lines.vector("i1")
    held = lines.let(f"and {flags} {below}, {above}")
    number = convert(lines, "fptosi", source, target, value)
    result = lines.vector(LLVM_TYPE[target])
    indefinite = literal(target, -int(limit))
    return lines.let(f"select {flags} {held}, {result} {number}, {result} {indefinite}")


def _float_to_uint64(lines: Lines, source: str, value: str) -> str:
    kind = lines.vector(LLVM_TYPE[source])
    half = literal(source, 2.0**63)
    low = _float_to_signed(lines, source, "int64", value)
    less = lines.let(f"fsub {kind} {value}, {half}")
    shifted = _float_to_signed(lines, source, "int64", less)
    result = lines.vector("i64")
    top = literal("int64", -(2**63))
    high = lines.let(f"xor {result} {shifted}, {top}")
    large = lines.let(f"fcmp oge {kind} {value}, {half}")
    flags = lines.vector("i1")
    return lines.let(f"select {flags} {large}, {result} {high}, {result} {low}")


def convert(lines: Lines, step: str, source: str, target: str, value: str) -> str:
    """Emit LLVM's instruction `step` from one type to another."""
    given, wanted = lines.vector(LLVM_TYPE[source]), lines.vector(LLVM_TYPE[target])
    return lines.let(f"{step} {given} {value} to {wanted}")
