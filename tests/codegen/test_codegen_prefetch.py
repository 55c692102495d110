# SPDX-License-Identifier: Apache-2.0
"""Kernels that ask for memory ahead compute the same, and read nothing else."""

import numpy as np
import pytest

from legate_diffuse.codegen.machine import Machine
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.maths.libm import MathMode


def copied(dtype, prefetch):
    builder = Builder(
        [
            Argument(dtype, reads=False, writes=True),
            Argument(dtype, reads=True, writes=False, prefetch=prefetch),
        ],
        [],
    )
    builder.store(0, builder.load(1))
    return builder.build()


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_values_are_the_same(run, dtype, size):
    x = np.arange(size).astype(dtype)
    result = np.empty_like(x)
    run(copied(dtype, prefetch=True), [result, x])
    assert np.array_equal(result, x)


def test_only_the_hint_makes_a_kernel_prefetch():
    machine = Machine(MathMode.VECTOR, fast_math=False)
    wanted, plain = (
        machine.assembly("kernel", copied("float64", prefetch))
        for prefetch in (True, False)
    )
    assert "call void @llvm.prefetch" in wanted
    assert "prefetch" not in plain
