# SPDX-License-Identifier: Apache-2.0
"""Grids and parameter blocks of the native part give what NumPy gives, for any layout.

Kernels are emulated. Values are small integers, so that sums are exact in any order.
"""

from __future__ import annotations

import ctypes
import functools
import random
import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest
from built import built
from fake_gpus import HERE, include_folders

sys.path.append(str(HERE.parent / "codegen" / "gpu"))

from emulated import EmulatedAssembler
from launches import Image

from legate_diffuse.codegen.gpu import GpuCompiler
from legate_diffuse.codegen.gpu.parameters import (
    LAYOUT,
    PARTIALS,
    TICKETS,
    Layout,
    words_of,
)
from legate_diffuse.kernel import Argument, Builder

MAPPERS: Final = HERE.parents[1] / "mappers"
PARTIAL_WORDS: Final = 1024 * 32 * 4
VISIT: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_int,
)


@functools.cache
def library() -> ctypes.CDLL:
    """Return ``grids.cc`` and what it tests, compiled."""
    folders = [f"-isystem{folder}" for folder in include_folders()]
    sources = [HERE / "grids.cc", MAPPERS / "gpu" / "grid.cc"]
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"]
    command = ["g++", *flags, f"-I{MAPPERS}", *folders, *map(str, sources)]
    headers = sorted(MAPPERS.rglob("*.h"))
    return ctypes.CDLL(str(built("grids.so", command, [*sources, *headers])))


