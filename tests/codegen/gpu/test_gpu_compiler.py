# SPDX-License-Identifier: Apache-2.0
"""The compiler for GPUs: its cache, what it refuses, and what it says."""

from __future__ import annotations

import ctypes
import re

import pytest
from emulated import EmulatedAssembler
from row_programs import centred, program_of
from test_codegen_reductions import reduction_kernel
from test_gpu_values import division_kernel, index_kernel, stencil_kernel

from legate_diffuse.codegen.cache import ObjectCache
from legate_diffuse.codegen.gpu import GpuCompiler, NotOnGpuError, libraries
from legate_diffuse.codegen.gpu.assembler import CubinAssembler
from legate_diffuse.codegen.gpu.module import gpu_module
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.kernel.dtypes import RECT

BLOCK = re.compile(r"^[\w.]+:", re.MULTILINE)


class CountingAssembler(EmulatedAssembler):
    def __init__(self) -> None:
        super().__init__(passes=False)
        self.images = 0

    def image(self, assembly: str) -> bytes:
        self.images += 1
        return super().image(assembly)


def row_element_kernel() -> Kernel:
    whole = [Argument(d, True, False, whole=True) for d in ("int64", "float64")]
    rows, result = Argument(RECT, True, False), Argument("float64", False, True)
    builder = Builder([result, rows, *whole], [])
    loads = [builder.load(number) for number in range(1, 4)]
    element = builder.op("row_element", "float64", *loads, builder.index(0))
    builder.store(0, element)
    return builder.build()


def wide_kernel() -> Kernel:
    arguments = [Argument("float64", False, True)] * 80
    builder = Builder(arguments, [])
    for number in range(80):
        builder.store(number, builder.constant("float64", number))
    return builder.build()


def words(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address))


def test_what_the_native_part_gets() -> None:
    compiler = GpuCompiler(CountingAssembler())
    kernel = index_kernel()
    compiled = compiler.compile(kernel)
    code = words(compiled.address, 12)
    assert ctypes.string_at(code[0], 4) == b"\x7fELF"
    assert ctypes.string_at(code[2]).decode() == compiled.name
    threads, block_x, lanes, reduces, partial_words = code[3:8]
    assert (threads, block_x, lanes, reduces, partial_words) == (256, 256, 2, 0, 0)
    num_arguments, num_scalars, indices, arguments = code[8:]
    assert (num_arguments, num_scalars, indices) == (4, 1, 0b11)
    assert words(arguments, 8) == [8, 2, 8, 1 | 4, 1, 8, 1, 8]
    code = compiler.forget(kernel)
    assert code is not None
    code.free()


def test_reducing_arguments_have_one_flag() -> None:
    compiler = GpuCompiler(CountingAssembler())
    kernel = reduction_kernel("add", "complex64", broadcast=True)
    code = words(compiler.compile(kernel).address, 12)
    assert code[5:8] == [2, 1, 2]
    assert words(code[11], 4) == [8, 1, 8, 16]


def test_blocks_of_kernels_that_read_neighbours_have_two_dimensions() -> None:
    compiler = GpuCompiler(CountingAssembler())
    threads, block_x = words(compiler.compile(stencil_kernel()).address, 5)[3:]
    assert (threads, block_x) == (256, 32)


def test_what_the_native_part_gets_of_a_row_program() -> None:
    compiler = GpuCompiler(CountingAssembler())
    program = program_of(centred("float64"), ("m", "t"))
    compiled = compiler.compile_rows(program)
    assert compiled is not None
    assert compiler.compile_rows(program) is compiled
    code = words(compiled.address, 13)
    assert code[3:11] == [256, 1, 1, 0, 2, 0, 0, 0]
    assert words(code[12], 12) == [0, 0, -1, 1, -1, 0, -1, -1, 1, -1, 1, -1]


def test_row_programs_with_too_many_arguments_have_no_code() -> None:
    compiler = GpuCompiler(CountingAssembler())
    assert compiler.compile_rows(program_of(centred("int8") * 6, ())) is None


def test_an_image_is_made_once(tmp_path) -> None:
    kernel = division_kernel("quotient", "int32")
    first, second = CountingAssembler(), CountingAssembler()
    one = GpuCompiler(first, ObjectCache(tmp_path))
    assert one.find(kernel) is None
    assert one.compile(kernel).address == one.compile(kernel).address
    assert (one.kernels_compiled, one.disk_hits, first.images) == (1, 0, 1)
    other = GpuCompiler(second, ObjectCache(tmp_path))
    assert other.find(kernel) is not None
    assert (other.kernels_compiled, other.disk_hits, second.images) == (0, 1, 0)


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [(row_element_kernel(), "looks for elements"), (wide_kernel(), "more arguments")],
)
def test_refuses_with_a_reason(kernel, reason) -> None:
    compiler = GpuCompiler(CountingAssembler())
    assert compiler.find(kernel) is None
    with pytest.raises(NotOnGpuError, match=reason):
        compiler.compile(kernel)


def test_a_missing_library_is_one_sentence(monkeypatch) -> None:
    libraries._load.cache_clear()
    libraries.versions.cache_clear()
    monkeypatch.setattr(libraries, "_MAJORS", ())
    try:
        assert libraries.missing() == (
            "GPU kernels need libnvrtc, which cannot be loaded; "
            "install nvidia-cuda-nvrtc"
        )
        compiler = GpuCompiler.from_environment("sm_90")
        with pytest.raises(RuntimeError, match="install nvidia-cuda-nvrtc"):
            compiler.compile(index_kernel())
    finally:
        libraries._load.cache_clear()
        libraries.versions.cache_clear()


@pytest.mark.parametrize(
    "kernel",
    [
        stencil_kernel(),
        reduction_kernel("add", "float64", broadcast=False),
        program_of(centred("float64"), ("m", "t")),
    ],
)
def test_no_loop_becomes_several(kernel) -> None:
    """A kernel that LLVM unrolls takes longer to compile, and runs most loops once."""
    text = gpu_module(kernel, "k")
    optimised = str(CubinAssembler("sm_90").optimised(text))
    assert len(BLOCK.findall(optimised)) <= len(BLOCK.findall(text))


@pytest.mark.skipif(bool(libraries.missing()), reason=libraries.missing())
def test_images_on_disk_are_those_of_an_architecture() -> None:
    architectures = "sm_80", "sm_90", "sm_100"
    assert len({CubinAssembler(each).salt() for each in architectures}) == 3


def test_an_unknown_architecture_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="sm90 is no architecture"):
        GpuCompiler.from_environment("sm90")
