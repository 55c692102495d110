# SPDX-License-Identifier: Apache-2.0
"""The LLVM modules of the vector maths routines, one for each C function."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from legate_diffuse.kernel.dtypes import bits_of
from legate_diffuse.maths import power_tables as tables
from legate_diffuse.maths.registry import ROUTINES
from legate_diffuse.maths.routine import Routine
from legate_diffuse.maths.trigonometric import words_of_two_over_pi
from legate_diffuse.maths.vector_function import LIBM, VectorFunction

PREFIX: Final = "legate_diffuse_"


def libm_module(
    name: str, variant: int, triple: str, vector_bytes: int, gathers: bool
) -> str:
    """Return a routine for the C function `name` in LLVM assembly.

    Its function `symbol` takes and returns vectors of `routine_lanes` elements, and
    `int64_t check_symbol(int64_t count, int64_t first, int64_t step, ...)` (`first` and
    `step` for each operand) returns for how many of the operands
    with bit patterns first + i * step the result differs from libm's by more than the
    routine's bound; i is below `count` rounded up to whole vectors.
    """
    lanes = routine_lanes(vector_bytes)
    width = 8 * vector_bytes
    routine = ROUTINES[name]
    word = f"i{lanes}"
    own = symbol(name, variant)
    function = VectorFunction(own, routine.element, routine.arity, lanes, gathers)
    text = function.finish(routine.variants[variant](function, *function.operands))
    declarations = {
        f"declare {word} @llvm.cttz.{word}({word}, i1)",
        f"declare {word} @llvm.ctpop.{word}({word})",
        *function.declarations,
    }
    parts = [f'target triple = "{triple}"']
    parts += [_table(table) for table in sorted(function.tables)]
    parts.append(text)
    for called in sorted(function.calls | {name}):
        other = ROUTINES[called]
        arguments = ", ".join([other.element] * other.arity)
        declarations.add(f"declare {other.element} @{called}({arguments})")
        parts.append(_scalar_calls(called, other, lanes))
    parts.append(_check(name, variant, lanes))
    attributes = (
        f'nounwind "min-legal-vector-width"="{width}" "prefer-vector-width"="{width}"'
    )
    return "\n".join(
        [*parts, *sorted(declarations), f"attributes #0 = {{ {attributes} }}", ""]
    )


def symbol(name: str, variant: int) -> str:
    """Return the symbol of a variant of the routine for a C function."""
    return f"{PREFIX}{name}_{variant}"


def check_symbol(name: str, variant: int) -> str:
    """Return the symbol of the function that compares a variant with libm."""
    return f"{PREFIX}check_{name}_{variant}"


def routine_lanes(vector_bytes: int) -> int:
    """Return how many elements a routine takes: two registers of doubles."""
    return 2 * vector_bytes // 8


def _table(name: str) -> str:
    """Return the definition of a table, as a global array of doubles."""
    patterns = [
        value if isinstance(value, int) else bits_of("float64", value)
        for row in _rows(name)
        for value in row
    ]
    return (
        f"@{name}.table = internal constant [{len(patterns)} x i64] "
        f"[{', '.join(f'i64 {pattern}' for pattern in patterns)}], align 64"
    )


def _rows(name: str) -> Iterable[Sequence[int | float]]:
    """Return the rows of a table, of numbers or of bit patterns."""
    match name:
        case "exp":
            table = tables.powers_of_two(tables.EXP_STEPS)
            return [(error, pattern) for pattern, error in table]
        case "expf":
            table = tables.powers_of_two(tables.EXPF_STEPS)
            return [(pattern,) for pattern, _ in table]
        case "log":
            return zip(tables.LOG_INVERSES, tables.log_table(), strict=True)
        case "log2":
            return zip(tables.LOG2_INVERSES, tables.log2_table(), strict=True)
        case "logf":
            return zip(tables.LOGF_INVERSES, tables.logf_table(), strict=True)
        case "log2f":
            return zip(tables.LOGF_INVERSES, tables.log2f_table(), strict=True)
        case "pow":
            return [row[:2] for row in tables.pow_log_table()]
        case "pow_tail":
            return [row[2:] for row in tables.pow_log_table()]
        case "two_over_pi":
            return words_of_two_over_pi()
    raise KeyError(name)


def _scalar_calls(name: str, routine: Routine, lanes: int) -> str:
    """Return the function that calls libm's for the lanes whose bit is set."""
    element = routine.element
    vector, word = f"<{lanes} x {element}>", f"i{lanes}"
    numbers = range(routine.arity)
    parameters = ", ".join(f"{vector} %x{i}" for i in numbers)
    lines = [
        f"define internal {vector} @{LIBM}{name}({word} %which, {parameters}) "
        "noinline cold #0 {",
        "entry:",
        *(f"  %p{i} = alloca {vector}" for i in numbers),
        *(f"  store {vector} %x{i}, ptr %p{i}" for i in numbers),
        "  br label %loop",
        "loop:",
        f"  %left = phi {word} [ %which, %entry ], [ %next, %loop ]",
        f"  %first = call {word} @llvm.cttz.{word}({word} %left, i1 true)",
        f"  %lane = zext {word} %first to i64",
    ]
    for i in numbers:
        lines += [
            f"  %p{i}.lane = getelementptr {element}, ptr %p{i}, i64 %lane",
            f"  %value{i} = load {element}, ptr %p{i}.lane",
        ]
    passed = ", ".join(f"{element} %value{i}" for i in numbers)
    lines += [
        f"  %result = call {element} @{name}({passed})",
        f"  store {element} %result, ptr %p0.lane",
        f"  %less = sub {word} %left, 1",
        f"  %next = and {word} %left, %less",
        f"  %more = icmp ne {word} %next, 0",
        "  br i1 %more, label %loop, label %exit",
        "exit:",
        f"  %results = load {vector}, ptr %p0",
        f"  ret {vector} %results",
        "}",
    ]
    return "\n".join(lines)


