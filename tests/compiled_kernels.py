# SPDX-License-Identifier: Apache-2.0
"""Fixtures that compile kernels and call them, for `codegen/` and `maths/`."""

import ctypes
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from legate_diffuse.codegen import CompiledKernel, Compiler, MathMode
from legate_diffuse.kernel import Kernel

Run = Callable[..., None]


def run_compiled(
    compiled: CompiledKernel,
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[object] = (),
) -> None:
    """Call a kernel on arrays of at most two dimensions that broadcast together.

    The index of the first element along each dimension is 10.
    """
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    views = [
        array if argument.writes else np.broadcast_to(array, shape)
        for array, argument in zip(arrays, kernel.arguments, strict=True)
    ]
    missing = 2 - len(shape)
    strides = [s for view in views for s in (0,) * missing + view.strides]
    strides += [s for index in kernel.indices for s in (index == 1, index == 0)]
    block = b"".join(
        np.dtype(dtype).type(scalar).tobytes().ljust(16, b"\0")
        for dtype, scalar in zip(kernel.scalars, scalars, strict=True)
    )
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(compiled.address)
    call(
        (ctypes.c_void_p * (len(views) + len(kernel.indices)))(
            *(view.ctypes.data for view in views), *(10,) * len(kernel.indices)
        ),
        (ctypes.c_int64 * len(strides))(*strides),
        (ctypes.c_int64 * 3)(*(1,) * missing, *shape, math.prod(shape)),
        ctypes.create_string_buffer(block, max(1, len(block))),
    )


@pytest.fixture(scope="session")
def compilers() -> dict[MathMode, Compiler]:
    """Compilers without a disk cache."""
    return {mode: Compiler(mode) for mode in MathMode}


@pytest.fixture(scope="session")
def run(compilers: dict[MathMode, Compiler]) -> Run:
    """Compile a kernel and call it on arrays."""

    def run_kernel(kernel, arrays, scalars=(), mode=MathMode.LIBM):
        compiled = compilers[mode].compile(kernel)
        run_compiled(compiled, kernel, arrays, scalars)

    return run_kernel


@pytest.fixture(scope="session")
def call() -> Run:
    """Call a compiled kernel on arrays."""
    return run_compiled
