# SPDX-License-Identifier: Apache-2.0
"""Runs recorded programs on a device, by the code that launches them under Legate.

What they compute is compared with the CPU's kernels, nest by nest.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import itertools
import math
import multiprocessing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import target
from driver import driver
from native import library
from recordings import Nest, Recorded, Recording, parse, strides_of

from legate_diffuse.codegen import Compiler
from legate_diffuse.codegen.gpu.compiler import GpuCompiler
from legate_diffuse.kernel.ir import Kernel, RowProgram
from legate_diffuse.maths.libm import MathMode

MOST_DIMENSIONS: Final = 6
PERIOD: Final = 1_000_003
"""Of the numbers of large arguments."""
_POISON: Final = 0x5A
_UNREAD: Final = 2**40


class _Argument(ctypes.Structure):
    _fields_ = (
        ("pointer", ctypes.c_void_p),
        ("strides", ctypes.c_int64 * MOST_DIMENSIONS),
    )


def compile_one(folder: Path, kernel: Kernel | RowProgram) -> str | None:
    """Compile a kernel into a folder; return why it cannot be, if so."""
    compiler = target.compiler(folder)
    try:
        if isinstance(kernel, RowProgram):
            compiler.compile_rows(kernel)
        else:
            compiler.compile(kernel)
    except RuntimeError as error:
        return f"{error}\n{kernel}"
    return None


def compile_all(
    kernels: Iterable[Kernel | RowProgram], folder: Path, jobs: int
) -> list[str]:
    """Compile kernels into a folder, in several processes; return the failures."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        made = [
            pool.submit(compile_one, folder, kernel)
            for kernel in dict.fromkeys(kernels)
        ]
        return [why for each in made if (why := each.result()) is not None]


def used_kernels(recording: Recording) -> dict[int, Kernel | RowProgram]:
    """Return the kernels of a recording's programs, by number."""
    found = set()
    for programs in recording.cases.values():
        for recorded in programs:
            program = parse(recorded.program)
            found |= {nest.kernel for nest in program.nests}
            found |= {run[2] for run in program.runs}
    return {number: recording.kernels[number] for number in sorted(found)}


