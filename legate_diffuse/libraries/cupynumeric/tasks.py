# SPDX-License-Identifier: Apache-2.0
"""Which operation each task of cuPyNumeric performs."""

from __future__ import annotations

from math import prod
from typing import Any, Final

from legate_diffuse.libraries.cupynumeric.advice import advise
from legate_diffuse.libraries.cupynumeric.meanings import OPERATIONS
from legate_diffuse.libraries.form import Form
from legate_diffuse.libraries.registry import Library

# How many scalars come before the operation's own ones, and which is the code.
_ELEMENT_WISE = (1, 0)
_LAYOUTS: Final[dict[str, tuple[int, int | None]]] = {
    "UNARY_OP": _ELEMENT_WISE,
    "BINARY_OP": _ELEMENT_WISE,
    "CONVERT": _ELEMENT_WISE,
    "BINARY_RED": _ELEMENT_WISE,
    # then the shape, and whether there is a mask
    "SCALAR_UNARY_RED": (3, 0),
    # after the axis; then whether there is a mask
    "UNARY_RED": (3, 1),
    "WHERE": (0, None),
    "PUTMASK": (0, None),
    "CHOOSE": (0, None),
    "SELECT": (0, None),
    "FILL": (0, None),
    "DOT": (0, None),
    "MATVECMUL": (0, None),
    "ARANGE": (0, None),
    "EYE": (0, None),
    "TRILU": (0, None),
    # of one element
    "READ": (0, None),
    "WRITE": (0, None),
}

NARROWEST_PRODUCT: Final = 8  # rows or columns
# bytes of a matrix that is read along its rows, in one process and for each of several
# ranks, and across them
_LARGEST_PRODUCT: Final = 2**25
_LARGEST_PRODUCT_OF_RANK: Final = 2**26
_LARGEST_TRANSPOSED_PRODUCT: Final = 2**19
# A nest takes 30 ns for a row beside its elements, and a task some hundred thousand.
_SHORT_ROW: Final = 64  # elements
_MOST_SHORT_ROWS: Final = 2**13


def register(library: Library) -> None:
    """Register all tasks. Those that fusion does not know overwrite their results."""
    from cupynumeric.config import (
        BinaryOpCode,
        ConvertCode,
        CuPyNumericOpCode,
        UnaryOpCode,
        UnaryRedCode,
    )

    codes: dict[str, Any] = {
        "UNARY_OP": UnaryOpCode,
        "BINARY_OP": BinaryOpCode,
        "BINARY_RED": BinaryOpCode,
        "CONVERT": ConvertCode,
        "SCALAR_UNARY_RED": UnaryRedCode,
        "UNARY_RED": UnaryRedCode,
    }
    for task in CuPyNumericOpCode:
        name = task.name
        own, code = _LAYOUTS.get(name, (0, None))
        form = Form(
            name,
            f"{name}_TASK",
            own_scalars=own,
            code_scalar=code,
            codes={int(each): each.name for each in codes.get(name, ())},
            repeated=(0,) if name == "FILL" else (),
            suits=_suits_a_loop if name == "MATVECMUL" else None,
            fuse=name in _LAYOUTS,
            overwrites=True,
            repeatable=True,
        )
        library.define(int(task), form, {})
    library.table = OPERATIONS
    library.advise = advise


def _suits_a_loop(task: Any) -> bool:
    return is_product_a_loop(task.arguments[1])


def is_product_a_loop(matrix: Any) -> bool:
    """Whether a matrix's product with a vector is faster as a loop than as a task.

    A loop nest reads a matrix that is not narrow as fast as BLAS does, and needs no
    task of its own; BLAS reads several rows at a time where a nest walks across them.
    Measured from 300 x 300 to 4,000 x 4,000, and with 10 to 64 columns, on one
    processor and on two. On several ranks a task takes longer to begin. A matrix that
    what waits computes is multiplied with it, and neither stored nor read again.
    """
    by_rows = list(matrix.layout.dims) == sorted(matrix.layout.dims)
    limit = _LARGEST_PRODUCT if by_rows else _LARGEST_TRANSPOSED_PRODUCT
    if by_rows and (ranks := matrix.root.legate.runtime.node_count) > 1:
        limit = _LARGEST_PRODUCT_OF_RANK * ranks
    rows, columns = matrix.shape
    if by_rows and columns < _SHORT_ROW and rows > _MOST_SHORT_ROWS:
        return False
    if min(matrix.shape) < NARROWEST_PRODUCT:
        return False
    is_fused = by_rows and matrix.root.undefined
    return bool(is_fused or matrix.root.type.size * prod(matrix.shape) <= limit)
