# SPDX-License-Identifier: Apache-2.0
"""With which extents, and in which ways, plans are run to be proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from legate_diffuse.proof.extents import SmallInstances, Wanted
from legate_diffuse.proof.schedule import Way

if TYPE_CHECKING:
    from legate_diffuse.ir.window import Window
    from legate_diffuse.proof.validator import Case

IN_ORDER: Final = Way(tiles=2)
BY_ROWS: Final = Way(block=1, defers=True)
IN_TILES: Final = Way(block=3, tiles=3)
IN_TILES_BACKWARDS: Final = Way(block=5, tiles=2, backwards=True)
IN_SHORT_BANDS: Final = Way(block=4, most_nests=2)
IN_LARGE_TILES: Final = Way(block=16, tiles=3)
"""What costs little with many rows."""

# Of any two of six launches each is replayed once where the other one is not.
REPLAYED: Final = tuple(
    Way(replays=bits, defers=True) for bits in (0b000111, 0b011001, 0b101010, 0b110100)
)

LEAST: Final = Wanted(0, 0, "the least extents")
ONE_MORE: Final = Wanted(1, 1, "one more row")
FEW_MORE: Final = Wanted(6, 4, "few more rows")
MANY_ROWS: Final = Wanted(49, 3, "many rows")

# Landmarks that are not far away as ``launch/landmarks.py`` says.
NEAR_LANDMARKS: Final = Wanted(1400, 1, "landmarks that are near", most=1600)

Ways = Mapping[Wanted, tuple[Way, ...]]
ALL_WAYS: Final[Ways] = {
    LEAST: (IN_ORDER, BY_ROWS),
    FEW_MORE: (IN_TILES, IN_SHORT_BANDS),
    MANY_ROWS: (IN_TILES, IN_TILES_BACKWARDS),
}
"""All that every plan is run with in tests."""

WITH_LANDMARKS: Final[Ways] = {NEAR_LANDMARKS: (Way(block=50, tiles=2),)}
"""What a plan is run with, too, whose numbers depend on landmarks."""

SEVERAL_LAUNCHES: Final[Ways] = {ONE_MORE: REPLAYED}
"""What a plan of several launches is run with, too."""

ONE_WAY: Final[Ways] = {FEW_MORE: (IN_TILES,)}
"""What costs least: most faults are noticed with any extents."""


def all_ways(launches: Sequence[Any]) -> Ways:
    """Return all that a plan of these launches is run with in tests."""
    ways = dict(ALL_WAYS)
    if all(len(launch.nests) < 2 and launch.tiling is None for launch in launches):
        # nothing takes turns on rows
        del ways[MANY_ROWS]
    if len(launches) > 1:
        ways |= SEVERAL_LAUNCHES
    if any(launch.landmarks for launch in launches):
        ways |= WITH_LANDMARKS
    return ways


def small_cases(
    window: Window, num_views: int, num_shapes: int, ways: Ways = ALL_WAYS
) -> Iterator[Case]:
    """Yield a window with small extents, and in which ways it is run then.

    Nothing if there are no extents for which all relations of its views hold.

    Args:
        window: the window.
        num_views: how many views its key has; some may be alike.
        num_shapes: how many shapes its key has.
        ways: with which extents to run it, and how.
    """
    small = SmallInstances(window, num_views, num_shapes)
    found: dict[int, Case] = {}
    for wanted, of_instance in ways.items():
        instance = small.find(wanted)
        if instance is not None:
            _, before = found.get(id(instance), (instance, ()))
            found[id(instance)] = instance, (*before, *of_instance)
    yield from found.values()
