# SPDX-License-Identifier: Apache-2.0
"""The shape of blocks, vectors and partial results.

The native part chooses blocks and grids from it (mappers/gpu/).
"""

from typing import Final

from legate_diffuse.kernel.dtypes import COMPLEX, COMPONENT, ITEMSIZE
from legate_diffuse.kernel.ir import Kernel

THREADS: Final = 256
"""Of a block."""

WARP: Final = 32

SHARED_BYTES: Final = 48 * 1024
"""Of shared memory that a block may have without asking for more."""

_VECTOR_BYTES: Final = 16
_MOST_LANES: Final = 8
_NEIGHBOURS_X: Final = 32


def lanes_of(kernel: Kernel) -> int:
    """Return how many points a thread takes at a time where arguments are aligned.

    They are 16 bytes of the widest element in memory.
    """
    sizes = [
        ITEMSIZE[COMPONENT.get(argument.dtype, argument.dtype)]
        * (1 + (argument.dtype in COMPLEX))
        for argument in kernel.arguments
        if argument.reduces is None and not argument.whole
    ]
    return max(1, min(_MOST_LANES, _VECTOR_BYTES // max(sizes, default=16)))


def has_vectors(kernel: Kernel) -> bool:
    """Return whether a thread may take 16 bytes at a time, in several parts."""
    return lanes_of(kernel) > 1 or any(
        argument.dtype in COMPLEX and argument.reduces is None
        for argument in kernel.arguments
    )


def block_x(kernel: Kernel) -> int:
    """Return how many threads of a block lie along the inner loop, at most.

    Where neighbours along several dimensions are read, blocks have two dimensions, so
    that they share more of what they read.
    """
    if any(argument.prefetch for argument in kernel.arguments):
        return _NEIGHBOURS_X
    return THREADS


def partial_words(kernel: Kernel) -> int:
    """Return how many 8-byte words the partial results of all reductions take."""
    return sum(
        1 + (argument.dtype in COMPLEX)
        for argument in kernel.arguments
        if argument.reduces is not None
    )
