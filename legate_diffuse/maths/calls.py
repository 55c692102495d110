# SPDX-License-Identifier: Apache-2.0
"""Calls of maths routines on vectors of any number of elements.

A value's result depends on the value only, never on its place in an array or on the
other operations of its kernel: every element goes through the same routine.
"""

from collections.abc import Sequence

from legate_diffuse.kernel.functions import called
from legate_diffuse.kernel.ir import Kernel, Op
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE
from legate_diffuse.maths.libm import MathLibrary, MathMode, c_name
from legate_diffuse.maths.modules import PREFIX
from legate_diffuse.maths.registry import ROUTINES

EXACT_ROUTINES = frozenset(name for name, each in ROUTINES.items() if not each.ulps)
"""Functions whose routines have libm's bits."""

_PURE = "nobuiltin nounwind willreturn memory(none)"


def routines_of(kernel: Kernel) -> set[str]:
    """Return the C functions of a kernel for which there are vector routines."""
    found = set()
    for step in kernel.body:
        if type(step) is not Op:
            continue
        known = called(step.name)
        if known is None:
            found.add(c_name(step.name, step.dtype))
        else:
            found |= known[1].calls() & EXACT_ROUTINES
    return found & ROUTINES.keys()


class MathsCalls:
    """The helper functions and declarations that one module needs.

    Attributes:
        simplifies_powers: whether some powers are computed without `pow`.
    """

    def __init__(self, library: MathLibrary, lanes: int) -> None:
        """Prepare for vectors of `lanes` elements, a multiple of the library's."""
        self._library = library
        self._lanes = lanes
        self.simplifies_powers = library.mode is MathMode.VECTOR
        self._declarations: dict[str, str] = {}
        self._helpers: dict[str, str] = {}

    def text(self) -> str:
        """Return the declarations and helper functions that were used."""
        return "\n".join([*self._declarations.values(), *self._helpers.values()])

    def call(
        self,
        lines: Lines,
        operator: str,
        dtypes: tuple[str, ...],
        operands: Sequence[str],
    ) -> str:
        """Emit `operator` over operands of types `dtypes` and return its result."""
        name = c_name(operator, dtypes[0])
        if name not in self._library.vector:
            helper = self._one_by_one(name, dtypes)
            return _call(lines, helper, self._lanes, dtypes, operands)
        symbol, width = PREFIX + name, self._library.lanes
        self._declare(symbol, dtypes, width)
        if width == self._lanes:
            return _call(lines, f"@{symbol}", width, dtypes, operands)
        parts = []
        for start in range(0, self._lanes, width):
            given = [
                lines.shuffle(
                    _type(dtype, self._lanes), x, "poison", range(start, start + width)
                )
                for dtype, x in zip(dtypes, operands, strict=True)
            ]
            parts.append(_call(lines, f"@{symbol}", width, dtypes, given))
        return lines.join(LLVM_TYPE[dtypes[0]], parts, width)

    def _declare(self, symbol: str, dtypes: tuple[str, ...], lanes: int) -> None:
        kinds = [_type(dtype, lanes) for dtype in dtypes]
        declaration = f"declare {kinds[0]} @{symbol}({', '.join(kinds)}) {_PURE}"
        self._declarations[symbol] = declaration

    def _one_by_one(self, name: str, dtypes: tuple[str, ...]) -> str:
        """Return a function that calls the C function for each element."""
        helper = f"@each.{name}"
        if helper in self._helpers:
            return helper
        self._declare(name, dtypes, 0)
        lines = Lines(self._lanes, "t")
        result, whole = LLVM_TYPE[dtypes[0]], _type(dtypes[0], self._lanes)
        collected = "poison"
        for lane in range(self._lanes):
            given = []
            for number, dtype in enumerate(dtypes):
                vector = f"{_type(dtype, self._lanes)} %x{number}"
                given.append(lines.let(f"extractelement {vector}, i64 {lane}"))
            one = _call(lines, f"@{name}", 0, dtypes, given)
            joined = f"{whole} {collected}, {result} {one}, i64 {lane}"
            collected = lines.let(f"insertelement {joined}")
        lines.do(f"ret {whole} {collected}")
        parameters = ", ".join(
            f"{_type(dtype, self._lanes)} %x{number}"
            for number, dtype in enumerate(dtypes)
        )
        head = f"define internal {whole} {helper}({parameters}) #0 {{"
        self._helpers[helper] = "\n".join([head, *lines.text, "}"])
        return helper


def _type(dtype: str, lanes: int) -> str:
    element = LLVM_TYPE[dtype]
    return f"<{lanes} x {element}>" if lanes else element


def _call(
    lines: Lines,
    function: str,
    lanes: int,
    dtypes: tuple[str, ...],
    operands: Sequence[str],
) -> str:
    pairs = zip(dtypes, operands, strict=True)
    passed = ", ".join(f"{_type(dtype, lanes)} {operand}" for dtype, operand in pairs)
    return lines.let(f"call {_type(dtypes[0], lanes)} {function}({passed})")
