# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for products of vectors and matrices.

They submit what ``DeferredArray.contract`` does, as fill and task, where it is a loop.
NumPy multiplies two matrices (``hosted.py``), unless several processors divide them.

Follows: cuPyNumeric (cupynumeric/_array, _module/linalg_mvp.py, _thunk)
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.window import window
from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.launch.few_points import MOST_POINTS
from legate_diffuse.libraries.cupynumeric.tasks import (
    NARROWEST_PRODUCT,
    is_product_a_loop,
)
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.conversions import TARGETS
from legate_diffuse.shortcuts.elements import INEXACT
from legate_diffuse.shortcuts.matrices import matmul as stacked
from legate_diffuse.shortcuts.matrices import product as of_two
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import (
    CALLED,
    CONVERTED,
    MADE,
    Submission,
    replace,
)
from legate_diffuse.shortcuts.task import fill_and_submit
from legate_diffuse.shortcuts.templates import Template, new_function
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.view import View

# The types of BLAS, but for float16, which adds in float32.
_TYPES: Final = ("float32", "float64", "complex64", "complex128")
# What people call what NumPy does.
_NAME: Final = "matrix product"
_REAL: Final = frozenset(_TYPES[:2])


class _Products(dict[str | None, tuple[Template, Any]]):
    """The templates of one product, and zeros, by type."""

    def __init__(self, client: Client, task: str, aligned: tuple[int, ...]) -> None:
        super().__init__()
        self._client = client
        self._task = task
        self._aligned = aligned
        # native code learns what runs at once
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


def _submit(
    submission: Submission,
    products: _Products,
    shape: tuple[int, ...],
    one: View,
    other: View,
) -> Any:
    """Return a product; ``shape`` is the result's."""
    template, zero = products[one.root.dtype]
    array, result = submission.new(template, shape)
    fill = Fill(result, zero)
    if shape:
        # as in the original, one dimension is that of the sums
        rows, depth = one.shape
        result = result.promote(1, depth)
        other = other.promote(0, rows)
    fill_and_submit(fill, template, [result, one, other])
    template.learn_once(template.name, template.name)
    return array


def _given(out: Any) -> dict[str, Any]:
    return {} if out is None else {"out": out}


class Products:
    """Multiplies vectors and matrices."""

    def __init__(self, submission: Submission) -> None:
        self._submission, self._client = submission, submission.client
        self.vectors = _Products(self._client, "DOT", (1, 2))
        self.matrices = _Products(self._client, "MATVECMUL", (0, 1, 2))
        by_numpy = submission.by_numpy
        self.in_blas = submission.hosted.blas.limited(of_two)
        self._multiply = by_numpy(self.in_blas, _NAME, INEXACT)
        self._multiply_here = by_numpy(self.in_blas, _NAME, INEXACT, brings=False)
        self._multiply_stacks = by_numpy(stacked, _NAME, INEXACT, in_blas=True)
        self._multiply_two_types = by_numpy(self.in_blas, _NAME)
        self._multiply_stacks_of_two = by_numpy(stacked, _NAME, in_blas=True)
        self._multiply_integers = by_numpy(np.matmul, _NAME, brings=False)

    def product(self, a: Any, b: Any) -> Any:
        """Return a product, None if it is left to the original."""
        if not window.runs_at_once or self._client.doctor.is_on:
            return None
        one, other = self._client.settled_view_of(a), self._client.settled_view_of(b)
        if one is None or other is None:
            return None
        if one.root.dtype != other.root.dtype:
            return self._of_two_types(a, b, one, other)
        if one.root.dtype not in _TYPES:
            # the original has none of more dimensions
            are_vectors = len(one.shape) == len(other.shape) == 1
            return self._multiply_integers(a, b) if are_vectors else None
        if len(one.shape) == len(other.shape) == 2:
            (rows, depth), (others, columns) = one.shape, other.shape
            is_outer = depth == others == 1 < min(rows, columns)
            is_loop = is_outer and one.root.dtype in _REAL
            # a loop over many products can be fused with what uses them
            waits = is_loop and rows * columns > MOST_POINTS
            made = None if waits else self._multiply(a, b)
            if made is None and is_loop:
                # it adds to zeros as the original does
                made = a * b + 0.0
            return made
        return self._with_vector(a, b, one, other)

    def _with_vector(self, a: Any, b: Any, one: View, other: View) -> Any:
        """Return a product of which at least one factor is a vector, as above."""
        extents = *one.shape, *other.shape
        dims = {len(one.shape), len(other.shape)}
        narrowest = 2 if dims == {1} else NARROWEST_PRODUCT
        if dims <= {1, 2} and min(extents) < narrowest:
            # no loop; what waits can be fused with what waits for the product
            made = self._multiply_here(a, b)
            if made is not None:
                return made
        if len(one.shape) < len(other.shape):
            # a vector times a matrix is the transposed matrix times the vector
            one, other = other, one
            one = one.transpose((1, 0)) if len(one.shape) == 2 else one
        if one.shape[-1:] != other.shape:
            return None
        if len(one.shape) == 1 and one.volume:
            return _submit(self._submission, self.vectors, (), one, other)
        # the original drops dimensions of one element
        if len(one.shape) == 2 and min(one.shape) > 1:
            if not is_product_a_loop(one):
                return self._multiply(a, b)
            # what waits can be fused with a loop
            made = self._multiply_here(a, b) if one.volume > MOST_POINTS else None
            if made is None:
                made = _submit(
                    self._submission, self.matrices, one.shape[:1], one, other
                )
            return made
        return self._multiply(a, b)

    def _of_two_types(self, a: Any, b: Any, one: View, other: View) -> Any:
        """Convert one factor or both, as the original does, or let NumPy do so."""
        # that drops dimensions of one element
        if max(a.ndim, b.ndim) > 2 or min((*one.shape, *other.shape), default=0) < 2:
            return None
        target = np.result_type(a.dtype, b.dtype).name
        if target not in _TYPES:
            return None
        kinds = one.root.dtype, other.root.dtype
        if {*kinds, target} <= TARGETS:
            factors = [
                each
                if each.dtype == target
                else self._submission.conversions.convert(each, target)
                for each in (a, b)
            ]
            views = [self._client.view_of(each) for each in factors]
            if views[0] is not None and views[1] is not None:
                self._submission.conversions.learn(
                    self.vectors.function, kinds, views[0].root.dtype
                )
                return self.product(*factors)
        return self._multiply_two_types(a, b)

    def of_stack(self, a: Any, b: Any, most: int) -> Any:
        """Return a product of a stack and what has at most so many dimensions.

        The original's task is no loop, and has no BLAS.
        """
        dims = [
            each.ndim
            for each in (a, b)
            if type(each) in (self._client.ndarray, np.ndarray)
        ]
        if len(dims) < 2 or max(dims) < 3 or dims[1] > most:
            return None
        if a.dtype == b.dtype:
            return self._multiply_stacks(a, b)
        is_product = np.result_type(a.dtype, b.dtype).name in _TYPES
        is_watched = self._client.doctor.is_on or self._client.warn.is_on
        return (
            None if is_watched or not is_product else self._multiply_stacks_of_two(a, b)
        )


