# SPDX-License-Identifier: Apache-2.0
"""The points of legate_diffuse's code at which CPython lets something come between."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import legate_diffuse

PACKAGE = str(legate_diffuse.__path__[0])
# After these CPython 3.11 looks for exceptions, signals and other threads, and after
# the others in ALLOCATING it may have collected garbage.
CHECKING = frozenset(
    opcode
    for name, opcode in dis.opmap.items()
    if name in ("RESUME", "CALL", "CALL_FUNCTION_EX") or "JUMP_BACKWARD" in name
)
ALLOCATING = CHECKING | frozenset(
    opcode
    for name, opcode in dis.opmap.items()
    if name.startswith(
        ("BUILD_", "LIST_", "DICT_", "SET_", "MAKE_", "BINARY_", "UNPACK_")
    )
)
POINTS = {
    "interrupt": CHECKING,
    "error": CHECKING,
    "work": ALLOCATING,
    "read": ALLOCATING,
}


# The number of a call of a function of the package, and of a point in it.
Point = tuple[int, int]


class Tracer:
    """Lets something happen at one point, or lists the points.

    Only the call that has the point is traced in steps: to trace all of them takes ten
    times as long as the program. Sets may have another order in another run: if the
    call has too few points this time, the next one after it is taken.

    Attributes:
        points: those that were met, without ``wanted``.
        where: file and line of the point where something happened.
    """

    def __init__(
        self,
        opcodes: frozenset[int],
        wanted: Point | None,
        action: Callable[[], None],
    ) -> None:
        self.points: list[Point] = []
        self.where = ""
        self._opcodes = opcodes
        self._wanted = wanted
        self._action = action
        self._calls = 0
        self._over = False
        self._offsets: dict[CodeType, frozenset[int]] = {}

    def __enter__(self) -> Tracer:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return None
        self._calls += 1
        call, wanted = self._calls, self._wanted
        if wanted is not None and call != wanted[0] and not self._over:
            return None
        offsets = self._offsets.get(code)
        if offsets is None:
            offsets = self._offsets[code] = frozenset(
                instruction.offset
                for instruction in dis.get_instructions(code)
                if instruction.opcode in self._opcodes
            )
        last = -1
        met = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last, met
            if event == "opcode":
                if last in offsets:
                    met += 1
                    if wanted is None:
                        self.points.append((call, met))
                    elif self._over or met == wanted[1]:
                        sys.settrace(None)
                        frame.f_trace = None
                        self.where = (
                            f"{code.co_filename[len(PACKAGE) + 1 :]}:{frame.f_lineno}"
                        )
                        self._action()
                        return None
                last = frame.f_lasti
            elif event == "return":
                self._over = True
            elif event == "exception":
                # of the instruction before: it was not looked for others
                last = -1
            return trace

        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return trace
