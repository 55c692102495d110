# SPDX-License-Identifier: Apache-2.0
"""Launches of GPU kernels, as the native part makes them: grids, parameters, layouts.

All loops are there and none are merged, so that kernels see as many as there may be.
"""

from __future__ import annotations

import ctypes
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from legate_diffuse.codegen.arguments import invariant
from legate_diffuse.codegen.gpu.parameters import (
    LOOPS,
    MOST_BYTES,
    Layout,
    words_of,
)
from legate_diffuse.codegen.gpu.shape import (
    THREADS,
    block_x,
    groups_of,
    lanes_of,
    partial_words,
)
from legate_diffuse.kernel import Kernel
from legate_diffuse.kernel.dtypes import ITEMSIZE

MOST_BLOCKS: Final = 1024
"""Of a launch that combines partial results."""
POINTS_OF_A_THREAD: Final = 8
"""That a thread reduces before there are more blocks."""
COLUMNS: Final = 32
BUSY: Final = 1 << 19
"""Threads that keep a GPU busy."""
_MOST_Y: Final = 65535
_FIRST_INDEX: Final = 10
_GARBAGE: Final = 0x5A


class Image:
    """An emulated image that was loaded."""

    def __init__(self, content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            # it stays in memory
            place = Path(folder) / "image.so"
            place.write_bytes(content)
            library = ctypes.CDLL(str(place))
        self._launch = library.legate_diffuse_emulated_launch
        self._launch.restype = ctypes.c_char_p
        self._launch.argtypes = [
            ctypes.c_char_p,
            ctypes.c_void_p,
            *[ctypes.c_uint32] * 7,
        ]

    def launch(
        self,
        name: str,
        parameter: np.ndarray,
        blocks: Sequence[int],
        threads: Sequence[int],
        seed: int,
    ) -> None:
        error = self._launch(
            name.encode(), parameter.ctypes.data, *blocks, *threads, seed
        )
        if error is not None:
            raise RuntimeError(error.decode())


@dataclass(frozen=True)
class Grid:
    """A grid, and the scratch memory that it needs."""

    blocks: tuple[int, int, int]
    threads: tuple[int, int, int]
    parts: int = 1
    tickets: int = 0
    partials: int = 0

    def chunk(self, rows: int) -> int:
        """Return how many rows a thread takes one after the other."""
        return _ceil(rows, self.threads[1] * self.blocks[1])


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _power_of_two(n: int) -> int:
    return 1 << max(0, n - 1).bit_length()


def _clamp(n: int, most: int) -> int:
    return max(1, min(n, most))


def grid_of(
    kernel: Kernel, layout: Layout, extent: int, rows: int, slices: int
) -> Grid:
    """Return the grid for the extent of the inner loop, the rows and the slices."""
    words = partial_words(kernel)
    lanes = lanes_of(kernel)
    points = _ceil(extent, lanes) if layout is Layout.ALIGNED else extent
    groups, most_x = 1, COLUMNS
    if layout is not Layout.COLUMNS:
        groups = 1 if layout is Layout.STRIDED else groups_of(kernel)
        most_x = max(block_x(kernel), THREADS // min(THREADS, _power_of_two(rows)))
    x = min(most_x, THREADS, _power_of_two(_ceil(points, groups)))
    y = THREADS // x
    across = _ceil(points, x * groups)
    if not words:
        each = _clamp(across * x * rows // BUSY, POINTS_OF_A_THREAD)
        return Grid((across, min(_ceil(rows, y * each), _MOST_Y), 1), (x, y, 1))
    least_rows = _ceil(rows, POINTS_OF_A_THREAD * y)
    if layout is Layout.COLUMNS:
        parts = _clamp(
            least_rows, _clamp(MOST_BLOCKS // (across * slices), MOST_BLOCKS)
        )
        blocks = (across, parts, min(slices, _MOST_Y))
        tickets, slots = slices * across, slices * across * parts * x
    else:
        most = _clamp(MOST_BLOCKS // slices, MOST_BLOCKS)
        across = _clamp(_ceil(across * groups, POINTS_OF_A_THREAD), most)
        down = _clamp(least_rows, most // across)
        blocks = (across, down, min(slices, _MOST_Y))
        parts = across * down
        tickets, slots = slices, slices * parts
    if parts == 1:
        return Grid(blocks, (x, y, 1))
    return Grid(blocks, (x, y, 1), parts, tickets, slots * words)


def layout_of(kernel: Kernel, views: Sequence[np.ndarray]) -> Layout:
    """Return the layout of views, whose last axis is the inner loop."""
    layout = Layout.ALIGNED
    for number, (argument, view) in enumerate(
        zip(kernel.arguments, views, strict=True)
    ):
        if argument.reduces is not None:
            continue
        fixed = invariant(kernel, number)
        inner = 0 if fixed else ITEMSIZE[argument.dtype]
        if view.shape[-1] > 1 and view.strides[-1] != inner:
            return Layout.STRIDED
        outer = [s for s, n in zip(view.strides, view.shape, strict=True) if n > 1]
        starts = [view.ctypes.data, *(outer[:-1] if view.shape[-1] > 1 else outer)]
        if not fixed and any(each % 16 for each in starts):
            layout = Layout.UNIT
    return layout


def parameter_of(
    kernel: Kernel,
    views: Sequence[np.ndarray],
    pointers: Sequence[int],
    loops: Sequence[int],
    scalars: Sequence[object],
    words: Sequence[int],
) -> np.ndarray:
    """Return the parameter block, on a multiple of 16 bytes.

    `loops` are the axes of the views, inner loop first.
    """
    shape = views[0].shape
    extents = [shape[axis] for axis in loops]
    strides = [
        [view.strides[axis] if view.shape[axis] > 1 else 0 for axis in loops]
        for view in views
    ]
    last = len(shape) - 1
    strides += [[int(last - axis == d) for axis in loops] for d in kernel.indices]
    missing = LOOPS - len(loops)
    block = [*extents, *[1] * missing, *words, *pointers]
    block += [_FIRST_INDEX] * len(kernel.indices)
    block += [s for each in strides for s in (*each, *[0] * missing)]
    block += [0] * (len(block) % 2)
    held = np.zeros(words_of(kernel) + 2, np.int64)
    held = held[held.ctypes.data % 16 // 8 :][: words_of(kernel)]
    held[: len(block)] = block
    for number, (dtype, value) in enumerate(zip(kernel.scalars, scalars, strict=True)):
        content = np.array([value], dtype).tobytes().ljust(16, b"\0")
        at = len(block) + 2 * number
        held[at : at + 2] = np.frombuffer(content, np.int64)
    assert 8 * len(held) <= MOST_BYTES
    return held


def patterns(kernel: Kernel, views: Sequence[np.ndarray]) -> list[frozenset[int]]:
    """Return the sets of axes along which reducing arguments move."""
    found = {
        frozenset(
            axis for axis, n in enumerate(view.shape) if n > 1 and view.strides[axis]
        )
        for argument, view in zip(kernel.arguments, views, strict=True)
        if argument.reduces is not None
    }
    return sorted(found, key=sorted)


def launch(
    image: Image,
    name: str,
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[object] = (),
    *,
    seed: int = 1,
    inner: int | None = None,
    layout: Layout | None = None,
    deep: int = _MOST_Y,
    chunk: int | None = None,
) -> None:
    """Run a kernel on arrays that broadcast together.

    `inner` is the axis of the inner loop, and `layout` one that takes less for granted
    than is true. The grid has `deep` blocks at most for slices. Threads take `chunk`
    rows one after the other, or as many as a launch chooses.
    """
    shape = np.broadcast_shapes(*(array.shape for array in arrays), (1, 1))
    if 0 in shape:
        return
    views = [np.broadcast_to(array, shape) for array in arrays]
    last = len(shape) - 1 if inner is None else inner
    kept = patterns(kernel, views) or [frozenset()]
    for number, moving in enumerate(kept):
        others = [axis for axis in reversed(range(len(shape))) if axis != last]
        reduced = [axis for axis in others if axis not in moving]
        loops = [last, *reduced, *(axis for axis in others if axis in moving)]
        rows = math.prod(shape[axis] for axis in reduced)
        slices = math.prod(shape[axis] for axis in others if axis in moving)
        swapped = [np.moveaxis(view, last, -1) for view in views]
        chosen = layout or layout_of(kernel, swapped)
        if last in moving:
            chosen = Layout.COLUMNS
        grid = grid_of(kernel, chosen, shape[last], rows, slices)
        partials = np.full(8 * max(1, grid.partials), _GARBAGE, np.uint8)
        tickets = np.zeros(max(1, grid.tickets), np.uint32)
        pointers = []
        for argument, view in zip(kernel.arguments, views, strict=True):
            axes = {a for a, n in enumerate(shape) if n > 1 and view.strides[a]}
            skipped = argument.reduces is not None and axes != moving
            pointers.append(0 if skipped else view.ctypes.data)
        scratch = (
            (partials.ctypes.data, tickets.ctypes.data) if grid.partials else (0, 0)
        )
        words = [rows, slices, int(number == len(kept) - 1), *scratch, chosen.value]
        words.append(chunk or grid.chunk(rows))
        parameter = parameter_of(kernel, views, pointers, loops, scalars, words)
        across, down, slices = grid.blocks
        blocks = (across, down, min(slices, deep))
        image.launch(name, parameter, blocks, grid.threads, seed)
        assert not tickets.any(), "a ticket was not given back"


def aligned(shape: Sequence[int], dtype: str, offset: int = 0) -> np.ndarray:
    """Return an array that starts `offset` bytes after a multiple of 64."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    block = np.zeros(size + 128, np.uint8)
    start = -block.ctypes.data % 64 + offset
    return block[start : start + size].view(dtype).reshape(shape)
