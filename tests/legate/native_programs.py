# SPDX-License-Identifier: Apache-2.0
"""Programs for ``legate_diffuse._native``, over Legate's own stores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from struct import pack
from typing import Any, NamedTuple

import filled_program
import legate.core
import numpy as np
from recorder import Machine, Recorder, nests_of

from legate_diffuse import _native
from legate_diffuse.codegen import Compiler
from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.interpose.originals import real
from legate_diffuse.ir.nest import Margin, Nest
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.reductions import identity_bytes
from legate_diffuse.launch.program import NO_ROW, rows_of
from legate_diffuse.stores.layout import Layout, Shape
from legate_diffuse.stores.view import View

lc: Any = legate.core
RUNTIME: Any = real.runtime
READ, WRITE, READ_WRITE, REDUCE = 1, 2, 3, 4
FLOAT = "float64"
MEBI = 1 << 20

# -- kernels ---------------------------------------------------------------------


@cache
def _compiler() -> Compiler:
    return Compiler()


def register(builder: Builder) -> int:
    return _native.register_kernel(_address(builder))


def _address(builder: Builder) -> int:
    return _compiler().compile(builder.build()).address


def read() -> Argument:
    return Argument(FLOAT, reads=True, writes=False)


def write() -> Argument:
    return Argument(FLOAT, reads=False, writes=True)


@cache
def kernel(name: str) -> int:
    """Return the number of a kernel; what it writes is its first argument."""
    changed = Argument(FLOAT, reads=True, writes=True)
    if name == "add":
        builder = Builder([write(), read(), read()], [])
        value = builder.op("add", FLOAT, builder.load(1), builder.load(2))
    elif name == "copy":
        builder = Builder([write(), read()], [])
        value = builder.load(1)
    elif name == "accumulate":
        builder = Builder([changed, read()], [])
        value = builder.op("add", FLOAT, builder.load(0), builder.load(1))
    elif name == "double":
        builder = Builder([changed], [])
        value = builder.op("add", FLOAT, builder.load(0), builder.load(0))
    else:
        assert name == "scale and shift"
        builder = Builder([changed], [FLOAT, FLOAT])
        product = builder.op("mul", FLOAT, builder.load(0), builder.scalar(0))
        value = builder.op("add", FLOAT, product, builder.scalar(1))
    builder.store(0, value)
    return register(builder)


@cache
def reduction(operator: str, dtype: str) -> int:
    """Return the number of a kernel that reduces its second argument to its first.

    Threads may share its points.
    """
    target = Argument(dtype, reads=False, writes=False, reduces=operator)
    builder = Builder([target, Argument(dtype, reads=True, writes=False)], [])
    builder.reduce(0, builder.load(1))
    address = _address(builder)
    combine = _native.register_kernel(address)
    start = identity_bytes(operator, dtype)
    return _native.register_kernel(address, [(0, combine, start)])


# -- programs --------------------------------------------------------------------


def words(*values: int) -> bytes:
    return pack(f"={len(values)}q", *values)


def scalars(*values: float) -> bytes:
    return b"".join(pack("=dq", value, 0) for value in values)


class Operand(NamedTuple):
    """A view of a root: its dimension along each of the nest's, and where it begins."""

    base: int
    dims: tuple[int, ...]
    low: tuple[int, ...]


def operand(base: int, dims: tuple[int, ...], low: tuple[int, ...]) -> Operand:
    return Operand(base, dims, low)


def whole(base: int, dim: int) -> Operand:
    """Return the operand for all of a root."""
    return operand(base, tuple(range(dim)), (0,) * dim)


class NativeNest(NamedTuple):
    """A nest of a program; the first ``written`` operands are written."""

    number: int
    shape: tuple[int, ...]
    operands: tuple[Operand, ...]
    block: bytes
    written: int


def nest(
    number: int,
    shape: tuple[int, ...],
    *operands: Operand,
    block: bytes = b"",
    written: int = 1,
) -> NativeNest:
    return NativeNest(number, shape, operands, block, written)


class Buffer(NamedTuple):
    """A scratch buffer."""

    first: int
    last: int
    shape: tuple[int, ...]
    itemsize: int


def scratch(first: int, last: int, shape: tuple[int, ...], itemsize: int = 8) -> Buffer:
    return Buffer(first, last, shape, itemsize)


def program(
    *nests: NativeNest,
    buffers: tuple[Buffer, ...] = (),
    bands: Sequence[int] | None = None,
    turns: Sequence[tuple[int, int, Margin | None, Sequence[int | None]]] = (),
) -> bytes:
    """Return a program whose nests run one after the other, if nothing else is said."""
    turns = turns or [(NO_ROW, 0, None, [None] * len(n.operands)) for n in nests]
    return _program(
        nests,
        buffers,
        [1] * len(nests) if bands is None else bands,
        [_turn_words(*turn) for turn in turns],
        [None] * len(buffers),
    )


