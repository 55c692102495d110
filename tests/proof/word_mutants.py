# SPDX-License-Identifier: Apache-2.0
"""Words of programs with one of them changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from struct import pack
from typing import Any, Final

from legate_diffuse.proof.words import (
    NO_MARGIN,
    STANDS,
    TILED,
    Nest,
    Operand,
    Part,
    Program,
    Scratch,
    Tiling,
)

Words = tuple[Tiling | None, Program]
Mutate = Callable[[Tiling | None, Program], Iterator[Words]]
"""Yields words with one of them changed, in each place where that can be done."""


def packed(tiling: Tiling | None, program: Program) -> bytes:
    """Return words as ``launch/program.py`` writes them."""
    words: list[int] = []
    if tiling is not None:
        words += (TILED, tiling.leader, tiling.rank, len(tiling.axes), *tiling.axes)
        words += (len(tiling.buffers), len(tiling.nests))
        for argument in tiling.arguments:
            words += (argument.teller, len(argument.dims), *argument.dims)
            for reach in argument.reaches:
                words += reach
        for parts in (*tiling.buffers, *tiling.nests):
            for part in parts:
                words += (part.dim, part.low, part.high)
    words += (len(program.buffers), len(program.bands))
    words += (len(program.runs), len(program.nests))
    for buffer in program.buffers:
        words += (buffer.itemsize, buffer.first_nest, buffer.last_nest, buffer.spread)
        words += (len(buffer.extents), *buffer.extents)
    words += program.bands
    for run in program.runs:
        words += (run.first_nest, run.num_nests, run.kernel)
    for nest in program.nests:
        words += (nest.kernel, len(nest.operands), nest.num_written)
        words += (len(nest.extents), len(nest.scalars) // 2, nest.rows, nest.shift)
        words += (nest.before, nest.after, *nest.distances)
        words += (*nest.extents, *nest.first, *nest.scalars)
        for operand in nest.operands:
            words += (operand.base, len(operand.low), *operand.dims, *operand.low)
    return pack(f"={len(words)}q", *words)


def _changed(values: Sequence[Any], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


def of_nests(change: Callable[[Nest], Iterator[Nest]]) -> Mutate:
    """Return what changes one nest."""

    def mutate(tiling: Tiling | None, program: Program) -> Iterator[Words]:
        for place, nest in enumerate(program.nests):
            for other in change(nest):
                nests = _changed(program.nests, place, other)
                yield tiling, replace(program, nests=nests)

    return mutate


def of_operands(
    change: Callable[[Operand], Iterator[Operand]],
    wanted: Callable[[Nest, int], bool] = lambda nest, number: True,
) -> Mutate:
    """Return what changes one operand, of those that are wanted."""

    def of_nest(nest: Nest) -> Iterator[Nest]:
        for place, operand in enumerate(nest.operands):
            if wanted(nest, place):
                for other in change(operand):
                    yield replace(nest, operands=_changed(nest.operands, place, other))

    return of_nests(of_nest)


def of_buffers(change: Callable[[Scratch], Iterator[Scratch]]) -> Mutate:
    """Return what changes one scratch buffer."""

    def mutate(tiling: Tiling | None, program: Program) -> Iterator[Words]:
        for place, buffer in enumerate(program.buffers):
            for other in change(buffer):
                buffers = _changed(program.buffers, place, other)
                yield tiling, replace(program, buffers=buffers)

    return mutate


def of_parts(field: str, change: Callable[[Part], Iterator[Part]]) -> Mutate:
    """Return what changes what a tile has of a nest or of a buffer."""

    def mutate(tiling: Tiling | None, program: Program) -> Iterator[Words]:
        for place, parts in enumerate(getattr(tiling, field) if tiling else ()):
            for axis, part in enumerate(parts):
                for other in change(part):
                    own = _changed(parts, axis, other)
                    all_parts = _changed(getattr(tiling, field), place, own)
                    assert tiling is not None
                    yield replace(tiling, **{field: all_parts}), program

    return mutate


def _moved(by: int, dims: Callable[[int], bool]) -> Any:
    def change(operand: Operand) -> Iterator[Operand]:
        for dim, low in enumerate(operand.low):
            if dims(dim):
                yield replace(operand, low=_changed(operand.low, dim, low + by))

    return change


def _swapped_dims(operand: Operand) -> Iterator[Operand]:
    if len(operand.dims) > 1 and operand.dims[0] != operand.dims[1]:
        one, two, *rest = operand.dims
        yield replace(operand, dims=(two, one, *rest))


def _repeated(operand: Operand) -> Iterator[Operand]:
    for loop, dim in enumerate(operand.dims):
        if dim >= 0:
            yield replace(operand, dims=_changed(operand.dims, loop, -1))


def _other_base(by: int) -> Callable[[Operand], Iterator[Operand]]:
    def change(operand: Operand) -> Iterator[Operand]:
        if operand.base + by >= 0 and operand.base >= 0:
            yield replace(operand, base=operand.base + by)

    return change


def _other_buffer(operand: Operand) -> Iterator[Operand]:
    if operand.base < 0:
        yield replace(operand, base=~(~operand.base + 1))
        if operand.base < -1:
            yield replace(operand, base=operand.base + 1)


def _with(**by: int) -> Callable[[Nest], Iterator[Nest]]:
    def change(nest: Nest) -> Iterator[Nest]:
        for name, more in by.items():
            value = getattr(nest, name)
            if name == "before" and (value == NO_MARGIN or value + more < 0):
                continue
            yield replace(nest, **{name: value + more})

    return change


def _extent(by: int) -> Callable[[Nest], Iterator[Nest]]:
    def change(nest: Nest) -> Iterator[Nest]:
        for loop, extent in enumerate(nest.extents):
            if extent + by >= 0:
                yield replace(nest, extents=_changed(nest.extents, loop, extent + by))

    return change


def _first(nest: Nest) -> Iterator[Nest]:
    for loop, first in enumerate(nest.first):
        yield replace(nest, first=_changed(nest.first, loop, first + 1))


def _scalars(nest: Nest) -> Iterator[Nest]:
    if len(nest.scalars) > 2:
        yield replace(nest, scalars=(*nest.scalars[2:], *nest.scalars[:2]))


def _as_if_divisible(tiling: Tiling | None, program: Program) -> Iterator[Words]:
    nests = tuple(
        replace(nest, before=0, after=0) if nest.before == NO_MARGIN else nest
        for nest in program.nests
    )
    if nests != program.nests:
        yield tiling, replace(program, nests=nests)


def _stays(nest: Nest) -> Iterator[Nest]:
    if nest.shift:
        yield replace(nest, shift=0)


def _distances(nest: Nest) -> Iterator[Nest]:
    for place, distance in enumerate(nest.distances):
        if distance != STANDS:
            yield replace(nest, distances=_changed(nest.distances, place, distance + 1))


def _shorter(buffer: Scratch) -> Iterator[Scratch]:
    for dim, extent in enumerate(buffer.extents):
        if extent > 1:
            extents = _changed(buffer.extents, dim, extent - 1)
            yield replace(buffer, extents=extents)


def _life(first: int, last: int) -> Callable[[Scratch], Iterator[Scratch]]:
    def change(buffer: Scratch) -> Iterator[Scratch]:
        begin, end = buffer.first_nest + first, buffer.last_nest + last
        if begin <= end:
            yield replace(buffer, first_nest=begin, last_nest=end)

    return change


def _spread(buffer: Scratch) -> Iterator[Scratch]:
    if buffer.spread > 0:
        yield replace(buffer, spread=buffer.spread - 1)


def _one_band(tiling: Tiling | None, program: Program) -> Iterator[Words]:
    if len(program.bands) > 1:
        yield tiling, replace(program, bands=(sum(program.bands),))


def _swapped_nests(tiling: Tiling | None, program: Program) -> Iterator[Words]:
    for place in range(len(program.nests) - 1):
        nests = list(program.nests)
        nests[place : place + 2] = nests[place + 1], nests[place]
        yield tiling, replace(program, nests=tuple(nests))


def _swapped_kernels(tiling: Tiling | None, program: Program) -> Iterator[Words]:
    for place, (one, two) in enumerate(
        zip(program.nests, program.nests[1:], strict=False)
    ):
        if len(one.operands) == len(two.operands):
            nests = _changed(program.nests, place, replace(one, kernel=two.kernel))
            yield tiling, replace(program, nests=nests)


def _lost_nest(tiling: Tiling | None, program: Program) -> Iterator[Words]:
    for place, nest in enumerate(program.nests):
        if nest.extents:
            empty = replace(nest, extents=(0,) * len(nest.extents))
            nests = _changed(program.nests, place, empty)
            yield tiling, replace(program, nests=nests)


def _reaches(low: int, high: int) -> Mutate:
    def mutate(tiling: Tiling | None, program: Program) -> Iterator[Words]:
        for place, argument in enumerate(tiling.arguments if tiling else ()):
            for axis, (begin, end) in enumerate(argument.reaches):
                if (low and begin < 0) or (high and end > 0):
                    reach = begin + low, end - high
                    reaches = _changed(argument.reaches, axis, reach)
                    other = replace(argument, reaches=reaches)
                    assert tiling is not None
                    arguments = _changed(tiling.arguments, place, other)
                    yield replace(tiling, arguments=arguments), program

    return mutate


def _part(low: int, high: int) -> Callable[[Part], Iterator[Part]]:
    def change(part: Part) -> Iterator[Part]:
        if part.dim >= -1:
            yield replace(part, low=part.low + low, high=part.high + high)

    return change


def _near(tiling: Tiling | None, program: Program) -> Iterator[Words]:
    for place, argument in enumerate(tiling.arguments if tiling else ()):
        if argument.teller != -1:
            assert tiling is not None
            other = replace(argument, teller=-1)
            arguments = _changed(tiling.arguments, place, other)
            yield replace(tiling, arguments=arguments), program


def _is_row(dim: int) -> bool:
    return dim == 0


def _is_column(dim: int) -> bool:
    return dim > 0


def _in_scratch(nest: Nest, number: int) -> bool:
    return nest.operands[number].base < 0


def _in_argument(nest: Nest, number: int) -> bool:
    return nest.operands[number].base >= 0


MUTANTS: Final[dict[str, Mutate]] = {
    "an argument is one row farther": of_operands(_moved(1, _is_row), _in_argument),
    "an argument is one row nearer": of_operands(_moved(-1, _is_row), _in_argument),
    "an argument is one column farther": of_operands(
        _moved(1, _is_column), _in_argument
    ),
    "a buffer is one row farther": of_operands(_moved(1, _is_row), _in_scratch),
    "a buffer is one row nearer": of_operands(_moved(-1, _is_row), _in_scratch),
    "a buffer is one column farther": of_operands(_moved(1, _is_column), _in_scratch),
    "dimensions are swapped": of_operands(_swapped_dims),
    "a dimension is repeated": of_operands(_repeated),
    "the argument before": of_operands(_other_base(-1)),
    "the argument after": of_operands(_other_base(1)),
    "another buffer": of_operands(_other_buffer),
    "a nest has a row less": of_nests(_extent(-1)),
    "a nest has a row more": of_nests(_extent(1)),
    "a nest has other scalars": of_nests(_scalars),
    "a nest runs nothing": _lost_nest,
    "nests have each other's kernels": _swapped_kernels,
    "a shift is one less": of_nests(_with(shift=-1)),
    "a shift is one more": of_nests(_with(shift=1)),
    "a nest is not shifted": of_nests(_stays),
    "a margin is one less": of_nests(_with(before=-1)),
    "a margin at the end is one less": of_nests(_with(after=-1)),
    "a band may be divided": _as_if_divisible,
    "a buffer has one row or column less": of_buffers(_shorter),
    "a buffer lives later": of_buffers(_life(1, 0)),
    "a buffer does not live so long": of_buffers(_life(0, -1)),
    "a circular buffer has one row less": of_buffers(_spread),
    "all nests take turns": _one_band,
    "nests run in another order": _swapped_nests,
    "a tile has less before it": _reaches(1, 0),
    "a tile has less behind it": _reaches(0, 1),
    "a nest begins later in a tile": of_parts("nests", _part(1, 0)),
    "a nest ends earlier in a tile": of_parts("nests", _part(0, -1)),
    "a buffer begins later in a tile": of_parts("buffers", _part(1, 0)),
    "a buffer ends earlier in a tile": of_parts("buffers", _part(0, -1)),
    "a nest begins earlier in a tile, at a result": of_parts("nests", _part(-1, 0)),
}
"""By what is wrong."""
