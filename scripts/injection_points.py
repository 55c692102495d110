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


class Tracer:
    """Lets something happen at the n-th point, or counts the points."""

    def __init__(
        self, opcodes: frozenset[int], number: int, action: Callable[[], None]
    ) -> None:
        self.points = 0
        self._opcodes = opcodes
        self._number = number
        self._action = action
        self._offsets: dict[CodeType, frozenset[int]] = {}
        self.where = ""

    def __enter__(self) -> Tracer:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return None
        offsets = self._offsets.get(code)
        if offsets is None:
            offsets = self._offsets[code] = frozenset(
                instruction.offset
                for instruction in dis.get_instructions(code)
                if instruction.opcode in self._opcodes
            )
        last = -1

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "opcode":
                if last in offsets:
                    self.points += 1
                    if self.points == self._number:
                        sys.settrace(None)
                        frame.f_trace = None
                        self.where = (
                            f"{code.co_filename[len(PACKAGE) + 1 :]}:{frame.f_lineno}"
                        )
                        self._action()
                        return None
                last = frame.f_lasti
            elif event == "exception":
                # of the instruction before: it was not looked for others
                last = -1
            return trace

        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return trace
