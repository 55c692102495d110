# SPDX-License-Identifier: Apache-2.0
"""The LLVM module of one kernel: its loop over vectors, and what drives it."""

from collections.abc import Container
from typing import Final

from legate_diffuse.codegen.arguments import invariant, updated
from legate_diffuse.codegen.body import emit_bodies
from legate_diffuse.codegen.functions import calls_of
from legate_diffuse.codegen.reduction import POINTS_PER_CALL, reductions
from legate_diffuse.codegen.target import Target
from legate_diffuse.kernel.dtypes import COMPONENT, ITEMSIZE, RECT
from legate_diffuse.kernel.functions import called
from legate_diffuse.kernel.ir import Kernel, Op, Reduce, Store
from legate_diffuse.maths.calls import MathsCalls
from legate_diffuse.maths.libm import MathLibrary

REGISTERS_PER_VALUE: Final = 2
"""Vector registers that hold one value of the widest type.

Two chains of dependent instructions side by side hide more of their latency than the
processor's window over the next iteration does: on Zen 5, Black-Scholes takes 17 % less
time than with one, and 27 % less with four, which leave longer remainders.
"""


_LANES_OF_LOOPS: Final = 4
"""Times as many lanes where a function is computed for one element after the other.

Each beginning and end of that loop costs as much as a few elements: one of Newton's
steps takes 9 % longer than in Numba's loop with 1, and 5 % with 4, on Granite Rapids.
"""

_READ: Final = 1
_WRITE: Final = 2
_INVARIANT: Final = 4
_INDEX: Final = 8
_UPDATED: Final = 16
"""See ``KernelArgument`` in ``mappers/program/row_driver.h``."""

_ANY_NUMBER: Final = 2**62


def lanes_of(kernel: Kernel, target: Target) -> int:
    """Return how many points one vector iteration of `kernel` computes.

    A complex value counts by the type of its components.
    """
    dtypes = {argument.dtype for argument in kernel.arguments}
    for number, instruction in enumerate(kernel.body):
        if not isinstance(instruction, Store | Reduce):
            dtypes.add(kernel.dtype_of(number))
    dtypes.discard(RECT)
    if _is_one_by_one(kernel):
        return 1
    widest = max((ITEMSIZE[COMPONENT.get(dtype, dtype)] for dtype in dtypes), default=1)
    lanes = REGISTERS_PER_VALUE * target.vector_bytes // widest
    loops = any(each.loops for each in calls_of(kernel).values())
    return _LANES_OF_LOOPS * lanes if loops else lanes


def _is_one_by_one(kernel: Kernel) -> bool:
    """Whether all that is computed are functions, one element after the other.

    Then vectors would only be taken apart and put together again.
    """
    calls = calls_of(kernel)
    operators = {step.name for step in kernel.body if isinstance(step, Op)}
    return (
        bool(calls)
        and all(each.loops for each in calls.values())
        and all(called(name) is not None for name in operators)
        and not reductions(kernel)
    )


def llvm_module(
    kernel: Kernel,
    name: str,
    target: Target,
    library: MathLibrary,
    fast_math: bool,
) -> str:
    """Return the module, in LLVM assembly, that defines `name`, the code of `kernel`.

    That is a ``KernelCode``, which the row driver runs (mappers/program/row_driver.h).

    `fast_math` lets LLVM contract and reassociate the kernel's own operations on real
    numbers; products and quotients of complex numbers and the maths routines stay
    exact.
    """
    lanes = lanes_of(kernel, target)
    maths = MathsCalls(library, lanes)
    bodies = emit_bodies(kernel, target, lanes, maths, fast_math)
    width = 8 * target.vector_bytes
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            maths.text(),
            bodies,
            *_code(kernel, name, lanes),
            f'attributes #0 = {{ nounwind "min-legal-vector-width"="{width}" '
            f'"prefer-vector-width"="{width}" }}',
            "",
        ]
    )


def argument_words(kernel: Kernel, updates: Container[int]) -> list[int]:
    """Return the ``KernelArgument`` of each argument and index of a kernel.

    `updates` are the reducing arguments that may have an element for each point.
    """
    words = []
    for number, argument in enumerate(kernel.arguments):
        flags = _READ * argument.reads | _WRITE * argument.writes
        flags |= _INVARIANT * invariant(kernel, number)
        if argument.reduces is not None:
            flags = _UPDATED if number in updates else _INVARIANT
        words += [ITEMSIZE[argument.dtype], flags]
    words += [1, _INDEX] * len(kernel.indices)
    return words


def index_bits(kernel: Kernel) -> int:
    """Return the bits of the dimensions whose indices a kernel uses."""
    return sum(1 << dimension for dimension in kernel.indices)


def _code(kernel: Kernel, name: str, lanes: int) -> list[str]:
    """Return the ``KernelCode``, and the description of the arguments."""
    updates = updated(kernel)
    most = POINTS_PER_CALL if reductions(kernel) else _ANY_NUMBER
    indices = index_bits(kernel)
    count = len(kernel.arguments) + len(kernel.indices)
    words = argument_words(kernel, updates)
    values = ", ".join(f"i64 {word}" for word in words)
    update = "@update" if updates else "null"
    return [
        f"@arguments = internal constant [{len(words)} x i64] [{values}]",
        f"@{name} = constant {{ ptr, ptr, [4 x i64], ptr }} {{ ptr @body, "
        f"ptr {update}, [4 x i64] [i64 {indices}, i64 {lanes}, i64 {most}, "
        f"i64 {count}], ptr @arguments }}",
    ]
