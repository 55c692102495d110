# SPDX-License-Identifier: Apache-2.0
"""Runs some rows of a loop nest, whose points may come in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from legate_diffuse.proof.buffers import Box, Buffer, RefutedError, alike, overlap
from legate_diffuse.proof.kernels import Body, Numbers
from legate_diffuse.proof.symbols import spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from legate_diffuse.proof.symbols import Poison, Symbols
    from legate_diffuse.proof.words import Nest


@dataclass(frozen=True)
class Setting:
    """What the programs of a launch run with.

    Attributes:
        kernels: by number.
        numbers: what rows and columns are.
        poison: for what nobody has written.
    """

    kernels: Mapping[int, Body]
    numbers: Numbers
    poison: Poison


@dataclass(frozen=True)
class Machine:
    """What nests run on: the buffers of arguments, and then scratch buffers.

    The latter are numbered from -1 downwards.
    """

    buffers: Mapping[int, Buffer]
    setting: Setting

    def run(
        self,
        nest: Nest,
        loop: int = -1,
        begin: int = 0,
        end: int = 1,
        partials: Mapping[int, Symbols] | None = None,
    ) -> None:
        """Run the points of a nest; some of its rows if it has a loop along them.

        Args:
            nest: what to run.
            loop: along the rows, or less than 0.
            begin: the first row, counted from the nest's.
            end: the row after the last one.
            partials: by argument of the kernel, what is reduced to instead of it.

        Raises:
            RefutedError: it touches what it may not, or the result depends on the
                order of the points.
        """
        extents, offset = list(nest.extents), [0] * len(nest.extents)
        if loop >= 0:
            extents[loop], offset[loop] = end - begin, begin
        if 0 in extents:
            return
        if nest.kernel not in self.setting.kernels:
            raise RefutedError("a nest has a kernel that is not there")
        kernel = self.setting.kernels[nest.kernel]
        boxes = self._boxes(nest, kernel, offset, extents)
        self._check(nest, kernel, boxes, extents)
        results = kernel.run(
            lambda n: self._load(nest, kernel, boxes, n),
            [np.asarray(np.uint64(each & (2**64 - 1))) for each in nest.scalars[::2]],
            [one + more for one, more in zip(nest.first, offset, strict=True)],
            extents,
            self.setting.numbers,
        )
        for number, values in results.written.items():
            buffer = self.buffers[nest.operands[number].base]
            buffer.store(boxes[number], nest.operands[number], spread(values, extents))
        for number, values in results.reduced.items():
            everywhere = spread(values, extents)
            if partials is not None and number in partials:
                partials[number][...] += everywhere.sum(dtype=np.uint64)
                continue
            buffer = self.buffers[nest.operands[number].base]
            buffer.add(boxes[number], nest.operands[number], everywhere)

    def _boxes(
        self,
        nest: Nest,
        kernel: Body,
        first: Sequence[int],
        extents: Sequence[int],
    ) -> list[Box]:
        if len(kernel.arguments) != len(nest.operands):
            raise RefutedError("a nest has not the operands of its kernel")
        if any(operand.base not in self.buffers for operand in nest.operands):
            raise RefutedError("an operand lies in memory that the task has not")
        return [
            self.buffers[operand.base].all_of_it()
            if argument.whole
            else self.buffers[operand.base].box(operand, first, extents)
            for operand, argument in zip(nest.operands, kernel.arguments, strict=True)
        ]

    def _load(
        self, nest: Nest, kernel: Body, boxes: Sequence[Box], number: int
    ) -> Symbols:
        operand = nest.operands[number]
        buffer = self.buffers[operand.base]
        if kernel.arguments[number].whole:
            return buffer.from_place(operand.low[0])
        return buffer.load(boxes[number], operand)

    def _check(
        self, nest: Nest, kernel: Body, boxes: Sequence[Box], extents: Sequence[int]
    ) -> None:
        """Look whether points are independent, and change what they may."""
        for number, (operand, argument) in enumerate(
            zip(nest.operands, kernel.arguments, strict=True)
        ):
            changes = argument.writes or argument.reduces is not None
            if changes != (number < nest.num_written):
                raise RefutedError("what a nest changes does not come first")
            if not changes:
                continue
            buffer = self.buffers[operand.base]
            if not buffer.writes:
                raise RefutedError(f"{buffer.name} is changed, but only read")
            repeats = any(
                dim < 0 and extent > 1
                for dim, extent in zip(operand.dims, extents, strict=True)
            )
            if argument.writes and repeats:
                raise RefutedError(f"points write one element of {buffer.name}")
            for other, its in enumerate(nest.operands):
                if other == number or its.base != operand.base:
                    continue
                theirs = kernel.arguments[other]
                reads = theirs.reads and not (
                    argument.writes and alike(boxes[number], boxes[other])
                )
                both = theirs.reduces is None or argument.reduces is None
                if (reads or (other < nest.num_written and both)) and (
                    theirs.whole or overlap(boxes[number], boxes[other])
                ):
                    raise RefutedError(f"points use one element of {buffer.name}")
