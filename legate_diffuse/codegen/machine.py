# SPDX-License-Identifier: Apache-2.0
"""LLVM at work: assembly to object code to addresses."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from legate_diffuse.codegen.functions import calls_of, link, vector_function
from legate_diffuse.codegen.module import lanes_of, llvm_module
from legate_diffuse.codegen.target import host_target
from legate_diffuse.kernel.ir import Kernel
from legate_diffuse.maths.agreement import agrees_with_libm
from legate_diffuse.maths.libm import MathLibrary, MathMode, libm_addresses
from legate_diffuse.maths.modules import (
    PREFIX,
    check_symbol,
    libm_module,
    routine_lanes,
    symbol,
)
from legate_diffuse.maths.registry import ROUTINES

_CODE_OPTIONS: Final = {
    "opt": 2,
    "reloc": "static",
    "codemodel": "large",
    "jit": True,
}
"""How LLVM generates code.

Only absolute 64-bit addresses: in a large process the sections of an object, and what
it calls, may lie too far apart for relative ones, and LLVM then ends the process.
"""

_OBJECTS_OF_AN_ENGINE: Final = 16
"""One engine for each object takes 54 KB for each, one for 16 takes 14 KB."""


class _Engine:
    """Object code that is freed when none of it is used any more."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.loaded = 0
        self.used = 0
        # what is not freed may run until the process ends
        _engines.add(self)

    def is_full(self) -> bool:
        return self.loaded >= _OBJECTS_OF_AN_ENGINE

    def close_if_unused(self) -> None:
        if self.is_full() and not self.used:
            _engines.discard(self)
            self.engine.close()


_engines: Final[set[_Engine]] = set()


class MachineCode:
    """Functions and data that stay where they are until they are freed."""

    def __init__(self, engine: _Engine) -> None:
        """Use what an engine has loaded last."""
        self._engine = engine
        engine.used += 1

    def address(self, name: str) -> int:
        """Return the address of a symbol."""
        found: int = self._engine.engine.get_global_value_address(name)
        return found

    def free(self) -> None:
        """Give the memory back; nothing may use it any more."""
        self._engine.used -= 1
        self._engine.close_if_unused()


class Machine:
    """LLVM's code generator and linker for this process."""

    def __init__(self, mode: MathMode, fast_math: bool) -> None:
        """Start LLVM. All maths is done by libm until `link_routine`.

        With `fast_math`, kernels are contracted and reassociated.
        """
        import llvmlite
        from llvmlite import binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._llvm = llvm
        self._fast_math = fast_math
        self._target = host_target()
        self._library = MathLibrary(
            mode, frozenset(), routine_lanes(self._target.vector_bytes)
        )
        for name, address in libm_addresses().items():
            llvm.add_symbol(name, address)
        self._engine: _Engine | None = None
        self._generator = self._target_machine()
        # modules of functions of vectors, by their names
        self._functions: dict[str, str] = {}
        self._salt = repr(
            (
                llvmlite.__version__,
                llvm.llvm_version_info,
                self._target,
                sorted(_CODE_OPTIONS.items()),
            )
        )

    def assembly(self, name: str, kernel: Kernel) -> str:
        """Return the LLVM assembly that defines `name`, the code of `kernel`."""
        text = llvm_module(kernel, name, self._target, self._library, self._fast_math)
        calls = calls_of(kernel)
        if not calls:
            return text
        lanes = lanes_of(kernel, self._target)
        width = 8 * self._target.vector_bytes
        called = []
        for call in calls.values():
            symbol = call.symbol(lanes)
            if symbol not in self._functions:
                self._functions[symbol] = vector_function(
                    call, lanes, width, self._library, self._generator
                )
            called.append(self._functions[symbol])
        return link(text, called, self._generator, single=lanes == 1)

    def routine_assemblies(self, name: str) -> Iterator[str]:
        """Yield variants of the vector routine for a C maths function, in assembly.

        None if the processor lacks what they need to give libm's results.
        """
        if not self._target.fma:
            return
        target = self._target
        for variant in range(len(ROUTINES[name].variants)):
            yield libm_module(
                name, variant, target.triple, target.vector_bytes, target.gathers
            )

    def key(self, assembly: str) -> str:
        """Return the name of the object that this machine makes from `assembly`."""
        return hashlib.sha256(f"{self._salt}\n{assembly}".encode()).hexdigest()

    def generate(self, assembly: str) -> bytes:
        """Return the object code of a kernel or of the maths routines."""
        module = self._llvm.parse_assembly(assembly)
        payload: bytes = self._generator.emit_object(module)
        return payload

    def machine_code(self, assembly: str) -> str:
        """Return the machine's own assembly for that of LLVM."""
        module = self._llvm.parse_assembly(assembly)
        text: str = self._generator.emit_assembly(module)
        return text

    def link_routine(self, name: str, variant: int, payload: bytes) -> bool:
        """Load a variant of a vector routine, and use it if it agrees with libm."""
        check = check_symbol(name, variant)
        code = self.link(payload)
        if not agrees_with_libm(name, code.address(check)):
            return False
        self._llvm.add_symbol(PREFIX + name, code.address(symbol(name, variant)))
        library = self._library
        self._library = replace(library, vector=library.vector | {name})
        return True

    def link(self, payload: bytes) -> MachineCode:
        """Load object code."""
        engine = self._engine
        if engine is None or engine.is_full():
            engine = self._engine = self._make_engine()
        engine.loaded += 1
        code = MachineCode(engine)
        engine.engine.add_object_file(self._llvm.ObjectFileRef.from_data(payload))
        engine.engine.finalize_object()
        return code

    def _make_engine(self) -> _Engine:
        # The engine owns the target machine that it is made with.
        module = self._llvm.parse_assembly("")
        return _Engine(self._llvm.create_mcjit_compiler(module, self._target_machine()))

    def _target_machine(self) -> Any:
        target = self._llvm.Target.from_triple(self._target.triple)
        return target.create_target_machine(
            cpu=self._target.cpu,
            features=self._target.features,
            **_CODE_OPTIONS,
        )
