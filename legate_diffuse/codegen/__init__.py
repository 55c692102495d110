# SPDX-License-Identifier: Apache-2.0
"""LLVM code generation for CPUs and GPUs, and the compile cache.

May import maths, llvm and kernel.
"""

from typing import Any

from legate_diffuse.codegen.compiler import Compiler


def compiler_of(target: str) -> Any:
    """Return the compiler for the processors that run kernels.

    Args:
        target: "cpu", or the architecture of GPUs, such as "sm_90".

    Raises:
        ValueError: a variable has a value that is not understood.
    """
    if target == "cpu":
        return Compiler.from_environment()
    from legate_diffuse.codegen.gpu import GpuCompiler

    return GpuCompiler.from_environment(target)
