# SPDX-License-Identifier: Apache-2.0
"""When to compile a kernel, and its number in the native table."""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse import settings
from legate_diffuse.kernel import Kernel
from legate_diffuse.observe.counters import Counters

# Operations on elements from which a task's kernels are compiled when they are
# first needed. Compiling takes 5 to 15 ms; unfused, this much work takes about as
# long. Compiling in a thread while the original tasks run was no faster on two
# processors, and took up to a third more processor time.
COMPILE_AT_ONCE: Final = 4_000_000

# What an original task costs beside its work, about 0.1 ms, in the same unit.
WORK_OF_A_LAUNCH: Final = 100_000


class KernelTable:
    """Compiles kernels and registers them with the native part.

    A task with little work may never come again, as in a program's set-up, so
    its kernels are compiled when they are needed for the second time, unless an
    earlier run of the program has left them on disk.
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
            work: operations on elements in the task that needs the kernel.
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
        repeated = [
            number
            for number, argument in enumerate(kernel.arguments)
            if argument.broadcast and not argument.writes
        ]
        register = self._native.register_kernel
        number: int = register(compiled.address, kernel.indices, repeated)
        self._numbers[kernel] = number
        self._seen.discard(kernel)
        return number
