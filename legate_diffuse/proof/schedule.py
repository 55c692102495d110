# SPDX-License-Identifier: Apache-2.0
"""Runs programs as threads do: nest by nest, by blocks of rows, and in tiles.

The native schedule (``mappers/program/schedule.h``) finds the sizes of blocks and tiles
from caches; here they are given, and any are right. What follows from the words is
found here anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from legate_diffuse.proof.buffers import Buffer, RefutedError, Ring
from legate_diffuse.proof.nest import Machine, Setting
from legate_diffuse.proof.words import ALL_ROWS, NO_MARGIN, STANDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from legate_diffuse.proof.symbols import Symbols
    from legate_diffuse.proof.words import Nest, Program


# Of so many launches a way says which are replayed.
PERIOD: Final = 6


@dataclass(frozen=True, slots=True)
class Way:
    """How a program is run.

    Attributes:
        block: the rows of a block; 0 if nests run one after the other.
        tiles: how many tiles threads take; 1 if they share the rows of a block.
        backwards: whether the last tile comes first.
        most_nests: how many nests a band has at most; it is cut where it has more.
        replays: a bit for each of `PERIOD` launches, and again for those that follow:
            where it is 1 the original tasks run, as where kernels are not there yet.
        defers: what may wait runs at the very end.
    """

    block: int = 0
    tiles: int = 1
    backwards: bool = False
    most_nests: int = 1 << 30
    replays: int = 0
    defers: bool = False


@dataclass(frozen=True, slots=True)
class _Member:
    """A nest of a band, and where it lies on the axis of the rows."""

    number: int
    nest: Nest
    first_row: int

    @property
    def num_rows(self) -> int:
        return 1 if self.nest.rows < 0 else self.nest.extents[self.nest.rows]

    @property
    def shift(self) -> int:
        return self.first_row + self.nest.shift


class ProgramRun:
    """A program over the buffers of its arguments, and a way to run it."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[Buffer],
        setting: Setting,
        way: Way,
    ) -> None:
        self.program = program
        self.setting = setting
        self.way = way
        self.buffers = dict(enumerate(arguments))
        for place, scratch in enumerate(program.buffers):
            name = f"scratch buffer {place}"
            elements = setting.poison.fresh(scratch.extents)
            self.buffers[~place] = Buffer(elements, name)

    def run(self) -> None:
        """Run it.

        Raises:
            RefutedError: it does what no program may do.
        """
        first = 0
        origins: dict[int, int] = {}
        for own in self.program.bands:
            count = abs(own)
            if own > 0:
                origins.clear()
            members = self._placed(first, count, origins)
            if members is None or not self.way.block:
                for number in range(first, first + count):
                    self._alone(number, self.program.nests[number])
            else:
                most = self.way.most_nests
                for begin in range(0, count, most):
                    self._band(members[begin : begin + most])
            first += count

    def _alone(self, number: int, nest: Nest) -> None:
        self._check_lives(number, nest)
        Machine(self.buffers, self.setting).run(nest)

    def _check_lives(self, number: int, nest: Nest) -> None:
        for operand in nest.operands:
            if operand.base >= 0:
                continue
            if ~operand.base >= len(self.program.buffers):
                raise RefutedError("a nest uses a scratch buffer that is not there")
            scratch = self.program.buffers[~operand.base]
            if not scratch.first_nest <= number <= scratch.last_nest:
                raise RefutedError("a nest uses a scratch buffer outside of its life")

    def _placed(
        self, first: int, count: int, origins: dict[int, int]
    ) -> list[_Member] | None:
        """Return where the nests of a band lie on an axis, None if in no way.

        They run one after the other then, as those of tiles do (program_runner.cc).
        ``origins`` has, by base, where the first rows of stores are that others have
        laid there.
        """
        found = []
        for number in range(first, first + count):
            nest = self.program.nests[number]
            moving = [
                (operand.base, operand.low[0] - distance)
                for operand, distance in zip(nest.operands, nest.distances, strict=True)
                if distance != STANDS
            ]
            known = [origins[base] + low for base, low in moving if base in origins]
            row = known[0] if known else moving[0][1] if moving else 0
            for base, low in moving:
                if origins.setdefault(base, row - low) != row - low:
                    return None
            found.append(_Member(number, nest, row))
        return found

    # -- bands -------------------------------------------------------------------
    def _band(self, members: Sequence[_Member]) -> None:
        for member in members:
            self._check_lives(member.number, member.nest)
        tiled = next((m for m in members if m.nest.rows >= 0), None)
        if len(members) == 1 or tiled is None:
            for member in members:
                self._alone(member.number, member.nest)
            return
        count, margins = self._tiles(members, tiled)
        buffers = self._with_rings(members, count, margins, tiled)
        machine = Machine(buffers, self.setting)
        if count == 1:
            self._run_blocks(machine, members, [(0, m.num_rows) for m in members], {})
        else:
            self._run_tiles(machine, members, count, margins, tiled)

    def _run_blocks(
        self,
        machine: Machine,
        members: Sequence[_Member],
        rows: Sequence[tuple[int, int]],
        partials: Mapping[int, Mapping[int, Symbols]],
    ) -> None:
        """Let nests take turns on blocks of their rows, from one to another each."""
        own = [
            (m, begin, end)
            for m, (begin, end) in zip(members, rows, strict=True)
            if begin < end
        ]
        if not own:
            return
        start = min(m.shift + begin for m, begin, _ in own)
        finish = max(m.shift + end for m, _, end in own)
        for time in range(start, finish, self.way.block):
            for member, low, high in own:
                begin = max(time - member.shift, low)
                end = min(time + self.way.block - member.shift, high)
                if begin < end:
                    nest = member.nest
                    shares = partials.get(member.number)
                    machine.run(nest, nest.rows, begin, end, shares)

    # -- tiles -------------------------------------------------------------------
    def _tiles(
        self, members: Sequence[_Member], tiled: _Member
    ) -> tuple[int, list[tuple[int, int]]]:
        """Return how many tiles a band has, and where its nests begin and end there.

        Positions are rows of the nest, from where the tile begins or ends.
        """
        nothing = [(0, 0)] * len(members)
        if self.way.tiles == 1 or not all(map(self._may_be_shared, members)):
            return 1, nothing
        least = (
            min(m.nest.before for m in members),
            min(m.nest.after for m in members),
        )
        margins = []
        for member in members:
            apart = tiled.first_row - member.first_row
            begin = apart + member.nest.before - least[0]
            end = apart - member.nest.after + least[1]
            margins.append((begin, end))
        # the native schedule has four times as many rows in a tile
        width = max(1, *(begin - end for begin, end in margins))
        count = min(self.way.tiles, tiled.num_rows // width)
        return (count, margins) if count > 1 else (1, nothing)

    def _may_be_shared(self, member: _Member) -> bool:
        nest = member.nest
        if nest.before == NO_MARGIN:
            return False
        if nest.rows < 0:
            return True
        kernel = self.setting.kernels[nest.kernel]
        return all(
            operand.dims[nest.rows] >= 0
            or (argument.reduces is not None and set(operand.dims) == {-1})
            for operand, argument in zip(
                nest.operands[: nest.num_written], kernel.arguments, strict=False
            )
        )

    def _run_tiles(
        self,
        machine: Machine,
        members: Sequence[_Member],
        count: int,
        margins: Sequence[tuple[int, int]],
        tiled: _Member,
    ) -> None:
        partials = {
            member.number: {
                number: np.zeros((), dtype=np.uint64)
                for number, operand in enumerate(member.nest.operands)
                if self.setting.kernels[member.nest.kernel].arguments[number].reduces
                and set(operand.dims) <= {-1}
            }
            for member in members
            if member.nest.rows >= 0
        }

        def before(member: _Member, tile: int, margin: int) -> int:
            if tile in (0, count):
                return member.num_rows if tile else 0
            place = tiled.num_rows * tile // count + margin
            return min(max(place, 0), member.num_rows)

        tiles = range(count - 1, -1, -1) if self.way.backwards else range(count)
        for tile in tiles:
            rows = [
                (before(member, tile, begin), before(member, tile + 1, end))
                for member, (begin, end) in zip(members, margins, strict=True)
            ]
            self._run_blocks(machine, members, rows, partials)
        seams = [tile for tile in tiles if tile + 1 < count]
        for tile in seams:
            for member, (begin, end) in zip(members, margins, strict=True):
                low = before(member, tile + 1, end)
                high = before(member, tile + 1, begin)
                if low < high:
                    nest, shares = member.nest, partials.get(member.number)
                    machine.run(nest, nest.rows, low, high, shares)
        for member in members:
            for number, total in partials.get(member.number, {}).items():
                operand = member.nest.operands[number]
                target = machine.buffers[operand.base].elements
                target[operand.low] += total

    def _with_rings(
        self,
        members: Sequence[_Member],
        count: int,
        margins: Sequence[tuple[int, int]],
        tiled: _Member,
    ) -> dict[int, Buffer]:
        """Return the buffers, with those of the band as short as they may be."""
        found = dict(self.buffers)
        for place, scratch in enumerate(self.program.buffers):
            uses = [
                (member, margin, operand.low[0])
                for member, margin in zip(members, margins, strict=True)
                for operand, distance in zip(
                    member.nest.operands, member.nest.distances, strict=True
                )
                if operand.base == ~place and distance != STANDS
            ]
            within = (
                members[0].number <= scratch.first_nest
                and scratch.last_nest <= members[-1].number
            )
            if scratch.spread == ALL_ROWS or not uses or not within:
                continue
            ring = Ring(self.way.block + scratch.spread)
            if count > 1:
                begin = min(end + low for _, (_, end), low in uses)
                seam = max(begin_ + low for _, (begin_, _), low in uses) - begin
                if seam > tiled.num_rows // count:
                    continue
                ring = Ring(ring.rows, count, tiled.num_rows, begin, seam)
            if ring.num_places < scratch.extents[0]:
                shape = ring.num_places, *scratch.extents[1:]
                name = f"circular buffer {place}"
                elements = self.setting.poison.fresh(shape)
                found[~place] = Buffer(elements, name, ring=ring)
        return found
