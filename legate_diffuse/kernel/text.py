# SPDX-License-Identifier: Apache-2.0
"""The text form of kernels, which golden tests read.

For example::

    kernel
    argument 0 float64 read
    argument 1 float64 write
    scalar 0 float64
    %0: float64 = load 0
    %1: float64 = scalar 0
    %2: float64 = mul %0 %1
    store 1 %2

A constant is written as its bit pattern. `index 0` is the index of a point along the
last dimension. A reducing argument ends in `reduce` and the operator, and `reduce 2 %2`
combines a value with its element.
"""

from legate_diffuse.kernel.ir import (
    Constant,
    Index,
    Kernel,
    Load,
    Op,
    Pure,
    Reduce,
    Scalar,
    Store,
)


def print_kernel(kernel: Kernel) -> str:
    """Return the text form of `kernel`."""
    lines = ["kernel"]
    for number, argument in enumerate(kernel.arguments):
        words = ["argument", str(number), argument.dtype]
        words += ["read"] * argument.reads + ["write"] * argument.writes
        words += ["broadcast"] * argument.broadcast
        words += ["prefetch"] * argument.prefetch
        words += ["whole"] * argument.whole
        if argument.reduces is not None:
            words += ["reduce", argument.reduces]
        lines.append(" ".join(words))
    for number, dtype in enumerate(kernel.scalars):
        lines.append(f"scalar {number} {dtype}")
    for number, instruction in enumerate(kernel.body):
        if isinstance(instruction, Store):
            lines.append(f"store {instruction.argument} %{instruction.value}")
        elif isinstance(instruction, Reduce):
            lines.append(f"reduce {instruction.argument} %{instruction.value}")
        else:
            dtype = kernel.dtype_of(number)
            lines.append(f"%{number}: {dtype} = {_pure(instruction)}")
    return "\n".join(lines) + "\n"


def _pure(instruction: Pure) -> str:
    match instruction:
        case Load(argument):
            return f"load {argument}"
        case Scalar(index):
            return f"scalar {index}"
        case Index(dimension):
            return f"index {dimension}"
        case Constant(_, bits):
            return f"constant {bits:#x}"
        case Op(name, _, operands):
            return " ".join([name, *(f"%{operand}" for operand in operands)])
