# SPDX-License-Identifier: Apache-2.0
"""What kernels are compiled to: the device's code, or what the tests' driver runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from driver import driver
from native import CHECKOUT

from legate_diffuse.codegen.cache import ObjectCache
from legate_diffuse.codegen.gpu.assembler import Assembler, CubinAssembler
from legate_diffuse.codegen.gpu.compiler import GpuCompiler

TEST_FOLDERS = [CHECKOUT / "tests" / name for name in ("codegen/gpu", "codegen", ".")]


def use_tests() -> None:
    """Let what the tests share be imported."""
    found = [str(folder) for folder in TEST_FOLDERS]
    sys.path[:0] = [folder for folder in found if folder not in sys.path]


def is_emulated() -> bool:
    """Whether the driver is that of the tests."""
    return "FAKE_CUDA_DEVICES" in os.environ


def assembler(passes: bool = True) -> Assembler:
    """Return what makes images for the device of this process."""
    if is_emulated():
        use_tests()
        from emulated import EmulatedAssembler

        return EmulatedAssembler(passes)
    return CubinAssembler(str(driver().describe()["architecture"]))


def compiler(folder: Path) -> GpuCompiler:
    """Return a compiler that keeps images in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return GpuCompiler(assembler(), ObjectCache(folder))
