# SPDX-License-Identifier: Apache-2.0
"""When to compile a kernel, and its number in the native table."""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse import settings
from legate_diffuse.kernel import Kernel
from legate_diffuse.observe.counters import Counters

# Element operations from which a kernel is compiled when it is first needed.
# Compiling takes 5 to 15 ms; unfused, this much work takes about as long.
COMPILE_AT_ONCE: Final = 4_000_000


class KernelTable:
    """Compiles kernels and registers them with the native part.

    A group on small arrays may never come again, as in a program's set-up, so
    its kernel is compiled when it is needed for the second time, unless an
    earlier run of the program has left it on disk.
    ``LEGATE_DIFFUSE_SYNC_COMPILE=1`` compiles every kernel at once.
    """

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._native: Any = None
        self._always = False
        self._compiler: Any = None
        self._numbers: dict[Kernel, int] = {}
        self._seen: set[Kernel] = set()

    def connect(self, native: Any, ranks: int) -> None:
        """Use the native part.

        All of several ranks must submit the same tasks, so what they submit may
        not depend on what each of them finds on its disk.
        """
        self._native = native
        self._always = (
            ranks > 1
            or settings.flag("LEGATE_DIFFUSE_SYNC_COMPILE")
            or settings.flag("LEGATE_DIFFUSE_CHECK")
        )

    def find(self, kernel: Kernel, work: int) -> int | None:
        """Return a kernel's number, None if the original tasks should run.

        Args:
            kernel: the kernel.
            work: elements of the launch domain times operations.
        """
        number = self._numbers.get(kernel)
        if number is None:
            number = self._get(kernel, work)
        return number

    def _get(self, kernel: Kernel, work: int) -> int | None:
        if self._compiler is None:
            from legate_diffuse.codegen import Compiler

            self._compiler = Compiler.from_environment()
        compiler = self._compiler
        if self._always or work >= COMPILE_AT_ONCE or kernel in self._seen:
            compiled = compiler.compile(kernel)
        else:
            self._seen.add(kernel)
            compiled = compiler.find(kernel)
        counters = self._counters
        counters.kernels_compiled = compiler.kernels_compiled
        counters.kernel_disk_hits = compiler.disk_hits
        counters.compile_seconds = compiler.compile_seconds
        if compiled is None:
            return None
        number: int = self._native.register_kernel(compiled.address)
        self._numbers[kernel] = number
        self._seen.discard(kernel)
        return number
