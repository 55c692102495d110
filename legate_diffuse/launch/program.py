# SPDX-License-Identifier: Apache-2.0
"""Writes programs, the loop nests of a task, for ``mappers/program/program.h``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack
from typing import Any, Final, NamedTuple

from legate_diffuse.fusion.plan import NO_CODE, PlannedLaunch, PlannedNest
from legate_diffuse.fusion.root_users import Buffer
from legate_diffuse.ir.nest import RowsOf
from legate_diffuse.launch.landmarks import Filled
from legate_diffuse.launch.tiling import write_tiling
from legate_diffuse.stores.layout import Layout, whole
from legate_diffuse.stores.view import View

# As in mappers/program/program.h.
_ONE_ROW: Final = -1
NO_ROW: Final = -2
_STANDS: Final = -(2**63)
_NO_MARGIN: Final = -1
_ALL_ROWS: Final = -1


class _Written(NamedTuple):
    """A program, and the numbers with which it was written.

    ``numbers`` are those of the views that the program tells of. ``depends`` has all
    that it depends on but the scalars: layouts, each of roots of one shape, shapes, and
    kernels of nests and runs. ``places`` says after how many bytes of the program the
    scalars of each nest come, and ``times`` how often it was needed, whatever these
    were. ``others`` were needed before it, the last one first: windows of one plan may
    take turns, as layers of a network do, and levels of a multigrid.
    """

    program: bytes
    places: list[int]
    times: int
    numbers: list[int]
    depends: tuple[Any, ...]
    blocks: list[bytes]
    others: tuple[_Written, ...]


# So many programs of a launch are remembered beside the last one.
_MOST_OTHERS: Final = 7


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
        scalars: returns the scalar block of a nest.
    """
    known: _Written | None = launch.written
    numbers = _numbers(launch) if known is None else known.numbers
    depends = (
        [views[number].layout for number in numbers],
        [shapes[nest.nest.shape] for nest in launch.nests if not nest.nest.whole],
        [nest.kernel for nest in launch.nests],
        [run.kernel for run in launch.runs],
    )
    blocks = [scalars(nest.nest) if nest.nest.scalars else b"" for nest in launch.nests]
    # a loop of the program has the same ones in most iterations
    if known is not None and known.depends != depends:
        known = _earlier(known, depends)
    if known is None:
        program, places = _write(launch, views, shapes, blocks)
        last = launch.written
        others = () if last is None else _others(last)
        launch.written = _Written(program, places, 1, numbers, depends, blocks, others)
        return program
    program = known.program
    if known.blocks != blocks:
        program = _with_scalars(program, known.places, blocks)
    times = known.times + 1
    launch.written = known._replace(program=program, blocks=blocks, times=times)
    return program


def _earlier(last: _Written, depends: tuple[Any, ...]) -> _Written | None:
    """Return what was written before with the same numbers, None if nothing was."""
    for each in last.others:
        if each.depends == depends:
            rest = tuple([other for other in _others(last) if other is not each])
            return each._replace(others=rest)
    return None


def _others(last: _Written) -> tuple[_Written, ...]:
    """Return what was written before the next program."""
    return last._replace(others=()), *last.others[: _MOST_OTHERS - 1]


def _with_scalars(program: bytes, places: Sequence[int], blocks: list[bytes]) -> bytes:
    """Return a program with other scalars."""
    changed = bytearray(program)
    for place, block in zip(places, blocks, strict=True):
        changed[place : place + len(block)] = block
    return bytes(changed)


def _numbers(launch: PlannedLaunch) -> list[int]:
    """Return the numbers of the views that the program of a launch tells of."""
    if not launch.partitioned:
        return sorted(launch.views)
    return sorted(launch.views.union(launch.arguments)) if launch.tiling else []


def _write(
    launch: PlannedLaunch,
    views: list[View],
    shapes: list[Any],
    blocks: list[bytes],
) -> tuple[bytes, list[int]]:
    """Return a program, and where it has the scalars of each nest."""
    filled = Filled(launch, views)
    runs = [run for run in launch.runs if run.kernel not in (None, NO_CODE)]
    counts = len(launch.scratch), len(filled.bands), len(runs), len(launch.nests)
    tiling = launch.tiling
    parts = []
    places = []
    if tiling is not None:
        parts.append(write_tiling(tiling, views, launch.arguments))
    parts.append(pack("=4q", *counts))
    parts += [_buffer(buffer, views, filled) for buffer in launch.scratch]
    parts.append(pack(f"={len(filled.bands)}q", *filled.bands))
    for run in runs:
        parts.append(pack("=3q", run.first, len(run.code.kernels), run.kernel))
    for planned, block in zip(launch.nests, blocks, strict=True):
        nest = planned.nest
        shape = (
            views[nest.accesses[0].view.recorded].root.shape
            if nest.whole
            else shapes[nest.shape]
        )
        dim = len(shape)
        first_point = [0] * dim
        if nest.rows is not None:
            shape, first_point = _restricted(nest.rows, shape, views)
        parts += (
            pack("=q", planned.kernel),
            planned.packed or _pack_turn(planned, dim, filled),
            pack(f"={2 * dim}q", *shape, *first_point),
        )
        places.append(sum(map(len, parts)) if block else 0)
        if block:
            parts.append(block)
        for words, number in planned.plain or _operands(
            launch, planned, views, first_point
        ):
            parts.append(words)
            if number is not None:
                layout = views[number].layout
                parts.append(layout.packed or _pack(layout))
    return b"".join(parts), places


