# SPDX-License-Identifier: Apache-2.0
"""Loads and stores of vectors of elements."""

from typing import Final

from legate_diffuse.kernel.dtypes import COMPONENT, ITEMSIZE
from legate_diffuse.kernel.functions import called
from legate_diffuse.kernel.ir import Kernel, Op
from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import memory_type

Parts = tuple[str, ...]
"""Names of a value's vectors: one, or real and imaginary for a complex value."""

PREFETCH_AHEAD: Final = 2048
"""Bytes. Of 1,024, 2,048, 4,096 and 8,192 this was the best on Zen 5."""

_CACHE_LINE: Final = 64

METADATA: Final = "!0 = !{i32 1}"
"""What marks stores that bypass the caches."""


class Memory:
    """Emits loads and stores; argument n is at `%atn`, and the point is `%i`."""

    def __init__(self, kernel: Kernel, declarations: dict[str, str]) -> None:
        """Prepare for a kernel; functions that are called get their declarations."""
        self._kernel = kernel
        self._declarations = declarations
        self._selects = any(
            isinstance(step, Op) and (step.name == "select" or called(step.name))
            for step in kernel.body
        )

    def load(self, lines: Lines, argument: int) -> Parts:
        """Load the elements of an argument.

        Single elements are not prefetched: a cache line would be asked for with each.
        """
        dtype = self._kernel.arguments[argument].dtype
        place = _place(lines, dtype, argument)
        part = COMPONENT.get(dtype, dtype)
        element, size = memory_type(part), ITEMSIZE[part]
        if self._kernel.arguments[argument].prefetch and lines.lanes > 1:
            self._prefetch(lines, place, lines.lanes * ITEMSIZE[dtype])
        count = (1 + (dtype in COMPONENT)) * lines.lanes
        return from_memory(
            lines, dtype, self._loaded(lines, count, element, place, size)
        )

    def store(self, lines: Lines, argument: int, parts: Parts) -> str:
        """Return the store of the elements of an argument, but for its alignment.

        What it needs is emitted.
        """
        dtype = self._kernel.arguments[argument].dtype
        place = _place(lines, dtype, argument)
        return f"store {to_memory(lines, dtype, parts)}, ptr {place}"

    def through_caches(self, argument: int) -> str:
        """Return how an ordinary store of an argument ends."""
        dtype = self._kernel.arguments[argument].dtype
        return f", align {ITEMSIZE[COMPONENT.get(dtype, dtype)]}"

    def past_caches(self, argument: int, lanes: int) -> str:
        """Return how a store ends that bypasses the caches, if nothing is read there.

        The vector must lie on a cache line, or fill a part of one.
        """
        written = self._kernel.arguments[argument]
        if written.reads:
            return self.through_caches(argument)
        line = min(_CACHE_LINE, lanes * ITEMSIZE[written.dtype])
        return f", align {line}, !nontemporal !0"

    def _prefetch(self, lines: Lines, place: str, size: int) -> None:
        function = "@llvm.prefetch.p0"
        declaration = f"declare void {function}(ptr, i32, i32, i32)"
        self._declarations[function] = declaration
        for line in range(0, size, _CACHE_LINE):
            distance = PREFETCH_AHEAD + line
            ahead = lines.let(f"getelementptr i8, ptr {place}, i64 {distance}")
            lines.do(f"call void {function}(ptr {ahead}, i32 0, i32 3, i32 1)")

    def _loaded(
        self, lines: Lines, lanes: int, element: str, place: str, size: int
    ) -> str:
        """Emit the load of a vector, apart from a `select` that uses it.

        LLVM would make one masked instruction of both, which takes up to four times as
        long on Zen 5: what is masked out is not prefetched either.
        """
        kind = f"<{lanes} x {element}>"
        loaded = lines.let(f"load {kind}, ptr {place}, align {size}")
        if not self._selects or lanes == 1:
            return loaded
        count = lanes * size // ITEMSIZE["float32"]
        floats, fence = f"<{count} x float>", f"@llvm.arithmetic.fence.v{count}f32"
        self._declarations[fence] = f"declare {floats} {fence}({floats})"
        number = lines.let(f"bitcast {kind} {loaded} to {floats}")
        kept = lines.let(f"call {floats} {fence}({floats} {number})")
        return lines.let(f"bitcast {floats} {kept} to {kind}")


def repeated(lines: Lines, dtype: str, pointer: str, place: str) -> Parts:
    """Load one element through a type of pointers, and repeat it in all lanes."""
    part = COMPONENT.get(dtype, dtype)
    element, size = memory_type(part), ITEMSIZE[part]
    parts = []
    for number in range(1 + (dtype in COMPONENT)):
        at = place
        if number:
            at = lines.let(f"getelementptr i8, {pointer} {place}, i64 {size}")
        one = lines.let(f"load {element}, {pointer} {at}, align {size}")
        parts.append(truth(lines, part, lines.repeat(element, one)))
    return tuple(parts)


def _place(lines: Lines, dtype: str, argument: int) -> str:
    size = f"[{ITEMSIZE[dtype]} x i8]"
    return lines.let(f"getelementptr inbounds {size}, ptr %at{argument}, i64 %i")


def truth(lines: Lines, dtype: str, value: str) -> str:
    """Emit values as they are in registers; in memory any byte but 0 is true."""
    if dtype != "bool":
        return value
    return lines.let(f"icmp ne {lines.vector('i8')} {value}, zeroinitializer")


def from_memory(lines: Lines, dtype: str, loaded: str) -> Parts:
    """Emit the values of a vector of elements that was loaded."""
    if dtype not in COMPONENT:
        return (truth(lines, dtype, loaded),)
    count = 2 * lines.lanes
    kind = f"<{count} x {memory_type(COMPONENT[dtype])}>"
    return tuple(
        lines.shuffle(kind, loaded, "poison", range(n, count, 2)) for n in range(2)
    )


def to_memory(lines: Lines, dtype: str, parts: Parts) -> str:
    """Emit values as a vector of elements, and return it with its type."""
    lanes = lines.lanes
    vector, value = lines.vector(memory_type(COMPONENT.get(dtype, dtype))), parts[0]
    if dtype == "bool":
        value = lines.let(f"zext {lines.vector('i1')} {value} to {vector}")
    if dtype in COMPONENT:
        order = [lane + half for lane in range(lanes) for half in (0, lanes)]
        value = lines.shuffle(vector, value, parts[1], order)
        vector = f"<{2 * lanes} x {memory_type(COMPONENT[dtype])}>"
    return f"{vector} {value}"
