# SPDX-License-Identifier: Apache-2.0
"""Which functions of cuPyNumeric NumPy does on small arrays (``hosted.py``).

All of them return new arrays, and what cuPyNumeric returns: the same bits, but for the
order of sums in what adds, multiplies or solves. Where the two differ (NaN in what is
sorted, products of integers, types of results), the original runs, or NumPy's result is
changed here.

Follows: cuPyNumeric (cupynumeric/_module, _array/array.py, linalg)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from legate_diffuse.shortcuts import adjusted, lapack, matrices, ordering
from legate_diffuse.shortcuts.adjusted import as_type, histogram, in_own_type, scanned
from legate_diffuse.shortcuts.elements import ALL_KINDS, INEXACT
from legate_diffuse.shortcuts.matrices import trace
from legate_diffuse.shortcuts.ordering import (
    extreme,
    percentile,
    quantile,
    without_nan,
)
from legate_diffuse.shortcuts.refusals import (
    OF_NOTHING,
    REFUSED,
    Function,
    along_one,
    in_doubles,
    unless,
)

# Kinds of types, as NumPy names them.
_NUMBERS: Final = "iufc"
_REAL: Final = "iuf"
# Of what adds up.
_SCANNED: Final = f"{_NUMBERS}b"
# Those that have an order.
_ORDERED: Final = "biuf"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A function that NumPy does.

    Attributes:
        name: of the function of cuPyNumeric.
        module: where it is defined.
        positional: how many arguments may come by position.
        keywords: the names of those that may come by name.
        kinds: of the types of arrays.
        function: what does the same; None for the function of that name: of
            ``adjusted.py``, ``lapack.py``, ``matrices.py`` or ``ordering.py``, or of
            NumPy.
        package: where people find it.
        least: with fewer arguments the original runs, which is as fast.
        is_loop: whether the original can be fused. So it runs where something waits for
            its arguments, or they have many elements.
        ends: whether such an original is several tasks all the same. So it runs on many
            elements only where they are not here.
        spreads: whether the result has an element for each combination of elements of
            its arguments, or of numbers of what they count. The original makes many.
        grows: whether few elements may become many, by NumPy all the same.
        arrays: how many arguments, the first ones, must be arrays: of which type
            another one becomes is the original's affair.
        converts: whether sequences are as good, as the original makes arrays of them.
        is_elementwise: whether arrays without axes or elements are as good as others.
        orders: whether it compares elements, and the original has another place for
            NaN in the first array.
        computes: whether there are sums, products or the like; None if that follows
            from the kinds of types, as it does where all of them are possible.
    """

    name: str
    module: str
    positional: int = 1
    keywords: str = ""
    kinds: str = ALL_KINDS
    function: Function | None = None
    package: str = ""
    least: int = 0
    is_loop: bool = False
    ends: bool = False
    spreads: bool = False
    grows: bool = False
    arrays: int = 1
    converts: bool = True
    is_elementwise: bool = False
    orders: bool = False
    computes: bool | None = None

    @property
    def runs(self) -> Function:
        """What does the same as the function of cuPyNumeric, or refuses to."""
        numpy = getattr(np, self.package) if self.package else np
        modules = (adjusted, lapack, matrices, ordering, numpy)
        own = (getattr(each, self.name) for each in modules if hasattr(each, self.name))
        function = self.function or next(own)
        if self.name in REFUSED:
            function = unless(REFUSED[self.name], function)
        return function

    @property
    def needs_axes(self) -> bool:
        """Whether the original takes the first array otherwise if it has no axes."""
        return self.arrays > 0 and not self.is_elementwise

    @property
    def needs_elements(self) -> bool:
        """Whether it takes that one otherwise if it has no elements."""
        return self.needs_axes and self.name not in OF_NOTHING

    @property
    def in_blas(self) -> bool:
        """Whether it works in BLAS, which may use several processors."""
        return self.kinds == INEXACT or self.package == "linalg"

    @property
    def may_warn(self) -> bool:
        """Whether NumPy may warn of what it computes."""
        return self.kinds is not ALL_KINDS if self.computes is None else self.computes