class Launcher:
    """Launches a kernel as the native part does."""

    def __init__(self, builder: Builder) -> None:
        kernel = builder.build()
        self._words = words_of(kernel)
        self._compiled = GpuCompiler(EmulatedAssembler()).compile(kernel)
        image, size = (ctypes.c_int64 * 2).from_address(self._compiled.address)
        self._image = Image(ctypes.string_at(image, size))
        self.layouts: set[Layout] = set()

    def run(
        self,
        shape: Sequence[int],
        views: Sequence[np.ndarray],
        scalars: Sequence[float] = (),
        firsts: Sequence[int] = (),
    ) -> int:
        """Launch the kernel on views of one shape; return how many launches it took."""
        partials = np.full(PARTIAL_WORDS, -1, np.int64)
        tickets = np.zeros(1024, np.uint32)

        def visit(words: Any, size: int, grid: Any, folds: int) -> None:
            assert size == self._words
            block = np.zeros(size + 2, np.int64)
            # the driver copies parameters to where they are aligned
            block = block[block.ctypes.data % 16 // 8 :][:size]
            block[:] = np.ctypeslib.as_array(words, (size,))
            if folds:
                block[PARTIALS] = partials.ctypes.data
                block[TICKETS] = tickets.ctypes.data
            threads = grid[3], grid[4], 1
            self._image.launch(self._compiled.name, block, grid[:3], threads, 1)
            assert not tickets.any()
            self.layouts.add(Layout(block[LAYOUT]))

        dim = len(shape)
        numbers = ctypes.c_int64 * dim
        strides = [stride for view in views for stride in view.strides]
        packed = b"".join(np.array([s]).tobytes().ljust(16, b"\0") for s in scalars)
        return int(
            library().visit_launches(
                ctypes.c_void_p(self._compiled.address),
                ctypes.c_int64(dim),
                numbers(*shape),
                numbers(*(firsts or [0] * dim)),
                ctypes.c_int64(len(views)),
                (ctypes.c_void_p * len(views))(*(v.ctypes.data for v in views)),
                (ctypes.c_int64 * len(strides))(*strides),
                packed,
                VISIT(visit),
            )
        )


def some_view(
    choose: random.Random, shape: Sequence[int], whole: bool = False
) -> np.ndarray:
    """Return a view of small integers, in any layout.

    Unless it is ``whole``, it may repeat along some dimensions.
    """
    order = choose.sample(range(len(shape)), len(shape))
    if choose.random() < 0.5:
        order.sort()
    repeats = [not whole and choose.random() < 0.25 for _ in shape]
    room = [1 if repeats[d] else shape[d] + choose.choice((0, 0, 3)) for d in order]
    base = np.array(
        [choose.randrange(-4, 5) for _ in range(int(np.prod(room)))], np.float64
    ).reshape(room)
    back = base.transpose(np.argsort(order))
    parts = tuple(
        slice(0, 1) if repeats[d] else slice(back.shape[d] - shape[d], None)
        for d in range(len(shape))
    )
    return np.broadcast_to(back[parts], shape)


def some_shape(choose: random.Random) -> list[int]:
    sizes = (1, 2, 3, 5, 8, 17, 40)
    return [choose.choice(sizes) for _ in range(choose.randrange(1, 4))]


def writable(view: np.ndarray) -> np.ndarray:
    """Return a view of the same elements that may be written."""
    found = np.lib.stride_tricks.as_strided(view, writeable=True)
    assert found.ctypes.data == view.ctypes.data
    return found


@functools.cache
def pointwise() -> Launcher:
    """Return a kernel that has inputs, an output, a scalar and an index."""
    read = Argument("float64", reads=True, writes=False)
    builder = Builder((Argument("float64", False, True), read, read), ("float64",))
    product = builder.op("mul", "float64", builder.load(1), builder.load(2))
    builder.store(0, builder.op("add", "float64", product, builder.scalar(0)))
    return Launcher(builder)


@functools.cache
def with_index() -> Launcher:
    read = Argument("int64", reads=True, writes=False)
    builder = Builder((Argument("int64", False, True), read), ())
    builder.store(0, builder.op("add", "int64", builder.load(1), builder.index(1)))
    return Launcher(builder)


@functools.cache
def reducing() -> Launcher:
    """Return a kernel that adds its input, and stores twice of it in its place."""
    sums = Argument("float64", reads=False, writes=False, reduces="add")
    most = Argument("float64", reads=False, writes=False, reduces="max")
    both = Argument("float64", reads=True, writes=True)
    builder = Builder((both, sums, sums, most), ())
    value = builder.load(0)
    builder.store(0, builder.op("add", "float64", value, value))
    for number in (1, 2, 3):
        builder.reduce(number, value)
    return Launcher(builder)


def test_any_layout_gives_the_same_values() -> None:
    choose = random.Random(1)
    launcher = pointwise()
    for _ in range(150):
        shape = some_shape(choose)
        out = writable(some_view(choose, shape, whole=True))
        left, right = some_view(choose, shape), some_view(choose, shape)
        expected = left * right + 3.0
        assert launcher.run(shape, (out, left, right), (3.0,)) == 1
        assert np.array_equal(out, expected)
    assert launcher.layouts == {Layout.ALIGNED, Layout.UNIT, Layout.STRIDED}


def test_an_index_follows_its_loop() -> None:
    choose = random.Random(2)
    launcher = with_index()
    for _ in range(60):
        shape = some_shape(choose)
        firsts = [choose.randrange(100) for _ in shape]
        out = np.zeros(shape, np.int64)
        value = some_view(choose, shape).astype(np.int64)
        launcher.run(shape, (out, value), firsts=firsts)
        index = np.zeros(shape, np.int64)
        if len(shape) > 1:
            along = np.arange(shape[-2]) + firsts[-2]
            index += along.reshape(-1, 1)
        assert np.array_equal(out, value + index)


def test_reductions_along_any_loops() -> None:
    choose = random.Random(3)
    launcher = reducing()
    most_launches = 0
    for _ in range(150):
        shape = some_shape(choose)
        value = writable(some_view(choose, shape, whole=True))
        start = np.array(value)
        axes = [
            tuple(d for d in range(len(shape)) if choose.random() < 0.5)
            for _ in range(3)
        ]
        targets = [np.full_like(start.sum(axis=a, keepdims=True), 2.0) for a in axes]
        count = launcher.run(
            shape, (value, *(np.broadcast_to(target, shape) for target in targets))
        )
        most_launches = max(most_launches, count)
        assert np.array_equal(value, start + start)
        for axis, target in zip(axes[:2], targets[:2], strict=True):
            assert np.array_equal(target, start.sum(axis=axis, keepdims=True) + 2.0)
        largest = np.maximum(start.max(axis=axes[2], keepdims=True), 2.0)
        assert np.array_equal(targets[2], largest)
    assert most_launches == 3
    assert {Layout.COLUMNS, Layout.STRIDED} <= launcher.layouts


@pytest.mark.parametrize("shape", [(70000,), (300, 400), (3, 40000), (40000, 3)])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_blocks_share_a_large_reduction(
    shape: tuple[int, ...], axis: int | None
) -> None:
    value = (np.arange(np.prod(shape)) % 11).astype(np.float64).reshape(shape)
    targets = [np.zeros_like(value.sum(axis=axis, keepdims=True)) for _ in range(2)]
    most = np.zeros((1,) * len(shape))
    launcher = reducing()
    own = value.copy()
    launcher.run(shape, (own, *(np.broadcast_to(t, shape) for t in (*targets, most))))
    for target in targets:
        assert np.array_equal(target, value.sum(axis=axis, keepdims=True))
    assert most.item() == 10.0
    assert np.array_equal(own, value + value)


def test_no_points_are_no_launch() -> None:
    out = np.zeros((3, 0))
    assert pointwise().run((3, 0), (out, out, out), (3.0,)) == 0
