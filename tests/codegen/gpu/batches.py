# SPDX-License-Identifier: Apache-2.0
"""Many kernels in one module, which is made once for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from emulated import EmulatedAssembler
from launches import Image, launch

from legate_diffuse.codegen.gpu.module import gpu_module
from legate_diffuse.kernel import Kernel
from legate_diffuse.kernel.ir import RowProgram


def joined(kernels: Iterable[Kernel | RowProgram]) -> str:
    """Return one module with the functions k0, k1, ... of kernels."""
    from llvmlite import binding as llvm

    module = llvm.parse_assembly("")
    for number, kernel in enumerate(kernels):
        text = gpu_module(kernel, f"k{number}")
        module.link_in(llvm.parse_assembly(text))
    return str(module)


class Batch:
    """Kernels that run in the emulator."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._numbers = {kernel: n for n, kernel in enumerate(dict.fromkeys(kernels))}
        self._image = Image(EmulatedAssembler().image(joined(self._numbers)))

    def run(self, kernel: Kernel, *passed: Any, **options: Any) -> None:
        """Launch a kernel (see `launch`)."""
        name = f"k{self._numbers[kernel]}"
        launch(self._image, name, kernel, *passed, **options)
