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
from typing import Final

import numpy as np

from legate_diffuse.shortcuts.adjusted import (
    Function,
    argsort,
    array_equal,
    as_type,
    convolve,
    einsum,
    gradient,
    in_doubles,
    in_own_type,
    ordered,
    repeat,
    rot90,
    unravel_index,
)
from legate_diffuse.shortcuts.hosted import ALL_KINDS, INEXACT

# Kinds of types, as NumPy names them.
_NUMBERS: Final = "iufc"
_REAL: Final = "iuf"
# Those that have an order.
_ORDERED: Final = "biuf"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A function that NumPy does.

    Attributes:
        name: of the function of cuPyNumeric.
        module: where it is defined.
        known: the digest of its source (``shortcut.py``).
        positional: how many arguments may come by position.
        keywords: the names of those that may come by name.
        kinds: of the types of arrays.
        function: NumPy's, None for the one of the same name.
        package: where people find it.
        least: with fewer arguments the original runs, which is as fast.
        is_loop: whether the original can be fused. So it runs where something waits for
            its arguments.
        arrays: how many arguments, the first ones, must be arrays: of which type
            another one becomes is the original's affair.
        computes: whether there are sums, products or the like; None if that follows
            from the kinds of types, as it does where all of them are possible.
    """

    name: str
    module: str
    known: str
    positional: int = 1
    keywords: str = ""
    kinds: str = ALL_KINDS
    function: Function | None = None
    package: str = ""
    least: int = 0
    is_loop: bool = False
    arrays: int = 1
    computes: bool | None = None

    @property
    def may_warn(self) -> bool:
        """Whether NumPy may warn of what it computes."""
        return self.kinds is not ALL_KINDS if self.computes is None else self.computes


_JOINING: Final = "_module.array_joining"
_SEARCHING: Final = "_module.ssc_searching"
_SORTING: Final = "_module.ssc_sorting"
_INDEXING: Final = "_module.indexing"
_MATRICES: Final = "_module.creation_matrices"
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
    Recipe("concatenate", _JOINING, "3e711883cfc1f35c", 2, "axis", arrays=0),
    Recipe("stack", _JOINING, "e7fd3b62e29bd7dc", 2, "axis", arrays=0),
    Recipe("vstack", _JOINING, "86916c5dcbf2cc3e", arrays=0),
    Recipe("hstack", _JOINING, "fce94368b7040c1f", arrays=0),
    Recipe("dstack", _JOINING, "1409f2a85f38079a", arrays=0),
    Recipe("column_stack", _JOINING, "f269813a18438436", arrays=0),
    Recipe("append", _JOINING, "261e9c0153aa2509", 3, "axis"),
    Recipe("insert", _JOINING, "080fa44ebaaaab2f", 4, "axis"),
    Recipe("delete", "_module.array_delete", "84f7432854c7cc79", 3, "axis"),
    Recipe("tile", _TILING, "de5957ba495afbae", 2),
    Recipe("repeat", _TILING, "979553a8053dd8cf", 3, "axis", function=repeat),
    Recipe("pad", _TILING, "52d3ad3342c190cf", 3, "mode constant_values"),
    Recipe("flip", _TURNING, "43d9febca875961d", 2, "axis"),
    Recipe("flipud", _TURNING, "278a5fc60c67556b"),
    Recipe("fliplr", _TURNING, "832505fa49a63e5f"),
    Recipe("rot90", _TURNING, "adbd650e2c4978e6", 3, "k axes", function=rot90),
    Recipe("take", _INDEXING, "21f604798d4fc707", 3, "axis"),
    Recipe("take_along_axis", _INDEXING, "c209790d041196b4", 3, "axis", arrays=2),
    Recipe("compress", _INDEXING, "500e033929696069", 3, "axis"),
    Recipe("choose", _INDEXING, "6cecc1d52585dae2", 2),
    Recipe("select", _INDEXING, "d5448a58f2e33ed5", 3, "default", arrays=0),
    Recipe("diagonal", _INDEXING, "aa9a3f390dcebe37", 4, "offset axis1 axis2"),
    Recipe("diag", _MATRICES, "e5b36e47500322a3", 2, "k"),
    Recipe("tril", _MATRICES, "d3d607aed8972f51", 2, "k", is_loop=True),
    Recipe("triu", _MATRICES, "0ab2395be50e773e", 2, "k", is_loop=True),
    Recipe("tri", _MATRICES, "dae1a8abb563fbdf", 3, "M k", is_loop=True, arrays=0),
    Recipe("eye", _SHAPES, "4927311455753e24", 3, "M k dtype", is_loop=True, arrays=0),
    Recipe("identity", _SHAPES, "1cb0b81c11b1d16b", 1, "dtype", is_loop=True, arrays=0),
    Recipe("zeros_like", _SHAPES, "59eb36aeae04ae18", 2, "dtype", is_loop=True),
    Recipe("ones_like", _SHAPES, "cb37e4aec5e9d2df", 2, "dtype", is_loop=True),
    Recipe("full_like", _SHAPES, "9a3eb77dbcd98049", 2, "", is_loop=True),
    Recipe(
        "empty_like",
        _SHAPES,
        "e2d400f9e9bfcc7e",
        2,
        "dtype",
        function=np.zeros_like,
        is_loop=True,
    ),
    Recipe("copy", "_module.creation_data", "2abd102bab5d659a", is_loop=True),
    Recipe(
        "meshgrid",
        "_module.creation_ranges",
        "594f8f093a594f74",
        3,
        "indexing sparse",
        is_loop=True,
    ),
    Recipe(
        "unravel_index",
        _INDEXING,
        "683b2811c920d603",
        2,
        function=unravel_index,
        is_loop=True,
        arrays=0,
    ),
    Recipe("tril_indices", _INDEXING, "a9b2c52a9a88cffa", 3, "k m", arrays=0),
    Recipe("triu_indices", _INDEXING, "8d9947d1fd0bdadc", 3, "k m", arrays=0),
    Recipe(
        "packbits", "_module.binary_bit_packing", "09c514386a6e2930", 2, "axis bitorder"
    ),
    Recipe(
        "unpackbits",
        "_module.binary_bit_packing",
        "8ced40e5f652c305",
        2,
        "axis bitorder",
    ),
    # what searches and sorts
    Recipe("where", _SEARCHING, "674c97eeaa6f735f", 1, function=np.nonzero),
    Recipe("nonzero", _SEARCHING, "7a578009eeb83ce0"),
    Recipe("flatnonzero", _SEARCHING, "aef836e247110275"),
    Recipe("argwhere", _SEARCHING, "86b7e9d81888007f"),
    Recipe("extract", _SEARCHING, "e73c3bf359916b16", 2, arrays=2),
    Recipe(
        "count_nonzero",
        "_module.ssc_counting",
        "6faea7cec6ec121c",
        2,
        "axis",
        function=as_type(np.count_nonzero, np.uint64),
        is_loop=True,
    ),
    Recipe(
        "searchsorted",
        _SEARCHING,
        "4a410e28f63c1a23",
        3,
        "side",
        function=ordered(np.searchsorted),
    ),
    Recipe(
        "argmax",
        _SEARCHING,
        "fc8fc053964fc399",
        2,
        "axis keepdims",
        _ORDERED,
        ordered(np.argmax),
        computes=False,
    ),
    Recipe(
        "argmin",
        _SEARCHING,
        "abe824cbf767ea17",
        2,
        "axis keepdims",
        _ORDERED,
        ordered(np.argmin),
        computes=False,
    ),
    Recipe(
        "sort", _SORTING, "4418aa0879a12aed", 2, "axis kind", function=ordered(np.sort)
    ),
    Recipe(
        "argsort",
        _SORTING,
        "49d2b66ae345c20f",
        2,
        "axis kind",
        function=ordered(argsort),
    ),
    Recipe(
        "unique",
        "_module.sets_making",
        "964235dea53f64e6",
        1,
        function=ordered(np.unique),
    ),
    Recipe("isin", "_module.sets_making", "b8d2be83bb0201fb", 2),
    Recipe("digitize", _COUNTS, "609d492c4f67a3ab", 2, "right", _REAL, arrays=2),
    Recipe("bincount", _COUNTS, "54649498f85b34e2", 3, "weights minlength"),
    Recipe("histogram", _COUNTS, "33d735d196dbc8f2", 2, "bins range weights", _REAL),
    Recipe(
        "median",
        _AVERAGES,
        "9d96283e5c38b207",
        2,
        "axis",
        _REAL,
        in_doubles(np.median),
    ),
    Recipe(
        "percentile",
        _ORDER,
        "c118a9abffc3b32a",
        3,
        "axis",
        _REAL,
        in_doubles(np.percentile),
    ),
    Recipe(
        "quantile",
        _ORDER,
        "e572004a28569e26",
        3,
        "axis",
        _REAL,
        in_doubles(np.quantile),
    ),
    # what scans and sums
    Recipe(
        "cumsum",
        _SUMS,
        "d2ad03fa7123758f",
        2,
        "axis",
        _NUMBERS,
        in_own_type(np.cumsum, "u"),
    ),
    Recipe(
        "cumprod",
        _SUMS,
        "660b88110643dc6c",
        2,
        "axis",
        _NUMBERS,
        in_own_type(np.cumprod, "u"),
    ),
    Recipe(
        "nancumsum",
        _SUMS,
        "761d49d052656c49",
        2,
        "axis",
        _NUMBERS,
        in_own_type(np.nancumsum, "u"),
    ),
    Recipe(
        "nancumprod",
        _SUMS,
        "77743883199b5948",
        2,
        "axis",
        _NUMBERS,
        in_own_type(np.nancumprod, "u"),
    ),
    Recipe(
        "gradient",
        _SUMS,
        "e91c6a852a7a0864",
        2,
        "axis",
        "f",
        function=gradient,
        is_loop=True,
    ),
    Recipe("diff", _SUMS, "43a0f51962098ae5", 3, "n axis", _NUMBERS, is_loop=True),
    Recipe(
        "cross", _SUMS, "10d882a008804ad8", 2, "axis", _NUMBERS, is_loop=True, arrays=2
    ),
    Recipe(
        "mean",
        _AVERAGES,
        "7dab5a3c78de1234",
        2,
        "axis keepdims",
        _NUMBERS,
        least=2,
        is_loop=True,
    ),
    Recipe(
        "var", _AVERAGES, "0f689167d10e97af", 2, "axis ddof keepdims", "f", is_loop=True
    ),
    Recipe(
        "cov",
        "_module.stats_correlating",
        "b74478b609f11e8a",
        1,
        kinds=_REAL,
        is_loop=True,
    ),
    # what is close, or stays within bounds
    Recipe(
        "allclose",
        "_module.logic_comparison",
        "d1579bca3ee2725a",
        2,
        "rtol atol equal_nan",
        function=as_type(np.allclose, np.bool_),
        is_loop=True,
    ),
    Recipe(
        "array_equal",
        "_module.logic_comparison",
        "d7e328e2e7e70259",
        2,
        "",
        function=array_equal,
        is_loop=True,
        arrays=2,
    ),
    Recipe(
        "isclose",
        "_module.logic_comparison",
        "3a24acc26b894fd2",
        2,
        "rtol atol equal_nan",
        is_loop=True,
    ),
    Recipe("clip", "_module.math_misc", "4192cbc3d34f56c3", 3, kinds="f", is_loop=True),
    Recipe(
        "round",
        "_module.math_rounding",
        "5fee45f0f5a071f6",
        2,
        "decimals",
        _REAL,
        is_loop=True,
    ),
    Recipe(
        "nan_to_num",
        "_module.math_misc",
        "049eb06711276a26",
        1,
        "nan posinf neginf",
        "f",
        is_loop=True,
    ),
    Recipe(
        "convolve",
        "_module.math_misc",
        "e5229d92d6b6f9e8",
        3,
        "mode",
        _REAL,
        convolve,
        arrays=2,
    ),
    # products and solvers
    Recipe("matmul", _PRODUCTS, "73b190c66f199cfa", 2, kinds=INEXACT, arrays=2),
    Recipe("inner", _PRODUCTS, "b209b1b673507d96", 2, kinds=INEXACT, arrays=2),
    Recipe("vdot", _PRODUCTS, "5fb633b043f41d31", 2, kinds=INEXACT, arrays=2),
    Recipe("outer", _PRODUCTS, "3441bb5f311d584a", 2, is_loop=True),
    Recipe("tensordot", _PRODUCTS, "688cbab2a1ac80f4", 3, "axes", INEXACT, arrays=2),
    Recipe(
        "einsum",
        _PRODUCTS,
        "cc0487e4205fd062",
        4,
        kinds=INEXACT,
        function=einsum,
        arrays=0,
    ),
    Recipe(
        "trace",
        _PRODUCTS,
        "3aac77451ff6dbed",
        2,
        "offset",
        _NUMBERS,
        in_own_type(np.trace, "iu"),
    ),
    Recipe(
        "norm",
        _LINALG,
        "e3f1f08bad22bbe7",
        3,
        "ord axis keepdims",
        package="linalg",
        is_loop=True,
    ),
    Recipe(
        "solve",
        _LINALG,
        "44d1b4f9750d122c",
        2,
        kinds=INEXACT,
        package="linalg",
        arrays=2,
    ),
    Recipe("inv", _LINALG, "c047b7bd569ab5c2", 1, kinds=INEXACT, package="linalg"),
    Recipe("cholesky", _LINALG, "42015c67889de9e5", 1, kinds=INEXACT, package="linalg"),
    Recipe("eigh", _LINALG, "7aca7165f87230dd", 1, kinds=INEXACT, package="linalg"),
    Recipe("eigvalsh", _LINALG, "1ad6739e3c6bab60", 1, kinds=INEXACT, package="linalg"),
    Recipe("qr", _LINALG, "06cf37e78ea60425", 1, kinds=INEXACT, package="linalg"),
    Recipe(
        "svd",
        _LINALG,
        "c2c9888c08be326d",
        2,
        "full_matrices",
        INEXACT,
        package="linalg",
    ),
    Recipe(
        "matrix_power", _LINALG, "b0fa50bb9ddacef4", 2, kinds=INEXACT, package="linalg"
    ),
    Recipe(
        "multi_dot",
        _LINALG,
        "3926ade43413d235",
        1,
        kinds=INEXACT,
        package="linalg",
        arrays=0,
    ),
)
# Methods that do the same, with the array as their first argument, and their digests.
METHODS: Final = {
    "argmax": "7777ccd4c2eb943f",
    "argmin": "86b4e4beb02651e8",
    "argsort": "46a76fefa153ecbd",
    "clip": "b676f0cd2d15644c",
    "compress": "1e51f527a44546df",
    "cumprod": "d13351a104b7d364",
    "cumsum": "e258a4e55f820679",
    "diagonal": "c2ade2c0aadbd722",
    "round": "59c978eee5ffe508",
    "mean": "a8bb0473fa3dbc21",
    "nonzero": "992a45b6d78c7036",
    "searchsorted": "98ce34102cccbed0",
    "take": "0629c5a731a3e673",
    "trace": "ee4ede3a98135374",
    "var": "1db21fdc47d8a17f",
}


# The same for methods of arrays only.
OPERATORS: Final = (
    Recipe(
        "__invert__",
        "",
        "1b69edc0ebdd292e",
        kinds="biu",
        function=np.invert,
        is_loop=True,
    ),
    Recipe("flatten", "", "fd77c0f5fa0113ce", function=np.ravel),
    Recipe("conj", "", "e7d62f27c51b5736", kinds="c", function=np.conj, is_loop=True),
    Recipe(
        "conjugate", "", "934747dedc5bd509", kinds="c", function=np.conj, is_loop=True
    ),
)
# Methods that tell what an array holds. cuPyNumeric hands its memory out for them.
TEXTS: Final[dict[str, Function]] = {
    "__str__": str,
    "__repr__": repr,
    "tolist": np.ndarray.tolist,
}
# Properties of complex arrays; cuPyNumeric copies the elements, too.
PARTS: Final[dict[str, Function]] = {"real": np.real, "imag": np.imag}
