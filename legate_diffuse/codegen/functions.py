# SPDX-License-Identifier: Apache-2.0
"""Vectors of scalar functions.

A kernel calls a function of vectors, in which a loop calls the scalar function for each
lane, on elements in memory of its own. LLVM's passes inline the scalar function and
vectorise that loop, as they do with the loop of a universal function of Numba's. A loop
that was vectorised they then unroll, so that its elements are in registers again. Other
parts of a kernel are as they were.

Where branches are all that keeps LLVM from it, it is told to vectorise: its model takes
branches for cheap, which those that depend on elements are not. Functions of C's are
called on vectors where there is a routine with libm's bits. Where there is a loop, it
ends with the last point, so that as few elements are computed as there are; and where a
kernel computes nothing else than such functions, its vectors have one lane.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from legate_diffuse.codegen.memory import Parts, from_memory, to_memory
from legate_diffuse.kernel.dtypes import COMPONENT
from legate_diffuse.kernel.functions import NAME, ScalarFunction, called
from legate_diffuse.kernel.ir import Kernel, Op
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.passes import inline_always, keep_only, optimise
from legate_diffuse.llvm.types import LLVM_TYPE, memory_type
from legate_diffuse.maths.calls import EXACT_ROUTINES
from legate_diffuse.maths.libm import MathLibrary
from legate_diffuse.maths.modules import PREFIX
from legate_diffuse.maths.registry import ROUTINES

_ALIGNMENT: Final = 64
_KEEP: Final = '!"llvm.loop.unroll.disable"'
_UNROLL: Final = '!"llvm.loop.unroll.full"'
_VECTORISED: Final = '!"llvm.loop.isvectorized"'
_SCALAR: Final = '!{!"llvm.loop.vectorize.enable", i1 false}'
_WIDTH: Final = '!"llvm.loop.vectorize.width"'
INSTRUCTIONS: Final = frozenset(
    f"{name}{suffix}"
    for name in (
        *("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "round"),
        *("roundeven", "copysign", "fma", "fmuladd", "minnum", "maxnum", "minimum"),
        "maximum",
    )
    for suffix in ("", "f")
)
_LABEL: Final = re.compile(r"^([\w.$]+):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function, and which of its results a kernel uses."""

    digest: str
    function: ScalarFunction
    results: tuple[int, ...]

    def symbol(self, lanes: int) -> str:
        """Return the name of the function of vectors."""
        return ".".join(["function", self.digest, *map(str, (lanes, *self.results))])

    @property
    def loops(self) -> bool:
        """Whether it is computed for one element after the other."""
        calls = self.function.calls() - INSTRUCTIONS
        if calls:
            return calls.isdisjoint(EXACT_ROUTINES)
        return not _only_branches(self.function.assembly)

    @property
    def outputs(self) -> list[str]:
        """The types of the results."""
        return [self.function.outputs[number] for number in self.results]


def calls_of(kernel: Kernel) -> dict[str, Call]:
    """Return the scalar functions that a kernel calls, by digest."""
    found: dict[str, Call] = {}
    for step in kernel.body:
        if isinstance(step, Op) and (known := called(step.name)) is not None:
            digest, function, result = known
            before = found[digest].results if digest in found else ()
            results = tuple(sorted({*before, result}))
            found[digest] = Call(digest, function, results)
    return found


def emit_call(
    lines: Lines,
    declarations: dict[str, str],
    call: Call,
    operands: list[Parts],
    count: str,
) -> dict[int, Parts]:
    """Emit a call over vectors, and return the results by their numbers.

    The first ``count`` lanes are computed, of which it is an i64.
    """
    lanes = lines.lanes
    passed = [f"i64 {count}"]
    for dtype, parts in zip(call.function.inputs, operands, strict=True):
        passed += [f"{_vector(dtype, lanes)} {part}" for part in parts]
    result, symbol = _result_type(call, lanes), f"@{call.symbol(lanes)}"
    kinds = ", ".join(["i64", *(kind.rpartition(" %")[0] for kind in passed[1:])])
    declarations[symbol] = f"declare {result} {symbol}({kinds}) #0"
    made = lines.let(f"call {result} {symbol}({', '.join(passed)})")
    results: dict[int, Parts] = {}
    number = 0
    for place, dtype in zip(call.results, call.outputs, strict=True):
        numbers = range(number, number + _num_parts(dtype))
        results[place] = tuple(
            lines.let(f"extractvalue {result} {made}, {n}") for n in numbers
        )
        number = numbers.stop
    return results


