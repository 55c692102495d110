# SPDX-License-Identifier: Apache-2.0
"""The LLVM module of the vector maths routines, which all kernels share."""

from collections.abc import Sequence
from typing import Final

from legate_diffuse.codegen import libm_tables as tables
from legate_diffuse.codegen.libm_routines import ROUTINES, Routine
from legate_diffuse.codegen.vector_function import LIBM, VectorFunction
from legate_diffuse.kernel.dtypes import bits_of

PREFIX: Final = "legate_diffuse_"
CHECK: Final = PREFIX + "check_"


def libm_module(triple: str, vector_bytes: int) -> str:
    """Return the routines in LLVM assembly.

    For each function f of `ROUTINES`, `legate_diffuse_f` takes and returns vectors of
    `routine_lanes` elements, and `int64_t legate_diffuse_check_f(int64_t count, int64_t
    first, int64_t step, ...)` (`first` and `step` for each operand) returns for how
    many of the operands with bit patterns first + i * step the result differs from
    libm's; i is below `count` rounded up to whole vectors.
    """
    lanes = routine_lanes(vector_bytes)
    width = 8 * vector_bytes
    parts = [f'target triple = "{triple}"', *_tables()]
    word = f"i{lanes}"
    declarations = {
        f"declare {word} @llvm.cttz.{word}({word}, i1)",
        f"declare {word} @llvm.ctpop.{word}({word})",
    }
    for name, routine in ROUTINES.items():
        arguments = ", ".join([routine.element] * routine.arity)
        declarations.add(f"declare {routine.element} @{name}({arguments})")
        function = VectorFunction(PREFIX + name, routine.element, routine.arity, lanes)
        parts.append(function.finish(routine.emit(function, *function.operands)))
        declarations |= function.declarations
        parts.append(_scalar_calls(name, routine, lanes))
        parts.append(_check(name, routine, lanes))
    attributes = (
        f'nounwind "min-legal-vector-width"="{width}" "prefer-vector-width"="{width}"'
    )
    return "\n".join(
        [*parts, *sorted(declarations), f"attributes #0 = {{ {attributes} }}", ""]
    )


def routine_lanes(vector_bytes: int) -> int:
    """Return how many elements a routine takes: two registers of doubles."""
    return 2 * vector_bytes // 8


def _tables() -> list[str]:
    """Return the definitions of the tables, as global arrays of doubles or pairs."""
    log, log2 = tables.log_table(), tables.log2_table()
    logf, log2f = tables.logf_table(), tables.log2f_table()
    pow_log = tables.pow_log_table()
    columns: dict[str, list[Sequence[float]]] = {
        "log": [tables.LOG_INVERSES, log],
        "log2": [tables.LOG2_INVERSES, log2],
        "logf": [tables.LOGF_INVERSES, logf],
        "log2f": [tables.LOGF_INVERSES, log2f],
        "pow": [[row[0] for row in pow_log], [row[1] for row in pow_log]],
        "pow_tail": [[row[2] for row in pow_log]],
    }
    patterns = {
        name: [bits_of("float64", x) for row in zip(*values, strict=True) for x in row]
        for name, values in columns.items()
    }
    patterns["exp"] = [
        word
        for pattern, error in tables.powers_of_two(tables.EXP_STEPS)
        for word in (bits_of("float64", error), pattern)
    ]
    patterns["expf"] = [
        pattern for pattern, _ in tables.powers_of_two(tables.EXPF_STEPS)
    ]
    return [
        f"@{name}.table = internal constant [{len(values)} x i64] "
        f"[{', '.join(f'i64 {value}' for value in values)}], align 64"
        for name, values in patterns.items()
    ]


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


def _check(name: str, routine: Routine, lanes: int) -> str:
    """Return the function that counts differences from libm."""
    element = routine.element
    bits = "i64" if element == "double" else "i32"
    vector, indices = f"<{lanes} x {element}>", f"<{lanes} x i64>"
    patterns, word = f"<{lanes} x {bits}>", f"i{lanes}"
    numbers = range(routine.arity)
    parameters = "".join(f", i64 %first{i}, i64 %step{i}" for i in numbers)
    ramp = ", ".join(f"i64 {lane}" for lane in range(lanes))

    def splat(result: str, value: str) -> list[str]:
        return [
            f"  %{result}.0 = insertelement {indices} poison, i64 {value}, i64 0",
            f"  %{result} = shufflevector {indices} %{result}.0, {indices} poison, "
            f"<{lanes} x i32> zeroinitializer",
        ]

    lines = [
        f"define i64 @{CHECK}{name}(i64 %count{parameters}) #0 {{",
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
        f"  %ours = call {vector} @{PREFIX}{name}({passed})",
        f"  %theirs = call {vector} @{LIBM}{name}({word} -1, {passed})",
        f"  %our.bits = bitcast {vector} %ours to {patterns}",
        f"  %their.bits = bitcast {vector} %theirs to {patterns}",
        f"  %differ = icmp ne {patterns} %our.bits, %their.bits",
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
