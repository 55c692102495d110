# SPDX-License-Identifier: Apache-2.0
"""What looks at many elements at a time finds what NumPy finds.

Loops over blocks and lanes have ends, and NaN may be anywhere.
"""

from __future__ import annotations

import cupynumeric as cn
import numpy as np
import pytest
from comparison import same

# Around the sizes of lanes and blocks.
SIZES = (2, 63, 64, 65, 129, 255, 256, 511, 640)
TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")
GENERATOR = np.random.default_rng(5)


def arrays(dtype: str) -> list[np.ndarray]:
    """Return arrays with elements that stand out at each end, and at none."""
    found = []
    for size in SIZES:
        for place in (None, 0, size // 2, size - 1):
            array = np.zeros(size, dtype)
            if place is not None:
                array[place] = 1
            found += [array, 1 - array if dtype != "bool" else ~array]
    return found


@pytest.mark.parametrize("dtype", TYPES)
def test_elements_are_found_and_counted(dtype: str) -> None:
    for array in arrays(dtype):
        ours = cn.array(array)
        # the original finds no least of the least numbers of these
        names = () if dtype in ("uint8", "bool") else ("argmax", "argmin")
        for name in ("any", "all", *names):
            same(getattr(ours, name)(), getattr(array, name)())
        assert int(cn.count_nonzero(ours)) == np.count_nonzero(array)


@pytest.mark.parametrize("dtype", ("float64", "float32"))
def test_nan_is_no_extreme_and_no_zero(dtype: str) -> None:
    for size in SIZES:
        for place in (0, size // 2, size - 1):
            array = np.zeros(size, dtype)
            array[place] = np.nan
            array[size - 1 - place] += 1.0
            ours = cn.array(array)
            assert bool(ours.any()) and bool(ours.all()) == bool(array.all())
            assert int(cn.count_nonzero(ours)) == np.count_nonzero(array)
            # the original's answer where there is NaN is not NumPy's
            array[place] = -1.0
            same(cn.array(array).argmax(), array.argmax())
            same(cn.array(array).argmin(), array.argmin())


@pytest.mark.parametrize("dtype", ("int64", "int32", "uint32"))
@pytest.mark.parametrize("size", (511, 512, 20_000, 60_000))
def test_places_of_equal_integers_stay_in_order(dtype: str, size: int) -> None:
    limits = np.iinfo(dtype)
    near = GENERATOR.integers(0, 9, size).astype(dtype)
    all_there_are = GENERATOR.integers(limits.min, limits.max, size, dtype)
    for array in (near, near + limits.max - 9, near + limits.min, all_there_are):
        array = np.sort(array.astype(dtype))[GENERATOR.permutation(size)]
        same(cn.array(array).argsort(), np.argsort(array, kind="stable"))


@pytest.mark.parametrize("dtype", ("float64", "float32"))
@pytest.mark.parametrize("size", (1023, 1024, 1025, 3_000, 20_000))
def test_places_of_equal_floats_stay_in_order(dtype: str, size: int) -> None:
    many = GENERATOR.random(size)
    few = np.round(many * 9.0) - 4.0
    pairs = np.repeat(many[: size // 2 + 1], 2)[:size][GENERATOR.permutation(size)]
    few[few == 0.0] *= np.where(GENERATOR.random((few == 0.0).sum()) < 0.5, -1.0, 1.0)
    for each in (many, few, pairs, np.zeros(size), np.sort(many)[::-1].copy()):
        array = each.astype(dtype)
        same(cn.array(array).argsort(), np.argsort(array, kind="stable"))
        for axis in (0, 1, None):
            rows = np.stack((array, many.astype(dtype), array))
            wanted = np.argsort(rows, axis, kind="stable")
            same(cn.argsort(cn.array(rows), axis), wanted)


def test_places_outside_are_refused() -> None:
    x = cn.arange(12.0)
    rows = cn.arange(12.0).reshape(4, 3)
    inside = np.array([-4, 3, 0, 1, -1])
    for array in (x, rows, cn.arange(12)):
        same(array[cn.array(inside)], np.asarray(array)[inside])
        for outside in (array.shape[0], -array.shape[0] - 1):
            places = np.append(inside, outside)
            with pytest.raises((IndexError, ValueError)):
                np.asarray(array[cn.array(places)])
            same(array[cn.array(inside)], np.asarray(array)[inside])


def test_numpy_writes_to_no_array_that_it_reads() -> None:
    """It gets the memory of large arrays as it is."""
    values = GENERATOR.random(80_000)
    places = GENERATOR.integers(0, 500, values.size)
    x, at = cn.array(values), cn.array(places)
    for _ in range(3):
        # the original adds in another order
        sums = np.asarray(cn.bincount(at, weights=x))
        np.testing.assert_allclose(sums, np.bincount(places, weights=values))
        same(cn.bincount(at), np.bincount(places))
        same(cn.sort(x), np.sort(values))
        same(cn.partition(x, 9), np.sort(values))
        same(cn.median(x), np.median(values))
        same(cn.unique(at), np.unique(places))
        same(x[at], values[places])
        same(cn.take(x, at), values[places])
        same(x, values)
        same(at, places)
