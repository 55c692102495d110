# SPDX-License-Identifier: Apache-2.0
"""What to write instead of cuPyNumeric's tasks that cannot be fused."""

from __future__ import annotations

from typing import Final

_MASK: Final = (
    "A mask as an index moves elements to other places. Write where(mask, a, b), or "
    "assign with x[mask] = value, which stay in place."
)
_INDEX: Final = (
    "Indices from an array move elements to other places. Use slices where they are "
    "evenly spaced, and gather once, outside of the loop."
)
_PRODUCT: Final = (
    "A large matrix product runs as cuPyNumeric's own task, which is fast by itself. "
    "Keep the element-wise work before and after it together, so that it costs two "
    "fused tasks and not several."
)
_ORDER: Final = (
    "Sorting moves elements to other places. Do it outside of the loop, or use "
    "minimum, maximum and where, which stay in place."
)
_SCAN: Final = (
    "A running sum or product needs all elements before each. Do it once, on the "
    "final array, and not in the loop."
)
_RANDOM: Final = (
    "Random numbers come from cuPyNumeric's own task. Draw many at once, before the "
    "loop, and take slices of them."
)
_SOLVER: Final = (
    "Factorizations and solvers are cuPyNumeric's own tasks. Factorize once, outside "
    "of the loop, where the matrix stays the same."
)

_ELEMENT: Final = (
    "Reading or writing one element takes a task of its own. Work on a slice, or on "
    "the whole array with where(index == i, a, b)."
)

_ADVICE: Final = {
    "Read": _ELEMENT,
    "Write": _ELEMENT,
    "AdvancedIndexing": _MASK,
    "Nonzero": _MASK,
    "ArgWhere": _MASK,
    "Gather": _INDEX,
    "Scatter": _INDEX,
    "Take": _INDEX,
    "Zip": _INDEX,
    "ZipGather": _INDEX,
    "ZipScatter": _INDEX,
    "MatMul": _PRODUCT,
    "MatVecMul": _PRODUCT,
    "Contract": _PRODUCT,
    "Gemm": _PRODUCT,
    "Dot": _PRODUCT,
    "Sort": _ORDER,
    "Unique": _ORDER,
    "SearchSorted": _ORDER,
    "ScanLocal": _SCAN,
    "ScanGlobal": _SCAN,
    "Rand": _RANDOM,
    "BitGenerator": _RANDOM,
    "Solve": _SOLVER,
    "Potrf": _SOLVER,
    "Potrs": _SOLVER,
    "Qr": _SOLVER,
    "Svd": _SOLVER,
    "Geev": _SOLVER,
    "Syev": _SOLVER,
    "Trsm": _SOLVER,
    "issue_gather": _INDEX,
    "issue_scatter": _INDEX,
    "issue_scatter_gather": _INDEX,
}


def advise(task: str) -> str:
    """Return what to write instead of a task of this name, '' for nothing."""
    return _ADVICE.get(task.removeprefix("cupynumeric::").removesuffix("Task"), "")
