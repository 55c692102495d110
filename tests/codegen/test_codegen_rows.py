# SPDX-License-Identifier: Apache-2.0
"""Rows of every length, on processors with and without masked instructions."""

import ctypes
import mmap
from dataclasses import replace

import numpy as np
import pytest
from every import every

from legate_diffuse.codegen import Compiler, machine
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import ALL, FLOATS

LENGTHS = [*range(1, 41), 63, 64, 65, 127, 128, 129, 300]
HOST = host_target()
TARGETS = {
    "host": HOST,
    "avx2": replace(HOST, cpu="haswell", features="", vector_bytes=32),
    "sse2": replace(HOST, cpu="x86-64", features="", vector_bytes=16, fma=False),
}


@pytest.fixture(scope="module", params=TARGETS)
def compiler(request):
    target = TARGETS[request.param]
    if target.vector_bytes > HOST.vector_bytes:
        pytest.skip("not on this processor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "host_target", lambda: target)
        compiler = Compiler()
        compiler.compile(copied("bool"))
    return compiler


def copied(dtype):
    builder = Builder(
        [
            Argument(dtype, reads=False, writes=True),
            Argument(dtype, reads=True, writes=False),
        ],
        [],
    )
    builder.store(0, builder.load(1))
    return builder.build()


def numbers(dtype, size, seed):
    found = np.random.default_rng(seed).integers(0, 100, size)
    return found % 2 == 0 if dtype == "bool" else found.astype(dtype)


class Guarded:
    """Memory that ends, or begins, where the process has none."""

    def __init__(self):
        self.size = 4 * mmap.PAGESIZE
        self.memory = mmap.mmap(-1, self.size + 2 * mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        for page in (start, start + mmap.PAGESIZE + self.size):
            nothing = protect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), 0)
            assert nothing == 0

    def array(self, dtype, size, at_end):
        """Return an array of which nothing behind, or before, may be touched."""
        nbytes = size * np.dtype(dtype).itemsize
        offset = mmap.PAGESIZE + (self.size - nbytes if at_end else 0)
        return np.frombuffer(self.memory, dtype, size, offset)


@pytest.fixture(scope="module")
def pages():
    return [Guarded() for _ in range(4)]


@every("at_end", [True, False])
@every("dtype", ALL)
def test_touches_nothing_outside(compiler, call, pages, dtype, at_end):
    kernel = copied(dtype)
    compiled = compiler.compile(kernel)
    for length in LENGTHS:
        x, y = (page.array(dtype, length, at_end) for page in pages[:2])
        x[:], y[:] = numbers(dtype, length, length), 0
        call(compiled, kernel, [y, x])
        assert np.array_equal(y, x)


@every(("wide", "narrow"), [("float64", "int8"), ("int16", "bool")])
def test_arguments_of_different_sizes(compiler, call, pages, wide, narrow):
    """Arguments that are read, written or both, of several types."""
    builder = Builder(
        [
            Argument(wide, reads=True, writes=True),
            Argument(narrow, reads=False, writes=True),
            Argument(narrow, reads=True, writes=False),
            Argument(wide, reads=True, writes=False, broadcast=True),
        ],
        [],
    )
    x, shift = builder.load(0), builder.load(3)
    builder.store(0, builder.op("add", wide, x, shift))
    builder.store(1, builder.op("xor", narrow, builder.load(2), builder.load(2)))
    kernel = builder.build()
    compiled = compiler.compile(kernel)
    for length in LENGTHS:
        for rows in (1, 3):
            shape = rows, length
            x, y, z = (
                page.array(dtype, rows * length, at_end=True).reshape(shape)
                for page, dtype in zip(pages, (wide, narrow, narrow), strict=False)
            )
            before = numbers(wide, shape, length)
            x[:], y[:], z[:] = before, 1, numbers(narrow, shape, length)
            shift = np.arange(rows).astype(wide)[:, None]
            call(compiled, kernel, [x, y, z, shift])
            assert np.array_equal(x, before + shift)
            assert not y.any()


@every("dtype", ["int8", "float32", "float64", "complex128"])
@every("each", [False, True])
def test_lanes_beyond_the_end_are_not_reduced(compiler, call, pages, dtype, each):
    """Sums of rows, and of columns (`each`) if the elements move with the points."""
    builder = Builder(
        [
            Argument(
                dtype, reads=False, writes=False, broadcast=not each, reduces="add"
            ),
            Argument(dtype, reads=True, writes=False),
        ],
        [],
    )
    builder.reduce(0, builder.load(1))
    kernel = builder.build()
    compiled = compiler.compile(kernel)
    for length in LENGTHS:
        x = pages[0].array(dtype, 3 * length, at_end=True).reshape(3, length)
        x[:] = numbers(dtype, x.shape, length)
        total = pages[1].array(dtype, length if each else 1, at_end=True)
        total[:] = 7
        views = [np.lib.stride_tricks.as_strided(total, x.shape, (0, total.itemsize))]
        if not each:
            views = [np.lib.stride_tricks.as_strided(total, x.shape, (0, 0))]
        call(compiled, kernel, [*views, x])
        expected = x.sum(0, dtype) if each else [x.sum(dtype=dtype)]
        assert np.array_equal(total, expected + np.array(7, dtype))


@every("dtype", FLOATS)
def test_maths_routines(compiler, call, pages, dtype):
    builder = Builder(
        [
            Argument(dtype, reads=False, writes=True),
            Argument(dtype, reads=True, writes=False),
        ],
        [],
    )
    builder.store(0, builder.op("exp", dtype, builder.load(1)))
    kernel = builder.build()
    compiled = compiler.compile(kernel)
    whole = np.linspace(-3, 3, 1000).astype(dtype)
    expected = np.empty_like(whole)
    call(compiled, kernel, [expected, whole])
    for length in LENGTHS:
        x, y = (page.array(dtype, length, at_end=True) for page in pages[:2])
        x[:] = whole[:length]
        call(compiled, kernel, [y, x])
        assert np.array_equal(y, expected[:length])
