# SPDX-License-Identifier: Apache-2.0
"""Compares the vector routines with the libm of this process.

They differ if that is another version, or another compiler fused other operations. Then
about one result in a thousand differs, so a routine that gives the same as libm for all
samples here is taken to do so always.
"""

import ctypes
import struct
from collections.abc import Iterator
from typing import Final

from legate_diffuse.codegen.libm_routines import ROUTINES, Routine

_SAMPLES: Final = 20_000
"""Operands for which each range of a routine is compared."""
_WIDTH: Final = {"double": ("<d", "<Q"), "float": ("<f", "<I")}


def agrees_with_libm(name: str, check: int) -> bool:
    """Return whether a routine gave what libm gave for all samples.

    `check` is the address of its function `legate_diffuse_check_*`.
    """
    routine = ROUTINES[name]
    words = 1 + 2 * routine.arity
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * words)(check)
    return all(function(*samples) == 0 for samples in _samples(routine))


def _samples(routine: Routine) -> Iterator[tuple[int, ...]]:
    """Yield the number of samples, and the first bit pattern and step per operand."""
    first, *rest = routine.samples
    for low, high in first:
        start, end = (_pattern(routine, number) for number in (low, high))
        steps = (start, (end - start) // _SAMPLES)
        if not rest:
            yield (_SAMPLES, *steps)
        for low_2, high_2 in rest[0] if rest else ():
            start_2, end_2 = (_pattern(routine, number) for number in (low_2, high_2))
            yield (_SAMPLES, *steps, start_2, (end_2 - start_2) // _SAMPLES)


def _pattern(routine: Routine, number: float) -> int:
    to_bytes, to_integer = _WIDTH[routine.element]
    pattern: int = struct.unpack(to_integer, struct.pack(to_bytes, number))[0]
    return pattern
