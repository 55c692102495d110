# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's assembler makes of the kernels that the emulator runs."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import pytest
from batches import joined
from row_programs import centred, program_of
from test_codegen_reductions import EVERY, reduction_kernel
from test_codegen_row_sums import kernel_of
from test_gpu_reductions import sums
from test_gpu_row_sums import CASES
from test_gpu_rows import DTYPES, WHERE
from test_gpu_values import all_kernels
from test_operations import kernel_of as kernel_of_kind
from test_operations import some_kinds
from tiers import examples, some

from legate_diffuse.codegen.gpu import libraries
from legate_diffuse.codegen.gpu.assembler import SMALL_FRAME, CubinAssembler
from legate_diffuse.codegen.gpu.module import gpu_module
from legate_diffuse.codegen.gpu.shape import THREADS
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.dtypes import FLOATS
from legate_diffuse.kernel.operators import MATHS_OF_ONE, MATHS_OF_TWO

pytestmark = pytest.mark.skipif(bool(libraries.missing()), reason=libraries.missing())

# the types of an operator differ in few instructions
SOME = EVERY[:: examples(5, 1)]
STACK = re.compile(
    r"Function properties for (\w+)\n[^\n]*?(\d+) bytes stack frame, (\d+) bytes spill"
)


def maths_kernel(name: str, dtype: str) -> Kernel:
    count = 1 + (name in MATHS_OF_TWO)
    arguments = [Argument(dtype, True, False)] * count + [Argument(dtype, False, True)]
    builder = Builder(arguments, [])
    operands = [
        builder.op("add", dtype, builder.load(n), builder.constant(dtype, n))
        for n in range(count)
    ]
    builder.store(count, builder.op(name, dtype, *operands))
    return builder.build()


@functools.cache
def maths() -> str:
    names = sorted(MATHS_OF_ONE | MATHS_OF_TWO)
    cases = [(name, dtype) for name in names for dtype in FLOATS]
    # the types take turns
    return joined(maths_kernel(*case) for case in cases[:: examples(2, 1)])


@functools.cache
def element_wise() -> str:
    kinds = some_kinds(examples(24, 1))[:: examples(2, 1)]
    return joined(dict.fromkeys(map(kernel_of_kind, kinds)))


@functools.cache
def others() -> str:
    kernels = [reduction_kernel(*each, broadcast=False) for each in SOME]
    return joined([*all_kernels(), *kernels, sums()])


@functools.cache
def rows() -> str:
    programs = [program_of(centred(dtype), w) for dtype in DTYPES for w in WHERE]
    programs += [kernel_of(*case) for case in CASES]
    return joined(programs[:: examples(2, 1)])


@functools.cache
def ptx_of(architecture: str, text: Callable[[], str]) -> str:
    return CubinAssembler(architecture).ptx(text())


@pytest.mark.parametrize("architecture", some(["sm_90", "sm_80", "sm_100"], 3))
@pytest.mark.parametrize("text", [maths, element_wise, others, rows])
def test_all_kernels_become_cubins_with_little_local_memory(architecture, text) -> None:
    """What is stored of a thread, and loaded again, is less than a block is worth."""
    _, log = CubinAssembler(architecture).assembled(ptx_of(architecture, text))
    frames = {name: (int(a), int(b)) for name, a, b in STACK.findall(log)}
    kernels = {name: size for name, size in frames.items() if name.startswith("k")}
    assert len(kernels) == text().count("define ptx_kernel") > 15
    assert max(frame for frame, _ in kernels.values()) <= SMALL_FRAME


def test_sums_leave_registers_for_three_blocks() -> None:
    """Of the 65,536 of a multiprocessor; few threads would wait for memory."""
    kernel = reduction_kernel("add", "float64", broadcast=False)
    ptx = CubinAssembler("sm_90").ptx(gpu_module(kernel, "k"))
    _, log = libraries.assemble(ptx, 90, "-verbose")
    (registers,) = re.findall(r"Used (\d+) registers", log)
    assert 3 * THREADS * int(registers) <= 65536


def test_arithmetic_is_rounded_after_each_operation() -> None:
    ptx = ptx_of("sm_90", others)
    assert re.search(r"\bmul\.rn\.f64", ptx)
    assert re.search(r"\badd\.rn\.f64", ptx)
    steps = re.findall(r"^\s+((?:add|sub|mul|div|sqrt)\.\S*f(?:32|64))", ptx, re.M)
    assert {re.sub(r"\.f\d\d$", "", step).partition(".")[2] for step in steps} == {"rn"}
    assert "approx" not in ptx
    assert ".ftz" not in ptx


def test_arguments_are_read_sixteen_bytes_at_a_time() -> None:
    kernel = reduction_kernel("add", "float32", broadcast=False)
    ptx = CubinAssembler("sm_90").ptx(gpu_module(kernel, "k"))
    (function,) = re.findall(r"\.entry k\(.*?^\}", ptx, re.DOTALL | re.MULTILINE)
    assert re.search(r"ld\.global\S*\.v4\.\w32|ld\.global\S*\.v2\.\w64", function)
