# SPDX-License-Identifier: Apache-2.0
"""What operations compute, on NumPy arrays: each by a kernel of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from legate_diffuse.check.elements import Array
from legate_diffuse.codegen.compiler import Compiler
from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.libraries.operations import Operations

Function = Callable[..., Array]

_LIBRARY: Final = Path(__file__).parents[1] / "liblegate_diffuse_rows.so"


class Functions:
    """The functions of operations of all libraries."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self._kernels: dict[OperationKind, Kernel | None] = {}
        self._functions: dict[OperationKind, Function | None] = {}
        self._compiler: Any = None
        self._run = ctypes.CDLL(str(_LIBRARY)).legate_diffuse_run_rows
        self._run.argtypes = [ctypes.c_void_p] * 5
        self._run.restype = None

    def kernel(self, kind: OperationKind) -> Kernel | None:
        """Return the kernel over the operands of an operation, None if there is none.

        Scalar arguments are operands as well. Of a reduction it gives what is combined.
        """
        if kind not in self._kernels:
            self._kernels[kind] = self._kernel(kind)
        return self._kernels[kind]

    def find(self, kind: OperationKind) -> Function | None:
        """Return the function of an operation with one result, None if not known.

        Its operands are the operation's inputs, then its scalar arguments.
        """
        if kind not in self._functions:
            kernel = self.kernel(kind)
            known = kernel is not None and len(kind.outputs) == 1 and not kernel.indices
            self._functions[kind] = self._function(kernel) if known and kernel else None
        return self._functions[kind]

    def _kernel(self, kind: OperationKind) -> Kernel | None:
        if not self.operations.covers(kind) or self.operations.sums_rows(kind):
            return None
        operands = (*kind.inputs, *kind.scalars)
        reads = [Argument(dtype, reads=True, writes=False) for dtype in operands]
        # what a reduction combines may have another type than its result
        trial = Builder(reads, ())
        loaded = [trial.load(number) for number in range(len(operands))]
        results = self.operations.lower(kind, trial, loaded)
        writes = [Argument(each.dtype, reads=False, writes=True) for each in results]
        builder = Builder(reads + writes, ())
        loaded = [builder.load(number) for number in range(len(operands))]
        for number, value in enumerate(self.operations.lower(kind, builder, loaded)):
            builder.store(len(operands) + number, value)
        return builder.build()

    def _function(self, kernel: Kernel) -> Function:
        if self._compiler is None:
            self._compiler = Compiler.from_environment()
        address = self._compiler.compile(kernel).address
        dtypes = [np.dtype(argument.dtype) for argument in kernel.arguments]

        def function(*operands: Any) -> Array:
            shape = np.broadcast_shapes(*map(np.shape, operands))
            arrays = [
                np.ascontiguousarray(np.broadcast_to(np.asarray(each, dtype), shape))
                for each, dtype in zip(operands, dtypes[:-1], strict=True)
            ]
            arrays.append(np.empty(shape, dtypes[-1]))
            strides = [step for each in arrays for step in (0, each.itemsize)]
            count = len(arrays)
            self._run(
                address,
                (ctypes.c_void_p * count)(*(each.ctypes.data for each in arrays)),
                (ctypes.c_int64 * (2 * count))(*strides),
                (ctypes.c_int64 * 3)(1, arrays[-1].size, arrays[-1].size),
                None,
            )
            return arrays[-1]

        return function
