# SPDX-License-Identifier: Apache-2.0
"""Kernels that run row by row give what they give one after the other on the CPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from emulated import EmulatedAssembler
from launches import Image, aligned
from row_programs import (
    Step,
    binary,
    centred,
    launch_rows,
    numbered,
    program_of,
)
from tiers import some

from legate_diffuse.codegen.gpu.module import gpu_module
from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS

DTYPES = [*FLOATS, *COMPLEX, "int8", "uint16", "int32", "int64"]
SHAPES = [(300, 1), (70, 3), (9, 33), (5, 100), (3, 1000), (4, 3, 50)]
WHERE = [("m", "t", "s"), ("t",), ()]


def image_of(steps: Sequence[Step], local: Sequence[str]) -> Image:
    text = gpu_module(program_of(steps, local), "k")
    return Image(EmulatedAssembler().image(text))


def small_numbers(shape: Sequence[int], dtype: str, offset: int = 0) -> np.ndarray:
    """Return numbers of which all sums are exact."""
    made = aligned(shape, dtype, offset)
    made[...] = np.random.default_rng(len(shape)).integers(0, 3, shape)
    return made


def layouts(shape: Sequence[int], dtype: str) -> list[np.ndarray]:
    wide = small_numbers((*shape[:-1], 2 * shape[-1]), dtype)
    return [
        small_numbers(shape, dtype),
        small_numbers(shape, dtype, np.dtype(dtype).itemsize),
        small_numbers(shape[::-1], dtype).T,
        wide[..., ::-2],
        wide[::-1, ..., : shape[-1]],
    ]


def padded(shape: Sequence[int], dtype: str) -> np.ndarray:
    """Return an array whose rows begin at multiples of 16 bytes."""
    *outer, length = shape
    return aligned((*outer, length + -length % 16), dtype)[..., :length]


def arrays_of(x: np.ndarray) -> dict[str, np.ndarray]:
    single = (x.shape[0], *[1] * (x.ndim - 1))
    dtype = x.dtype.name
    found = {name: padded(x.shape, dtype) for name in "ty"}
    return found | {name: aligned(single, dtype) for name in "ms"} | {"x": x}


def one_after_the_other(run, steps, arrays) -> None:
    for step in steps:
        whole = [arrays[name] for name in step.names]
        # a call has at most two loops
        parts = [whole] if arrays["x"].ndim == 2 else zip(*whole, strict=True)
        for part in parts:
            run(step.kernel, part)


@pytest.mark.parametrize("dtype", some(DTYPES, 2))
@pytest.mark.parametrize("local", WHERE)
def test_rows_give_what_loops_give(run, dtype, local) -> None:
    steps = centred(dtype)
    image = image_of(steps, local)
    for shape in SHAPES:
        for x in layouts(shape, dtype):
            expected, found = arrays_of(x), arrays_of(x)
            one_after_the_other(run, steps, expected)
            for seed in (0, 1):
                found["y"][...] = 0
                launch_rows(image, "k", steps, found, local, seed=seed)
                np.testing.assert_array_equal(found["y"], expected["y"])
            for name in "mts":
                kept = not found[name].any() if name in local else True
                assert kept, "what is local was stored"


@pytest.mark.parametrize("across", [1, 2, 8, 32, 64, 256])
@pytest.mark.parametrize("blocks", [1, 3])
def test_any_number_of_threads_shares_a_row(run, across, blocks) -> None:
    steps, local = centred("int64"), ("m", "s")
    image = image_of(steps, local)
    x = small_numbers((37, 90), "int64")
    expected, found = arrays_of(x), arrays_of(x)
    one_after_the_other(run, steps, expected)
    launch_rows(image, "k", steps, found, local, across=across, blocks=blocks)
    np.testing.assert_array_equal(found["y"], expected["y"])


def test_kernels_may_have_other_rows() -> None:
    steps = [
        Step(binary("add", "int64"), ("t", "x", "x"), first=2),
        Step(numbered("int64"), ("y", "u"), first=4),
        Step(binary("mul", "int64"), ("z", "x", "x"), first=2),
    ]
    image = image_of(steps, ())
    x = small_numbers((20, 7), "int64")
    t, z = (aligned((20, 7), "int64") for _ in range(2))
    y = aligned((11, 7), "int64")
    arrays = {"x": x, "t": t, "y": y, "z": z, "u": t[2:13]}
    launch_rows(image, "k", steps, arrays, ())
    indices = 20 + np.add.outer(np.arange(11), np.arange(7))
    np.testing.assert_array_equal(y, 2 * x[2:13] + indices)
    np.testing.assert_array_equal(z, x * x)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_sums_of_rows_have_the_same_bits_in_every_run(dtype) -> None:
    steps, local = centred(dtype), ("m", "t", "s")
    image = image_of(steps, local)
    x = aligned((5, 700), dtype)
    x[...] = np.random.default_rng(4).standard_normal(x.shape)
    results = set()
    for seed in range(4):
        arrays = arrays_of(x)
        launch_rows(image, "k", steps, arrays, local, seed=seed, blocks=1 + seed)
        results.add(arrays["y"].tobytes())
    assert len(results) == 1
