#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much points read and compute beyond their tiles, on up to 2^20 processors.

Each processor has as many elements on any machine, those of the programs' large sizes
(weak scaling). Nothing of that size is run: tiles are read off the plans, which do not
know the number of processors, and shares follow from distances. Points have parts of
all rows where these are many, else blocks (``mappers/mapper/tile_task.cc``).
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from applications import APPLICATIONS

from legate_diffuse.fusion.halo import Halo
from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from window_reader import parse

# Those whose points need what others have.
PROGRAMS: Final = (
    "stencil",
    "cg",
    "bicgstab",
    "heat",
    "channel_flow",
    "shallow_water",
    "multigrid",
)
PROCESSORS: Final = (1, 2**5, 2**10, 2**15, 2**20)
# As in mappers/mapper/tile_task.cc.
SMALL_SHARE: Final = 8
_WINDOW: Final = re.compile(r"^# window\n((?:(?!# ).*\n)*)", re.MULTILINE)


class Share(NamedTuple):
    """Elements beyond tiles for each element in them, at a point that has neighbours.

    Those that are read of the arguments, and those that the nests compute again.
    """

    read: float
    computed: float


def tile_of(
    side: int, dimensions: int, processors: int, beyond: int
) -> tuple[float, ...]:
    """Return the extents of a point's tile of an array with equal sides."""
    if side >= processors * beyond * SMALL_SHARE:
        return (side / processors, *[math.inf] * (dimensions - 1))
    return (side / processors ** (1 / dimensions),) * dimensions


def share_of(launch: PlannedLaunch, side: int, processors: int) -> Share | None:
    """Return what the points of a launch share, None if it has one nest only."""
    tiling = launch.tiling
    if tiling is None:
        return None
    if processors == 1:
        return Share(0.0, 0.0)
    arguments = [each.halos for each in tiling.arguments if each.dims]
    nests = [tuple(Halo(part.low, part.high) for part in nest) for nest in tiling.nests]
    beyond = max([1, *(halos[0].high - halos[0].low for halos in arguments)])
    tile = tile_of(side, len(tiling.axes), processors, beyond)
    return Share(_mean(arguments, tile), _mean(nests, tile))


def _mean(of_each: Sequence[Sequence[Halo]], tile: Sequence[float]) -> float:
    beyond = [
        math.prod(
            1 + (halo.high - halo.low) / extent
            for halo, extent in zip(halos, tile, strict=True)
        )
        - 1
        for halos in of_each
    ]
    return sum(beyond) / max(len(beyond), 1)


def windows_of(program: str) -> Iterator[str]:
    """Yield the windows of a program on partitioned data, as text."""
    known = APPLICATIONS[program]
    script = Path(__file__).parent / "apps" / f"{program}.py"
    done = subprocess.run(
        [
            *[sys.executable, str(script), "--package", "cupynumeric"],
            *["--size", str(known.quick), "--iterations", "2", "--batches", "3"],
            *known.options,
        ],
        env=os.environ
        | {
            "LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 500",
            "LEGATE_TEST": "1",
            "LEGATE_DIFFUSE": "1",
            "LEGATE_DIFFUSE_DRIVER_STUB": "1",
            "LEGATE_DIFFUSE_DUMP": "pass",
            "LEGATE_DIFFUSE_SMALL_BYTES": "0",
            "LEGATE_DIFFUSE_THREADS": "1",
        },
        check=True,
        capture_output=True,
        text=True,
    )
    yield from _WINDOW.findall(done.stderr)


def num_tiled(launches: Sequence[PlannedLaunch]) -> int:
    """Return how many nests are in launches whose points share something."""
    return sum(len(each.nests) for each in launches if each.tiling is not None)


def mean_of(launches: Sequence[PlannedLaunch], side: int, processors: int) -> Share:
    """Return the mean of the launches' shares, by the nests that they have."""
    read = computed = 0.0
    for each in launches:
        share = share_of(each, side, processors)
        if share is not None:
            read += share.read * len(each.nests)
            computed += share.computed * len(each.nests)
    nests = max(num_tiled(launches), 1)
    return Share(read / nests, computed / nests)


def main() -> None:
    """Print a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", default=PROGRAMS)
    programs = parser.parse_args().program
    if unknown := sorted(set(programs) - set(PROGRAMS)):
        parser.error(f"no program {unknown[0]}; there are {', '.join(PROGRAMS)}")
    columns = [f"{number:,}" for number in PROCESSORS]
    print(f"| program | side for each | {' | '.join(columns)} |")
    print(f"|---|---:|{'---:|' * len(columns)}")
    for program in programs:
        known = APPLICATIONS[program]
        plans = [make_plan(parse(text), MEANINGS) for text in windows_of(program)]
        # the window that holds most of an iteration
        launches = max((plan.launches for plan in plans), key=num_tiled)
        cells = []
        for processors in PROCESSORS:
            side = round(known.large * processors ** (1 / known.dimensions))
            found = mean_of(launches, side, processors)
            cells.append(f"{100 * found.read:.1f} / {100 * found.computed:.1f}")
        print(f"| {program} | {known.large:,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
