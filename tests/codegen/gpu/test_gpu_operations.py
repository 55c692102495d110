# SPDX-License-Identifier: Apache-2.0
"""Every element-wise kind that the table covers has the bits of the CPU's kernel."""

from __future__ import annotations

import numpy as np
import pytest
from batches import Batch
from every import every
from launches import aligned
from test_operations import (
    assert_same,
    kernel_of,
    name,
    operands_of,
    operation,
    scalars_of,
    some_kinds,
)
from tiers import examples

from legate_diffuse.kernel import Kernel, Op
from legate_diffuse.kernel.dtypes import FLOATS, HALF, INTEGERS

KINDS = some_kinds(examples(5, 1))


def converts_floats(kernel: Kernel) -> bool:
    """Whether floats become integers, for which GPUs have another rule."""
    return any(
        isinstance(step, Op)
        and step.name == "cast"
        and step.dtype in INTEGERS
        and kernel.dtype_of(step.operands[0]) in (HALF, *FLOATS)
        for step in kernel.body
    )


@pytest.fixture
def batch(group: str) -> Batch:
    return Batch([kernel_of(kind) for kind in KINDS if operation(kind) == group])


def placed(array: np.ndarray, layout: str) -> np.ndarray:
    """Return the same elements in memory of a layout."""
    if layout == "strided":
        room = aligned((3 * array.size,), array.dtype.name)
        made = room[::-3][: array.size]
    else:
        offset = array.itemsize if layout == "shifted" else 0
        made = aligned(array.shape, array.dtype.name, offset)
    made[...] = array
    return made


def moderate(kind, operands):
    """Return what integers can hold of operands that become integers."""
    if not converts_floats(kernel_of(kind)):
        return operands
    small = any(np.dtype(each).itemsize == 1 for each in kind.outputs)
    limit = 100 if small else 30000
    unsigned = any(each.startswith("u") for each in kind.outputs)
    if kind.code == "POWER":
        # 0 to a negative power is infinite
        limit, unsigned = 3, True
    keep = np.ones(operands[0].shape, bool)
    for each in operands:
        numbers = np.nan_to_num(each.real.astype("float64"), nan=np.inf)
        keep &= (np.abs(numbers) <= limit) & (numbers >= -limit * (not unsigned))
    return [each[keep] for each in operands]


@every("layout", ["aligned", "shifted", "strided"])
@every("kind", KINDS, ids=name, by=operation)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_agrees_with_the_cpu(run, batch, kind, layout) -> None:
    kernel = kernel_of(kind)
    operands = moderate(kind, operands_of(kind))
    for scalars in scalars_of(kind):
        expected = [np.zeros(operands[0].shape, dtype) for dtype in kind.outputs]
        run(kernel, [*operands, *expected], scalars)
        given = [placed(each, layout) for each in operands]
        results = [placed(np.zeros_like(each), layout) for each in expected]
        batch.run(kernel, [*given, *results], scalars)
        for result, values in zip(results, expected, strict=True):
            assert_same(result, values)