def _replace_products(submission: Submission) -> None:
    ndarray, products = submission.client.ndarray, Products(submission)
    array_of, most_dims = submission.array_of, submission.most_dims
    product, of_stack = products.product, products.of_stack

    def dotted(a: Any, b: Any) -> Any:
        made = product(a, b)
        # of more dimensions it has other pairs of rows and columns
        return of_stack(a, b, 2) if made is None else made

    def dot(self: Any, rhs: Any, out: Any = None) -> Any:
        made = None if out is not None else dotted(self, array_of(rhs))
        return method(self, rhs, **_given(out)) if made is None else made

    def matmul(self: Any, value: Any) -> Any:
        value = array_of(value)
        made = product(self, value)
        if made is None:
            made = of_stack(self, value, most_dims)
        return operator(self, value) if made is None else made

    def function(a: Any, b: Any, out: Any = None) -> Any:
        a, b = array_of(a), array_of(b)
        made = None if out is not None else dotted(a, b)
        return package_dot(a, b, **_given(out)) if made is None else made

    package = importlib.import_module("cupynumeric")
    for owner in (package, ndarray):
        factors = submission.written.factors("unsafe")
        submission.write_results(owner, "dot", factors, 2, in_place=True)
    package_dot = replace(package, "dot", function)
    method = replace(ndarray, "dot", dot)
    operator = replace(ndarray, "__matmul__", matmul)
    if window.runs_at_once:
        _let_native_code_multiply(submission, products)


def _let_native_code_multiply(submission: Submission, products: Products) -> None:
    hosted, native = submission.hosted, submission.client.legate.native
    if routines := hosted.blas.routines():
        native.know_blas(*routines)
    here = hosted.recipe(products.in_blas, _NAME, INEXACT, (2, 2, 2))
    functions = products.vectors.function, products.matrices.function
    stacks = hosted.recipe(stacked, _NAME, INEXACT, (2, 2, 2), in_blas=True)
    extra = *functions, here, NARROWEST_PRODUCT, stacks
    package, ndarray = importlib.import_module("cupynumeric"), submission.client.ndarray
    # of what has more dimensions, "dot" has other pairs of rows and columns
    dots = (*extra, 2)
    submission.front(package, "dot", "product", "a", "b", "out", extra=dots)
    submission.front(ndarray, "dot", "product", "self", "rhs", "out", extra=dots)
    all_dims = (*extra, submission.most_dims)
    submission.front(ndarray, "__matmul__", "product", "self", "value", extra=all_dims)


def _replace_functions(submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    parameters = "a", "b", "out"
    submission.front(package, "inner", "inner", *parameters, extra=package.dot)
    submission.front(package, "matmul", "matmul", *parameters, "casting", "dtype")


# Around those of NumPy.
INNER: Final = (
    Shortcut(
        "products by functions",
        (
            ("_module.linalg_mvp", "inner"),
            ("_module.linalg_mvp", "matmul"),
            ("_module.linalg_mvp", "dot"),
            ("_module.linalg_mvp", "_contract"),
            *CALLED,
        ),
        _replace_functions,
    ),
)

SHORTCUTS: Final = (
    Shortcut(
        "products",
        (
            ("_array.array", "ndarray.dot"),
            ("_array.array", "ndarray.__matmul__"),
            ("_module.linalg_mvp", "dot"),
            ("_module.linalg_mvp", "matmul"),
            ("_module.linalg_mvp", "_contract"),
            ("_thunk.deferred", "DeferredArray._matmul"),
            ("_thunk.deferred", "DeferredArray.contract"),
            ("_thunk.deferred", "DeferredArray._copy_if_overlapping"),
            ("_thunk.deferred", "DeferredArray._fill"),
            ("_thunk.deferred", "DeferredArray.fill"),
            *MADE,
            *CONVERTED,
        ),
        _replace_products,
    ),
)
