# SPDX-License-Identifier: Apache-2.0
"""Kernels that run row by row, and launches of them as the native part makes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from launches import Image, layout_of, parameter_of

from legate_diffuse.codegen.gpu.parameters import LOOPS
from legate_diffuse.codegen.gpu.rows import words_of_rows
from legate_diffuse.codegen.gpu.shape import THREADS
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.ir import RowProgram


@dataclass(frozen=True)
class Step:
    """A kernel, the names of its arguments, and its first row on the common axis.

    ``t~`` is another view of ``t``.
    """

    kernel: Kernel
    names: tuple[str, ...]
    first: int = 0


def program_of(steps: Sequence[Step], local: Sequence[str]) -> RowProgram:
    """Return the program of steps, in which some arrays live in shared memory."""
    places = {name: place for place, name in enumerate(local)}
    return RowProgram(
        tuple(step.kernel for step in steps),
        tuple(tuple(places.get(root(name)) for name in step.names) for step in steps),
    )


def root(name: str) -> str:
    """Return the name of the array that a view shows."""
    return name.rstrip("~")


def fill(dtype: str, value: int) -> Kernel:
    builder = Builder([Argument(dtype, False, True)], [])
    builder.store(0, builder.constant(dtype, value))
    return builder.build()


def reduction(operator: str, dtype: str) -> Kernel:
    """The first argument combined with the second one."""
    target = Argument(dtype, False, False, reduces=operator)
    builder = Builder([target, Argument(dtype, True, False)], [])
    builder.reduce(0, builder.load(1))
    return builder.build()


def binary(name: str, dtype: str) -> Kernel:
    """The first argument becomes an operator over the others."""
    arguments = [Argument(dtype, False, True), *[Argument(dtype, True, False)] * 2]
    builder = Builder(arguments, [])
    builder.store(0, builder.op(name, dtype, builder.load(1), builder.load(2)))
    return builder.build()


def numbered(dtype: str) -> Kernel:
    """The first argument becomes the second one, the place in its row and the row."""
    arguments = [Argument(dtype, False, True), Argument(dtype, True, False)]
    builder = Builder(arguments, [])
    value = builder.load(1)
    for dimension in (0, LOOPS - 1):
        index = builder.op("cast", dtype, builder.index(dimension))
        value = builder.op("add", dtype, value, index)
    builder.store(0, value)
    return builder.build()


def centred(dtype: str) -> list[Step]:
    """``t = x - x.max(1); y = t + t.sum(1)``; of complex numbers sums and products."""
    first, minus, plus = "max", "sub", "add"
    if dtype.startswith("complex"):
        first, minus, plus = "add", "complex_mul", "complex_mul"
    return [
        Step(fill(dtype, 0), ("m",)),
        Step(reduction(first, dtype), ("m", "x")),
        Step(binary(minus, dtype), ("t", "x", "m")),
        Step(fill(dtype, 0), ("s",)),
        Step(reduction("add", dtype), ("s", "t")),
        Step(binary(plus, dtype), ("y", "t", "s")),
    ]


# Bytes of shared memory that a block may have.
SHARED = 48 * 1024


def shapes_of(step: Step, arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return the views of a step, of one shape."""
    own = [arrays[name] for name in step.names]
    shape = np.broadcast_shapes(*(each.shape for each in own))
    return [np.broadcast_to(each, shape) for each in own]


def launch_rows(
    image: Image,
    name: str,
    steps: Sequence[Step],
    arrays: Mapping[str, np.ndarray],
    local: Sequence[str],
    *,
    seed: int = 1,
    across: int = 0,
    blocks: int = 0,
) -> None:
    """Run steps on arrays, whose first axis is that of the rows.

    Arrays that are local are not touched: they tell what a row of them is. `across` is
    the number of threads for each row.
    """
    views = [shapes_of(step, arrays) for step in steps]
    points = max(math.prod(each[0].shape[1:]) for each in views)
    x = across or min(THREADS, 1 << max(0, points - 1).bit_length())
    # as many rows as shared memory has place for
    y = THREADS // x
    while sum(-(-arrays[each].strides[0] * y // 16) * 16 for each in local) > SHARED:
        x, y = 2 * x, y // 2
    # what added to an address gives the place in shared memory
    origins, offset = {}, 0
    for each in local:
        origins[each] = arrays[each].ctypes.data - offset
        offset += -(-arrays[each].strides[0] * y // 16) * 16
    rows = max(s.first + own[0].shape[0] for s, own in zip(steps, views, strict=True))
    words = [rows, 0]
    for step, own in zip(steps, views, strict=True):
        layout = layout_of(step.kernel, own)
        count, *inner = own[0].shape
        own_rows = step.first, step.first + count
        missing = [0] * (LOOPS - 1 - len(inner))
        shape = (count, *[1] * len(missing), *inner)
        block = parameter_of(
            step.kernel,
            [
                np.lib.stride_tricks.as_strided(
                    each,
                    shape,
                    [each.strides[0], *missing, *each.strides[1:]],
                )
                for each in own
            ],
            [
                arrays[each].ctypes.data - origins.get(root(each), 0)
                for each in step.names
            ],
            tuple(reversed(range(LOOPS))),
            (),
            [math.prod(inner[:-1]), *own_rows, 0, 0, layout.value, 0],
        )
        words += block.tolist()
    parameter = np.zeros(len(words) + 2, np.int64)
    parameter = parameter[parameter.ctypes.data % 16 // 8 :][: len(words)]
    parameter[:] = words
    assert len(words) == words_of_rows(program_of(steps, local))
    grid = (blocks or -(-rows // y), 1, 1)
    image.launch(name, parameter, grid, (x, y, 1), seed)
