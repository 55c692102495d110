# SPDX-License-Identifier: Apache-2.0
"""What the tasks of Legate Sparse mean.

Follows: Legate Sparse (array/csr/spmv.cc and linalg/axpby.cc, 24.11 to 26.01;
array/csr/get_diagonal.cc, 24.11)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS
from legate_diffuse.libraries.registry import Library

NAME: Final = "legate.sparse"
TYPES: Final = (*FLOATS, *COMPLEX)

# They write all elements of what they write. Programs submit them while they make a
# matrix. To fuse ZIP_TO_RECT1 and UNZIP_RECT1, kernels would have to make rects, and to
# take them apart; EXPAND_POS_TO_COORDINATES and the counts of products write or read
# other places than a row's sum does; DENSE_TO_CSR_NNZ writes a repeated view, so it
# runs at once.
_OVERWRITING: Final = (
    "DENSE_TO_CSR_NNZ",
    "EXPAND_POS_TO_COORDINATES",
    "SPGEMM_CSR_CSR_CSR_NNZ",
    "UNZIP_RECT1",
    "ZIP_TO_RECT1",
)
# 1 + NEAR, squared, less 1, is 2 * NEAR if the product is rounded first.
_NEAR: Final = 2.0**-30
# Elements of rows, and how many: their sums show whether products are rounded first.
_ROWS: Final = ((0.3, 3), (0.1, 61))


def register(library: Library) -> None:
    """Register the tasks of the version that runs, by their names."""
    from legate_sparse.config import SparseOpCode as Task

    factor = 1 + _NEAR
    found = library.compute(Task.AXPBY, (factor, factor, 1.0, -1.0), (True, False))
    contracted = found != 2 * _NEAR

    product = Task.CSR_SPMV_ROW_SPLIT
    sums = [library.sum_row(product, *row) for row in _ROWS]
    for fused in (False, True):
        if sums == [_sum(value, count, contracted=fused) for value, count in _ROWS]:
            library.row_sums(product, types=TYPES, contracted=fused)

    @library.elementwise(Task.AXPBY, "T T[1] T[1] T; bool bool -> T", types=TYPES)
    def axpby(k: Any, x: Any, a: Any, b: Any, y: Any, of_x: Any, negated: Any) -> Any:
        factor = a / b
        factor = k.select(negated, -1 * factor, factor)
        one, other = k.select(of_x, x, y), k.select(of_x, y, x)
        if contracted and x.dtype in FLOATS:
            return k.fma(factor, one, other)
        return factor * one + other

    library.diagonal(Task.CSR_DIAGONAL, types=TYPES)
    for name in _OVERWRITING:
        library.opaque(Task[name], overwrites=True)
    # it reads a file
    library.opaque(Task.READ_MTX_TO_COO, waits=False)


def _sum(value: float, count: int, *, contracted: bool) -> float:
    """Return the sum of a row, as its products are rounded first, or are not."""
    total = 0.0
    for _ in range(count):
        exact = Fraction(value) ** 2
        total = float(exact + Fraction(total)) if contracted else value * value + total
    return total