def vector_function(
    call: Call, lanes: int, width: int, library: MathLibrary, machine: Any
) -> str:
    """Return the module that defines a function of vectors, in LLVM assembly.

    Args:
        call: the scalar function, and its results that are needed.
        lanes: elements of a vector.
        width: bits of the vector registers to use.
        library: the routines that may be called.
        machine: llvmlite's target machine.
    """
    from llvmlite import binding as llvm

    function, name = call.function, call.symbol(lanes)

    def optimised(hint: str) -> Any:
        text = _loop_over_lanes(call, lanes, width, hint)
        module = llvm.parse_assembly(text)
        module.link_in(llvm.parse_assembly(function.assembly))
        keep_only(module, name)
        optimise(module, machine, unroll=False)
        return module

    calls = function.calls() - INSTRUCTIONS
    routines = calls & library.vector & EXACT_ROUTINES
    if routines:
        module = optimised(f"!{{{_WIDTH}, i32 {library.lanes}}}")
    elif calls:
        module = optimised(_SCALAR)
    else:
        module = optimised(f"!{{{_KEEP}}}")
        if not call.loops and not _is_vectorised(str(module)):
            module = optimised(f"!{{{_WIDTH}, i32 {lanes}}}")
    text = str(module)
    if _is_vectorised(text) and not call.loops:
        module = llvm.parse_assembly(text.replace(_KEEP, _UNROLL))
        optimise(module, machine)
        module.get_function(name).add_function_attribute("alwaysinline")
    if lanes == 1:
        module.get_function(name).add_function_attribute("alwaysinline")
    module.get_function(name).linkage = "linkonce_odr"
    text = str(module)
    for routine in routines:
        text = _with_routine(text, routine, library.lanes)
    # the optimiser drops how wide the registers are in which vectors are passed
    plain = f'"prefer-vector-width"="{width}"'
    if "min-legal-vector-width" not in text:
        text = text.replace(plain, f'"min-legal-vector-width"="{width}" {plain}')
    return text


def _is_vectorised(text: str) -> bool:
    """Whether the loop over lanes is vectorised, or gone with that."""
    return _VECTORISED in text or _KEEP not in text


def _only_branches(assembly: str) -> bool:
    """Whether a function has neither loops nor other types than those of elements."""
    seen: set[str] = set()
    for line in assembly.splitlines():
        if label := _LABEL.match(line):
            seen.add(label[1])
        if line.startswith("  br ") and not seen.isdisjoint(
            re.findall(r"label %([\w.$]+)", line)
        ):
            return False
        if line.startswith("  ") and re.search(r"<\d+ x |{|switch", line):
            return False
    return True


def _with_routine(text: str, routine: str, lanes: int) -> str:
    """Return assembly that calls a routine instead of an intrinsic on vectors."""
    is_single = ROUTINES[routine].element == "float"
    stem = routine.removesuffix("f") if is_single else routine
    intrinsic = f"@llvm.{stem}.v{lanes}f{32 if is_single else 64}("
    own = f"@{PREFIX}{routine}("
    declaration = rf"^(declare .*){re.escape(intrinsic)}(.*?)\).*$"
    declared = rf"\1{own}\2) nounwind memory(none)"
    text = re.sub(declaration, declared, text, flags=re.MULTILINE)
    return text.replace(intrinsic, own)


