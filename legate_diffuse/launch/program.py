# SPDX-License-Identifier: Apache-2.0
"""Writes programs, the loop nests of a task, for ``mappers/program/program.h``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import pack
from typing import Any

from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.ir.privilege import REDUCE, WRITE
from legate_diffuse.stores.layout import Layout
from legate_diffuse.stores.view import View


def write_program(
    launch: PlannedLaunch,
    views: list[View],
    shapes: list[Any],
    scalars: Callable[[Any], bytes],
) -> bytes:
    """Return the program of a launch over concrete views.

    Args:
        launch: what to run.
        views: the window's views, by number.
        shapes: the window's shapes, by number.
        scalars: returns the scalar block of a lowered nest.
    """
    parts = [pack("=2q", len(launch.scratch), len(launch.nests))]
    for number, first, last in launch.scratch:
        root = views[number].root
        extents = root.shape
        parts.append(
            pack(
                f"={4 + len(extents)}q",
                root.type.size,
                first,
                last,
                len(extents),
                *extents,
            )
        )
    for nest in launch.nests:
        lowered = nest.lowered
        shape = shapes[lowered.shape]
        dim = len(shape)
        block = scalars(lowered)
        parts.append(
            pack(
                f"={5 + dim}q",
                nest.kernel,
                len(nest.operands),
                sum(p & (WRITE | REDUCE) != 0 for p in lowered.privileges),
                dim,
                len(lowered.scalars),
                *shape,
            )
        )
        if block:
            parts.append(block)
        if launch.partitioned:
            parts.append(_all_of_each(len(nest.operands), dim))
            continue
        for base, number in zip(nest.operands, lowered.arguments, strict=True):
            parts.append(_BASES[base])
            view = views[number]
            layout = view.layout
            if view.root.scalar_storage:
                parts.append(_repeated(len(layout.low), dim))
            else:
                parts.append(layout.packed or _pack(layout))
    return b"".join(parts)


class _Bases(dict[int, bytes]):
    def __missing__(self, base: int) -> bytes:
        packed = self[base] = pack("=q", base)
        return packed


_BASES = _Bases()


def _pack(layout: Layout) -> bytes:
    """Return an operand without its base, and remember it."""
    dims, low = layout.dims, layout.low
    layout.packed = pack(f"={1 + len(dims) + len(low)}q", len(low), *dims, *low)
    return layout.packed


@cache
def _all_of_each(count: int, dim: int) -> bytes:
    """Return operands that are all of the task's arguments."""
    along, origin = range(dim), [0] * dim
    operands = [(number, dim, *along, *origin) for number in range(count)]
    return b"".join([pack(f"={len(words)}q", *words) for words in operands])


@cache
def _repeated(root_dim: int, dim: int) -> bytes:
    """Return the operand of a one-element root that repeats over a nest."""
    return pack(f"={1 + dim + root_dim}q", root_dim, *[-1] * dim, *[0] * root_dim)
