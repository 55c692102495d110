# SPDX-License-Identifier: Apache-2.0
"""The fraction and the exponent of floats, as C's `frexp` gives them."""

from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import literal
from legate_diffuse.maths.formats import FORMATS


def emit_float_part(lines: Lines, name: str, dtype: str, x: str) -> str:
    """Emit the `exponent` of x, an int32, or its `fraction`, at least 0.5 and below 1.

    x is the fraction times 2 to the exponent. A zero, an infinity and a NaN are their
    own fractions, with the exponent 0.
    """
    form = FORMATS[dtype]
    bits, bias = form.fraction_bits, form.bias
    integer = f"int{form.integer[1:]}"
    kind, pattern = lines.vector(form.element), lines.vector(form.integer)
    flags = lines.vector("i1")

    cast = lines.let(f"bitcast {kind} {x} to {pattern}")
    masked = lines.let(f"and {pattern} {cast}, {literal(integer, form.magnitude)}")
    size = lines.let(f"bitcast {pattern} {masked} to {kind}")
    small = lines.let(f"fcmp olt {kind} {size}, {literal(dtype, 2.0 ** (1 - bias))}")
    # a subnormal number gets an exponent of its own by an exact product
    product = lines.let(f"fmul {kind} {x}, {literal(dtype, 2.0**bits)}")
    normal = lines.let(f"select {flags} {small}, {kind} {product}, {kind} {x}")
    number = lines.let(f"bitcast {kind} {normal} to {pattern}")
    finite = lines.let(f"fcmp olt {kind} {size}, {literal(dtype, float('inf'))}")
    nonzero = lines.let(f"fcmp ogt {kind} {size}, zeroinitializer")
    usual = lines.let(f"and {flags} {finite}, {nonzero}")

    if name == "fraction":
        kept = lines.let(f"and {pattern} {number}, {literal(integer, ~form.infinity)}")
        exponent = literal(integer, bias - 1 << bits)
        joined = lines.let(f"or {pattern} {kept}, {exponent}")
        result = lines.let(f"bitcast {pattern} {joined} to {kind}")
        return lines.let(f"select {flags} {usual}, {kind} {result}, {kind} {x}")
    only = lines.let(f"and {pattern} {number}, {literal(integer, form.infinity)}")
    shifted = lines.let(f"lshr {pattern} {only}, {literal(integer, bits)}")
    starts = literal(integer, bias - 1 + bits), literal(integer, bias - 1)
    start = lines.let(
        f"select {flags} {small}, {pattern} {starts[0]}, {pattern} {starts[1]}"
    )
    exponent = lines.let(f"sub {pattern} {shifted}, {start}")
    chosen = f"{pattern} {exponent}, {pattern} zeroinitializer"
    result = lines.let(f"select {flags} {usual}, {chosen}")
    if dtype == "float32":
        return result
    return lines.let(f"trunc {pattern} {result} to {lines.vector('i32')}")