def scheduled_program(
    arguments: Sequence[tuple[int, ...]],
    *nests: NativeNest,
    buffers: tuple[Buffer, ...] = (),
) -> bytes:
    """Return a program whose nests take turns, over arguments with these extents."""
    found = schedule(
        _nests_of(arguments, nests, buffers),
        frozenset(range(len(arguments), len(arguments) + len(buffers))),
    )

    def low_and_high(nest: int, operand: int) -> list[int]:
        _, dims, low = nests[nest].operands[operand]
        rows = nests[nest].shape[dims.index(0)] if 0 in dims else 1
        return [low[0], low[0] + rows]

    found = filled_program.filled(found, low_and_high)
    turns = [turn for band in found.bands for turn in band.turns]
    order = [turn.nest.number for turn in turns]
    circular = dict(each for band in found.bands for each in band.circular)
    lives = []
    for number, buffer in enumerate(buffers):
        users = [
            place
            for place, position in enumerate(order)
            if any(o.base == ~number for o in nests[position].operands)
        ]
        lives.append(buffer._replace(first=min(users), last=max(users)))
    return _program(
        [nests[position] for position in order],
        lives,
        [len(band.turns) for band in found.bands],
        [
            _turn_words(
                rows_of(turn.row_loop, turn.distances),
                turn.shift,
                turn.margin,
                turn.distances,
            )
            for turn in turns
        ],
        [circular.get(len(arguments) + number) for number in range(len(buffers))],
    )


def _nests_of(
    arguments: Sequence[tuple[int, ...]],
    nests: Sequence[NativeNest],
    buffers: Sequence[Buffer],
) -> list[Nest]:
    recorder = Recorder(Machine(pieces=1))
    roots = [recorder.array(*extents) for extents in arguments]
    roots += [recorder.array(*buffer.shape) for buffer in buffers]
    for each in nests:
        views = []
        for base, dims, low in each.operands:
            root = roots[base if base >= 0 else len(arguments) + ~base].root
            extents = tuple(
                each.shape[dims.index(dim)] if dim in dims else 1
                for dim in range(len(low))
            )
            views.append(View(root, Layout(Shape(each.shape), dims, low, extents)))
        read = len(views) - each.written
        recorder.task("STEP", views, [WRITE] * each.written + [READ] * read)
    places = [[root.root for root in roots].index(r) for r in recorder.roots]
    _, window = recorder.finish()
    return nests_of(window, places)


def _turn_words(
    rows: int, shift: int, margin: Margin | None, distances: Sequence[int | None]
) -> bytes:
    before, after = (margin.before, margin.after) if margin else (-1, 0)
    moves = (-(2**63) if distance is None else distance for distance in distances)
    return words(rows, shift, before, after, *moves)


def _program(
    nests: Sequence[NativeNest],
    buffers: Sequence[Buffer],
    bands: Sequence[int],
    turns: Sequence[bytes],
    spreads: Sequence[int | None],
) -> bytes:
    text = [words(len(buffers), len(bands), 0, len(nests))]
    for (first, last, shape, itemsize), rows in zip(buffers, spreads, strict=True):
        spread = -1 if rows is None else rows
        text.append(words(itemsize, first, last, spread, len(shape), *shape))
    text.append(words(*bands))
    for (number, shape, operands, block, written), turn in zip(
        nests, turns, strict=True
    ):
        counts = number, len(operands), written, len(shape), len(block) // 16
        text += words(*counts), turn, words(*shape, *(0,) * len(shape)), block
        text += (words(base, len(low), *dims, *low) for base, dims, low in operands)
    return b"".join(text)


def submit_program(
    stores: list[Any], privileges: list[int], text: bytes, partitioned: bool = False
) -> None:
    handles = tuple(store.raw_handle for store in stores)
    _native.submit_program(handles, bytes(privileges), text, partitioned, None)


def submit(number: int, stores: list[Any], privileges: list[int]) -> None:
    """Submit a kernel over stores of one shape, which Legate may partition."""
    shape = tuple(stores[0].shape)
    operands = [whole(base, len(shape)) for base in range(len(stores))]
    submit_program(
        stores, privileges, program(nest(number, shape, *operands)), partitioned=True
    )


# -- stores ----------------------------------------------------------------------


def filled(shape: tuple[int, ...], value: Any, *, scalar: bool = False) -> Any:
    """Return a store; one of one element is a future if ``scalar`` is set."""
    type_ = getattr(lc, "bool_" if isinstance(value, bool) else FLOAT)
    store = RUNTIME.create_store(type_, shape, optimize_scalar=scalar)
    RUNTIME.issue_fill(store, real.Scalar(value, type_))
    assert store.has_scalar_storage == scalar
    return store


def store_of(values: Any) -> Any:
    """Return a store that Legate has partitioned, if it can."""
    values = np.ascontiguousarray(values)
    type_ = getattr(lc, "bool_" if values.dtype == bool else values.dtype.name)
    source = RUNTIME.create_store_from_buffer(type_, values.shape, values, False)
    store = RUNTIME.create_store(type_, values.shape)
    RUNTIME.issue_copy(store, source)
    return store


def values_of(store: Any) -> Any:
    return np.array(np.asarray(store.get_physical_store()))


def counted(*shape: int) -> Any:
    return np.arange(float(math.prod(shape))).reshape(shape)


def random(*shape: int) -> Any:
    """Return small whole numbers: their sums and products are exact."""
    return np.random.default_rng(len(shape)).integers(1, 9, shape).astype(FLOAT)
