# SPDX-License-Identifier: Apache-2.0
"""Fixtures that compile kernels and call them, for `codegen/` and `maths/`."""

import ctypes
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import legate_diffuse
from legate_diffuse.codegen import Compiler
from legate_diffuse.codegen.kernel_compiler import CompiledKernel
from legate_diffuse.kernel import Kernel
from legate_diffuse.maths.libm import MathMode

Run = Callable[..., None]

_LIBRARY = Path(legate_diffuse.__file__).parent / "liblegate_diffuse_rows.so"
run_rows = ctypes.CDLL(str(_LIBRARY)).legate_diffuse_run_rows
run_rows.argtypes = [ctypes.c_void_p] * 5
run_rows.restype = None

MANY = 2**40
"""Points that caches do not hold."""


def run_compiled(
    compiled: CompiledKernel,
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[object] = (),
    unread: int | None = None,
) -> None:
    """Call a kernel on arrays of at most two dimensions that broadcast together.

    The index of the first element along each dimension is 10. The results are those of
    `unread` points that nothing reads before all are written, or of this call.
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
    run_rows(
        compiled.address,
        (ctypes.c_void_p * (len(views) + len(kernel.indices)))(
            *(view.ctypes.data for view in views), *(10,) * len(kernel.indices)
        ),
        (ctypes.c_int64 * len(strides))(*strides),
        (ctypes.c_int64 * 3)(*(1,) * missing, *shape, unread or math.prod(shape)),
        ctypes.create_string_buffer(block, max(1, len(block))),
    )


@pytest.fixture(scope="session")
def compilers() -> dict[MathMode, Compiler]:
    """Compilers without a disk cache."""
    return {mode: Compiler(mode) for mode in MathMode}


@pytest.fixture(scope="session")
def run(compilers: dict[MathMode, Compiler]) -> Run:
    """Compile a kernel and call it on arrays."""

    def run_kernel(kernel, arrays, scalars=(), mode=MathMode.LIBM, unread=None):
        compiled = compilers[mode].compile(kernel)
        run_compiled(compiled, kernel, arrays, scalars, unread)

    return run_kernel


@pytest.fixture(scope="session")
def call() -> Run:
    """Call a compiled kernel on arrays."""
    return run_compiled
