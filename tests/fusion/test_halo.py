# SPDX-License-Identifier: Apache-2.0
"""What points share of a launch, on any number of processors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from halo import mean_of, share_of, tile_of
from window_reader import parse

from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

# b[1:-1] = a[:-2] + a[2:] and c[1:-1] = b[:-2] + b[2:], of rows; b is temporary
WINDOW = """
store %0 float64 live
store %1 float64 undefined
store %2 float64 live
view %1.0 shape 0 many [1:-1, :]
view %0.1 shape 0 many [:-2, :]
view %0.2 shape 0 many [2:, :]
view %2.3 shape 0 many [1:-1, :]
view %1.4 shape 0 many [:-2, :]
view %1.5 shape 0 many [2:, :]
BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %1.0, read %0.1, read %0.2
BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %2.3, read %1.4, read %1.5
"""

# twice: x[1:-1] = y[:-2] + y[2:], x[0] = x[1], x[-1] = x[-2]; the first x is temporary
WALLS = """
store %0 float64 live
store %1 float64 undefined
store %2 float64 live
view %1.0 shape 0 many [1:-1, :]
view %0.1 shape 0 many [:-2, :]
view %0.2 shape 0 many [2:, :]
view %1.3 shape 1 many [0, :]
view %1.4 shape 1 many [1, :]
view %1.5 shape 1 many [-1, :]
view %1.6 shape 1 many [-2, :]
view %2.7 shape 0 many [1:-1, :]
view %1.8 shape 0 many [:-2, :]
view %1.9 shape 0 many [2:, :]
view %2.10 shape 1 many [0, :]
view %2.11 shape 1 many [1, :]
view %2.12 shape 1 many [-1, :]
view %2.13 shape 1 many [-2, :]
BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %1.0, read %0.1, read %0.2
COPY(float64) -> (float64) shape 1: write %1.3, read %1.4
COPY(float64) -> (float64) shape 1: write %1.5, read %1.6
BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %2.7, read %1.8, read %1.9
COPY(float64) -> (float64) shape 1: write %2.10, read %2.11
COPY(float64) -> (float64) shape 1: write %2.12, read %2.13
"""


def test_walls_add_a_row_once() -> None:
    (launch,) = make_plan(parse(WALLS), MEANINGS).launches
    assert launch.tiling is not None
    along_rows = [each.halos[0] for each in launch.tiling.arguments]
    # a row for each sweep, and the one that the last walls show
    assert max(halo.width for halo in along_rows) == 3


def test_tiles_are_rows_where_there_are_many() -> None:
    rows = tile_of(4096, 2, 16, beyond=4)
    assert rows[0] == 256
    assert tile_of(4096, 2, 256, beyond=4) == (256, 256)
    assert tile_of(4096, 1, 1024, beyond=4) == (4,)


@pytest.mark.parametrize(("processors", "rows"), [(2, 512), (16, 64), (64, 128)])
def test_shares_follow_from_distances(processors: int, rows: int) -> None:
    launches = make_plan(parse(WINDOW), MEANINGS).launches
    (launch,) = [each for each in launches if each.fused]
    share = share_of(launch, 1024, processors)
    assert share is not None
    # two rows on either side of a, none of c; the first nest runs one on either side
    assert share.read == pytest.approx((4 / rows + 0) / 2)
    assert share.computed == pytest.approx((2 / rows + 0) / 2)
    assert mean_of(launches, 1024, processors) == share
    assert mean_of(launches, 1024, 1) == (0, 0)
