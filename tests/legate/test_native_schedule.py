# SPDX-License-Identifier: Apache-2.0
"""Blocked programs give the values of their nests one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_programs import (
    FLOAT,
    READ,
    READ_WRITE,
    Buffer,
    NativeNest,
    filled,
    kernel,
    nest,
    operand,
    random,
    reduction,
    scheduled_program,
    scratch,
    store_of,
    submit_program,
    values_of,
    whole,
)
from tiers import examples

from legate_diffuse import _native


@contextmanager
def cache_of(size: int, threads: int = 1, nearest: int | None = None) -> Iterator[None]:
    """Block programs for a cache of ``size`` bytes, and let threads share them.

    All of it is as near as the ``nearest`` bytes, if there are none.
    """
    before = (
        _native.set_cache_bytes(size),
        _native.set_nearest_cache_bytes(size if nearest is None else nearest),
        _native.set_num_threads(threads),
    )
    try:
        yield
    finally:
        _native.set_cache_bytes(before[0])
        _native.set_nearest_cache_bytes(before[1])
        _native.set_num_threads(before[2])


# -- random programs -------------------------------------------------------------

SHAPES = ((40, 3), (43, 3), (40,), (3, 40), (17, 17), (9, 4, 2), (1, 40), ())
KERNELS = {"copy": 2, "add": 3, "accumulate": 2, "double": 1, "total": 2}


@dataclass(frozen=True)
class Part:
    """A view of a root, and the dimension of it behind each dimension of the nest."""

    root: int
    dims: tuple[int, ...]
    low: tuple[int, ...]

    def of(self, roots: list[Any], shape: tuple[int, ...]) -> Any:
        """Return the view of NumPy; dimensions that repeat have stride 0."""
        array = roots[self.root]
        at = tuple(
            slice(low, low + shape[self.dims.index(axis)])
            if axis in self.dims
            else slice(low, low + 1)
            for axis, low in enumerate(self.low)
        )
        view = array[(..., *at)]
        kept = [axis for axis in self.dims if axis >= 0]
        rest = [axis for axis in range(view.ndim) if axis not in kept]
        view = view.transpose(rest + kept).reshape([view.shape[a] for a in kept])
        spread = iter(range(view.ndim))
        index = tuple(
            slice(None) if axis >= 0 and next(spread) is not None else None
            for axis in self.dims
        )
        return np.broadcast_to(view[(..., *index)], shape)


class Nests:
    """Random nests over four roots: arguments, and scratch buffers after them."""

    def __init__(self, data: st.DataObject, arguments: int) -> None:
        self._draw = data.draw
        self.arguments = arguments
        self.shapes = [
            self._draw(st.sampled_from(SHAPES[:-1] if root < arguments else SHAPES))
            for root in range(4)
        ]
        self.nests = [
            self._nest(root, self.shapes[root], "copy", whole_=True) for root in (2, 3)
        ]
        for _ in range(self._draw(st.integers(1, 10))):
            root = self._draw(st.integers(0, 3))
            name = self._draw(st.sampled_from(sorted(KERNELS)))
            self.nests.append(self._nest(root, self.shapes[root], name))

    def _nest(
        self, root: int, extents: tuple[int, ...], name: str, whole_: bool = False
    ) -> tuple[str, tuple[int, ...], list[Part]]:
        """Return a nest that writes a part of a root, and reads others."""
        dims = tuple(self._draw(st.permutations(range(len(extents)))))
        # a nest over one row, as at a wall
        if dims and not whole_ and self._draw(st.integers(0, 3)) == 0:
            dims = tuple(axis for axis in dims if axis > 0)
        low, size = [], []
        for extent in extents:
            start = 0 if whole_ else self._draw(st.integers(0, min(3, extent - 1)))
            end = (
                0 if whole_ else self._draw(st.integers(0, min(3, extent - start - 1)))
            )
            if not whole_ and len(low) not in dims:
                start = self._draw(st.integers(0, extent - 1))
            low.append(start)
            size.append(extent - start - end)
        shape = tuple(size[axis] for axis in dims)
        target = Part(root, dims, tuple(low))
        others = [i for i in range(2 if whole_ else 4) if i != root]
        if name == "total":
            # sums over the nest go to one element, or to one for each row or column
            keep = self._draw(st.sampled_from((-1, *range(len(dims)))))
            target = Part(
                root,
                tuple(a if d == keep else -1 for d, a in enumerate(dims)),
                target.low,
            )
        parts = [target]
        for _ in range(KERNELS[name] - 1):
            parts.append(self._read(self._draw(st.sampled_from(others)), shape))
        return name, shape, parts

    def _read(self, root: int, shape: tuple[int, ...]) -> Part:
        """Return a part of a root that fits to a shape, repeating where it must."""
        extents = self.shapes[root]
        free = list(range(len(extents)))
        dims = []
        for extent in shape:
            fitting = [axis for axis in free if extents[axis] >= extent]
            axis = self._draw(st.sampled_from([-1, *fitting, *fitting]))
            dims.append(axis)
            if axis >= 0:
                free.remove(axis)
        low = tuple(
            self._draw(
                st.integers(0, extent - (shape[dims.index(a)] if a in dims else 1))
            )
            for a, extent in enumerate(extents)
        )
        return Part(root, tuple(dims), low)

    def text(self) -> bytes:
        arguments = self.arguments
        lives = {
            root: [n for n, (*_, parts) in enumerate(self.nests) if uses(parts, root)]
            for root in range(arguments, 4)
        }
        return scheduled_program(
            self.shapes[:arguments],
            *[
                nest(
                    reduction("add", FLOAT) if name == "total" else kernel(name),
                    shape,
                    *[
                        operand(
                            p.root if p.root < arguments else arguments - 1 - p.root,
                            p.dims,
                            p.low,
                        )
                        for p in parts
                    ],
                )
                for name, shape, parts in self.nests
            ],
            buffers=tuple(
                scratch(min(life), max(life), self.shapes[root])
                for root, life in lives.items()
            ),
        )

    def run(self, roots: list[Any]) -> None:
        for name, shape, parts in self.nests:
            target, *read = [part.of(roots, shape) for part in parts]
            target.flags.writeable = True
            if name == "total" and target.ndim == 0:
                target += read[0]
            elif name == "total":
                np.add.at(roots[parts[0].root], indices(parts[0], shape), read[0])
            elif name == "double":
                target *= 2.0
            elif name == "copy":
                target[...] = read[0]
            else:
                target[...] = read[0] + (read[1] if name == "add" else target)


def uses(parts: list[Part], root: int) -> bool:
    return any(part.root == root for part in parts)


def indices(part: Part, shape: tuple[int, ...]) -> tuple[Any, ...]:
    points = np.indices(shape)
    return tuple(
        low
        + (points[part.dims.index(axis)] if axis in part.dims else np.zeros(shape, int))
        for axis, low in enumerate(part.low)
    )


@settings(max_examples=examples(250, 900), deadline=None)
@given(
    st.data(),
    st.sampled_from((0, 40, 200, 700, 2000)),
    st.sampled_from((1, 2, 5)),
    st.sampled_from((None, 100, 300)),
    st.sampled_from((2, 4)),
)
def test_random_nests(
    data: st.DataObject,
    size: int,
    threads: int,
    nearest: int | None,
    arguments: int,
) -> None:
    nests = Nests(data, arguments)
    arrays = [random(*shape) for shape in nests.shapes[:arguments]]
    stores = [store_of(array) for array in arrays]
    with cache_of(size, threads, nearest):
        submit_program(stores, [READ_WRITE] * arguments, nests.text())
    roots = [*arrays, *[np.empty(shape) for shape in nests.shapes[arguments:]]]
    nests.run(roots)
    for store, root in zip(stores, roots, strict=False):
        np.testing.assert_array_equal(values_of(store), root)


# -- special cases ---------------------------------------------------------------


@pytest.mark.parametrize("rows", [5, 64, 1001])
@pytest.mark.parametrize("size", [100, 1000, 10_000])
def test_a_stencil_is_copied_back_through_few_rows(rows: int, size: int) -> None:
    x = random(rows, 9)
    store = store_of(x)
    inner = (rows - 2, 7)
    sweep = (
        nest(
            kernel("add"),
            inner,
            whole(~0, 2),
            operand(0, (0, 1), (0, 1)),
            operand(0, (0, 1), (2, 1)),
        ),
        nest(kernel("copy"), inner, operand(0, (0, 1), (1, 1)), whole(~0, 2)),
    )
    with cache_of(size):
        for _ in range(3):
            submit_program(
                [store],
                [READ_WRITE],
                scheduled_program([x.shape], *sweep, buffers=(scratch(0, 1, inner),)),
            )
    for _ in range(3):
        x[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1]
    np.testing.assert_array_equal(values_of(store), x)


@pytest.mark.parametrize("nearest", [None, 2_000])
@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [1_000, 20_000])
def test_many_sweeps_in_one_program(
    size: int, threads: int, columns: int, nearest: int | None
) -> None:
    """Each sweep is some rows behind the one before."""
    x = random(300, columns)
    store, copy = store_of(x), (300, columns)
    nests = []
    for sweep in range(30):
        nests += [
            nest(kernel("copy"), copy, whole(~sweep, 2), whole(0, 2)),
            nest(
                kernel("add"),
                (298, columns),
                operand(0, (0, 1), (1, 0)),
                operand(~sweep, (0, 1), (0, 0)),
                operand(~sweep, (0, 1), (2, 0)),
            ),
        ]
    buffers = tuple(scratch(2 * n, 2 * n + 1, copy) for n in range(30))
    with cache_of(size, threads, nearest):
        submit_program(
            [store], [READ_WRITE], scheduled_program([x.shape], *nests, buffers=buffers)
        )
    for _ in range(30):
        x[1:-1] = x[:-2] + x[2:]
    np.testing.assert_array_equal(values_of(store), x)


def bytes_of_a_sweep(sweeps_before: int) -> int:
    """Return the bytes of what a sweep keeps, for two threads."""
    shape, inner = (301, 5), (299, 5)
    parts = [operand(0, (0, 1), (n, 0)) for n in (1, 0, 2)]
    others = [operand(1, (0, 1), (n, 0)) for n in (1, 0, 2)]
    back_and_forth = [
        nest(kernel("add"), inner, others[0], *parts[1:]),
        nest(kernel("add"), inner, parts[0], *others[1:]),
    ]
    kept = [operand(~0, (0, 1), (n, 0)) for n in (0, 2)]
    nests = [
        *(sweeps_before // 2 * back_and_forth),
        nest(kernel("copy"), shape, whole(~0, 2), whole(0, 2)),
        nest(kernel("add"), inner, parts[0], *kept),
    ]
    buffers = (scratch(sweeps_before, sweeps_before + 1, shape),)
    program = scheduled_program([shape, shape], *nests, buffers=buffers)
    with cache_of(500, threads=2):
        return _native.scratch_bytes([(shape, 8)] * 2, program)


def test_bands_have_as_many_tiles_as_if_none_came_before() -> None:
    """There are fewer where nests are farther apart, not where bands come later."""
    assert bytes_of_a_sweep(60) >= bytes_of_a_sweep(0) > 301 * 8


def test_rows_at_both_ends_wait_for_each_other() -> None:
    x = random(100, 4)
    store = store_of(x)

    def edge(to: int, source: int) -> NativeNest:
        return nest(
            kernel("copy"),
            (4,),
            operand(0, (1,), (to, 0)),
            operand(~0, (1,), (source, 0)),
        )

    with cache_of(1000):
        submit_program(
            [store],
            [READ_WRITE],
            scheduled_program(
                [x.shape],
                nest(kernel("copy"), (100, 4), whole(~0, 2), whole(0, 2)),
                edge(0, 98),
                edge(99, 1),
                nest(kernel("double"), (100, 4), whole(0, 2)),
                buffers=(scratch(0, 3, (100, 4)),),
            ),
        )
    x[0], x[99] = x[98].copy(), x[1].copy()
    np.testing.assert_array_equal(values_of(store), 2.0 * x)


def sweeps_between_walls(
    rows: int, sweeps: int
) -> tuple[tuple[NativeNest, ...], tuple[Buffer, ...]]:
    """Return nests that sweep over an array, and copy what lies beside its walls.

    Its other name is a scratch buffer; after an even number of sweeps it has its own.
    """
    nests: list[NativeNest] = []
    names = 0, ~0
    for _ in range(sweeps):
        old, new = names
        nests += [
            nest(
                kernel("add"),
                (rows - 2, 8),
                operand(new, (0, 1), (1, 0)),
                operand(old, (0, 1), (0, 0)),
                operand(old, (0, 1), (2, 0)),
            ),
            nest(
                kernel("copy"),
                (8,),
                operand(new, (1,), (rows - 1, 0)),
                operand(new, (1,), (rows - 2, 0)),
            ),
            nest(
                kernel("copy"),
                (8,),
                operand(new, (1,), (0, 0)),
                operand(new, (1,), (1, 0)),
            ),
        ]
        names = new, old
    return tuple(nests), (scratch(0, len(nests) - 1, (rows, 8)),)


def sweep_between_walls(x: Any) -> None:
    x[1:-1] = x[:-2] + x[2:]
    x[-1] = x[-2]
    x[0] = x[1]


@pytest.mark.parametrize("rows", [20, 300, 3001])
@pytest.mark.parametrize("size", [2_000, 10_000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_at_walls_follow_the_rows_beside_them(
    rows: int, size: int, threads: int
) -> None:
    x = random(rows, 8)
    store = store_of(x)
    nests, buffers = sweeps_between_walls(rows, 6)
    text = scheduled_program([x.shape], *nests, buffers=buffers)
    with cache_of(size, threads):
        for _ in range(3):
            submit_program([store], [READ_WRITE], text)
    for _ in range(18):
        sweep_between_walls(x)
    np.testing.assert_array_equal(values_of(store), x)


ALL_ROWS = 3001 * 8 * 8


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_array_between_walls_has_a_circular_buffer(threads: int) -> None:
    """Of a few rows for each part of the rows, and of those between two of them."""
    parts = 4 * threads if threads > 1 else 1
    assert 0 < buffer_between_walls(5_000, threads) < parts * 100 * 8 * 8 < ALL_ROWS


@pytest.mark.parametrize("cache_bytes", [150, 400])
def test_the_bands_of_threads_fit_into_the_cache_of_one(cache_bytes: int) -> None:
    """Else blocks of one row, which threads cannot share, would fit into all caches."""
    alone, together = (buffer_between_walls(cache_bytes, n) for n in (1, 2))
    assert (alone < ALL_ROWS) == (together < ALL_ROWS) == (cache_bytes == 400)


def buffer_between_walls(cache_bytes: int, threads: int) -> int:
    """Return the bytes of the other name of an array that is swept over."""
    nests, buffers = sweeps_between_walls(3001, 6)
    with cache_of(cache_bytes, threads):
        return _native.scratch_bytes(
            [((3001, 8), 8)],
            scheduled_program([(3001, 8)], *nests, buffers=buffers),
        )


@pytest.mark.parametrize(
    ("nearest", "columns", "kept"),
    [
        (None, 1, 1000),  # what all of it takes fits into the cache
        (6400, 1, 6400 // 16),  # a row of both arrays takes 16 bytes
        (6400, 20, 1000),  # rows of several points are loops of their own
    ],
)
def test_rows_of_a_point_stay_in_the_nearest_cache(
    nearest: int | None, columns: int, kept: int
) -> None:
    shape = (1000, columns)
    x = random(*shape)
    program = scheduled_program(
        [shape],
        nest(kernel("copy"), shape, whole(~0, 2), whole(0, 2)),
        nest(kernel("add"), shape, whole(0, 2), whole(~0, 2), whole(~0, 2)),
        buffers=(scratch(0, 1, shape),),
    )
    store = store_of(x)
    with cache_of(1_000_000, nearest=nearest):
        found = _native.scratch_bytes([(shape, 8)], program)
        assert found - 64 < kept * columns * 8 <= found
        submit_program([store], [READ_WRITE], program)
    np.testing.assert_array_equal(values_of(store), x + x)


@pytest.mark.parametrize(("rows", "columns", "turns"), [(2, 5000, 0), (5000, 2, 1)])
def test_short_rows_take_no_turns_after_long_ones(
    rows: int, columns: int, turns: int
) -> None:
    """They would be many of a point each: what is between them is kept as a whole."""
    shape = (rows, columns)
    along = (1,) if columns > rows else (0,)
    length = max(shape)
    nests = (
        nest(kernel("copy"), shape, whole(0, 2), whole(1, 2)),
        nest(kernel("copy"), (length,), whole(~0, 1), operand(0, along, (0, 0))),
        nest(
            kernel("add"),
            (length,),
            operand(0, along, (1, 0) if columns > rows else (0, 1)),
            whole(~0, 1),
            whole(~0, 1),
        ),
    )
    program = scheduled_program(
        [shape] * 2, *nests, buffers=(scratch(1, 2, (length,)),)
    )
    x, y = random(*shape), random(*shape)
    stores = [store_of(x), store_of(y)]
    with cache_of(100_000):
        kept = _native.scratch_bytes([(shape, 8)] * 2, program)
        submit_program(stores, [READ_WRITE, READ], program)
    assert (kept < length * 8) == bool(turns)
    x[...] = y
    if columns > rows:
        x[1] = x[0] + x[0]
    else:
        x[:, 1] = x[:, 0] + x[:, 0]
    np.testing.assert_array_equal(values_of(stores[0]), x)


def test_a_sum_is_complete_before_it_is_used() -> None:
    x = random(200, 6)
    source, target = store_of(x), filled((200, 6), 0.0)
    with cache_of(500):
        submit_program(
            [source, target],
            [READ, READ_WRITE],
            scheduled_program(
                [x.shape, x.shape],
                nest(kernel("copy"), (), operand(~0, (), ()), operand(0, (), (0, 0))),
                nest(
                    reduction("add", FLOAT),
                    (200, 6),
                    operand(~0, (-1, -1), ()),
                    whole(0, 2),
                ),
                nest(
                    kernel("add"),
                    (200, 6),
                    whole(1, 2),
                    whole(0, 2),
                    operand(~0, (-1, -1), ()),
                ),
                buffers=(scratch(0, 2, ()),),
            ),
        )
    np.testing.assert_array_equal(values_of(target), x + x.sum() + x[0, 0])


# -- threads ---------------------------------------------------------------------


@pytest.mark.parametrize("rows", [50, 333, 4000])
@pytest.mark.parametrize("size", [3_000, 100_000])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_take_parts_of_rows(rows: int, size: int, threads: int) -> None:
    """A step of conjugate gradients, and a stencil in place behind another one."""
    shape, inner, deep = (rows, 40), (rows - 2, 40), (rows - 4, 40)
    p, q, r, z = (random(*shape) * (1.0 + n) for n in range(4))
    stores = [*map(store_of, (p, q, r, z)), filled((), 5.0), filled((), 0.0)]
    one = operand(4, (-1, -1), ())
    two = operand(5, (-1, -1), ())
    add, total = kernel("add"), reduction("add", FLOAT)
    step = (
        nest(add, shape, whole(0, 2), whole(2, 2), whole(0, 2)),
        nest(
            add,
            inner,
            operand(1, (0, 1), (1, 0)),
            operand(0, (0, 1), (0, 0)),
            operand(0, (0, 1), (2, 0)),
        ),
        nest(kernel("copy"), (), operand(5, (), ()), operand(4, (), ())),
        nest(total, shape, two, whole(1, 2)),
        nest(
            add,
            deep,
            operand(3, (0, 1), (2, 0)),
            operand(1, (0, 1), (3, 0)),
            operand(1, (0, 1), (1, 0)),
        ),
        nest(
            kernel("accumulate"),
            inner,
            operand(1, (0, 1), (1, 0)),
            operand(3, (0, 1), (2, 0)),
        ),
        nest(kernel("double"), deep, operand(0, (0, 1), (3, 0))),
    )
    # uses what was summed: not in the same turns
    end = nest(add, shape, whole(2, 2), whole(3, 2), one)
    with cache_of(size, threads):
        for _ in range(3):
            text = scheduled_program([shape] * 4 + [(), ()], *step, end)
            submit_program(stores, [READ_WRITE] * 6, text)
    for _ in range(3):
        p[...] = r + p
        q[1:-1] = p[:-2] + p[2:]
        total_of_q = 5.0 + q.sum()
        z[2:-2] = q[3:-1] + q[1:-3]
        q[1:-1] += z[2:]
        p[3:-1] *= 2.0
        r[...] = z + 5.0
    for store, array in zip(stores, (p, q, r, z, 5.0, total_of_q), strict=True):
        np.testing.assert_array_equal(values_of(store), array)


@pytest.mark.parametrize("kept", [(), (0,), (1,)])
@pytest.mark.parametrize("size", [0, 50_000])
def test_threads_reduce_to_places_of_their_own(
    kept: tuple[int, ...], size: int
) -> None:
    """Sums of all elements, of rows and of columns, long enough to be taken at once."""
    x = random(3000, 300)
    source, copy, target = store_of(x), filled(x.shape, 0.0), filled(x.shape, 0.0)
    stores = [source, copy, target]
    sums = operand(2, tuple(d if d in kept else -1 for d in range(2)), (0, 0))
    turn = (
        nest(kernel("copy"), x.shape, whole(1, 2), whole(0, 2)),
        nest(reduction("add", FLOAT), x.shape, sums, whole(1, 2)),
    )
    with cache_of(size, threads=4):
        for _ in range(20):
            text = scheduled_program([x.shape] * 3, *turn)
            submit_program(stores, [READ, READ_WRITE, READ_WRITE], text)
    expected = np.zeros(x.shape)
    axes = tuple(d for d in range(2) if d not in kept)
    first = expected[tuple(slice(None) if d in kept else slice(1) for d in range(2))]
    first[...] = 20 * x.sum(axes, keepdims=True)
    np.testing.assert_array_equal(values_of(target), expected)


def test_threads_begin_and_end_with_loops() -> None:
    """Short loops of one thread and long ones of all take turns."""
    x, y = random(40_000), random(10)
    stores = [store_of(x), store_of(y)]
    turn = (
        nest(kernel("double"), (40_000,), whole(0, 1)),
        nest(kernel("double"), (10,), whole(1, 1)),
        nest(
            kernel("add"),
            (39_990,),
            operand(0, (0,), (0,)),
            operand(1, (-1,), (3,)),
            operand(0, (-1,), (39_990,)),
        ),
    )
    with cache_of(0, threads=3):
        for _ in range(30):
            text = scheduled_program([x.shape, y.shape], *turn, *turn[:2])
            submit_program(stores, [READ_WRITE] * 2, text)
    for _ in range(30):
        x *= 2.0
        y *= 2.0
        x[:39_990] = y[3] + x[39_990]
        x *= 2.0
        y *= 2.0
    np.testing.assert_array_equal(values_of(stores[0]), x)
    np.testing.assert_array_equal(values_of(stores[1]), y)