def link(
    assembly: str, functions: list[str], machine: Any, *, single: bool = False
) -> str:
    """Return the module of a kernel with those of the functions that it calls.

    A kernel that computes a single element at a time is optimised as a whole, as Numba
    optimises its own loop: it may compute the next element beside, say.
    """
    from llvmlite import binding as llvm

    module = llvm.parse_assembly(assembly)
    for text in functions:
        module.link_in(llvm.parse_assembly(text))
    for each in module.functions:
        if each.linkage == llvm.Linkage.linkonce_odr:
            each.linkage = "internal"
    inline_always(module, machine)
    if single:
        optimise(module, machine)
    return str(module)


def _num_parts(dtype: str) -> int:
    return 2 if dtype in COMPONENT else 1


def _element(dtype: str) -> str:
    return memory_type(COMPONENT.get(dtype, dtype))


def _vector(dtype: str, lanes: int) -> str:
    return f"<{lanes} x {LLVM_TYPE[COMPONENT.get(dtype, dtype)]}>"


def _result_type(call: Call, lanes: int) -> str:
    parts = [
        _vector(dtype, lanes)
        for dtype in call.outputs
        for _ in range(_num_parts(dtype))
    ]
    return f"{{ {', '.join(parts)} }}"


def _loop_over_lanes(call: Call, lanes: int, width: int, hint: str) -> str:
    """Return the function of vectors as a loop that calls the scalar function."""
    function, result = call.function, _result_type(call, lanes)
    before, loop, after = Lines(lanes, "b"), Lines(lanes, "l"), Lines(lanes, "a")
    parameters = ["i64 %count"]
    end = "%count" if call.loops and lanes > 1 else str(lanes)
    elements: list[str] = []
    made, number = "poison", 0
    for place, dtype in enumerate((*function.inputs, *function.outputs)):
        memory = before.let(f"alloca {_both(dtype, lanes)}, align {_ALIGNMENT}")
        element = f"[{_num_parts(dtype)} x {_element(dtype)}]"
        elements.append(
            "ptr " + loop.let(f"getelementptr inbounds {element}, ptr {memory}, i64 %i")
        )
        if place < len(function.inputs):
            given = [f"%p{place}.{n}" for n in range(_num_parts(dtype))]
            parameters += [f"{_vector(dtype, lanes)} {each}" for each in given]
            value = to_memory(before, dtype, tuple(given))
            before.do(f"store {value}, ptr {memory}, align {_ALIGNMENT}")
            continue
        if place - len(function.inputs) not in call.results:
            continue
        kind = _both(dtype, lanes)
        if call.loops:
            before.do(f"store {kind} zeroinitializer, ptr {memory}, align {_ALIGNMENT}")
        value = after.let(f"load {kind}, ptr {memory}, align {_ALIGNMENT}")
        for part in from_memory(after, dtype, value):
            insert = f"insertvalue {result} {made}, {_vector(dtype, lanes)} {part}"
            made = after.let(f"{insert}, {number}")
            number += 1
    pointers = ", ".join(["ptr"] * len(elements))
    return "\n".join(
        [
            f"declare void @{NAME}({pointers})",
            f"define {result} @{call.symbol(lanes)}({', '.join(parameters)}) #0 {{",
            "entry:",
            *before.text,
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *loop.text,
            f"  call void @{NAME}({', '.join(elements)})",
            "  %next = add nuw nsw i64 %i, 1",
            f"  %more = icmp ult i64 %next, {end}",
            "  br i1 %more, label %loop, label %exit, !llvm.loop !0",
            "exit:",
            *after.text,
            f"  ret {result} {made}",
            "}",
            f'attributes #0 = {{ nounwind "min-legal-vector-width"="{width}" '
            f'"prefer-vector-width"="{width}" }}',
            "!0 = distinct !{!0, !1, !2}",
            f"!1 = !{{{_KEEP}}}",
            f"!2 = {hint}",
            "",
        ]
    )


def _both(dtype: str, lanes: int) -> str:
    """Return the type of as many elements as a vector has, as they lie in memory."""
    return f"<{_num_parts(dtype) * lanes} x {_element(dtype)}>"
