# SPDX-License-Identifier: Apache-2.0
"""From the LLVM assembly of a kernel to a cubin."""

import re
from functools import cached_property
from typing import Any, Final, Protocol

from legate_diffuse.codegen.gpu import functions, libraries
from legate_diffuse.codegen.gpu.functions import Functions
from legate_diffuse.codegen.gpu.module import TRIPLE

_KNOWN: Final = (70, 75, 80, 86, 89, 90, 100)
"""Architectures for which code is generated; others get that of an older one."""

_LEVEL: Final = 2
"""Of optimisation. The highest one takes longer, and divides numbers no faster."""

_MORE_REGISTERS: Final = (".maxnreg 80\n", ".maxnreg 128\n", "")
"""For kernels that do not fit: what leaves a multiprocessor three blocks, and two."""

SMALL_FRAME: Final = 16
"""Bytes of a thread in memory that cost less than a block fewer."""

_FRAME: Final = re.compile(
    r"Function properties for (\w+)\n[^\n]*?(\d+) bytes stack frame"
)


class Assembler(Protocol):
    """Makes an image of LLVM assembly, which the driver of a device loads."""

    def salt(self) -> str:
        """Return what images depend on, apart from the assembly."""
        ...

    def image(self, assembly: str) -> bytes:
        """Return the image.

        Raises:
            RuntimeError: the assembly is rejected, or a library is missing.
        """
        ...

    def ptx(self, assembly: str) -> str:
        """Return what the image is made of, for a person.

        Raises:
            RuntimeError: the assembly is rejected, or a library is missing.
        """
        ...


class CubinAssembler:
    """Makes cubins with LLVM, NVRTC and nvJitLink."""

    def __init__(self, architecture: str) -> None:
        """Prepare for an architecture, such as ``sm_90``, without importing LLVM.

        Raises:
            ValueError: it is no architecture.
        """
        self._real = libraries.architecture_number(architecture)
        self._virtual = max([each for each in _KNOWN if each <= self._real], default=70)
        self._functions: dict[frozenset[str], Functions] = {}

    def salt(self) -> str:
        """Return what cubins depend on, apart from the assembly."""
        import llvmlite

        return repr((llvmlite.__version__, libraries.versions(), self._real, _LEVEL))

    def image(self, assembly: str) -> bytes:
        """Return the cubin.

        Raises:
            RuntimeError: the assembly is rejected, or a library is missing.
        """
        content, _ = self.assembled(self.ptx(assembly))
        return content

    def assembled(self, ptx: str) -> tuple[bytes, str]:
        """Return the cubin of PTX, and what nvJitLink says of it.

        Kernels that need memory for their values if they have few registers get more.

        Raises:
            RuntimeError: the PTX is rejected, or a library is missing.
        """
        content, log = libraries.assemble(ptx, self._real, "-verbose")
        for limit in _MORE_REGISTERS:
            fitted = ptx
            for name, frame in _FRAME.findall(log):
                if int(frame) > SMALL_FRAME:
                    before = rf"(\.entry {name}\b[^{{]*?)\.maxnreg \d+\s"
                    fitted = re.sub(before, rf"\g<1>{limit}", fitted)
            if fitted == ptx:
                break
            ptx = fitted
            content, log = libraries.assemble(ptx, self._real, "-verbose")
        return content, log

    def ptx(self, assembly: str) -> str:
        """Return the PTX, with all functions that it calls.

        Raises:
            RuntimeError: the assembly is rejected, or a library is missing.
        """
        names = functions.called(assembly)
        if not names:
            return self._generate(assembly)
        if names not in self._functions:
            self._functions[names] = functions.functions_of(
                names, lambda source: libraries.compile_cuda(source, self._virtual)
            )
        found = self._functions[names]
        ptx = self._generate(functions.defined(assembly, found))
        return functions.linked(ptx, found)

    def optimised(self, assembly: str) -> Any:
        """Return LLVM's module after all passes, before instructions are selected."""
        llvm = self._llvm
        module = llvm.parse_assembly(assembly)
        module.data_layout = str(self._machine.target_data)
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=_LEVEL)
        builder = llvm.create_pass_builder(self._machine, options)
        builder.getModulePassManager().run(module, builder)
        return module

    def _generate(self, assembly: str) -> str:
        text: str = self._machine.emit_assembly(self.optimised(assembly))
        return text

    @cached_property
    def _llvm(self) -> Any:
        from llvmlite import binding as llvm

        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        return llvm

    @cached_property
    def _machine(self) -> Any:
        target = self._llvm.Target.from_triple(TRIPLE)
        return target.create_target_machine(cpu=f"sm_{self._virtual}", opt=_LEVEL)
