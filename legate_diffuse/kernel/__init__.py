# SPDX-License-Identifier: Apache-2.0
"""The body of a loop nest: what is computed at each point.

May import nothing.
"""

from legate_diffuse.kernel.builder import Builder, Value
from legate_diffuse.kernel.ir import (
    Argument,
    Constant,
    Index,
    Instruction,
    Kernel,
    Load,
    Op,
    Reduce,
    Scalar,
    Store,
)
from legate_diffuse.kernel.text import print_kernel
from legate_diffuse.kernel.verify import InvalidKernelError, verify_kernel

__all__ = [
    "Argument",
    "Builder",
    "Constant",
    "Index",
    "Instruction",
    "InvalidKernelError",
    "Kernel",
    "Load",
    "Op",
    "Reduce",
    "Scalar",
    "Store",
    "Value",
    "print_kernel",
    "verify_kernel",
]
