# SPDX-License-Identifier: Apache-2.0
"""Fixtures that compile kernels and call them, for `codegen/` and `maths/`."""

import ctypes
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import legate_diffuse
from legate_diffuse.check.elements import same_bits
from legate_diffuse.codegen import Compiler
from legate_diffuse.codegen.kernel_compiler import CompiledKernel
from legate_diffuse.codegen.module import lanes_of
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel import Kernel, print_kernel
from legate_diffuse.maths.libm import MathMode

Run = Callable[..., None]

_LIBRARY = Path(legate_diffuse.__file__).parent / "liblegate_diffuse_rows.so"
_rows = ctypes.CDLL(str(_LIBRARY))
run_rows = _rows.legate_diffuse_run_rows
run_rows.argtypes = [ctypes.c_void_p] * 5
run_rows.restype = None
_interpret, _forget = _rows.legate_diffuse_interpret, _rows.legate_diffuse_forget
_interpret.argtypes, _interpret.restype = (
    [ctypes.c_char_p, ctypes.c_int64],
    ctypes.c_void_p,
)
_forget.argtypes, _forget.restype = [ctypes.c_void_p], None

MANY = 2**40
"""Points that caches do not hold."""


def run_compiled(
    compiled: CompiledKernel,
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[object] = (),
    unread: int | None = None,
) -> None:
    """Call a kernel on arrays of at most two dimensions that broadcast together."""
    _run(compiled.address, kernel, arrays, scalars, unread)


def interpret(text: str, lanes: int) -> int | None:
    """Return the code of an interpreted kernel, None if there is none."""
    code: int | None = _interpret(text.encode(), lanes)
    return code


def run_interpreted(
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[object] = (),
    unread: int | None = None,
) -> bool:
    """Interpret a kernel instead; False if that is not possible."""
    lanes = lanes_of(kernel, host_target())
    code = interpret(print_kernel(kernel), lanes)
    if code is not None:
        _run(code, kernel, arrays, scalars, unread)
        _forget(code)
    return code is not None


def _run(
    address: int,
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[object],
    unread: int | None,
) -> None:
    """Run code.

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
        address,
        (ctypes.c_void_p * (len(views) + len(kernel.indices)))(
            *(view.ctypes.data for view in views), *(10,) * len(kernel.indices)
        ),
        (ctypes.c_int64 * len(strides))(*strides),
        (ctypes.c_int64 * 3)(*(1,) * missing, *shape, unread or math.prod(shape)),
        ctypes.create_string_buffer(block, max(1, len(block))),
    )


def _restore(
    kernel: Kernel, arrays: Sequence[np.ndarray], values: Sequence[np.ndarray]
) -> None:
    for array, value, argument in zip(arrays, values, kernel.arguments, strict=True):
        if argument.writes or argument.reduces:
            array[...] = value


@pytest.fixture(scope="session")
def compilers() -> dict[MathMode, Compiler]:
    """Compilers without a disk cache."""
    return {mode: Compiler(mode) for mode in MathMode}


@pytest.fixture(scope="session")
def run(compilers: dict[MathMode, Compiler]) -> Run:
    """Compile a kernel and call it on arrays.

    Where it can be interpreted, it gives the same bits then.
    """

    def run_kernel(kernel, arrays, scalars=(), mode=MathMode.LIBM, unread=None):
        compiled = compilers[mode].compile(kernel)
        before = [array.copy() for array in arrays]
        run_compiled(compiled, kernel, arrays, scalars, unread)
        results = [array.copy() for array in arrays]
        _restore(kernel, arrays, before)
        if not run_interpreted(kernel, arrays, scalars, unread):
            _restore(kernel, arrays, results)
            return
        for array, result in zip(arrays, results, strict=True):
            assert same_bits(array, result).all(), (print_kernel(kernel), array, result)

    return run_kernel


@pytest.fixture(scope="session")
def call() -> Run:
    """Call a compiled kernel on arrays."""
    return run_compiled
