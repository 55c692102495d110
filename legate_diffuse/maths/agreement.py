# SPDX-License-Identifier: Apache-2.0
"""Compares the vector routines with the libm of this process.

They differ if that is another version or was compiled to fuse other operations. A
routine is used if it gives what libm gives, or is as near as it says, for samples of
all paths and for operands that are sensitive to every change that matters (see
`_SENSITIVE`).
"""

import ctypes
import struct
from collections.abc import Iterator
from itertools import product
from typing import Final

from legate_diffuse.maths.registry import ROUTINES

_SAMPLES: Final = 2000
"""Operands of each range that are compared."""

_Ranges = tuple[tuple[float, float], ...]
_EXPONENTS: Final[_Ranges] = (2.0**-30, 1100.0), (-(2.0**-30), -1100.0)
_POSITIVE: Final[_Ranges] = (0.0, float("inf")), (0.5, 1.5), (0.93, 1.07)
_BASES: Final[_Ranges] = (1e-5, 1e5), (0.9, 1.1)
_POWERS: Final[_Ranges] = (0.1, 50.0), (-0.1, -500.0)
_ANGLES: Final[_Ranges] = (2.0**-28, 2.0**60), (-0.1, -10.0), (0.5, 3.0)
_FRACTIONS: Final[_Ranges] = (2.0**-30, 1.0), (-0.5, -1.0), (0.96, 1.0)
_REALS: Final[_Ranges] = (2.0**-60, 2.0**60), (-0.1, -50.0), (0.2, 3.0)
_OPERANDS: Final[dict[str, tuple[_Ranges, ...]]] = {
    "acos": (_FRACTIONS,),
    "acosh": (((1.0, 4.0), (1.0, 2.0**60)),),
    "asin": (_FRACTIONS,),
    "asinh": (_REALS,),
    "atan": (_REALS,),
    "atan2": (_REALS, _REALS),
    "atanh": (_FRACTIONS,),
    "cbrt": (((0.0, float("inf")), (-0.1, -50.0)),),
    "cos": (_ANGLES,),
    "cosh": (_REALS,),
    "exp": (_EXPONENTS,),
    "exp2": (_EXPONENTS,),
    "expm1": (_REALS,),
    "fmod": (_REALS, _REALS),
    "hypot": (_REALS, _REALS),
    "log": (_POSITIVE,),
    "log10": (_POSITIVE,),
    "log1p": (((2.0**-60, 2.0**60), (-(2.0**-30), -1.0), (0.2, 3.0)),),
    "log2": (_POSITIVE,),
    "nextafter": (_REALS, _REALS),
    "pow": (_BASES, _POWERS),
    "sin": (_ANGLES,),
    "sinh": (_REALS,),
    "tan": (_ANGLES,),
    "tanh": (_REALS,),
}

_SENSITIVE: Final = {
    "acosh": """
400020d01b1242f7 40000febde244ee1 4001f68d03e87339 3ff0262c481fab68 3ff77d932bbff751
3ff061f4515a2725 3ff8ec0d1fdef2a8 3ff00caffa8cba09 3ff02b015cb3e7a5
""",
    "asinh": """
bfc3408183822c80 40002572eddee17e c00cd94c6d1b3783 3fddce76f302bab1 3fd2797f0a383dc7
3fb981723c808f91 3fd6bc24c7773b78 3f6b9e4afe317823 3fc9b571ff4af2b8
""",
    "atanh": """
3fbdb598da31f834 bfe101e9b438f7d9 3feeba3351b68bd5 3feeb8b56b957845 3f2e659e658c81d7
3f879be086322254
""",
    "cosf": """
418a3add
""",
    "cosh": """
c0289a04132bba9f bfd7f4c402af151e 3fd25bbdc87e2d22 bfd07e9f0f6abca2 c038118a3d1d700b
40528df3cd1d1431
""",
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
    "expm1": """
3fd4097977ec7dc7 bfc792fecab77512 bfcc8f2924cd05c9 3fc99bf2b9c92ea5 3fd636e5b7f6c367
bfd76d9ddb59dd6a 3fd62fcb4585da23
""",
    "log": """
3f5071f31926c27e 3fe000113f637df1 3fe01dd7d21b9e0e 3fef351ac6650967 3fee21e060c5da28
3fee18b1a3ba0e22 3fee1b891645994b 3fee47ad24a01610
""",
    "log10": """
3fe00063f0883525 3fe27f871d721d35 3fef181bddc4b3a9 3fee2acf4de279a0 3ff0e16cc500b075
3fee020475f3f293 0b1953470c36434c
""",
    "log1p": """
3fcecc8fcadbd4b1 3fca691eee45a632 3fda8285821530cf 3fda93c52f618f38
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
    "sinf": """
42a35c07
""",
    "sinh": """
bfd51467b62e2935 3fcf72dbe717d003 3fc9c4f2fa0f1ba5 bfb99e2192772175 3fd62f4342796c65
3fd64003d0018292 c04024ae4104fcb6 c03826a83335b5da
""",
    "tanh": """
bfc5709ad4a06003 3fdfba717b1a8d9e bfb9a3c527faa3d2 3fc9b490937f0ba5
""",
}
"""Bit patterns of operands.

Those for doubles were found by fusing, or not, one operation of a routine at a time:
each such change shows in one of them, unless it changed none of 10^6 random results.
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
    patterns = [int(word, 16) for word in _SENSITIVE.get(name, "").split()]
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
