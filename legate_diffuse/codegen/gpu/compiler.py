# SPDX-License-Identifier: Apache-2.0
"""From a kernel to the address of its code for a GPU."""

import hashlib
import os
from collections.abc import Mapping
from typing import Final

from legate_diffuse.codegen.cache import ObjectCache
from legate_diffuse.codegen.gpu.assembler import Assembler, CubinAssembler
from legate_diffuse.codegen.gpu.code import GpuCode
from legate_diffuse.codegen.gpu.module import gpu_module
from legate_diffuse.codegen.gpu.refusal import NotOnGpuError, refusal, refusal_of_rows
from legate_diffuse.codegen.kernel_compiler import (
    NAME,
    CompiledKernel,
    KernelCompiler,
)
from legate_diffuse.kernel.dtypes import INTEGERS
from legate_diffuse.kernel.ir import Kernel, Op, RowProgram
from legate_diffuse.kernel.operators import (
    COMPLEX_ARITHMETIC,
    MATHS_OF_ONE,
    MATHS_OF_TWO,
    POWERS,
)

_ROUNDED: Final = MATHS_OF_ONE | MATHS_OF_TWO | COMPLEX_ARITHMETIC | POWERS
"""Operators that nvcc may have compiled to other instructions in the original tasks."""


class GpuCompiler(KernelCompiler):
    """Compiles kernels for one architecture of GPUs."""

    runs_rows = True

    def __init__(self, assembler: Assembler, cache: ObjectCache | None = None) -> None:
        """Prepare without importing LLVM; no `cache` means no cache on disk."""
        super().__init__(cache)
        self._assembler = assembler

    @classmethod
    def from_environment(
        cls, architecture: str, environment: Mapping[str, str] = os.environ
    ) -> "GpuCompiler":
        """Return a compiler for an architecture, such as ``sm_90``.

        Raises:
            ValueError: it is no architecture of a GPU.
        """
        cache = ObjectCache.from_environment(environment)
        return cls(CubinAssembler(architecture), cache)

    def keeps_bits(self, kernel: Kernel) -> bool:
        """Return whether a kernel's results have the bits of the original tasks'.

        Sums and products of floats are combined in another order, and nvcc may have
        contracted functions in another way.
        """
        return not any(
            argument.reduces in ("add", "mul") and argument.dtype not in INTEGERS
            for argument in kernel.arguments
        ) and not any(
            isinstance(step, Op) and step.name in _ROUNDED for step in kernel.body
        )

    def _make(self, kernel: Kernel, generate: bool) -> CompiledKernel | None:
        reason = refusal(kernel)
        if reason is not None:
            if not generate:
                return None
            raise NotOnGpuError(reason)
        return self._assembled(kernel, generate)

    def compile_rows(self, program: RowProgram) -> CompiledKernel | None:
        """Return the code of kernels that run row by row, None if there can be none."""
        if refusal_of_rows(program) is not None:
            return None
        return self._once(program, lambda: self._assembled(program, generate=True))

    def _assembled(
        self, kernel: Kernel | RowProgram, generate: bool
    ) -> CompiledKernel | None:
        assembly, assembler = gpu_module(kernel, NAME), self._assembler
        key = hashlib.sha256(f"{assembler.salt()}\n{assembly}".encode()).hexdigest()
        found = self._object_of(
            assembly, key, assembler.image if generate else None, assembler.ptx
        )
        if found is None:
            return None
        image, name, compiled = found
        code = GpuCode(kernel, name, image)
        return CompiledKernel(code.address, name, compiled, code)
