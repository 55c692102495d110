# SPDX-License-Identifier: Apache-2.0
"""Programs whose distances are numbers, as a launch has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from legate_diffuse.ir.distance import Landmark, at
from legate_diffuse.ir.nest import Band, Margin, Program, Turn


def filled(program: Program, low_and_high: Callable[[int, int], list[int]]) -> Program:
    """Return a program without landmarks.

    ``low_and_high`` returns the first row that an access of a nest touches, and the one
    behind the last; it is given the numbers of both.
    """
    positions: dict[Landmark, int] = {}
    for nest in program.nests:
        for number, view in enumerate(nest.views):
            if not view.region:
                continue
            ends = zip(
                view.region[0][:2], low_and_high(nest.number, number), strict=True
            )
            for end, row in ends:
                positions[view.store.id, end.landmark] = row - end.offset

    def turn(one: Turn) -> Turn:
        margin = one.margin
        return replace(
            one,
            shift=at(one.shift, positions),
            distances=tuple(
                None if rows is None else at(rows, positions) for rows in one.distances
            ),
            margin=margin
            and Margin(at(margin.before, positions), at(margin.after, positions)),
        )

    return Program(
        tuple(
            Band(
                tuple(map(turn, band.turns)),
                tuple((store, at(rows, positions)) for store, rows in band.circular),
            )
            for band in program.bands
        )
    )