def _buffer(buffer: Buffer, views: Sequence[View], filled: Filled) -> bytes:
    root, spread = views[buffer.view].root, buffer.spread
    extents = root.shape
    if buffer.thin:
        extents = (views[buffer.view].layout.extents[0], *extents[1:])
    return pack(
        f"={5 + len(extents)}q",
        root.type.size,
        buffer.first,
        buffer.last,
        _ALL_ROWS if spread is None else filled.distance(spread),
        len(extents),
        *extents,
    )


def _operands(
    launch: PlannedLaunch,
    planned: PlannedNest,
    views: Sequence[View],
    first_point: Sequence[int],
) -> Sequence[tuple[bytes, int | None]]:
    """Return what a program says of each operand of a nest.

    Words, and the number of a view that shows the rest, if one does. They are
    remembered if they are right for all views.
    """
    nest, dim = planned.nest, len(first_point)
    found: list[tuple[bytes, int | None]] = []
    if launch.partitioned and launch.tiling is None:
        # all of the task's arguments
        same = _packed(range(dim), [0] * dim)
        planned.plain = tuple(
            [(_BASES[base] + same, None) for base in planned.operands]
        )
        return planned.plain
    stays = launch.tiling is None
    for base, access in zip(planned.operands, nest.accesses, strict=True):
        number, extent = access.view.recorded, access.view.store.rows
        root, layout = views[number].root, views[number].layout
        words: bytes = _BASES[base]
        shown: int | None = None
        if root.scalar_storage:
            low = () if launch.tiling else (0,) * len(root.shape)
            words += _packed((-1,) * dim, low)
        elif access.whole:
            words += _packed((-1,) * dim, layout.low)
            stays = False
        elif nest.whole or nest.rows or extent is not None:
            layout = whole(root.shape) if nest.whole else layout
            rows = None if extent is None else views[extent].layout
            words += _packed(layout.dims, _low(layout, first_point, rows))
            stays = False
        else:
            shown = number
        found.append((words, shown))
    if stays:
        planned.plain = tuple(found)
    return found


def _restricted(
    domain: RowsOf, shape: Sequence[int], views: Sequence[View]
) -> tuple[Sequence[int], list[int]]:
    """Return the extents of some rows of a nest, and the index of its first point.

    Raises:
        ValueError: the nest does not have the rows; in the IR its view shows all rows
            of the other view, which holds for all extents.
    """
    first = [0] * len(shape)
    if domain.loop is None:
        return shape, first
    rows = views[domain.rows].layout
    begin, count = rows.low[0], rows.extents[0]
    if domain.beside is not None:
        begin -= views[domain.beside].layout.low[0]
    if begin < 0 or begin + count > shape[domain.loop]:
        raise ValueError("a nest has not the rows that are computed again")
    first[domain.loop] = begin
    return [*shape[: domain.loop], count, *shape[domain.loop + 1 :]], first


def _low(
    layout: Layout, first: Sequence[int], extent: Layout | None
) -> tuple[int, ...]:
    """Return where in its store a view begins whose first points are left out.

    The store has the rows that ``extent`` shows of its root, or all of them.

    Raises:
        ValueError: the view shows an earlier row than the store has.
    """
    low = list(layout.low)
    for dim, index in zip(layout.dims, first, strict=True):
        if dim >= 0:
            low[dim] += index
    if extent is not None:
        low[0] -= extent.low[0]
        if low[0] < 0:
            raise ValueError("a view shows rows that its store does not have")
    return tuple(low)


def _pack_turn(planned: PlannedNest, dim: int, filled: Filled) -> bytes:
    """Return what a program says of a nest and its turn, and remember what stays."""
    turn = planned.turn
    distances = [
        None if rows is None else filled.distance(rows) for rows in turn.distances
    ]
    before, after = _NO_MARGIN, 0
    if turn.margin is not None:
        before = filled.time(turn.margin.before)
        after = filled.time(turn.margin.after)
    packed = pack(
        f"={8 + len(distances)}q",
        len(distances),
        sum([access.changes for access in turn.nest.accesses]),
        dim,
        len(turn.nest.scalars),
        rows_of(turn.row_loop, distances),
        filled.time(turn.shift),
        before,
        after,
        *(_STANDS if distance is None else distance for distance in distances),
    )
    if not turn.landmarks:
        planned.packed = packed
    return packed


def rows_of(row_loop: int | None, distances: Sequence[int | None]) -> int:
    """Return what a program has for a nest's dimension along rows."""
    if row_loop is not None:
        return row_loop
    return NO_ROW if set(distances) == {None} else _ONE_ROW


class _Bases(dict[int, bytes]):
    def __missing__(self, base: int) -> bytes:
        packed = self[base] = pack("=q", base)
        return packed


_BASES = _Bases()


def _pack(layout: Layout) -> bytes:
    """Return an operand without its base, and remember it."""
    layout.packed = _packed(layout.dims, layout.low)
    return layout.packed


def _packed(dims: Sequence[int], low: Sequence[int]) -> bytes:
    return pack(f"={1 + len(dims) + len(low)}q", len(low), *dims, *low)
