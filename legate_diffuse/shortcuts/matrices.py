# SPDX-License-Identifier: Apache-2.0
"""Functions of matrices that return what cuPyNumeric's do where NumPy's differ.

Follows: cuPyNumeric (cupynumeric/_module, cupynumeric/linalg)
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.elements import UnsuitableError


def diagonal(a: Any, *options: Any, **named: Any) -> Any:
    """Add the elements to zeros, as the original does: no zero has a sign.

    Refuse diagonals that are outside of the array.
    """
    found = np.diagonal(a, *options, **named)
    if not found.size:
        raise UnsuitableError
    return found + a.dtype.type(0)


def trace(
    a: Any, offset: Any = 0, axis1: Any = None, axis2: Any = None, **named: Any
) -> Any:
    """Refuse diagonals that are outside of the array, and one axis."""
    axes = (0, 1) if axis1 is axis2 is None else (axis1, axis2)
    if any(type(each) is not int or each < 0 for each in axes):
        raise UnsuitableError
    found = np.diagonal(a, offset, *axes)
    if not found.size:
        raise UnsuitableError
    return found.sum(-1, **named)


def diag(v: Any, k: Any = 0) -> Any:
    """Do the same of a matrix; a vector becomes one."""
    if v.ndim > 2:
        raise UnsuitableError
    return np.diag(v, k) if v.ndim == 1 else diagonal(v, k)


def einsum(expression: Any, *operands: Any) -> Any:
    """Refuse one operand that is shown, and operands that are no arrays.

    The original shows what it sums along an axis of one element. A diagonal it adds to
    zeros.
    """
    arrays = [isinstance(each, np.ndarray) for each in operands]
    if not (arrays and all(arrays)) or (len(arrays) == 1 and 1 in operands[0].shape):
        raise UnsuitableError
    is_pair = len(arrays) == 2 and type(expression) is str
    made = _product(expression, *operands) if is_pair else None
    made = np.einsum(expression, *operands) if made is None else made
    if len(arrays) == 1 and np.may_share_memory(made, *operands):
        if made.ndim == operands[0].ndim:
            raise UnsuitableError
        return made + made.dtype.type(0)
    return made


# From so many elements, and so many in a sum, on a product of BLAS pays for what is
# rearranged for it.
_MANY_TO_MULTIPLY: Final = 2**12
_MANY_IN_SUM: Final = 8


def _product(expression: Any, a: Any, b: Any) -> Any:
    """Return what ``einsum`` makes of two arrays by BLAS; None if that is no product.

    Axes are those of both arrays and the result, of one array and the result, or those
    that are summed over.
    """
    names, arrow, made = expression.replace(" ", "").partition("->")
    of_a, comma, of_b = names.partition(",")
    every = of_a + of_b
    if not arrow:
        made = "".join(sorted(name for name in every if every.count(name) == 1))
    if (
        max(a.size, b.size) < _MANY_TO_MULTIPLY
        or a.dtype != b.dtype
        or not comma
        or not all(
            each.isalpha() and len({*each}) == len(each) for each in (of_a, of_b, made)
        )
        or (len(of_a), len(of_b)) != (a.ndim, b.ndim)
    ):
        return None
    extents = dict(zip(of_a, a.shape, strict=True))
    same = [name for name in made if name in of_a and name in of_b]
    rows = [name for name in made if name in of_a and name not in of_b]
    columns = [name for name in made if name in of_b and name not in of_a]
    summed = [name for name in of_a if name in of_b and name not in made]
    of_b_here = dict(zip(of_b, b.shape, strict=True))
    if (
        not (summed and rows and columns)
        or {*of_a} != {*same, *rows, *summed}
        or {*of_b} != {*same, *columns, *summed}
        or any(extents[name] != of_b_here[name] for name in (*same, *summed))
        or prod(extents[name] for name in summed) < _MANY_IN_SUM
    ):
        return None
    extents |= of_b_here

    def folded(array: Any, axes: str, *parts: list[str]) -> Any:
        order = [axes.index(name) for part in parts for name in part]
        shape = [prod(extents[name] for name in part) for part in parts[1:]]
        kept = [extents[name] for name in parts[0]]
        return array.transpose(order).reshape(*kept, *shape)

    found = np.matmul(
        folded(a, of_a, same, rows, summed), folded(b, of_b, same, summed, columns)
    )
    axes = [*same, *rows, *columns]
    found = found.reshape([extents[name] for name in axes])
    return found.transpose([axes.index(name) for name in made])


def product(a: Any, b: Any) -> Any:
    """Multiply what has two dimensions at most.

    A column and a row NumPy's ``matmul`` multiplies in a loop of its own, ``dot`` in
    BLAS; but that fills results with zeros first.
    """
    is_outer = a.ndim == b.ndim == 2 and a.shape[1] == 1
    return np.dot(a, b) if is_outer else np.matmul(a, b)


def matmul(a: Any, b: Any) -> Any:
    """Multiply a stack of matrices by one matrix at once: they are its rows."""
    if a.ndim > 2 == b.ndim and a.shape[-1] == b.shape[0] and a.flags.c_contiguous:
        rows = a.reshape(-1, a.shape[-1]) if a.size else a
        return np.matmul(rows, b).reshape(*a.shape[:-1], b.shape[1])
    return product(a, b)
