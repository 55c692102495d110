# SPDX-License-Identifier: Apache-2.0
"""The LLVM module of one kernel: its C entry point and its loop over vectors."""

from typing import Final

from legate_diffuse.codegen.body import emit_bodies, invariant, updated
from legate_diffuse.codegen.loops import INDEX, INVARIANT, LOOPS, READ, WRITE
from legate_diffuse.codegen.reduction import POINTS_PER_CALL, reductions
from legate_diffuse.codegen.target import Target
from legate_diffuse.kernel.dtypes import COMPONENT, ITEMSIZE
from legate_diffuse.kernel.ir import Kernel, Reduce, Store
from legate_diffuse.maths.calls import MathsCalls
from legate_diffuse.maths.libm import MathLibrary

REGISTERS_PER_VALUE: Final = 2
"""Vector registers that hold one value of the widest type.

Two chains of dependent instructions side by side hide more of their latency than the
processor's window over the next iteration does: on Zen 5, Black-Scholes takes 17 % less
time than with one, and 27 % less with four, which leave longer remainders.
"""


_ANY_NUMBER: Final = 2**62


def lanes_of(kernel: Kernel, target: Target) -> int:
    """Return how many points one vector iteration of `kernel` computes.

    A complex value counts by the type of its components.
    """
    dtypes = {argument.dtype for argument in kernel.arguments}
    for number, instruction in enumerate(kernel.body):
        if not isinstance(instruction, Store | Reduce):
            dtypes.add(kernel.dtype_of(number))
    widest = max((ITEMSIZE[COMPONENT.get(dtype, dtype)] for dtype in dtypes), default=1)
    return REGISTERS_PER_VALUE * target.vector_bytes // widest


def llvm_module(
    kernel: Kernel,
    name: str,
    target: Target,
    library: MathLibrary,
    fast_math: bool,
) -> str:
    """Return the module, in LLVM assembly, whose function `name` runs `kernel`.

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
            _about("@about", kernel, lanes, []),
            f"declare void @{LOOPS}(ptr, ptr, ptr, ptr, ptr, ptr)",
            *_entry(kernel, name, lanes),
            f'attributes #0 = {{ nounwind "min-legal-vector-width"="{width}" '
            f'"prefer-vector-width"="{width}" }}',
            "",
        ]
    )


def _entry(kernel: Kernel, name: str, lanes: int) -> list[str]:
    """Return the function `name`, which chooses the variant of the loop.

    That is `@update` if all arguments that it `updated` have inner strides other than
    0. If only some have, the loops call `@body` for one point after the other.
    """
    body, about = "@body", "@about"
    choice, description = [], []
    if updates := updated(kernel):
        description = [_about("@about.update", kernel, lanes, updates)]
        every = "true"
        for number in updates:
            at = f"ptr %strides, i64 {2 * number + 1}"
            choice += [
                f"  %stride.at.{number} = getelementptr i64, {at}",
                f"  %stride.{number} = load i64, ptr %stride.at.{number}",
                f"  %apart.{number} = icmp ne i64 %stride.{number}, 0",
                f"  %every.{number} = and i1 {every}, %apart.{number}",
            ]
            every = f"%every.{number}"
        choice += [
            f"  %body = select i1 {every}, ptr @update, ptr @body",
            f"  %about = select i1 {every}, ptr @about.update, ptr @about",
        ]
        body, about = "%body", "%about"
    return [
        *description,
        f"define void @{name}(ptr %pointers, ptr %strides, ptr %extents, "
        "ptr %scalars) nounwind {",
        *choice,
        f"  tail call void @{LOOPS}(ptr {body}, ptr {about}, "
        "ptr %pointers, ptr %strides, ptr %extents, ptr %scalars)",
        "  ret void",
        "}",
    ]


def _about(name: str, kernel: Kernel, lanes: int, updates: list[int]) -> str:
    """Return the description of the arguments that the loops read.

    The loop updates the arguments `updates` as vectors and folds other reductions.
    """
    most = POINTS_PER_CALL if reductions(kernel) else _ANY_NUMBER
    count = len(kernel.arguments) + len(kernel.indices)
    words = [count, lanes.bit_length() - 1, most]
    for number, argument in enumerate(kernel.arguments):
        flags = READ * argument.reads | WRITE * argument.writes
        flags |= INVARIANT * invariant(kernel, number)
        if argument.reduces is not None:
            flags = READ | WRITE if number in updates else INVARIANT
        words += [ITEMSIZE[argument.dtype], flags]
    words += [1, INDEX] * len(kernel.indices)
    values = ", ".join(f"i64 {word}" for word in words)
    return f"{name} = internal constant [{len(words)} x i64] [{values}]"
