# SPDX-License-Identifier: Apache-2.0
"""What a program could do about a reason for which there are not fewer tasks."""

from __future__ import annotations

from typing import Final

from legate_diffuse.fusion.legality import Refusal

_TOGETHER: Final = "Put operations over equal parts of arrays next to each other."
_NEW_ARRAY: Final = (
    "Compute into a new array and swap the two names at the end of the step, instead "
    "of changing the array in place."
)

OF_REFUSALS: Final = {
    Refusal.NOT_COVERED: "Use element-wise functions, or a type such as float64.",
    Refusal.OTHER_TASK: "Move it before the operation that is not fused.",
    Refusal.FEW_POINTS: "",
    Refusal.SCALAR_CHANGES: "Give each step's value a name of its own.",
    Refusal.NOT_AFFINE: (
        "Index with slices that have one step, and roll along an axis: what is "
        "flattened or reshaped has to be copied."
    ),
    Refusal.LAUNCH_DOMAIN: _TOGETHER,
    Refusal.PROCESSORS: "Keep small arrays out of expressions with large ones.",
    Refusal.NOTHING_SHARED: "",
    Refusal.OTHER_PART: "",
    Refusal.GATHERS: "Let threads share the loops: unset LEGATE_DIFFUSE_THREADS.",
    Refusal.TRUE_DEPENDENCE: "",
    Refusal.ANTI_DEPENDENCE: _NEW_ARRAY,
    Refusal.OUTPUT_DEPENDENCE: "Assign both parts in one expression, with where().",
    Refusal.REDUCED_AXES: "Reduce along one axis at a time, or transpose before.",
    Refusal.REDUCTION: "Use the result of the reduction in the next step, if it can.",
    Refusal.TOO_MANY_ARGUMENTS: "",
    Refusal.TOO_LONG: "",
    Refusal.MOVED: "",
}

OF_WAITING: Final = (
    "The program's thread stands still until a value is there. Leave values in arrays, "
    "and read them every tenth step or at the end."
)

# Why a task ran as it is that was fused later, and what to do.
OF_FIRST_TIMES: Final = (
    "kernels for so little work are compiled when they are needed again",
    "The next run finds them on disk.",
)
