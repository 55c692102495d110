# SPDX-License-Identifier: Apache-2.0
"""LLVM's optimiser, for code that others have written."""

from __future__ import annotations

from typing import Any, Final

_LEVEL: Final = 3


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


def inline_always(module: Any, machine: Any) -> None:
    """Inline the functions of a module that say that they always are."""
    from llvmlite import binding as llvm

    options = llvm.create_pipeline_tuning_options(_LEVEL)
    builder = llvm.create_pass_builder(machine, options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, builder)


def keep_only(module: Any, name: str) -> None:
    """Let the optimiser drop what one function of a module does not need."""
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != name:
            each.linkage = "internal"
