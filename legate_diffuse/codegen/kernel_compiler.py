# SPDX-License-Identifier: Apache-2.0
"""What compilers for all targets do: each kernel once, with a cache on disk."""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, Protocol

from legate_diffuse import settings
from legate_diffuse.codegen.cache import Miss, ObjectCache
from legate_diffuse.kernel.ir import Kernel, RowProgram
from legate_diffuse.messages import note

NAME: Final = "kernel"
"""Stands for the symbol of a kernel's code, which is made from the object's key."""


class Code(Protocol):
    """What a kernel was compiled to."""

    def free(self) -> None:
        """Give the memory back; nothing may use it any more."""
        ...


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """Code that stays valid until the compiler forgets the kernel.

    `address` is of what the native part runs: a ``KernelCode``
    (mappers/program/row_driver.h), or that of another target. `compiled` is False when
    the code came from disk, and `missed` is why it did not. It took `seconds` to get
    it, with the functions that it is the first to call.
    """

    address: int
    name: str
    compiled: bool
    code: Code
    seconds: float = 0.0
    missed: Miss | None = None


class KernelCompiler(ABC):
    """Compiles kernels, each one once.

    Attributes:
        runs_rows: whether there may be code for kernels that run row by row.
        kernels_compiled: kernels for which code was generated.
        disk_hits: kernels whose code came from the disk cache.
        compile_seconds: time spent in `compile`, disk hits included.
    """

    runs_rows: ClassVar[bool] = False

    def __init__(self, cache: ObjectCache | None) -> None:
        """Prepare; no `cache` means no cache on disk."""
        self.kernels_compiled = 0
        self.disk_hits = 0
        self.compile_seconds = 0.0
        self._cache = cache
        # why the last object was not on disk
        self._missed = Miss.OFF
        self._dumps = settings.dump()
        self._kernels: dict[Kernel | RowProgram, CompiledKernel] = {}

    @abstractmethod
    def keeps_bits(self, kernel: Kernel) -> bool:
        """Return whether a kernel's results have the bits of the original tasks'."""

    def compile_rows(self, program: RowProgram) -> CompiledKernel | None:
        """Return the code of kernels that run row by row.

        None if they are to run one after the other.

        Raises:
            RuntimeError: the code cannot be made; the message says why.
        """
        return None

    def compile(self, kernel: Kernel) -> CompiledKernel:
        """Return the code of a verified `kernel`.

        Raises:
            RuntimeError: there is no code for the kernel; the message says why.
        """
        made = self._get(kernel, generate=True)
        assert made is not None
        return made

    def find(self, kernel: Kernel) -> CompiledKernel | None:
        """Return the code of a verified `kernel` if it was compiled before."""
        return self._get(kernel, generate=False)

    def forget(self, kernel: Kernel | RowProgram) -> Code | None:
        """Return the code of a kernel, to be freed when nothing runs it."""
        known = self._kernels.pop(kernel, None)
        return None if known is None else known.code

    @abstractmethod
    def _make(self, kernel: Kernel, generate: bool) -> CompiledKernel | None:
        """Return the code of a kernel; without `generate`, only if it is on disk."""

    def _get(self, kernel: Kernel, generate: bool) -> CompiledKernel | None:
        if self._cache is None and not generate:
            return self._kernels.get(kernel)
        return self._once(kernel, lambda: self._make(kernel, generate))

    def _once(
        self,
        kernel: Kernel | RowProgram,
        make: Callable[[], CompiledKernel | None],
    ) -> CompiledKernel | None:
        """Return the code of a kernel, which is made if it is not known."""
        known = self._kernels.get(kernel)
        if known is not None:
            return known
        started = time.perf_counter()
        made = make()
        seconds = time.perf_counter() - started
        if made is not None:
            missed = self._missed if made.compiled else None
            made = replace(made, seconds=seconds, missed=missed)
            self._kernels[kernel] = made
            self.kernels_compiled += made.compiled
            self.disk_hits += not made.compiled
        self.compile_seconds += seconds
        return made

    def _object_of(
        self,
        assembly: str,
        key: str,
        generate: Callable[[str], bytes] | None,
        machine_code: Callable[[str], str],
    ) -> tuple[bytes, str, bool] | None:
        """Return the object of a kernel, its symbol, and whether it was generated here.

        None if it is not on disk and nothing can `generate` it. The assembly defines
        `NAME`, which the symbol takes the place of.
        """
        symbol = f"legate_diffuse_{key[:32]}"
        payload, compiled = self._load(key), False
        if payload is None and generate is None:
            return None
        named = re.sub(rf"@{NAME}\b", f"@{symbol}", assembly)
        self._dump(symbol, named, lambda: machine_code(named))
        if payload is None and generate is not None:
            payload = self._make_object(key, partial(generate, named))
            compiled = True
        assert payload is not None
        return payload, symbol, compiled

    def _dump(self, name: str, assembly: str, machine_code: Callable[[], str]) -> None:
        """Print the code of a kernel that is used, if somebody wants to read it."""
        if settings.LLVM in self._dumps:
            note(f"# {name} as LLVM assembly\n{assembly}")
        if settings.ASM in self._dumps:
            note(f"# {name} as machine code\n{machine_code()}")

    def _load(self, key: str) -> bytes | None:
        """Return an object from disk, if it is there."""
        found = Miss.OFF if self._cache is None else self._cache.find(key)
        if isinstance(found, Miss):
            self._missed = found
            return None
        return found

    def _make_object(self, key: str, generate: Callable[[], bytes]) -> bytes:
        """Generate an object and store it."""
        payload = generate()
        if self._cache is not None:
            self._cache.store(key, payload)
        return payload
