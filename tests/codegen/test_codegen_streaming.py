# SPDX-License-Identifier: Apache-2.0
"""Large calls write past the caches; here every call counts as large."""

import numpy as np
from compiled_kernels import MANY
from every import every

from legate_diffuse.kernel import Argument, Builder


def split_kernel(first, second):
    """One input and two outputs, and an argument that is updated in place."""
    builder = Builder(
        [
            Argument(first, reads=True, writes=False),
            Argument(first, reads=False, writes=True),
            Argument(second, reads=False, writes=True),
            Argument("float64", reads=True, writes=True),
            Argument("float64", reads=True, writes=False, broadcast=True),
        ],
        [],
    )
    x = builder.load(0)
    builder.store(1, builder.op("add", first, x, x) if first != "bool" else x)
    builder.store(2, builder.op("cast", second, x))
    builder.store(3, builder.op("add", "float64", builder.load(3), builder.load(4)))
    return builder.build()


def within(dtype, rows, columns, offset):
    """A view of an array, `offset` elements after the start of a cache line."""
    itemsize = np.dtype(dtype).itemsize
    pitch = columns + 5
    memory = np.zeros(rows * pitch * itemsize + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset * itemsize
    whole = memory[start : start + rows * pitch * itemsize].view(dtype)
    return memory, whole.reshape(rows, pitch)[:, :columns]


@every("offsets", [(0, 0), (3, 3), (1, 2), (7, 7)])
@every("columns", [1, 15, 16, 100, 1000])
@every(
    ("first", "second"),
    [
        ("float64", "float64"),
        ("float64", "bool"),
        ("float32", "int64"),
        ("int8", "bool"),
    ],
)
def test_streams_to_any_address(run, first, second, columns, offsets):
    rows = 3
    x = (np.arange(rows * columns) % 50).reshape(rows, columns).astype(first)
    memories, outputs = [], []
    for dtype, offset in zip((first, second), offsets, strict=True):
        memory, view = within(dtype, rows, columns, offset)
        memories.append(memory)
        outputs.append(view)
    total = np.ones((rows, columns))
    shift = np.arange(rows * 1.0)[:, None]
    kernel = split_kernel(first, second)
    run(kernel, [x, *outputs, total, shift], unread=MANY)
    assert np.array_equal(outputs[0], x + x)
    assert np.array_equal(outputs[1], x.astype(second))
    assert np.array_equal(total, 1 + np.broadcast_to(shift, total.shape))
    for memory, view in zip(memories, outputs, strict=True):
        view[:] = 0
        assert not memory.any()
