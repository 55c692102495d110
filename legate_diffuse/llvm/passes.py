# SPDX-License-Identifier: Apache-2.0
"""LLVM's optimiser, for code that others have written."""

from __future__ import annotations

import re
from itertools import product
from typing import Any, Final

_LEVEL: Final = 3

_EXACT: Final = ("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "copysign", "round")
"""Functions of C's that IEEE 754 defines to the last bit."""

_WIDTHS: Final = {"": "f64", "f": "f32"}


def optimise(module: Any, machine: Any, *, unroll: bool = True) -> None:
    """Run LLVM's passes on a module, for a target machine.

    Args:
        module: of llvmlite.
        machine: the target machine of llvmlite, whose costs count.
        unroll: whether loops may be unrolled that metadata do not forbid to be.
    """
    from llvmlite import binding as llvm

    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(_LEVEL)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_unrolling = unroll
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def split_structures(module: Any, machine: Any) -> None:
    """Let the fields of structures be values of their own, where branches join, too."""
    _run(module, machine, "register_to_memory", "sroa")


def inline_always(module: Any, machine: Any) -> None:
    """Inline the functions of a module that say that they always are."""
    _run(module, machine, "always_inliner")


def _run(module: Any, machine: Any, *names: str) -> None:
    from llvmlite import binding as llvm

    options = llvm.create_pipeline_tuning_options(_LEVEL)
    builder = llvm.create_pass_builder(machine, options)
    passes = llvm.create_new_module_pass_manager()
    for name in names:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, builder)


def as_instructions(assembly: str) -> str:
    """Return assembly that calls no functions of C's which are instructions.

    Passes may move instructions out of branches. Results are those of the functions.
    """
    for name, suffix, kind in product(_EXACT, ("", "f"), ("declare", "call")):
        intrinsic = f"@llvm.{name}.{_WIDTHS[suffix]}("
        if kind == "call":
            assembly = assembly.replace(f"@{name}{suffix}(", intrinsic)
        elif intrinsic in assembly:
            declaration = rf"^declare \w+ @{name}{suffix}\(.*\n"
            assembly = re.sub(declaration, "", assembly, flags=re.MULTILINE)
    return assembly


def keep_only(module: Any, name: str) -> None:
    """Let the optimiser drop what one function of a module does not need.

    What is left has names that depend on the code only.
    """
    defined = [
        each
        for each in (*module.functions, *module.global_variables)
        if not each.is_declaration and each.name != name
    ]
    for number, each in enumerate(defined):
        each.linkage = "internal"
        each.name = f"{name}.{number}"
