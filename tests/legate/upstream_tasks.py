# SPDX-License-Identifier: Apache-2.0
"""Runs single tasks of cuPyNumeric, without its front end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupynumeric as cn
import numpy as np
from comparison import unfused
from cupynumeric import config
from cupynumeric.runtime import runtime
from legate.core import Scalar, align, get_legate_runtime, types

from legate_diffuse.ir import OperationKind

_CODES = {
    "UNARY_OP": config.UnaryOpCode,
    "BINARY_OP": config.BinaryOpCode,
    "CONVERT": config.ConvertCode,
}


def run(
    kind: OperationKind, inputs: Sequence[np.ndarray], scalars: Sequence[Any]
) -> list[np.ndarray]:
    """Return what upstream's element-wise task gives; nothing of it is fused."""
    with unfused():
        outputs = [cn.empty(inputs[0].shape, dtype) for dtype in kind.outputs]
        task = get_legate_runtime().create_auto_task(
            runtime.library, config.CuPyNumericOpCode[kind.task]
        )
        first, *others = (_store(array) for array in outputs)
        target = task.add_output(first)
        for array in inputs:
            task.add_constraint(align(target, task.add_input(_store(cn.array(array)))))
        if kind.task in _CODES:
            code = _CODES[kind.task][kind.code]
            task.add_scalar_arg(int(code), types.int32)
        for value, dtype in zip(scalars, kind.scalars, strict=True):
            name = "bool_" if dtype == "bool" else dtype
            number = np.dtype(dtype).type(value)
            task.add_scalar_arg(Scalar(number.tobytes(), getattr(types, name)))
        for store in others:
            task.add_constraint(align(target, task.add_output(store)))
        task.execute()
        return [np.asarray(array) for array in outputs]


def _store(array: Any) -> Any:
    return runtime.to_deferred_array(array._thunk, read_only=False).base
