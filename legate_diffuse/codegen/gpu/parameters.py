# SPDX-License-Identifier: Apache-2.0
"""The parameter of a GPU kernel: a block of 64-bit words.

The native part fills it in at the launch (mappers/gpu).
"""

from enum import Enum
from typing import Final

from legate_diffuse.kernel.ir import Kernel
from legate_diffuse.kernel.verify import MAX_DIMENSIONS
from legate_diffuse.llvm.lines import Lines

LOOPS: Final = MAX_DIMENSIONS
"""The extents come first, the inner loop's before the others."""

ROWS: Final = LOOPS
"""Rows, which are the points of a slice but for those of the inner loop."""
SLICES: Final = LOOPS + 1
"""Slices: what is reduced to one element each, or one row of elements."""
STORES: Final = LOOPS + 2
"""Whether stores are made, which several launches of one kernel share out."""
PARTIALS: Final = LOOPS + 3
"""Device memory for partial results."""
TICKETS: Final = LOOPS + 4
"""Device memory for 32-bit words, which are 0."""
LAYOUT: Final = LOOPS + 5
"""The `Layout` of the launch."""
CHUNK: Final = LOOPS + 6
"""Rows that a thread takes one after the other."""
POINTERS: Final = LOOPS + 7
"""The pointers of arguments, and of indices; their strides follow."""

_SCALAR_WORDS: Final = 2


class Layout(Enum):
    """How the arguments of a launch lie: GridLayout of the native part."""

    ALIGNED = 0
    """Rows start at multiples of 16 bytes, strides along the inner loop are 1 element.

    Arguments that are `invariant` have strides of 0.
    """
    UNIT = 1
    """Strides along the inner loop are 1 element, or 0 as for ``ALIGNED``."""
    STRIDED = 2
    """Anyhow."""
    COLUMNS = 3
    """Anyhow; elements are reduced to along the outer loops only."""


MOST_BYTES: Final = 4096
"""That the parameters of a kernel may have on every GPU and driver."""


def count_of(kernel: Kernel) -> int:
    """Return the number of a kernel's arguments and indices."""
    return len(kernel.arguments) + len(kernel.indices)


def stride_word(kernel: Kernel, argument: int) -> int:
    """Return which word is the stride of an argument in the inner loop."""
    return POINTERS + count_of(kernel) + argument * LOOPS


def scalar_word(kernel: Kernel, scalar: int) -> int:
    """Return which word a scalar starts at."""
    words = POINTERS + count_of(kernel) * (1 + LOOPS)
    return words + words % 2 + _SCALAR_WORDS * scalar


def words_of(kernel: Kernel) -> int:
    """Return how many words a kernel's parameter has."""
    return scalar_word(kernel, len(kernel.scalars))


def emit_word(lines: Lines, word: int, kind: str = "i64") -> str:
    """Emit the load of a word."""
    place = lines.let(f"getelementptr i64, ptr %parameter, i64 {word}")
    return lines.let(f"load {kind}, ptr {place}, align 8")
