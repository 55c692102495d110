# SPDX-License-Identifier: Apache-2.0
"""The LLVM module of a kernel for GPUs: a function for each layout of its arguments."""

from legate_diffuse.codegen.gpu.function import METADATA, Function
from legate_diffuse.codegen.gpu.maths import GpuMaths
from legate_diffuse.codegen.gpu.memory import Layout
from legate_diffuse.codegen.gpu.rows import RowFunction
from legate_diffuse.codegen.gpu.shape import THREADS, partial_words
from legate_diffuse.kernel.ir import Kernel, RowProgram

TRIPLE = "nvptx64-nvidia-cuda"


def layouts(kernel: Kernel) -> list[Layout]:
    """Return the layouts of a kernel that have functions."""
    found = [Layout.ALIGNED, Layout.STRIDED]
    return [*found, Layout.COLUMNS] if partial_words(kernel) else found


def gpu_module(kernel: Kernel | RowProgram, name: str) -> str:
    """Return the module, in LLVM assembly, whose functions have `name` as their stem.

    Maths functions are declared only (see `legate_diffuse.codegen.gpu.maths`).
    """
    maths = GpuMaths()
    declarations: dict[str, str] = {}
    texts = []
    functions: list[Function | RowFunction] = (
        [RowFunction(kernel, maths)]
        if isinstance(kernel, RowProgram)
        else [Function(kernel, layout, maths) for layout in layouts(kernel)]
    )
    for function in functions:
        texts.append(function.emit(name))
        declarations |= function.declarations
    return "\n".join(
        [
            f'target triple = "{TRIPLE}"',
            *declarations.values(),
            *maths.declarations.values(),
            *texts,
            "attributes #0 = { nounwind }",
            "attributes #2 = { nounwind alwaysinline }",
            f'attributes #1 = {{ nounwind "nvvm.maxntid"="{THREADS}" }}',
            METADATA,
            "",
        ]
    )
