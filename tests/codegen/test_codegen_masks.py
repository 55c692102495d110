# SPDX-License-Identifier: Apache-2.0
"""What is chosen by a mask is loaded whatever the mask says."""

import re

import pytest
from llvmlite import binding as llvm

from legate_diffuse.codegen.module import llvm_module
from legate_diffuse.codegen.target import Target
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.maths.libm import MathLibrary, MathMode

AVX512 = Target(
    "x86_64-unknown-linux-gnu",
    "skylake-avx512",
    "",
    vector_bytes=64,
    fma=True,
    gathers=False,
    estimates_roots=False,
    shares_reciprocals=True,
    prefetches_nontemporal=False,
)


def loop(kernel):
    """The instructions of the loop over vectors."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(AVX512.triple).create_target_machine(
        cpu=AVX512.cpu, opt=2, jit=True
    )
    library = MathLibrary(MathMode.VECTOR, frozenset(), 8)
    text = llvm_module(kernel, "kernel", AVX512, library, False)
    machine.set_asm_verbosity(True)
    lines = machine.emit_assembly(llvm.parse_assembly(text)).splitlines()
    blocks = re.split(r"^\.LBB.*# %(\S+)$", "\n".join(lines), flags=re.MULTILINE)
    (found,) = (
        code
        for name, code in zip(blocks[1::2], blocks[2::2], strict=True)
        if name == "loop"
    )
    return found.splitlines()


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "float64"])
@pytest.mark.parametrize("computes", [False, True])
def test_loads_are_not_masked(dtype, computes):
    """On Zen 5 masked loads take up to four times as long as others."""
    builder = Builder(
        [
            Argument(dtype, reads=False, writes=True),
            Argument("bool", reads=True, writes=False),
            Argument(dtype, reads=True, writes=False),
        ],
        [],
    )
    x = builder.load(2)
    if computes:
        x = builder.op("add", dtype, x, builder.constant(dtype, 3))
    zero = builder.constant(dtype, 0)
    builder.store(0, builder.op("select", dtype, builder.load(1), x, zero))
    lines = loop(builder.build())
    assert any("{%k" in line for line in lines)
    masked = [line for line in lines if re.search(r"\(%r\w+,.*\{%k", line)]
    assert not masked
