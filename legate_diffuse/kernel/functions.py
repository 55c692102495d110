# SPDX-License-Identifier: Apache-2.0
"""Scalar functions in LLVM assembly, which are operators of kernels.

Each of a function's results is an operator, which takes all of its inputs. So a result
that nobody uses need not be computed, as with all other operators.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

_PREFIX: Final = "function."

_CALL: Final = re.compile(
    r"^declare [^@]*@(?:llvm\.(\w+)\.(f32|f64)|(\w+))\(", re.MULTILINE
)

NAME: Final = "function"
"""What the assembly of a scalar function calls it."""


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """A function of one element of each input.

    `assembly` is an LLVM module. It defines `void @function(ptr, ...)`, which reads an
    element of each input, writes one of each output, and has no other effects. There
    is a pointer for each input, and after them for each output; elements are as in
    arrays.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    assembly: str

    def calls(self) -> set[str]:
        """Return the functions that it calls, LLVM's intrinsics by C's names."""
        return {
            plain or name + ("f" if kind == "f32" else "")
            for name, kind, plain in _CALL.findall(self.assembly)
        }

    def operators(self) -> tuple[str, ...]:
        """Return the names of the operators of its results, which are known then."""
        text = repr((self.inputs, self.outputs, self.assembly))
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        _known[digest] = self
        return tuple(f"{_PREFIX}{digest}.{n}" for n in range(len(self.outputs)))


_known: Final[dict[str, ScalarFunction]] = {}
"""By digest."""


def called(operator: str) -> tuple[str, ScalarFunction, int] | None:
    """Return the function of an operator, with its digest, and which result it is.

    None if the operator is none of a function.
    """
    if not operator.startswith(_PREFIX):
        return None
    digest, _, result = operator.removeprefix(_PREFIX).partition(".")
    function = _known.get(digest)
    return None if function is None else (digest, function, int(result))
