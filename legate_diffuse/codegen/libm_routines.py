# SPDX-License-Identifier: Apache-2.0
"""Vector routines that give, bit for bit, what glibc's exp, log and pow give.

They do the operations of the algorithms that glibc has used since version 2.28 (Arm's
Optimized Routines, math/exp.c, log.c, pow.c, expf.c and logf.c), fused where gcc fuses
them in the variants that glibc chooses on processors with FMA. Elements that those
treat specially go to libm. Whether a routine gives the same as the libm of this process
is found out by `count_differences`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from legate_diffuse.codegen import libm_tables as tables
from legate_diffuse.codegen.vector_function import Vector, VectorFunction
from legate_diffuse.kernel.dtypes import bits_of

PREFIX: Final = "legate_diffuse_"
SCALAR: Final = PREFIX + "scalar_"
CHECK: Final = PREFIX + "check_"
_ROUND: Final = float.fromhex("1.8p+52")
"""Adding it rounds to an integer, which the low bits of the sum then hold."""


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
    declarations: set[str] = set()
    for kind in (f"i{lanes}",):
        declarations.add(f"declare {kind} @llvm.cttz.{kind}({kind}, i1)")
        declarations.add(f"declare {kind} @llvm.ctpop.{kind}({kind})")
    for name, routine in ROUTINES.items():
        arguments = ", ".join([routine.element] * routine.arity)
        declarations.add(f"declare {routine.element} @{name}({arguments})")
        function = VectorFunction(
            PREFIX + name, routine.element, routine.arity, lanes
        )
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


def _exp(f: VectorFunction, x: Vector) -> Vector:
    y = _exp_of_sum(f, x, None)
    large = f.fabs(x).compare("uge", 512.0)

    def far() -> Vector:
        over = x.compare("ogt", 709.79)
        under = x.compare("olt", -745.14)
        known = f.select(over, float("inf"), f.select(under, 0.0, y))
        unknown = f.select(over, 0.0, f.select(under, 0.0, x))
        rest = f.fabs(unknown).compare("uge", 512.0)
        return f.where_any(rest, known, lambda: f.masked_call(SCALAR + "exp", rest, x))

    return f.where_any(large, y, far)


def _exp_of_sum(f: VectorFunction, x: Vector, tail: Vector | None) -> Vector:
    """Return exp(x + tail) for |x| < 512."""
    rounded = f.fma(x, tables.EXP_SCALE, _ROUND)
    pattern = rounded.bits()
    k = rounded - _ROUND
    if tail is None:
        r = f.fma(k, tables.EXP_STEP_LOW, f.fma(k, tables.EXP_STEP_HIGH, x))
    else:
        r = tail + f.fma(k, tables.EXP_STEP_LOW, f.fma(k, tables.EXP_STEP_HIGH, x))
    i = pattern & (tables.EXP_STEPS - 1)
    low = f.lookup("exp_tail", i, "double")
    scale = f.lookup("exp_scale", i, "i64") + (pattern << 45)
    c2, c3, c4, c5 = tables.EXP_POLYNOMIAL
    square = r * r
    p = f.fma(f.fma(r, c3, c2), square, r + low)
    p = f.fma(square * square, f.fma(r, c5, c4), p)
    power = scale.converted("bitcast", "double")
    return f.fma(power, p, power)


def _log(f: VectorFunction, x: Vector) -> Vector:
    pattern = x.bits()
    start = pattern - tables.LOG_START
    i = (start >> 45) & (tables.LOG_STEPS - 1)
    k = start.arithmetic_shift(52).converted("sitofp", "double")
    z = (pattern - (start & (0xFFF << 52))).converted("bitcast", "double")
    r = f.fma(z, f.lookup("log_inverse", i, "double"), -1.0)
    w = f.fma(k, tables.LN2_HIGH, f.lookup("log_log", i, "double"))
    high = r + w
    low = f.fma(k, tables.LN2_LOW, (w - high) + r)
    a0, a1, a2, a3, a4 = tables.LOG_POLYNOMIAL
    square = r * r
    p = f.fma(f.fma(r, a4, a3), square, f.fma(r, a2, a1))
    y = f.fma(r * square, p, f.fma(square, a0, low)) + high
    low_1, high_1 = 0x3FEE000000000000, 0x3FF1090000000000
    near = (pattern - low_1).compare("ult", high_1 - low_1)
    y = f.where_any(near, y, lambda: _log_near_1(f, x))
    least = 1 << 52
    special = (pattern - least).compare("uge", (0x7FF << 52) - least)
    return f.where_any(special, y, lambda: f.masked_call(SCALAR + "log", special, x))


def _log_near_1(f: VectorFunction, x: Vector) -> Vector:
    b = tables.LOG_NEAR_1_POLYNOMIAL
    r = x - 1.0
    square = r * r
    cube = r * square
    p = f.fma(cube, b[10], f.fma(square, b[9], f.fma(r, b[8], b[7])))
    p = f.fma(p, cube, f.fma(square, b[6], f.fma(r, b[5], b[4])))
    p = f.fma(p, cube, f.fma(square, b[3], f.fma(r, b[2], b[1])))
    split = 2.0**27
    head = f.fma(r, -split, f.fma(r, split, r))
    rest = r - head
    w = head * head
    high = f.fma(w, b[0], r)
    low = f.fma(w, b[0], r - high)
    low = f.fma(rest * b[0], r + head, low)
    return high + f.fma(p, cube, low)


def _expf(f: VectorFunction, x: Vector) -> Vector:
    wide = x.converted("fpext", "double")
    rounded = f.fma(wide, tables.EXPF_SCALE, _ROUND)
    pattern = rounded.bits()
    r = f.fma(wide, tables.EXPF_SCALE, -(rounded - _ROUND))
    i = pattern & (tables.EXPF_STEPS - 1)
    scale = f.lookup("expf_scale", i, "i64") + (pattern << 47)
    c1, c2, c3 = tables.EXPF_POLYNOMIAL
    p = f.fma(f.fma(r, c3, c2), r * r, f.fma(r, c1, 1.0))
    y = (p * scale.converted("bitcast", "double")).converted("fptrunc", "float")
    far = f.fabs(x).compare("uge", 88.0)

    def clamped() -> Vector:
        bounded = f.select(x.compare("ogt", 88.72283172607422), float("inf"), y)
        bounded = f.select(x.compare("olt", -103.97207641601562), 0.0, bounded)
        return f.select(x.compare("uno", x), x + x, bounded)

    return f.where_any(far, y, clamped)


def _logf(f: VectorFunction, x: Vector) -> Vector:
    pattern = x.bits()
    start = pattern - tables.LOGF_START
    i = (start >> 19) & (tables.LOGF_STEPS - 1)
    k = start.arithmetic_shift(23).converted("sitofp", "double")
    z = (pattern - (start & (0x1FF << 23))).converted("bitcast", "float")
    z = z.converted("fpext", "double")
    r = f.fma(z, f.lookup("logf_inverse", i, "double"), -1.0)
    base = r + f.fma(k, tables.LN2, f.lookup("logf_log", i, "double"))
    a2, a3, a4 = tables.LOGF_POLYNOMIAL
    square = r * r
    p = f.fma(square, a4, f.fma(r, a3, a2))
    y = f.fma(square, p, base).converted("fptrunc", "float")
    least = 1 << 23
    special = (pattern - least).compare("uge", (0xFF << 23) - least)
    return f.where_any(special, y, lambda: f.masked_call(SCALAR + "logf", special, x))


def _pow(f: VectorFunction, x: Vector, y: Vector) -> Vector:
    pattern = x.bits()
    start = pattern - tables.POW_LOG_START
    i = (start >> 45) & (tables.LOG_STEPS - 1)
    k = start.arithmetic_shift(52).converted("sitofp", "double")
    z = (pattern - (start & (0xFFF << 52))).converted("bitcast", "double")
    r = f.fma(z, f.lookup("pow_inverse", i, "double"), -1.0)
    a2, a3, a4, a5, a6, a7, a8 = tables.POW_LOG_POLYNOMIAL
    t1 = f.fma(k, tables.LN2_HIGH, f.lookup("pow_log", i, "double"))
    t2 = r + t1
    low_1 = f.fma(k, tables.LN2_LOW, f.lookup("pow_log_tail", i, "double"))
    low_2 = (t1 - t2) + r
    half = r * a2
    half_square = r * half
    half_cube = r * half_square
    high = t2 + half_square
    low_3 = f.fma(half, r, -half_square)
    low_4 = (t2 - high) + half_square
    p = f.fma(f.fma(r, a8, a7), half_square, f.fma(r, a6, a5))
    p = f.fma(half_square, p, f.fma(r, a4, a3))
    low = f.fma(half_cube, p, ((low_1 + low_2) + low_3) + low_4)
    log = high + low
    log_tail = (high - log) + low
    product = y * log
    tail = f.fma(y, log_tail, f.fma(log, y, -product))
    result = _exp_of_sum(f, product, tail)
    least = 1 << 52
    odd_x = (pattern - least).compare("uge", (0x7FF << 52) - least)
    size = f.fabs(y)
    odd_y = size.compare("ult", 2.0**-65) | size.compare("uge", 2.0**63)
    special = odd_x | odd_y | f.fabs(product).compare("uge", 512.0)
    return f.where_any(special, result, lambda: f.masked_call(SCALAR + "pow", special, x, y))


@dataclass(frozen=True, slots=True)
class Routine:
    """How a C function of LLVM type `element` is computed.

    `samples` has, for each operand, ranges that together take all paths.
    """

    emit: Callable[..., Vector]
    element: str
    samples: tuple[tuple[tuple[float, float], ...], ...]

    @property
    def arity(self) -> int:
        """The number of operands."""
        return len(self.samples)


_INFINITY: Final = float("inf")
_EXPONENTS: Final = (2.0**-30, 1024.0), (-(2.0**-30), -1024.0)
_POSITIVE: Final = (0.0, _INFINITY), (0.5, 1.5), (0.93, 1.07)
ROUTINES: Final = {
    "exp": Routine(_exp, "double", (_EXPONENTS,)),
    "expf": Routine(_expf, "float", (_EXPONENTS,)),
    "log": Routine(_log, "double", (_POSITIVE,)),
    "logf": Routine(_logf, "float", (_POSITIVE,)),
    "pow": Routine(
        _pow, "double", (((1e-5, 1e5), (0.9, 1.1)), ((0.1, 50.0), (-500.0, -0.1)))
    ),
}


def _tables() -> list[str]:
    """Return the definitions of the tables, as global arrays."""
    powers = tables.powers_of_two(tables.EXP_STEPS)
    powers_f = tables.powers_of_two(tables.EXPF_STEPS)
    pow_log = tables.pow_log_table()
    doubles = {
        "exp_tail": [tail for _, tail in powers],
        "log_inverse": tables.LOG_INVERSES,
        "log_log": tables.log_table(),
        "logf_inverse": tables.LOGF_INVERSES,
        "logf_log": tables.logf_table(),
        "pow_inverse": [inverse for inverse, _, _ in pow_log],
        "pow_log": [high for _, high, _ in pow_log],
        "pow_log_tail": [low for _, _, low in pow_log],
    }
    patterns = {
        name: [bits_of("float64", value) for value in values]
        for name, values in doubles.items()
    }
    patterns["exp_scale"] = [pattern for pattern, _ in powers]
    patterns["expf_scale"] = [pattern for pattern, _ in powers_f]
    return [
        f"@{name} = internal constant [{len(values)} x i64] "
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
        f"define internal {vector} @{SCALAR}{name}({word} %which, {parameters}) "
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
        f"  %theirs = call {vector} @{SCALAR}{name}({word} -1, {passed})",
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
