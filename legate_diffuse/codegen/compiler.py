# SPDX-License-Identifier: Apache-2.0
"""From a kernel to the address of its machine code."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Final

from legate_diffuse import settings
from legate_diffuse.codegen.cache import ObjectCache, default_folder
from legate_diffuse.codegen.elf import symbols_of
from legate_diffuse.codegen.machine import Machine, MachineCode
from legate_diffuse.kernel.dtypes import INTEGERS
from legate_diffuse.kernel.ir import Kernel, Op
from legate_diffuse.kernel.operators import POWER
from legate_diffuse.maths.calls import routines_of
from legate_diffuse.maths.libm import MathMode
from legate_diffuse.maths.registry import ROUTINES

_NAME: Final = "kernel"
"""Stands for the symbol of the kernel's code, which is made from the object's key."""


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """Machine code that stays valid until the compiler forgets the kernel.

    `address` is of a ``KernelCode`` (mappers/program/row_driver.h). `compiled` is False
    when the object came from disk.
    """

    address: int
    name: str
    compiled: bool
    code: MachineCode


class Compiler:
    """Compiles kernels for the machine that it runs on, each one once.

    Attributes:
        kernels_compiled: kernels for which LLVM ran.
        disk_hits: kernels whose object came from the disk cache.
        compile_seconds: time spent in `compile`, disk hits included.
    """

    def __init__(
        self,
        mode: MathMode = MathMode.VECTOR,
        cache: ObjectCache | None = None,
        fast_math: bool = False,
    ) -> None:
        """Prepare without importing LLVM; no `cache` means no cache on disk."""
        self.kernels_compiled = 0
        self.disk_hits = 0
        self.compile_seconds = 0.0
        self._cache = cache
        self._kernels: dict[Kernel, CompiledKernel] = {}
        self._machine: Machine | None = None
        self._mode = mode
        self._fast_math = fast_math
        self._routines: set[str] = set()

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ
    ) -> "Compiler":
        """Return a compiler with the maths modes and cache folder of the environment.

        Raises:
            ValueError: a variable has a value that is not understood.
        """
        return cls(
            MathMode(settings.maths(environment)),
            ObjectCache(default_folder(environment)),
            settings.flag("LEGATE_DIFFUSE_FAST_MATH", environment),
        )

    def keeps_bits(self, kernel: Kernel) -> bool:
        """Return whether a kernel's results have the bits of the original tasks'.

        Sums and products of floats are combined in another order, and some functions
        are not libm's.
        """
        if self._fast_math or any(
            argument.reduces in ("add", "mul") and argument.dtype not in INTEGERS
            for argument in kernel.arguments
        ):
            return False
        return self._mode is MathMode.LIBM or not (
            any(isinstance(step, Op) and step.name == POWER for step in kernel.body)
            or any(ROUTINES[name].ulps for name in routines_of(kernel))
        )

    def compile(self, kernel: Kernel) -> CompiledKernel:
        """Return the machine code of a verified `kernel`.

        Raises:
            RuntimeError: LLVM rejects the generated code.
        """
        made = self._get(kernel, generate=True)
        assert made is not None
        return made

    def find(self, kernel: Kernel) -> CompiledKernel | None:
        """Return the machine code of a verified `kernel` if it was compiled before."""
        return self._get(kernel, generate=False)

    def forget(self, kernel: Kernel) -> MachineCode | None:
        """Return the machine code of a kernel, to be freed when nothing runs it."""
        known = self._kernels.pop(kernel, None)
        return None if known is None else known.code

    def _get(self, kernel: Kernel, generate: bool) -> CompiledKernel | None:
        known = self._kernels.get(kernel)
        if known is not None or (self._cache is None and not generate):
            return known
        started = time.perf_counter()
        if self._machine is None:
            self._machine = Machine(self._mode, self._fast_math)
        made = self._make(self._machine, kernel, generate)
        if made is not None:
            self._kernels[kernel] = made
        self.compile_seconds += time.perf_counter() - started
        return made

    def _load_routine(self, machine: Machine, name: str, generate: bool) -> bool:
        """Return whether `name` is ready; without `generate`, only if it is on disk."""
        for variant, assembly in enumerate(machine.routine_assemblies(name)):
            symbols = machine.routine_symbols(name, variant)
            if not generate and self._load(machine.key(assembly), *symbols) is None:
                return False
            payload = self._object(machine, assembly, machine.generate, *symbols)
            if machine.link_routine(name, variant, payload):
                break
        self._routines.add(name)
        return True

    def _object(
        self,
        machine: Machine,
        assembly: str,
        generate: Callable[[str], bytes],
        *symbols: str,
    ) -> bytes:
        key = machine.key(assembly)
        payload = self._load(key, *symbols)
        if payload is None:
            payload, _ = self._make_object(key, lambda: generate(assembly), *symbols)
        return payload

    def _make_object(
        self, key: str, generate: Callable[[], bytes], *symbols: str
    ) -> tuple[bytes, bool]:
        """Generate an object and store it, unless another process does so now.

        Returns the object, and whether it was generated here.
        """
        with nullcontext() if self._cache is None else self._cache.claim(key):
            payload = self._load(key, *symbols)
            if payload is not None:
                return payload, False
            payload = generate()
            if self._cache is not None:
                self._cache.store(key, payload)
            return payload, True

    def _make(
        self, machine: Machine, kernel: Kernel, generate: bool
    ) -> CompiledKernel | None:
        wanted = (
            routines_of(kernel) - self._routines
            if self._mode is MathMode.VECTOR
            else ()
        )
        for routine in sorted(wanted):
            if not self._load_routine(machine, routine, generate):
                return None
        assembly = machine.assembly(_NAME, kernel)
        key = machine.key(assembly)
        name = f"legate_diffuse_{key[:32]}"
        payload = self._load(key, name)
        compiled = False
        if payload is None:
            if not generate:
                return None
            named = assembly.replace(f"@{_NAME} =", f"@{name} =")
            payload, compiled = self._make_object(
                key, lambda: machine.generate(named), name
            )
        self.kernels_compiled += compiled
        self.disk_hits += not compiled
        code = machine.link(payload)
        return CompiledKernel(code.address(name), name, compiled, code)

    def _load(self, key: str, *symbols: str) -> bytes | None:
        """Return an object from disk, if it defines what is expected of it."""
        payload = None if self._cache is None else self._cache.load(key)
        if payload is None or not symbols_of(payload).issuperset(symbols):
            return None
        return payload
