# SPDX-License-Identifier: Apache-2.0
"""Division of integers, for which x86-64 has no vector instructions.

A trap would end the process, so divisors that trap are replaced before the division.
Integers of at most 32 bits are divided as floats: where a and b fit into half of a
float's digits, a / b is further from the next integer than its rounding error. So are
longer ones where they fit into a float's digits: what a / b is below the next integer
is at least 1 / b, and its rounding error less than a / b times 2**-53.
"""

import struct
from typing import Final

from legate_diffuse.kernel.dtypes import ITEMSIZE, SIGNED
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE, literal

_THROUGH: Final = {1: ("i32", "float"), 2: ("i32", "float"), 4: ("i32", "double")}
"""By item size: the integers and the floats in which the division is done."""


# Integers of a smaller size, added to the bits of this float, are added to it.
_DIGITS: Final = 51
_ANCHOR: Final = 1.5 * 2.0**52


def emit_quotient(
    lines: Lines, dtype: str, a: str, b: str, helpers: dict[str, str]
) -> str:
    """Emit a / b rounded towards zero; of a division by 0, 0.

    The lowest number divided by -1 wraps around. ``helpers`` are the module's functions
    by name, to which those that are called are added.
    """
    kind, flags = lines.vector(LLVM_TYPE[dtype]), lines.vector("i1")
    by_zero = lines.let(f"icmp eq {kind} {b}, zeroinitializer")
    traps, by_minus_one = by_zero, None
    if dtype in SIGNED and ITEMSIZE[dtype] > 2:
        by_minus_one = lines.let(f"icmp eq {kind} {b}, {literal(dtype, -1)}")
        traps = lines.let(f"or {flags} {by_zero}, {by_minus_one}")
    one = literal(dtype, 1)
    divisor = lines.let(f"select {flags} {traps}, {kind} {one}, {kind} {b}")
    result = _divided(lines, dtype, kind, a, divisor, helpers)
    if by_minus_one is not None:
        negated = lines.let(f"sub {kind} zeroinitializer, {a}")
        choice = f"{flags} {by_minus_one}, {kind} {negated}, {kind} {result}"
        result = lines.let(f"select {choice}")
    zero = f"{kind} zeroinitializer"
    return lines.let(f"select {flags} {by_zero}, {zero}, {kind} {result}")


def emit_remainder(
    lines: Lines, dtype: str, a: str, b: str, helpers: dict[str, str]
) -> str:
    """Emit a - b * (a / b), which has the sign of a; of a division by 0, 0."""
    kind, flags = lines.vector(LLVM_TYPE[dtype]), lines.vector("i1")
    quotient = emit_quotient(lines, dtype, a, b, helpers)
    product = lines.let(f"mul {kind} {quotient}, {b}")
    rest = lines.let(f"sub {kind} {a}, {product}")
    by_zero = lines.let(f"icmp eq {kind} {b}, zeroinitializer")
    zero = f"{kind} zeroinitializer"
    return lines.let(f"select {flags} {by_zero}, {zero}, {kind} {rest}")


def gcd_function(name: str, dtype: str, lanes: int, helpers: dict[str, str]) -> str:
    """Return a function of two vectors: Euclid's algorithm until all lanes are done.

    The result is not negative, except that the lowest number is its own absolute value.
    """
    lines = Lines(lanes, "g")
    kind, flags = lines.vector(LLVM_TYPE[dtype]), lines.vector("i1")
    rest = emit_remainder(lines, dtype, "%a", "%b", helpers)
    lines.do(f"%a.next = select {flags} %open, {kind} %b, {kind} %a")
    lines.do(f"%b.next = select {flags} %open, {kind} {rest}, {kind} %b")
    negative = [
        f"  %minus = sub {kind} zeroinitializer, %a",
        f"  %below = icmp slt {kind} %a, zeroinitializer",
        f"  %size = select {flags} %below, {kind} %minus, {kind} %a",
    ]
    return "\n".join(
        [
            f"define internal {kind} {name}({kind} %x, {kind} %y) #0 {{",
            "entry:",
            "  br label %test",
            "test:",
            f"  %a = phi {kind} [ %x, %entry ], [ %a.next, %step ]",
            f"  %b = phi {kind} [ %y, %entry ], [ %b.next, %step ]",
            f"  %open = icmp ne {kind} %b, zeroinitializer",
            f"  %bits = bitcast {flags} %open to i{lanes}",
            f"  %more = icmp ne i{lanes} %bits, 0",
            "  br i1 %more, label %step, label %exit",
            "step:",
            *lines.text,
            "  br label %test",
            "exit:",
            *(negative if dtype in SIGNED else []),
            f"  ret {kind} {'%size' if dtype in SIGNED else '%a'}",
            "}",
        ]
    )