# Loops over elements, of which there may be none.
_elementwise: Final = partial(Recipe, is_loop=True, is_elementwise=True)

_JOINING: Final = "_module.array_joining"
_joining: Final = partial(Recipe, module=_JOINING, arrays=0, is_loop=True, ends=True)
_SEARCHING: Final = "_module.ssc_searching"
_SORTING: Final = "_module.ssc_sorting"
_INDEXING: Final = "_module.indexing"
_MATRICES: Final = "_module.creation_matrices"
_RANGES: Final = "_module.creation_ranges"
_SHAPES: Final = "_module.creation_shape"
_SUMS: Final = "_module.math_sum_prod_diff"
_TILING: Final = "_module.array_tiling"
_TURNING: Final = "_module.array_rearrange"
_ORDER: Final = "_module.stats_order"
_AVERAGES: Final = "_module.stats_avgs_vars"
_COUNTS: Final = "_module.stats_histograms"
_PRODUCTS: Final = "_module.linalg_mvp"
_LINALG: Final = "linalg.linalg"

FUNCTIONS: Final = (
    # what moves elements
    _joining("concatenate", positional=2, keywords="axis"),
    _joining("stack", positional=2, keywords="axis"),
    _joining("vstack"),
    _joining("hstack"),
    _joining("dstack"),
    _joining("column_stack"),
    Recipe("append", _JOINING, 3, "axis"),
    Recipe("insert", _JOINING, 4, "axis"),
    Recipe("delete", "_module.array_delete", 3, "axis"),
    Recipe("tile", _TILING, 2, grows=True),
    Recipe("repeat", _TILING, 3, "axis", grows=True),
    Recipe("pad", _TILING, 3, "mode constant_values"),
    Recipe("flip", _TURNING, 2, "axis"),
    Recipe("flipud", _TURNING),
    Recipe("fliplr", _TURNING),
    Recipe("rot90", _TURNING, 3, "k axes"),
    Recipe("take", _INDEXING, 3, "axis mode"),
    Recipe("take_along_axis", _INDEXING, 3, "axis", arrays=2, least=3),
    Recipe("compress", _INDEXING, 3, "axis", arrays=2),
    Recipe("choose", _INDEXING, 2, "mode", converts=False),
    Recipe("select", _INDEXING, 3, "default", arrays=0),
    Recipe("diagonal", _INDEXING, 4, "offset axis1 axis2"),
    Recipe("diag", _MATRICES, 2, "k", grows=True),
    Recipe("diagflat", _MATRICES, 2, "k", grows=True),
    Recipe("tril", _MATRICES, 2, "k", is_loop=True),
    Recipe("triu", _MATRICES, 2, "k", is_loop=True),
    Recipe("tri", _MATRICES, 3, "M k", is_loop=True, spreads=True, arrays=0),
    Recipe("eye", _SHAPES, 3, "M k dtype", is_loop=True, spreads=True, arrays=0),
    Recipe("identity", _SHAPES, 1, "dtype", is_loop=True, spreads=True, arrays=0),
    Recipe("meshgrid", _RANGES, 3, "indexing sparse", is_loop=True, spreads=True),
    Recipe(
        "linspace", _RANGES, 4, "num endpoint dtype", is_loop=True, arrays=0, least=2
    ),
    Recipe("unravel_index", _INDEXING, 2, kinds="iu", is_loop=True, arrays=0),
    Recipe("ravel_multi_index", _INDEXING, 2, "mode order", "iu", arrays=0),
    Recipe(
        "indices", _INDEXING, 2, "dtype sparse", is_loop=True, spreads=True, arrays=0
    ),
    Recipe("tril_indices", _INDEXING, 3, "k m", arrays=0),
    Recipe("triu_indices", _INDEXING, 3, "k m", arrays=0),
    Recipe("packbits", "_module.binary_bit_packing", 2, "axis bitorder"),
    Recipe("unpackbits", "_module.binary_bit_packing", 2, "axis bitorder"),
    # what searches and sorts
    Recipe("where", _SEARCHING, 1, function=adjusted.nonzero),
    Recipe("nonzero", _SEARCHING),
    Recipe("flatnonzero", _SEARCHING),
    Recipe("argwhere", _SEARCHING),
    Recipe("extract", _SEARCHING, 2, arrays=2),
    Recipe(
        "count_nonzero",
        "_module.ssc_counting",
        2,
        "axis",
        function=as_type(along_one(np.count_nonzero), np.uint64),
        is_loop=True,
        ends=True,
    ),
    Recipe("searchsorted", _SEARCHING, 3, "side"),
    *(
        Recipe(
            name,
            _SEARCHING,
            2,
            "axis keepdims",
            _ORDERED,
            extreme(getattr(np, name)),
            is_elementwise=True,
            computes=False,
        )
        for name in ("argmax", "argmin")
    ),
    Recipe("sort", _SORTING, 2, "axis kind", orders=True),
    Recipe("argsort", _SORTING, 2, "axis kind", orders=True),
    Recipe("partition", _SORTING, 3, "axis", _ORDERED, least=2, orders=True),
    Recipe("argpartition", _SORTING, 3, "axis", _ORDERED, least=2, orders=True),
    Recipe("lexsort", _SORTING, 2, "axis", _ORDERED, arrays=0),
    Recipe("sort_complex", _SORTING, orders=True),
    *(
        Recipe(name, _SUMS, 2, "axis keepdims", _REAL, getattr(np, name))
        for name in ("nanargmax", "nanargmin")
    ),
    Recipe("unique", "_module.sets_making", 1, orders=True),
    Recipe("isin", "_module.sets_making", 2, "invert kind"),
    Recipe("in1d", "_module.sets_making", 2, "invert kind"),
    Recipe("digitize", _COUNTS, 2, "right", _REAL, arrays=2),
    Recipe("bincount", _COUNTS, 3, "weights minlength", _REAL),
    Recipe("histogram", _COUNTS, 2, "bins range weights density", _REAL, histogram),
    Recipe("histogramdd", _COUNTS, 3, "bins range", "f"),
    *(
        Recipe(name, _ORDER, 3, "axis", "f", in_doubles(getattr(ordering, name)))
        for name in ("nanquantile", "nanpercentile")
    ),
    Recipe("median", _AVERAGES, 2, "axis", _REAL, in_doubles(np.median), orders=True),
    Recipe("percentile", _ORDER, 3, "axis", _REAL, in_doubles(percentile), orders=True),
    Recipe("quantile", _ORDER, 3, "axis", _REAL, in_doubles(quantile), orders=True),
    # what scans and sums
    *(
        Recipe(
            name,
            _SUMS,
            2,
            "axis dtype",
            _SCANNED,
            in_own_type(scanned(getattr(np, name), getattr(np, ufunc)), "ub"),
        )
        for name, ufunc in (("cumsum", "add"), ("cumprod", "multiply"))
    ),
    *(
        Recipe(
            name,
            _SUMS,
            2,
            "axis dtype",
            _SCANNED,
            in_own_type(getattr(np, name), "ub"),
        )
        for name in ("nancumsum", "nancumprod")
    ),
    Recipe("nansum", _SUMS, 2, "axis keepdims", _REAL, is_loop=True),
    *(
        Recipe(
            name,
            _SUMS,
            2,
            "axis keepdims",
            _REAL,
            without_nan(getattr(np, name)),
            is_loop=True,
        )
        for name in ("nanmax", "nanmin")
    ),
    Recipe("nanprod", _SUMS, 2, "axis keepdims", _REAL, is_loop=True),
    Recipe("nanmean", _AVERAGES, 2, "axis", "f", without_nan(np.nanmean), is_loop=True),
    Recipe(
        "nanmedian", _AVERAGES, 2, "axis", "f", in_doubles(without_nan(np.nanmedian))
    ),
    Recipe("gradient", _SUMS, 2, "axis", "f", is_loop=True, ends=True),
    Recipe("diff", _SUMS, 3, "n axis prepend append", _NUMBERS, is_loop=True),
    Recipe("cross", _SUMS, 2, "axis", _NUMBERS, is_loop=True, arrays=2),
    Recipe("mean", _AVERAGES, 2, "axis keepdims", _NUMBERS, least=2, is_loop=True),
    Recipe("var", _AVERAGES, 2, "axis ddof keepdims", _REAL, is_loop=True),
    Recipe(
        "cov", "_module.stats_correlating", 2, "rowvar bias ddof", _REAL, is_loop=True
    ),
    # what is close, or stays within bounds
    _elementwise(
        "allclose",
        "_module.logic_comparison",
        2,
        "rtol atol",
        function=as_type(np.allclose, np.bool_),
        computes=True,
    ),
    *(
        _elementwise(name, "_module.logic_array_type")
        for name in ("iscomplex", "isreal")
    ),
    Recipe(
        "array_equal",
        "_module.logic_comparison",
        2,
        function=as_type(np.array_equal, np.bool_),
        is_loop=True,
        arrays=2,
    ),
    _elementwise("isclose", "_module.logic_comparison", 2, "rtol atol", computes=True),
    _elementwise("clip", "_module.math_misc", 3, kinds=_REAL, least=3),
    _elementwise("round", "_module.math_rounding", 2, "decimals", _REAL),
    _elementwise("nan_to_num", "_module.math_misc", 1, "nan posinf neginf", "f"),
    Recipe("convolve", "_module.math_misc", 3, "mode", _REAL, arrays=2),
    # products and solvers
    Recipe("matmul", _PRODUCTS, 2, kinds=INEXACT, arrays=2),
    Recipe("inner", _PRODUCTS, 2, kinds=INEXACT, arrays=2),
    Recipe("vdot", _PRODUCTS, 2, kinds=INEXACT, arrays=2),
    Recipe("tensordot", _PRODUCTS, 3, "axes", INEXACT, arrays=2),
    Recipe("einsum", _PRODUCTS, 4, kinds=INEXACT, arrays=0),
    Recipe(
        "trace", _PRODUCTS, 4, "offset axis1 axis2", _SCANNED, in_own_type(trace, "biu")
    ),
    Recipe(
        "norm",
        _LINALG,
        3,
        "ord axis keepdims",
        # the largest of numbers that are none is another one there
        function=without_nan(np.linalg.norm),
        computes=True,
        package="linalg",
        least=2,
        is_loop=True,
        ends=True,
    ),
    Recipe("solve", _LINALG, 2, kinds=_NUMBERS, package="linalg", arrays=2),
    Recipe("inv", _LINALG, 1, kinds=_NUMBERS, package="linalg"),
    Recipe("cholesky", _LINALG, 1, kinds=_NUMBERS, package="linalg"),
    Recipe("eigvalsh", _LINALG, 1, kinds=_NUMBERS, package="linalg"),
    Recipe("svd", _LINALG, 2, "full_matrices", INEXACT, package="linalg"),
    Recipe("qr", _LINALG, kinds=INEXACT, package="linalg"),
    Recipe("eigh", _LINALG, 2, "UPLO", INEXACT, package="linalg"),
    Recipe("eig", _LINALG, kinds=INEXACT, package="linalg"),
    Recipe("eigvals", _LINALG, kinds=INEXACT, package="linalg"),
    Recipe("matrix_power", _LINALG, 2, kinds=INEXACT, package="linalg"),
    Recipe("multi_dot", _LINALG, 1, kinds=INEXACT, package="linalg", arrays=0),
)
# Methods that do the same, with the array as their first argument.
METHODS: Final = (
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "choose",
    "cumprod",
    "cumsum",
    "diagonal",
    "round",
    "mean",
    "nonzero",
    "searchsorted",
    "take",
    "trace",
    "var",
)


# The same for methods whose array is no function's first argument.
OPERATORS: Final = (
    Recipe(
        "compress",
        "",
        3,
        "axis",
        function=adjusted.compressed,
        arrays=2,
        converts=False,
    ),
    _elementwise("clip", "", 3, kinds=_REAL),
    Recipe("__contains__", "", 2, kinds=_ORDERED, function=adjusted.contains),
)
# Methods that tell what an array holds. cuPyNumeric hands its memory out for them.
TEXTS: Final[dict[str, Function]] = {
    "__str__": str,
    "__repr__": repr,
    "tolist": np.ndarray.tolist,
    "tobytes": np.ndarray.tobytes,
}
