# SPDX-License-Identifier: Apache-2.0
"""Native code finds NaN in NumPy's arrays of any type and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tiers import examples

from legate_diffuse import _native

_TYPES = ("float16", "float32", "float64", "complex64", "complex128")


@settings(max_examples=examples(100, 1000), deadline=None)
@given(
    arrays.arrays(
        st.sampled_from(_TYPES),
        arrays.array_shapes(min_dims=0, min_side=0, max_side=5),
    ),
    st.data(),
)
def test_what_numpy_finds(array: Any, data: st.DataObject) -> None:
    shown = array
    if array.ndim:
        shown = array[data.draw(arrays.basic_indices(array.shape, allow_newaxis=True))]
    for one in (np.asarray(shown), np.asarray(shown).T):
        assert _native.has_nan(one) == bool(np.isnan(one).any())


@pytest.mark.parametrize("name", _TYPES)
@pytest.mark.parametrize("count", [1, 1023, 1024, 3000])
def test_one_in_a_long_row(name: str, count: int) -> None:
    row = np.full(count, np.inf, name)
    row[::2] = -np.inf
    assert not _native.has_nan(row)
    for place in {0, count // 2, count - 1}:
        changed = row.copy()
        changed[place] = np.nan
        assert _native.has_nan(changed)
        assert _native.has_nan(changed[::-1])


def test_parts_of_complex_numbers() -> None:
    assert _native.has_nan(np.array([1.0, complex(0, np.nan)]))
    assert not _native.has_nan(np.array([1.0, complex(0, np.inf)]))


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "datetime64[s]", "U3"])
def test_there_is_none_in_other_types(name: str) -> None:
    assert not _native.has_nan(np.zeros(3, name))


def test_unknown_floats_may_be() -> None:
    assert _native.has_nan(np.zeros(3, np.longdouble))


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="not an array of NumPy's"):
        _native.has_nan([1.0])
