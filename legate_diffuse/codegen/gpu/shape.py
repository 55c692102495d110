# SPDX-License-Identifier: Apache-2.0
"""The shape of blocks, vectors and partial results.

The native part chooses blocks and grids from it (mappers/gpu/).
"""

from collections.abc import Iterable
from typing import Final

from legate_diffuse.kernel.dtypes import COMPLEX, COMPONENT, ITEMSIZE
from legate_diffuse.kernel.ir import Kernel, Load

THREADS: Final = 256
"""Of a block."""

WARP: Final = 32

SHARED_BYTES: Final = 48 * 1024
"""Of shared memory that a block may have without asking for more."""

_VECTOR_BYTES: Final = 16
_MOST_LANES: Final = 8
_NEIGHBOURS_X: Final = 32
_GROUPS: Final = 2
_COLUMN_ROWS: Final = 8
_MOST_LOADS: Final = 8
_MOST_STEPS: Final = 64
_MOST_BYTES: Final = 8
_REGISTERS: Final = 64
"""Of 65,536 of a multiprocessor: 1,024 threads."""


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


def groups_of(kernel: Kernel) -> int:
    """Return how many points, or vectors of them, a thread reads at once.

    What it has asked for it waits for together. Large kernels have other work to do
    meanwhile, and would become too large.
    """
    loads = sum(isinstance(step, Load) for step in kernel.body)
    if len(kernel.body) > _MOST_STEPS or loads > _MOST_LOADS:
        return 1
    return _GROUPS


def column_rows(kernel: Kernel) -> int:
    """Return how many rows of a column a thread reads at once."""
    return 1 if groups_of(kernel) == 1 else _COLUMN_ROWS


def most_registers(kernels: Iterable[Kernel]) -> int | None:
    """Return how many registers a thread may have, None for as many as it takes.

    Small kernels wait for memory: the more threads a multiprocessor has, the better.
    Those of complex128 need more.
    """
    for kernel in kernels:
        sizes = [ITEMSIZE[argument.dtype] for argument in kernel.arguments]
        if groups_of(kernel) == 1 or max(sizes, default=0) > _MOST_BYTES:
            return None
    return _REGISTERS


def has_vectors(kernel: Kernel) -> bool:
    """Return whether a thread may take 16 bytes at a time, in several parts."""
    return lanes_of(kernel) > 1 or any(
        argument.dtype in COMPLEX and argument.reduces is None
        for argument in kernel.arguments
    )


def has_row_vectors(kernel: Kernel) -> bool:
    """Return whether a thread may take 16 bytes at a time of a row.

    Two elements of 8 bytes took an H200 longer than one: scripts/gpu/README.md.
    """
    return lanes_of(kernel) > 2


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
