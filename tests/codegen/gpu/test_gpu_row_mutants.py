# SPDX-License-Identifier: Apache-2.0
"""Whether the tests of row programs notice what is wrong in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from emulated import EmulatedAssembler
from launches import Image, aligned
from row_programs import Step, binary, centred, launch_rows, program_of
from test_gpu_mutants import Change, replaced, without
from test_gpu_rows import arrays_of, padded, small_numbers

from legate_diffuse.codegen.gpu.combining import BARRIER
from legate_diffuse.codegen.gpu.module import gpu_module

STEPS = centred("int32")
LOCAL = ("m", "t", "s")
# Each thread reads what another one has written.
REVERSED = [
    Step(binary("add", "int64"), ("t", "x", "x")),
    Step(binary("add", "int64"), ("y", "t~", "x")),
]
# Of a reduction that before its warps are combined, and that after it.
MUTANTS: dict[str, Change] = {
    f"barrier {number}": without(BARRIER, number) for number in (0, 1, 3, 6)
} | {
    "no first points": replaced(
        r"%group\.first = add i64 %tid\.x, 0", "%group.first = add i64 %tid.x, 1"
    ),
    "no last points": replaced(
        "%strided.more = icmp slt i64 %strided, %extent",
        "%strided.last = add i64 %strided, 1\n"
        "  %strided.more = icmp slt i64 %strided.last, %extent",
    ),
    "vectors beyond the row": replaced(
        r"(%whole = select i1 %in\.vectors, i64) \S+,", r"\1 %extent,"
    ),
    "rows of other blocks": replaced(
        "%step = mul i64 %nctaid.x, %ntid.y", "%step = mul i64 %nctaid.x, %ntid.x"
    ),
    "rows of no block": replaced("icmp ult i64 %group, %rows", "icmp ult i64 1, 0"),
    "one place in shared memory": replaced(
        r"mul i64 %tid\.y, (%e\d+)", r"mul i64 0, \1"
    ),
    "a row too few": replaced("icmp sge i64 %place", "icmp sgt i64 %place"),
    "all threads of a row write": replaced(
        "%leads = icmp eq i64 %tid.x, 0", "%leads = icmp ule i64 0, %tid.x"
    ),
    "lanes of other rows": replaced(
        r"icmp ult i64 %ntid\.x, 32", "icmp ult i64 %ntid.x, 0"
    ),
    "one warp": replaced(r"i64 (%c\d+), i64 0\n", "i64 1, i64 0\n"),
    "other warps": replaced(r"(%\S+ = udiv i64 %c\d+), 32", r"\1, 64"),
}


def failures(text: str) -> Iterator[bool]:
    """Yield of each run whether a module's results are wrong."""
    image = Image(EmulatedAssembler(passes=False).image(text))
    for shape, across in (((9, 701), 0), ((11, 40), 0), ((40, 3), 0), ((7, 300), 128)):
        x = padded(shape, "int32")
        x[...] = np.random.default_rng(2).integers(0, 10**3, shape)
        t = x - x.max(axis=1, keepdims=True)
        expected = t + t.sum(axis=1, keepdims=True)
        for seed in (0, 3, 4):
            arrays = arrays_of(x)
            try:
                launch_rows(
                    image, "k", STEPS, arrays, LOCAL, seed=seed, across=across, blocks=2
                )
            except RuntimeError:
                yield True
                continue
            yield bool((arrays["y"] != expected).any())


def module() -> str:
    return gpu_module(program_of(STEPS, LOCAL), "k")


def test_what_is_not_changed_is_right() -> None:
    assert not any(failures(module()))


@pytest.mark.parametrize("name", MUTANTS)
def test_is_noticed(name) -> None:
    text = module()
    changed = MUTANTS[name](text)
    assert changed != text
    assert any(failures(changed))


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("is_right", [True, False])
def test_barriers_between_kernels_are_needed(number, is_right) -> None:
    text = gpu_module(program_of(REVERSED, ("t",)), "k")
    if not is_right:
        text = without(BARRIER, number)(text)
    image = Image(EmulatedAssembler(passes=False).image(text))
    wrong = 0
    for seed in range(8):
        x = small_numbers((9, 256), "int64")
        t, y = (aligned(x.shape, "int64") for _ in range(2))
        arrays = {"x": x, "t": t, "t~": t[:, ::-1], "y": y}
        try:
            launch_rows(image, "k", REVERSED, arrays, ("t",), seed=seed, blocks=1)
        except RuntimeError:
            wrong += 1
            continue
        wrong += bool((y != 2 * x[:, ::-1] + x).any())
    assert bool(wrong) != is_right


def test_a_row_that_is_read_before_it_is_written_is_noticed() -> None:
    *others, fill, total, last = STEPS
    image = Image(
        EmulatedAssembler().image(
            gpu_module(program_of([*others, fill, last, total], LOCAL), "k")
        )
    )
    arrays = arrays_of(small_numbers((5, 40), "int32"))
    launch_rows(image, "k", [*others, fill, last, total], arrays, LOCAL)
    t = arrays["x"] - arrays["x"].max(axis=1, keepdims=True)
    assert (arrays["y"] != t + t.sum(axis=1, keepdims=True)).any()


def test_nests_at_a_distance_that_is_not_zero_are_noticed() -> None:
    steps = [
        Step(binary("add", "int64"), ("t", "x", "x")),
        Step(binary("add", "int64"), ("y", "t", "u")),
    ]
    image = Image(EmulatedAssembler().image(gpu_module(program_of(steps, ()), "k")))
    x = small_numbers((600, 5), "int64") + 1
    wrong = 0
    for moved, rows in ((0, slice(0, 599)), (1, slice(1, 600))):
        t, y = (aligned(x.shape, "int64") for _ in range(2))
        arrays = {"x": x[:599], "t": t[:599], "y": y[:599], "u": t[rows]}
        launch_rows(image, "k", [steps[0], replace(steps[1])], arrays, ())
        differs = (y[:599] != 2 * x[:599] + 2 * x[rows]).any()
        assert not differs or moved
        wrong += bool(differs)
    assert wrong
