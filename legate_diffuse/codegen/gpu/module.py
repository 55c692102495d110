# SPDX-License-Identifier: Apache-2.0
"""The LLVM module of a kernel for GPUs."""

from legate_diffuse.codegen.gpu.function import METADATA, Function
from legate_diffuse.codegen.gpu.maths import GpuMaths
from legate_diffuse.codegen.gpu.rows import RowFunction
from legate_diffuse.codegen.gpu.shape import THREADS, has_vectors, most_registers
from legate_diffuse.kernel.ir import Kernel, RowProgram

TRIPLE = "nvptx64-nvidia-cuda"


def gpu_module(kernel: Kernel | RowProgram, name: str) -> str:
    """Return the module, in LLVM assembly, of a kernel whose function has a `name`.

    Maths functions are declared only (see `legate_diffuse.codegen.gpu.maths`).
    """
    maths = GpuMaths()
    function: Function | RowFunction = (
        RowFunction(kernel, maths)
        if isinstance(kernel, RowProgram)
        else Function(kernel, maths, has_vectors(kernel))
    )
    kernels = kernel.kernels if isinstance(kernel, RowProgram) else [kernel]
    registers = most_registers(kernels)
    limit = f' "nvvm.maxnreg"="{registers}"' if registers else ""
    text = function.emit(name)
    return "\n".join(
        [
            f'target triple = "{TRIPLE}"',
            *function.declarations.values(),
            *maths.declarations.values(),
            text,
            "attributes #0 = { nounwind }",
            "attributes #2 = { nounwind alwaysinline }",
            f'attributes #1 = {{ nounwind "nvvm.maxntid"="{THREADS}"{limit} }}',
            METADATA,
            "",
        ]
    )
