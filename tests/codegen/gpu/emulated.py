# SPDX-License-Identifier: Apache-2.0
"""Images that run on the CPU: the very LLVM IR of a GPU kernel, after NVPTX's passes.

Device memory is the memory of the process. Maths functions are libm's.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from built import built

from legate_diffuse.codegen.gpu import compiler
from legate_diffuse.codegen.gpu.assembler import CubinAssembler
from legate_diffuse.codegen.gpu.maths import PREFIX

_GRID: Final = Path(__file__).with_name("grid.cc")

_INTRINSICS: Final = {
    "llvm.nvvm.barrier.cta.sync.aligned.all": "emulated_barrier",
    "llvm.nvvm.shfl.sync.down.i32": "emulated_shuffle_down",
    "llvm.nvvm.membar.gl": "emulated_fence",
}
_REGISTER: Final = re.compile(r"@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.([xyz])")
_KERNEL: Final = re.compile(
    r"define ptx_kernel void @(\w+)\(ptr [^%]*?byval\(\[\d+ x i64\]\)[^%]*%"
)
_SHARED: Final = re.compile(
    r"^@([\w.]+) = internal (?:unnamed_addr )?addrspace\(3\) global "
    r"(\[\d+ x i64\]|i32) (?:undef|poison)",
    re.MULTILINE,
)
_ROWS: Final = re.compile(
    r"external (?:local_unnamed_addr )?addrspace\(3\) global \[0 x i64\]"
)
_MOST_SHARED: Final = "internal addrspace(3) global [6144 x i64] undef"
"""What a launch may ask for."""
_LEFT: Final = re.compile(r"@llvm\.nvvm\.[\w.]+")


def host_assembly(text: str, triple: str) -> str:
    """Return LLVM assembly for the CPU from that of a module for GPUs."""
    functions = {found[1]: "@emulated_barrier(" for found in _KERNEL.finditer(text)}
    text = re.sub(r'^target datalayout = ".*"\n', "", text, flags=re.MULTILINE)
    text = re.sub(r'target triple = "[^"]*"', f'target triple = "{triple}"', text)
    for name, stand_in in _INTRINSICS.items():
        text = text.replace(f"@{name}(", f"@{stand_in}(")
    text = _REGISTER.sub(r"@emulated_\1_\2", text)
    text = _KERNEL.sub(r"define void @\1(ptr %", text)
    text = _ROWS.sub(_MOST_SHARED, text)
    shared = dict(_SHARED.findall(text))
    text = _SHARED.sub(r"@\1 = internal global \2 zeroinitializer", text)
    text = re.sub(r"ptr addrspace\(\d+\)", "ptr", text).replace(
        "addrspacecast", "bitcast"
    )
    text = re.sub(rf"@{PREFIX}(\w+)\(", r"@\1(", text)
    left = _LEFT.search(text)
    assert left is None, f"{left[0]} is not emulated"
    return text + _tables(text, list(functions), shared)


_LAUNCH: Final = """
declare ptr @emulated_launch(ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, i32)
define ptr @legate_diffuse_emulated_launch(
    ptr %f, ptr %p, i32 %a, i32 %b, i32 %c, i32 %d, i32 %e, i32 %g, i32 %seed) {
  %error = call ptr @emulated_launch(ptr @emulated_tables, ptr %f, ptr %p,
      i32 %a, i32 %b, i32 %c, i32 %d, i32 %e, i32 %g, i32 %seed)
  ret ptr %error
}
"""


def _tables(text: str, functions: list[str], shared: dict[str, str]) -> str:
    """Return the tables that grid.cc reads, and what calls it with them."""
    lines, entries = [], []
    for name in functions:
        body = text[text.index(f"define void @{name}(") :]
        waits = int("@emulated_barrier(" in body[: body.index("\n}")])
        kind = f"[{len(name) + 1} x i8]"
        lines.append(f'@{name}.name = internal constant {kind} c"{name}\\00"')
        entries.append(
            f"{{ ptr, ptr, i64 }} {{ ptr @{name}.name, ptr @{name}, i64 {waits} }}"
        )
    places = []
    for name, kind in shared.items():
        count = int(found[0]) if (found := re.findall(r"\[(\d+) x", kind)) else 1
        size = 8 * count if found else 4
        places.append(f"{{ ptr, i64 }} {{ ptr @{name}, i64 {size} }}")
    counts = len(entries), len(places)
    return "\n".join(
        [
            "",
            *lines,
            f"@emulated.functions = internal constant [{counts[0]} x "
            f"{{ ptr, ptr, i64 }}] [{', '.join(entries)}]",
            f"@emulated.shared = internal constant [{counts[1]} x {{ ptr, i64 }}] "
            + (f"[{', '.join(places)}]" if places else "zeroinitializer"),
            "@emulated_tables = internal constant { ptr, i64, ptr, i64 } "
            f"{{ ptr @emulated.functions, i64 {counts[0]}, "
            f"ptr @emulated.shared, i64 {counts[1]} }}",
            _LAUNCH,
        ]
    )


@functools.cache
def _grid_library() -> str:
    """Return the path of grid.cc as a library, which images are linked to.

    To link each of them to what C++ needs takes eight times as long.
    """
    flags = ["-std=c++17", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    linked = ["-shared", "-Wl,-z,defs"]
    return str(built("grid.so", ["g++", *flags, *linked, str(_GRID)], [_GRID]))


@functools.cache
def _host() -> Any:
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    # registers of the CPU, but no multiply-add that the module does not ask for; to
    # select good instructions takes longer than what tests run
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=0,
        reloc="pic",
    )


class EmulatedAssembler:
    """Makes ELF shared objects for this machine."""

    def __init__(self, passes: bool = True) -> None:
        """Prepare; `passes` says whether NVPTX's own passes run before."""
        self._device = CubinAssembler("sm_90")
        self._passes = passes

    def salt(self) -> str:
        # an image names the library, which is there when the image is found on disk
        return f"emulated {self._passes} {_grid_library()}"

    def ptx(self, assembly: str) -> str:
        return self._device.ptx(assembly)

    def image(self, assembly: str) -> bytes:
        from llvmlite import binding as llvm

        # parsing renames intrinsics that have newer names
        parsed = llvm.parse_assembly(assembly)
        assembly = str(self._device.optimised(assembly) if self._passes else parsed)
        module = llvm.parse_assembly(host_assembly(assembly, llvm.get_process_triple()))
        module.verify()
        content = _host().emit_object(module)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "kernel.o").write_bytes(content)
            made = place / "image.so"
            inputs = [str(place / "kernel.o"), _grid_library(), "-lm", "-lc"]
            link = ["g++", "-shared", "-nostdlib", "-Wl,-z,defs"]
            command = [*link, *inputs, "-o", str(made)]
            subprocess.run(command, check=True)
            return made.read_bytes()


def install() -> None:
    """Let all compilers of this process make emulated images."""

    def emulated(architecture: str) -> EmulatedAssembler:
        del architecture
        return EmulatedAssembler()

    compiler.CubinAssembler = emulated  # type: ignore[misc, assignment]
