# SPDX-License-Identifier: Apache-2.0
"""Why there is no GPU code for a kernel."""

from enum import Enum

from legate_diffuse.codegen.gpu.parameters import MOST_BYTES, words_of
from legate_diffuse.codegen.gpu.shape import SHARED_BYTES, THREADS, partial_words
from legate_diffuse.kernel.ir import Kernel, Op
from legate_diffuse.kernel.operators import OF_ROWS


class Refusal(Enum):
    """A reason as a sentence."""

    ROW_SUM = "it reads rows of a compressed matrix"
    PARAMETERS = "it has more arguments and scalars than a GPU kernel may have"
    SHARED_MEMORY = "it has more reductions than fit into shared memory"


class NotOnGpuError(RuntimeError):
    """A kernel cannot run on GPUs, so that the original tasks should run."""

    def __init__(self, refusal: Refusal) -> None:
        """Say why."""
        super().__init__(f"a kernel cannot run on GPUs, because {refusal.value}")
        self.refusal = refusal


def refusal(kernel: Kernel) -> Refusal | None:
    """Return why a kernel cannot run on GPUs, None if it can."""
    if any(isinstance(step, Op) and step.name in OF_ROWS for step in kernel.body):
        return Refusal.ROW_SUM
    if 8 * words_of(kernel) > MOST_BYTES:
        return Refusal.PARAMETERS
    if 8 * THREADS * partial_words(kernel) > SHARED_BYTES:
        return Refusal.SHARED_MEMORY
    return None
