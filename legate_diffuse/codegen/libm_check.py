# SPDX-License-Identifier: Apache-2.0
"""Compares the vector routines with the libm of this process.

They differ if that is another version or was compiled to fuse other operations. A
routine is used if it gives what libm gives for samples of all paths and for operands
that are sensitive to every change that matters (see `_SENSITIVE`).
"""

import ctypes
import struct
from collections.abc import Iterator
from itertools import product
from typing import Final

from legate_diffuse.codegen.libm_routines import ROUTINES

_SAMPLES: Final = 2000
"""Operands of each range that are compared."""

_Ranges = tuple[tuple[float, float], ...]
_EXPONENTS: Final[_Ranges] = (2.0**-30, 1100.0), (-(2.0**-30), -1100.0)
_POSITIVE: Final[_Ranges] = (0.0, float("inf")), (0.5, 1.5), (0.93, 1.07)
_BASES: Final[_Ranges] = (1e-5, 1e5), (0.9, 1.1)
_POWERS: Final[_Ranges] = (0.1, 50.0), (-0.1, -500.0)
_OPERANDS: Final[dict[str, tuple[_Ranges, ...]]] = {
    "exp": (_EXPONENTS,),
    "exp2": (_EXPONENTS,),
    "log": (_POSITIVE,),
    "log2": (_POSITIVE,),
    "pow": (_BASES, _POWERS),
}

_SENSITIVE: Final = {
    "exp": """
c02672f53e060118 bf6468ba9b178560 bf66db7c1f2aeaf0 3f66cb9ec4f50cdd
""",
    "exp2": """
bf7054151d0c0ce5 3f76d84687b699f2 bf6ab0743d0f6f99 3fbd8d719cdfc9c5 3f7039e7b0285a40
""",
    "exp2f": """
42a35938 41a7e8c2 422339c1 c2593485
""",
    "expf": """
c196896f c27de436 c24ce11b c233c172
""",
    "log": """
3f5071f31926c27e 3fe000113f637df1 3fe01dd7d21b9e0e 3fef351ac6650967 3fee21e060c5da28
3fee18b1a3ba0e22 3fee1b891645994b 3fee47ad24a01610
""",
    "log2": """
3f506d4fde56bbd9 3fe0000f3ebfcee9 3fe012cf90a93763 3f6581409c3586e6 3fe052c2b337e069
3fb2971cf6e34126 3feeb8522fe6533f 3feea5e0709ca51a 3feecfd1a5b79d29 3feeba571aafddcc
3feea7658b9d3f47 3feeb8aac525a1ee 3ff0802b96bc9fbd 3ff089780c4e257c 3feebbd265c327c4
3fe01cc29819345a 3fe007462ae07cd9
""",
    "log2f": """
3f83b209 40143710 371501ab 37628160
""",
    "logf": """
3f8ae091 62c1e8cc 350328da 3f12f102
""",
    "pow": """
3f847af1f45894f9 c02b3ea136bfca2b 3feccccd1c2aa139 c02a4537f1364097 3fedbd5723e7bdb4
c027b3c2da130b1f 3f9f5a8cf2ef7d8e 402d39ae5c437764 4031b3b1647419e8 401ded69f0448436
3f951f7e88ba3ed1 c003bab67fa08721 3fefdb3b0f2f0a5f c00c74b01d9b91f6 40057cee02391a63
40180aeac5a67b31
""",
    "powf": """
3dddc50a c0d1c710 3dff68a9 c05807e9 429409ba c0962cc0 3e07e169 c0e9276a
""",
}
"""Bit patterns of operands.

Those for doubles were found by fusing, or not, one operation of a routine at a time:
each such change shows in one of them, unless it changed none of 10^7 random results.
Those for floats are results that the algorithms do not round correctly.
"""


def agrees_with_libm(name: str, check: int) -> bool:
    """Return whether a routine gives what libm gives.

    `check` is the address of its function `legate_diffuse_check_*`.
    """
    words = 1 + 2 * ROUTINES[name].arity
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * words)(check)
    return all(function(*samples) == 0 for samples in _samples(name))


def _samples(name: str) -> Iterator[tuple[int, ...]]:
    """Yield the number of samples, and the first bit pattern and step per operand."""
    arity = ROUTINES[name].arity
    patterns = [int(word, 16) for word in _SENSITIVE[name].split()]
    for start in range(0, len(patterns), arity):
        operands = patterns[start : start + arity]
        yield (1, *(word for operand in operands for word in (operand, 0)))
    element = ROUTINES[name].element
    for chosen in product(*_OPERANDS[name.removesuffix("f")]):
        steps: list[int] = []
        for low, high in chosen:
            start, end = _pattern(element, low), _pattern(element, high)
            steps += [start, (end - start) // _SAMPLES]
        yield (_SAMPLES, *steps)


def _pattern(element: str, number: float) -> int:
    real, integer = ("<d", "<Q") if element == "double" else ("<f", "<I")
    pattern: int = struct.unpack(integer, struct.pack(real, number))[0]
    return pattern
