# SPDX-License-Identifier: Apache-2.0
"""From a kernel to the address of its machine code."""

import os
from collections.abc import Mapping
from functools import partial

from legate_diffuse import settings
from legate_diffuse.codegen.cache import ObjectCache
from legate_diffuse.codegen.kernel_compiler import NAME, CompiledKernel, KernelCompiler
from legate_diffuse.codegen.machine import Machine
from legate_diffuse.codegen.module import lanes_of
from legate_diffuse.codegen.reduction import reductions
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel.dtypes import INTEGERS
from legate_diffuse.kernel.ir import Kernel, Op
from legate_diffuse.kernel.operators import POWER
from legate_diffuse.kernel.text import print_kernel
from legate_diffuse.maths.calls import routines_of
from legate_diffuse.maths.libm import MathMode
from legate_diffuse.maths.registry import ROUTINES


class Compiler(KernelCompiler):
    """Compiles kernels for the machine that it runs on."""

    def __init__(
        self,
        mode: MathMode = MathMode.VECTOR,
        cache: ObjectCache | None = None,
        fast_math: bool = False,
    ) -> None:
        """Prepare without importing LLVM; no `cache` means no cache on disk."""
        super().__init__(cache)
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
            ObjectCache.from_environment(environment),
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

    def interpretable(self, kernel: Kernel) -> tuple[str, int] | None:
        """Return a kernel's text, and how many points its code computes at a time.

        None if an interpreter would give other bits, or somebody wants to read code.
        """
        if self._fast_math or not self._dumps.isdisjoint((settings.LLVM, settings.ASM)):
            return None
        # else the number of lanes does not matter
        lanes = lanes_of(kernel, host_target()) if reductions(kernel) else 1
        return print_kernel(kernel), lanes

    def _load_routine(self, machine: Machine, name: str, generate: bool) -> bool:
        """Return whether `name` is ready; without `generate`, only if it is on disk."""
        for variant, assembly in enumerate(machine.routine_assemblies(name)):
            key = machine.key(assembly)
            payload = self._load(key)
            if payload is None and not generate:
                return False
            if payload is None:
                make = partial(machine.generate, assembly)
                payload = self._make_object(key, make)
            if machine.link_routine(name, variant, payload):
                break
        self._routines.add(name)
        return True

    def _make(self, kernel: Kernel, generate: bool) -> CompiledKernel | None:
        if self._machine is None:
            self._machine = Machine(self._mode, self._fast_math)
        machine = self._machine
        wanted = (
            routines_of(kernel) - self._routines
            if self._mode is MathMode.VECTOR
            else ()
        )
        for routine in sorted(wanted):
            if not self._load_routine(machine, routine, generate):
                return None
        assembly = machine.assembly(NAME, kernel)
        found = self._object_of(
            assembly,
            machine.key(assembly),
            machine.generate if generate else None,
            machine.machine_code,
        )
        if found is None:
            return None
        payload, name, compiled = found
        code = machine.link(payload)
        return CompiledKernel(code.address(name), name, compiled, code)
