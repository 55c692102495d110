# SPDX-License-Identifier: Apache-2.0
"""Calls of maths functions, one lane at a time."""

from collections.abc import Sequence
from typing import Final

from legate_diffuse.llvm.lines import Lines
from legate_diffuse.llvm.types import LLVM_TYPE
from legate_diffuse.maths.libm import c_name

PREFIX: Final = "gpu_"
"""What the functions' names begin with in the module of a kernel."""


class GpuMaths:
    """The functions that a module calls.

    Attributes:
        declarations: of these functions, by the name of the C function.
        simplifies_powers: False: powers are what CUDA's `pow` gives.
    """

    simplifies_powers = False

    def __init__(self) -> None:
        """Start without any."""
        self.declarations: dict[str, str] = {}

    def call(
        self,
        lines: Lines,
        operator: str,
        dtypes: tuple[str, ...],
        operands: Sequence[str],
    ) -> str:
        """Emit `operator` over operands of types `dtypes` and return its result."""
        name = c_name(operator, dtypes[0])
        kinds = [LLVM_TYPE[dtype] for dtype in dtypes]
        self.declarations[name] = (
            f"declare {kinds[0]} @{PREFIX}{name}({', '.join(kinds)}) "
            "nounwind willreturn memory(none)"
        )
        result, whole = "poison", lines.vector(kinds[0])
        for lane in range(lines.lanes):
            given = [
                lines.let(f"extractelement {lines.vector(kind)} {x}, i64 {lane}")
                for kind, x in zip(kinds, operands, strict=True)
            ]
            passed = ", ".join(
                f"{kind} {x}" for kind, x in zip(kinds, given, strict=True)
            )
            one = lines.let(f"call {kinds[0]} @{PREFIX}{name}({passed})")
            joined = f"{whole} {result}, {kinds[0]} {one}, i64 {lane}"
            result = lines.let(f"insertelement {joined}")
        return result
