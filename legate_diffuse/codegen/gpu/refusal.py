# SPDX-License-Identifier: Apache-2.0
"""Why there is no GPU code for a kernel."""

from enum import Enum

from legate_diffuse.codegen.gpu.parameters import MOST_BYTES, words_of
from legate_diffuse.codegen.gpu.rows import words_of_rows
from legate_diffuse.codegen.gpu.shape import SHARED_BYTES, THREADS, partial_words
from legate_diffuse.kernel.functions import called
from legate_diffuse.kernel.ir import Kernel, Op, RowProgram
from legate_diffuse.kernel.operators import ROW_ELEMENT


class Refusal(Enum):
    """A reason as a sentence."""

    FUNCTION = "it calls a function that Numba has compiled for CPUs"
    ROW_ELEMENT = "it looks for elements in rows of a compressed matrix"
    PARAMETERS = "it has more arguments and scalars than a GPU kernel may have"
    SHARED_MEMORY = "it has more reductions than fit into shared memory"


class NotOnGpuError(RuntimeError):
    """A kernel cannot run on GPUs, so that the original tasks should run."""

    def __init__(self, refusal: Refusal) -> None:
        """Say why."""
        super().__init__(f"a kernel cannot run on GPUs, because {refusal.value}")
        self.refusal = refusal


def refusal_of_rows(program: RowProgram) -> Refusal | None:
    """Return why kernels cannot run row by row on GPUs, None if they can."""
    for kernel in program.kernels:
        if (reason := refusal(kernel)) is not None:
            return reason
    if 8 * words_of_rows(program) > MOST_BYTES:
        return Refusal.PARAMETERS
    return None


def refusal(kernel: Kernel) -> Refusal | None:
    """Return why a kernel cannot run on GPUs, None if it can."""
    names = {step.name for step in kernel.body if isinstance(step, Op)}
    if any(map(called, names)):
        return Refusal.FUNCTION
    if ROW_ELEMENT in names:
        return Refusal.ROW_ELEMENT
    if 8 * words_of(kernel) > MOST_BYTES:
        return Refusal.PARAMETERS
    if 8 * THREADS * partial_words(kernel) > SHARED_BYTES:
        return Refusal.SHARED_MEMORY
    return None