def _splat(lanes: int, result: str, value: str) -> list[str]:
    """Return what makes a vector with a number in all lanes."""
    indices = f"<{lanes} x i64>"
    return [
        f"  %{result}.0 = insertelement {indices} poison, i64 {value}, i64 0",
        f"  %{result} = shufflevector {indices} %{result}.0, {indices} poison, "
        f"<{lanes} x i32> zeroinitializer",
    ]


def _check(name: str, variant: int, lanes: int) -> str:
    """Return the function that counts differences from libm."""
    routine = ROUTINES[name]
    ulps = routine.ulps if variant == len(routine.variants) - 1 else 0
    element = routine.element
    bits = "i64" if element == "double" else "i32"
    vector, indices = f"<{lanes} x {element}>", f"<{lanes} x i64>"
    patterns, word = f"<{lanes} x {bits}>", f"i{lanes}"
    numbers = range(routine.arity)
    parameters = "".join(f", i64 %first{i}, i64 %step{i}" for i in numbers)
    ramp = ", ".join(f"i64 {lane}" for lane in range(lanes))
    splat = partial(_splat, lanes)
    lines = [
        f"define i64 @{check_symbol(name, variant)}(i64 %count{parameters}) #0 {{",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        "  %found = phi i64 [ 0, %entry ], [ %sum, %loop ]",
        *splat("start", "%i"),
        f"  %index = add {indices} %start, <{ramp}>",
    ]
    for i in numbers:
        lines += [
            *splat(f"from{i}", f"%first{i}"),
            *splat(f"by{i}", f"%step{i}"),
            f"  %offset{i} = mul {indices} %index, %by{i}",
            f"  %wide{i} = add {indices} %from{i}, %offset{i}",
        ]
        if bits == "i64":
            lines.append(f"  %x{i} = bitcast {indices} %wide{i} to {vector}")
        else:
            lines += [
                f"  %narrow{i} = trunc {indices} %wide{i} to {patterns}",
                f"  %x{i} = bitcast {patterns} %narrow{i} to {vector}",
            ]
    passed = ", ".join(f"{vector} %x{i}" for i in numbers)
    lines += [
        f"  %ours = call {vector} @{symbol(name, variant)}({passed})",
        f"  %theirs = call {vector} @{LIBM}{name}({word} -1, {passed})",
        f"  %our.bits = bitcast {vector} %ours to {patterns}",
        f"  %their.bits = bitcast {vector} %theirs to {patterns}",
        f"  %apart = sub {patterns} %our.bits, %their.bits",
        f"  %shifted = add {patterns} %apart, splat ({bits} {ulps})",
        f"  %differ = icmp ugt {patterns} %shifted, splat ({bits} {2 * ulps})",
        f"  %differ.word = bitcast <{lanes} x i1> %differ to {word}",
        f"  %differ.count = call {word} @llvm.ctpop.{word}({word} %differ.word)",
        f"  %differ.wide = zext {word} %differ.count to i64",
        "  %sum = add i64 %found, %differ.wide",
        f"  %next = add i64 %i, {lanes}",
        "  %more = icmp ult i64 %next, %count",
        "  br i1 %more, label %loop, label %exit",
        "exit:",
        "  ret i64 %sum",
        "}",
    ]
    return "\n".join(lines)
