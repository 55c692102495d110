# SPDX-License-Identifier: Apache-2.0
"""Maths functions from NVRTC, in the modules of kernels.

All functions that a kernel needs come from one program, compiled as nvcc does by
default: products inside them may be contracted with sums. Functions without calls
become inline assembly, so that they are part of the kernel; the others stay functions
in PTX, with what they call.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from legate_diffuse.codegen.gpu.maths import PREFIX
from legate_diffuse.kernel.operators import MATHS_OF_TWO

_TWO: Final = frozenset(MATHS_OF_TWO)
_KIND: Final = {"64": ("double", "d"), "32": ("float", "f")}
"""By bits: a float's type, and the letter that stands for its registers."""

_DECLARED: Final = re.compile(rf"^declare \w+ @{PREFIX}(\w+)\(.*$", re.MULTILINE)
_SIGNATURE: Final = re.compile(
    rf"\.visible \.func\s*\(\.param \.b(\d+) func_retval0\)\s*{PREFIX}(\w+)"
    r"\s*\((.*?)\)\s*\{(.*?)^\}",
    re.DOTALL | re.MULTILINE,
)
_VERSION: Final = re.compile(r"^\.version (\d+\.\d+)$", re.MULTILINE)
_HEAD_END: Final = ".address_size 64"
_EXTERNAL: Final = re.compile(
    rf"\.extern \.func[^;]*?{PREFIX}\w+\s*\([^;]*?\)\s*;", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions in both languages.

    Attributes:
        definitions: LLVM assembly of those that become part of a kernel, by name.
        ptx: everything else, as PTX; empty if nothing is left.
        version: of PTX, at least.
    """

    definitions: dict[str, str]
    ptx: str
    version: str


def called(assembly: str) -> frozenset[str]:
    """Return the C names of the maths functions that a module declares."""
    return frozenset(_DECLARED.findall(assembly))


def source(names: Iterable[str]) -> str:
    """Return the CUDA program that defines some functions."""
    lines = []
    for name in sorted(names):
        stem, kind = name, "double"
        if name.endswith("f"):
            stem, kind = name[:-1], "float"
        second = {"ldexp": "int"}.get(stem, kind if stem in _TWO else "")
        parameters = f"{kind} x" + f", {second} y" * bool(second)
        passed = "x" + ", y" * bool(second)
        head = f'extern "C" __device__ {kind} {PREFIX}{name}({parameters})'
        lines.append(f"{head} {{ return {name}({passed}); }}")
    return "\n".join(lines)


def functions_of(
    names: frozenset[str], compile_cuda: Callable[[str], str]
) -> Functions:
    """Return some functions; `compile_cuda` gives the PTX of a program."""
    ptx = compile_cuda(source(names))
    head, _, rest = ptx.partition(_HEAD_END)
    version = _VERSION.search(head)
    assert version is not None
    definitions = {}
    for found in _SIGNATURE.finditer(rest):
        bits, name, parameters, body = found.groups()
        definition = _inline(name, bits, parameters, body)
        if definition is not None:
            definitions[name] = definition
            rest = rest.replace(found[0], "")
    left = rest if len(definitions) < len(names) else ""
    return Functions(definitions, left.replace(".visible .func", ".func"), version[1])


def _inline(name: str, bits: str, parameters: str, body: str) -> str | None:
    """Return a function as inline assembly, None if it calls others or needs memory."""
    if re.search(r"\bcall\b|\.local|\.global|\.const|\.shared", body):
        return None
    code = re.sub(r"//[^\n]*", "", body)
    # the registers around it have these names too
    code = re.sub(r"%(p|r|rd|f|fd|rs)(\d+|<)", r"%m\1\2", code)
    kind, letter = _KIND[bits]
    kinds, letters = [], []
    for number, width in enumerate(re.findall(r"\.param \.b(\d+)", parameters)):
        is_integer = name.startswith("ldexp") and number == 1
        kinds.append("i32" if is_integer else _KIND[width][0])
        letters.append("r" if is_integer else _KIND[width][1])
        code = re.sub(
            rf"ld\.param\.\w(\d+)\s+(%\w+), \[\w+_param_{number}\];",
            rf"mov.b\1 \2, ${number + 1};",
            code,
        )
    code = re.sub(
        r"st\.param\.\w(\d+)\s+\[func_retval0(?:\+0)?\], (%?\w+);",
        r"mov.b\1 $0, \2;",
        code,
    )
    code = re.sub(r"\bret;", "", code).replace("$L", "$$L")
    steps = [line.strip() for line in code.splitlines() if line.strip()]
    text = "\\0A".join(["{", *steps, "}"]).replace('"', "\\22")
    given = ", ".join(f"{each} %x{number}" for number, each in enumerate(kinds))
    constraints = ",".join([f"={letter}", *letters])
    return "\n".join(
        [
            f"define internal {kind} @{PREFIX}{name}({given}) alwaysinline nounwind "
            "memory(none) {",
            f'  %result = call {kind} asm "{text}", "{constraints}"({given})',
            f"  ret {kind} %result",
            "}",
        ]
    )


def defined(assembly: str, functions: Functions) -> str:
    """Return a module with the definitions in the place of declarations."""

    def definition(found: re.Match[str]) -> str:
        return functions.definitions.get(found[1], found[0])

    return _DECLARED.sub(definition, assembly)


def linked(ptx: str, functions: Functions) -> str:
    """Return the PTX of a module with the functions that are PTX."""
    if not functions.ptx:
        return ptx
    head, _, rest = ptx.partition(_HEAD_END)
    own = _VERSION.search(head)
    assert own is not None
    newer = max(own[1], functions.version, key=_parts)
    head = _VERSION.sub(f".version {newer}", head)
    return head + _HEAD_END + functions.ptx + _EXTERNAL.sub("", rest)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
