# SPDX-License-Identifier: Apache-2.0
"""Division of integers, for which x86-64 has no vector instructions.

A trap would end the process, so divisors that trap are replaced before the division.
Integers of at most 32 bits are divided as floats: where a and b fit into half of a
float's digits, a / b is further from the next integer than its rounding error.
"""

from typing import Final

from legate_diffuse.kernel.dtypes import ITEMSIZE, SIGNED
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE, literal

_THROUGH: Final = {1: ("i32", "float"), 2: ("i32", "float"), 4: ("i32", "double")}
"""By item size: the integers and the floats in which the division is done."""


def emit_quotient(lines: Lines, dtype: str, a: str, b: str) -> str:
    """Emit a / b rounded towards zero; of a division by 0, 0.

    The lowest number divided by -1 wraps around.
    """
    kind, flags = lines.vector(LLVM_TYPE[dtype]), lines.vector("i1")
    by_zero = lines.let(f"icmp eq {kind} {b}, zeroinitializer")
    traps, by_minus_one = by_zero, None
    if dtype in SIGNED and ITEMSIZE[dtype] > 2:
        by_minus_one = lines.let(f"icmp eq {kind} {b}, {literal(dtype, -1)}")
        traps = lines.let(f"or {flags} {by_zero}, {by_minus_one}")
    one = literal(dtype, 1)
    divisor = lines.let(f"select {flags} {traps}, {kind} {one}, {kind} {b}")
    result = _divided(lines, dtype, kind, a, divisor)
    if by_minus_one is not None:
        negated = lines.let(f"sub {kind} zeroinitializer, {a}")
        choice = f"{flags} {by_minus_one}, {kind} {negated}, {kind} {result}"
        result = lines.let(f"select {choice}")
    zero = f"{kind} zeroinitializer"
    return lines.let(f"select {flags} {by_zero}, {zero}, {kind} {result}")


def emit_remainder(lines: Lines, dtype: str, a: str, b: str) -> str:
    """Emit a - b * (a / b), which has the sign of a; of a division by 0, 0."""
    kind, flags = lines.vector(LLVM_TYPE[dtype]), lines.vector("i1")
    quotient = emit_quotient(lines, dtype, a, b)
    product = lines.let(f"mul {kind} {quotient}, {b}")
    rest = lines.let(f"sub {kind} {a}, {product}")
    by_zero = lines.let(f"icmp eq {kind} {b}, zeroinitializer")
    zero = f"{kind} zeroinitializer"
    return lines.let(f"select {flags} {by_zero}, {zero}, {kind} {rest}")


def gcd_function(name: str, dtype: str, lanes: int) -> str:
    """Return a function of two vectors: Euclid's algorithm until all lanes are done.

    The result is not negative, except that the lowest number is its own absolute value.
    """
    lines = Lines(lanes, "g")
    kind, flags = lines.vector(LLVM_TYPE[dtype]), lines.vector("i1")
    rest = emit_remainder(lines, dtype, "%a", "%b")
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


def _divided(lines: Lines, dtype: str, kind: str, a: str, b: str) -> str:
    signed = dtype in SIGNED
    if ITEMSIZE[dtype] == 8:
        return lines.let(f"{'sdiv' if signed else 'udiv'} {kind} {a}, {b}")
    wide, real = (lines.vector(name) for name in _THROUGH[ITEMSIZE[dtype]])
    step = "sitofp" if signed else "uitofp"
    numbers = [lines.let(f"{step} {kind} {x} to {real}") for x in (a, b)]
    quotient = lines.let(f"fdiv {real} {numbers[0]}, {numbers[1]}")
    back = "fptosi" if signed or ITEMSIZE[dtype] < 4 else "fptoui"
    result = lines.let(f"{back} {real} {quotient} to {wide}")
    return result if wide == kind else lines.let(f"trunc {wide} {result} to {kind}")
