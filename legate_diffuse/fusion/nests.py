# SPDX-License-Identifier: Apache-2.0
"""Lowered groups of tasks -> loop nests of the IR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from legate_diffuse.fusion.lowering import LoweredNest
from legate_diffuse.ir import Access, Points, Privilege, View
from legate_diffuse.ir.distance import Rows
from legate_diffuse.ir.nest import Nest, Turn
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.ir.region import REPEATED, SINGLE
from legate_diffuse.ir.task import ALL


def nests_of(
    lowered: Sequence[LoweredNest], views: Mapping[int, View]
) -> tuple[Nest, ...]:
    """Return the nests that kernels run over, with the arguments in their order."""
    return tuple(_nest(number, nest, views) for number, nest in enumerate(lowered))


def _nest(number: int, lowered: LoweredNest, views: Mapping[int, View]) -> Nest:
    own = [views[argument] for argument in lowered.arguments]
    # one-element stores may have another shape
    like = next((view for view in own if view.shape == lowered.shape), own[0])
    arguments = zip(own, lowered.privileges, lowered.kernel.arguments, strict=True)
    return Nest(
        number,
        lowered.shape,
        like.points,
        tuple(
            access
            for view, privilege, argument in arguments
            for access in _accesses(
                over(like, view, whole=argument.whole),
                privilege,
                ALL if argument.whole else argument.reduces or "",
            )
        ),
        lowered.told,
        part=lowered.part is not None,
    )


def distances_of(lowered: LoweredNest, turn: Turn) -> tuple[Rows | None, ...]:
    """Return how far each argument of a nest is from its row, where it moves along."""
    found = []
    position = 0
    for privilege in lowered.privileges:
        found.append(turn.distances[position])
        position += privilege.bit_count()
    return tuple(found)


def _accesses(view: View, privilege: int, operator: str) -> Iterator[Access]:
    if privilege & WRITE:
        yield Access(Privilege.WRITE, view)
    if privilege & REDUCE:
        yield Access(Privilege.REDUCE, view, operator)
    if privilege & READ:
        yield Access(Privilege.READ, view, operator if operator == ALL else "")


def over(like: View, view: View, *, whole: bool = False) -> View:
    """Return a view over the loops of a nest.

    One-element stores repeat, and what each point may read all of.
    """
    if view.shape == like.shape and not whole:
        return view
    along = REPEATED if like.points is Points.MANY else SINGLE
    dims = (along,) * len(like.dims)
    return replace(view, shape=like.shape, points=like.points, dims=dims)