def _divided(
    lines: Lines, dtype: str, kind: str, a: str, b: str, helpers: dict[str, str]
) -> str:
    signed = dtype in SIGNED
    if ITEMSIZE[dtype] == 8:
        if lines.lanes == 1:
            return lines.let(f"{'sdiv' if signed else 'udiv'} {kind} {a}, {b}")
        name = f"@quotient.{dtype}.{lines.lanes}"
        trunc = f"@llvm.trunc.v{lines.lanes}f64"
        real = lines.vector("double")
        helpers[trunc] = f"declare {real} {trunc}({real})"
        helpers[name] = _quotient_function(name, trunc, signed, lines.lanes)
        return lines.let(f"call {kind} {name}({kind} {a}, {kind} {b})")
    wide, real = (lines.vector(name) for name in _THROUGH[ITEMSIZE[dtype]])
    step = "sitofp" if signed else "uitofp"
    numbers = [lines.let(f"{step} {kind} {x} to {real}") for x in (a, b)]
    quotient = lines.let(f"fdiv {real} {numbers[0]}, {numbers[1]}")
    back = "fptosi" if signed or ITEMSIZE[dtype] < 4 else "fptoui"
    result = lines.let(f"{back} {real} {quotient} to {wide}")
    return result if wide == kind else lines.let(f"trunc {wide} {result} to {kind}")


def _quotient_function(name: str, trunc: str, signed: bool, lanes: int) -> str:
    """Return a function of two vectors of 64-bit integers: a / b, where b is not 0.

    Where all lanes fit, they are divided as floats, in a fifth of the time.
    """
    test, fast = Lines(lanes, "t"), Lines(lanes, "f")
    kind, real, flags = (test.vector(each) for each in ("i64", "double", "i1"))
    moved, bound = (1 << _DIGITS, 2 << _DIGITS) if signed else (0, 1 << _DIGITS)
    fits = []
    for x in ("%a", "%b"):
        above = test.let(f"add {kind} {x}, splat (i64 {moved})")
        fits.append(test.let(f"icmp ult {kind} {above}, splat (i64 {bound})"))
    both = test.let(f"and {flags} {fits[0]}, {fits[1]}")
    bits = test.let(f"bitcast {flags} {both} to i{lanes}")
    all_fit = test.let(f"icmp eq i{lanes} {bits}, -1")
    anchor = f"splat (double {_ANCHOR!r})"
    pattern = f"splat (i64 {int.from_bytes(struct.pack('<d', _ANCHOR), 'little')})"
    numbers = []
    for x in ("%a", "%b"):
        digits = fast.let(f"add {kind} {x}, {pattern}")
        number = fast.let(f"bitcast {kind} {digits} to {real}")
        numbers.append(fast.let(f"fsub {real} {number}, {anchor}"))
    quotient = fast.let(f"fdiv {real} {numbers[0]}, {numbers[1]}")
    whole = fast.let(f"call {real} {trunc}({real} {quotient})")
    shown = fast.let(f"fadd {real} {whole}, {anchor}")
    digits = fast.let(f"bitcast {real} {shown} to {kind}")
    result = fast.let(f"sub {kind} {digits}, {pattern}")
    return "\n".join(
        [
            f"define internal {kind} {name}({kind} %a, {kind} %b) #0 {{",
            *test.text,
            f"  br i1 {all_fit}, label %floats, label %integers",
            "floats:",
            *fast.text,
            f"  ret {kind} {result}",
            "integers:",
            f"  %divided = {'sdiv' if signed else 'udiv'} {kind} %a, %b",
            f"  ret {kind} %divided",
            "}",
        ]
    )