class Player:
    """Runs the programs of one recording."""

    def __init__(self, recording: Recording, compiler: GpuCompiler) -> None:
        self._recording = recording
        self._compiler = compiler
        self._native = library("replay")
        self._native.replay_failure.restype = ctypes.c_char_p
        for name in ("replay_register", "replay_sizes", "replay_launch"):
            getattr(self._native, name).restype = ctypes.c_int64
        self._cpu = Compiler(MathMode.LIBM)
        self._register()

    def _register(self) -> None:
        kernels = used_kernels(self._recording)
        for number in range(max(kernels) + 1):
            # a number that no program uses is taken, too
            kernel = kernels.get(number, next(iter(kernels.values())))
            if isinstance(kernel, RowProgram):
                compiled = self._compiler.compile_rows(kernel)
                assert compiled is not None
            else:
                compiled = self._compiler.compile(kernel)
            self._call("replay_register", ctypes.c_void_p(compiled.address))

    def _call(self, name: str, *passed: Any) -> int:
        result: int = getattr(self._native, name)(*passed)
        if result < 0:
            raise RuntimeError(f"{name}: {self._native.replay_failure().decode()}")
        return result

    def sizes(self, recorded: Recorded) -> tuple[int, int]:
        """Return the bytes for reductions and for scratch buffers."""
        found = ctypes.c_int64(), ctypes.c_int64()
        count = ctypes.c_int64(len(recorded.program) // 8)
        self._call("replay_sizes", recorded.program, count, *map(ctypes.byref, found))
        return found[0].value, found[1].value

    def prepare(self, recorded: Recorded, roots: Sequence[int]) -> Any:
        """Return a function that launches a program over roots in device memory."""
        folds, scratch = self.sizes(recorded)
        memory = driver().allocate(folds + scratch + 64)
        driver().fill(memory, _POISON, folds + scratch + 64)
        arguments = (_Argument * len(roots))()
        for place, (root, argument) in enumerate(
            zip(roots, recorded.arguments, strict=True)
        ):
            strides = [*argument.strides, *[0] * MOST_DIMENSIONS][:MOST_DIMENSIONS]
            arguments[place] = _Argument(
                root + argument.offset, (ctypes.c_int64 * MOST_DIMENSIONS)(*strides)
            )
        passed = (
            recorded.program,
            ctypes.c_int64(len(recorded.program) // 8),
            arguments,
            ctypes.c_int64(len(roots)),
            ctypes.c_void_p(memory if folds else None),
            ctypes.c_void_p(memory + folds),
            None,
        )

        def launch() -> None:
            self._call("replay_launch", *passed)

        launch.memory = memory  # type: ignore[attr-defined]
        return launch

    def run(self, recorded: Recorded, arrays: Sequence[np.ndarray]) -> None:
        """Run a program on a device, whose results replace the arrays."""
        device = driver()
        roots = [device.allocate(array.nbytes) for array in arrays]
        for root, array in zip(roots, arrays, strict=True):
            device.upload(root, array)
        launch = self.prepare(recorded, roots)
        launch()
        device.synchronize()
        for root, array in zip(roots, arrays, strict=True):
            device.download(array, root)
        for each in (*roots, launch.memory):
            device.free(each)

    def run_on_cpu(self, recorded: Recorded, arrays: Sequence[np.ndarray]) -> None:
        """Run the nests one after the other by the CPU's kernels."""
        program = parse(recorded.program)
        places = [
            (array.ctypes.data + argument.offset, argument.strides)
            for array, argument in zip(arrays, recorded.arguments, strict=True)
        ]
        held = [
            np.full(max(1, buffer.itemsize * math.prod(buffer.extents)), _POISON, "u1")
            for buffer in program.buffers
        ]
        buffers = [
            (each.ctypes.data, tuple(strides_of(buffer.extents, buffer.itemsize)))
            for each, buffer in zip(held, program.buffers, strict=True)
        ]
        for nest in program.nests:
            self._run_nest(nest, places, buffers)

    def _run_nest(
        self,
        nest: Nest,
        places: Sequence[tuple[int, tuple[int, ...]]],
        buffers: Sequence[tuple[int, tuple[int, ...]]],
    ) -> None:
        kernel = self._recording.kernels[nest.kernel]
        assert isinstance(kernel, Kernel)
        if 0 in nest.extents:
            return
        compiled = self._cpu.compile(kernel)
        dim = len(nest.extents)
        pointers, strides = [], []
        for operand in nest.operands:
            base = operand.base
            pointer, along = places[base] if base >= 0 else buffers[~base]
            low = operand.low if along or not operand.low else ()
            pointers.append(
                pointer + sum(a * b for a, b in zip(low, along, strict=False))
            )
            strides.append([along[d] if d >= 0 else 0 for d in operand.dims])
        for index in kernel.indices:
            axis = dim - 1 - index
            pointers.append(nest.first[axis] if axis >= 0 else 0)
            strides.append([int(d == axis) for d in range(dim)])
        missing = max(0, 2 - dim)
        extents = [*[1] * missing, *nest.extents]
        strides = [[*[0] * missing, *each] for each in strides]
        run_rows = library("rows").legate_diffuse_run_rows
        for outer in itertools.product(*map(range, extents[:-2])):
            moved = [
                pointer + sum(a * b for a, b in zip(outer, each, strict=False))
                for pointer, each in zip(pointers, strides, strict=True)
            ]
            flat = [s for each in strides for s in each[-2:]]
            run_rows(
                ctypes.c_void_p(compiled.address),
                (ctypes.c_void_p * len(moved))(*moved),
                (ctypes.c_int64 * len(flat))(*flat),
                (ctypes.c_int64 * 3)(*extents[-2:], _UNREAD),
                ctypes.create_string_buffer(nest.scalars, len(nest.scalars) + 1),
            )


def arrays_of(recorded: Recorded, seed: int = 0) -> list[np.ndarray]:
    """Return numbers for the arguments of a program, moderate ones."""
    random = np.random.default_rng(seed)
    made = []
    for argument in recorded.arguments:
        shape, dtype = argument.extents, np.dtype(argument.dtype)
        count = min(math.prod(shape), PERIOD)
        if dtype.kind == "b":
            numbers = random.integers(0, 2, count) == 1
        elif dtype.kind in "iu":
            numbers = random.integers(0, 3, count)
        else:
            numbers = random.uniform(0.5, 1.5, count)
        made.append(np.resize(numbers.astype(dtype), shape))
    return made


def keeps_bits(
    recorded: Recorded,
    kernels: Mapping[int, Kernel | RowProgram],
    compiler: GpuCompiler,
) -> bool:
    """Return whether a program's results have the bits of the CPU's kernels."""
    found = [kernels[nest.kernel] for nest in parse(recorded.program).nests]
    return all(isinstance(each, Kernel) and compiler.keeps_bits(each) for each in found)


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference, relative to the largest number."""
    if found.dtype.kind not in "fc":
        return float(not np.array_equal(found, expected))
    with np.errstate(all="ignore"):
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        apart = np.where(same, 0.0, np.abs(found - expected))
        finite = np.abs(expected)[np.isfinite(expected)]
    scale = float(finite.max()) if finite.size else 1.0
    largest = float(np.max(apart, initial=0.0))
    if math.isnan(largest):
        return math.inf
    return largest / (scale or 1.0)


def same_bits(found: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether all bits are the same; a NaN equals any NaN."""
    if found.dtype.kind in "fc":
        both = np.isnan(found) & np.isnan(expected)
        found, expected = (np.where(both, 0, each) for each in (found, expected))
    return found.tobytes() == expected.tobytes()
