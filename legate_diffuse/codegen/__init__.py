# SPDX-License-Identifier: Apache-2.0
"""LLVM code generation for the CPU, and the compile cache.

May import maths, llvm and kernel.
"""

from legate_diffuse.codegen.cache import ObjectCache, default_folder
from legate_diffuse.codegen.compiler import Compiler
from legate_diffuse.codegen.kernel_compiler import CompiledKernel
from legate_diffuse.maths.libm import MathMode

__all__ = [
    "CompiledKernel",
    "Compiler",
    "MathMode",
    "ObjectCache",
    "default_folder",
]
