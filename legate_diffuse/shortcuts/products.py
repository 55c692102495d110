# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for products of small arrays: of vectors and matrices.

They submit what ``DeferredArray.contract`` does, as fill and task. Large matrices, and
vectors with narrow ones, are left to it: their products are tasks of BLAS. Those of two
small matrices run at once, or are left to it as well.

Follows: cuPyNumeric (cupynumeric/_array, _module/linalg_mvp.py, _thunk)
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.window import window
from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.libraries.cupynumeric.tasks import (
    NARROWEST_PRODUCT,
    is_product_a_loop,
)
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import ARRAYS, Submission, replace
from legate_diffuse.shortcuts.task import submit
from legate_diffuse.shortcuts.templates import Client, NewArrays, Template, new_function
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.view import View

# The types of BLAS, but for float16, which adds in float32.
_TYPES: Final = ("float32", "float64", "complex64", "complex128")


class _Products(dict[str | None, tuple[Template, Any]]):
    """The templates of one product, and zeros, by type."""

    def __init__(self, client: Client, task: str, aligned: tuple[int, ...]) -> None:
        super().__init__()
        self._client = client
        self._task = task
        self._aligned = aligned
        self.function = new_function(client)

    def __missing__(self, name: str) -> tuple[Template, Any]:
        client, dtype = self._client, np.dtype(name)
        add = importlib.import_module("legate.core").ReductionOpKind.ADD
        template = Template(client, client.tasks[self._task], 2, None, dtype)
        template.privileges = [REDUCE + int(add), READ, READ]
        template.aligned = self._aligned
        template.function = self.function
        template.identity = bytes(dtype.itemsize)
        zero = client.legate.Scalar(np.zeros(1, dtype).tobytes(), template.type)
        found = self[name] = template, zero
        return found


def _replace_products(submission: Submission) -> None:
    client = submission.client
    ndarray, doctor = client.ndarray, client.doctor
    vectors = _Products(client, "DOT", (1, 2))
    matrices = _Products(client, "MATVECMUL", (0, 1, 2))
    multiply = client.legate.native.multiply
    made_of_matrices = NewArrays(client, _TYPES)
    functions = vectors.function, matrices.function, made_of_matrices.function

    def product(a: Any, b: Any) -> Any:
        """Return a product, None if it is left to the original."""
        made = multiply(*functions, NARROWEST_PRODUCT, a, b)
        if made is not None or not window.runs_at_once or doctor._user_value:
            return made
        one, other = client.view_of(a), client.view_of(b)
        if one is None or other is None or one.root.dtype != other.root.dtype:
            return None
        if one.root.dtype not in _TYPES:
            return None
        if len(one.shape) == len(other.shape) == 2:
            new = [made_of_matrices.learn(each) for each in (a, b)]
            return multiply(*functions, NARROWEST_PRODUCT, a, b) if any(new) else None
        if len(one.shape) < len(other.shape):
            # a vector times a matrix is the transposed matrix times the vector
            one, other = other, one
            one = one.transpose((1, 0)) if len(one.shape) == 2 else one
        if one.shape[-1:] != other.shape:
            return None
        if len(one.shape) == 1 and one.volume > 1:
            return _submit(vectors, (), one, other)
        if len(one.shape) == 2 and is_product_a_loop(one):
            return _submit(matrices, one.shape[:1], one, other)
        return None

    def _submit(
        products: _Products, shape: tuple[int, ...], one: View, other: View
    ) -> Any:
        template, zero = products[one.root.dtype]
        array, result = submission.new(template, shape)
        window.submit(Fill(result, zero))
        if shape:
            rows, columns = one.shape
            result, other = result.promote(1, columns), other.promote(0, rows)
        submit(template, [result, one, other])
        template.learn_once(one.root.dtype, one.root.dtype)
        return array

    def dot(self: Any, rhs: Any, out: Any = None) -> Any:
        made = None if out is not None else product(self, rhs)
        return method(self, rhs, out=out) if made is None else made

    def matmul(self: Any, value: Any) -> Any:
        made = product(self, value)
        return operator(self, value) if made is None else made

    def function(a: Any, b: Any, out: Any = None) -> Any:
        made = None if out is not None else product(a, b)
        return package_dot(a, b, out=out) if made is None else made

    package_dot = replace(importlib.import_module("cupynumeric"), "dot", function)
    method = replace(ndarray, "dot", dot)
    operator = replace(ndarray, "__matmul__", matmul)


SHORTCUTS: Final = (
    Shortcut(
        "products of small arrays",
        (
            ("_array.array", "ndarray.dot"),
            ("_array.array", "ndarray.__matmul__"),
            ("_module.linalg_mvp", "dot"),
            ("_module.linalg_mvp", "matmul"),
            ("_module.linalg_mvp", "_contract"),
            ("_thunk.deferred", "DeferredArray._matmul"),
            ("_thunk.deferred", "DeferredArray.contract"),
            ("_thunk.deferred", "DeferredArray._fill"),
            ("_thunk.deferred", "DeferredArray.fill"),
            *ARRAYS,
        ),
        "faf7fbcc920ee03e",
        _replace_products,
    ),
)
