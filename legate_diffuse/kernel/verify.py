# SPDX-License-Identifier: Apache-2.0
"""The rules that every kernel keeps, checked before code is generated."""

from legate_diffuse.kernel.dtypes import ALL, ITEMSIZE
from legate_diffuse.kernel.ir import Constant, Kernel, Load, Op, Scalar, Store
from legate_diffuse.kernel.operators import mismatch


class InvalidKernelError(ValueError):
    """A kernel breaks a rule of the IR; the message says which and where."""


def verify_kernel(kernel: Kernel) -> None:
    """Check `kernel` against the rules of the IR.

    Raises:
        InvalidKernelError: types are unknown or do not fit, a value is used before it
            is computed, an argument is used against its privileges, stored to twice
            or never, or an instruction follows a store.
    """
    for number, argument in enumerate(kernel.arguments):
        _require(argument.dtype in ALL, f"argument {number} has no known type")
        used = argument.reads or argument.writes
        _require(used, f"argument {number} is neither read nor written")
    for number, dtype in enumerate(kernel.scalars):
        _require(dtype in ALL, f"scalar {number} has no known type")
    stored: set[int] = set()
    for number, instruction in enumerate(kernel.body):
        if isinstance(instruction, Store):
            _verify_store(kernel, number, instruction, number - len(stored))
            again = instruction.argument in stored
            _require(not again, f"argument {instruction.argument} is stored to twice")
            stored.add(instruction.argument)
            continue
        _require(not stored, f"instruction {number} follows a store")
        _verify_pure(kernel, number, instruction)
    for number, argument in enumerate(kernel.arguments):
        written = number in stored or not argument.writes
        _require(written, f"argument {number} is written but never stored to")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidKernelError(message)


def _verify_pure(
    kernel: Kernel, number: int, instruction: Load | Scalar | Constant | Op
) -> None:
    match instruction:
        case Load(index):
            known = 0 <= index < len(kernel.arguments)
            _require(known, f"load {number} names no argument")
            _require(
                kernel.arguments[index].reads,
                f"load {number} reads argument {index}, which is write-only",
            )
        case Scalar(index):
            known = 0 <= index < len(kernel.scalars)
            _require(known, f"instruction {number} names no scalar")
        case Constant(dtype, bits):
            fits = dtype in ALL and 0 <= bits < 1 << 8 * ITEMSIZE[dtype]
            _require(fits, f"constant {number} does not fit its type")
            _require(dtype != "bool" or bits < 2, f"constant {number} is not 0 or 1")
        case Op(name, dtype, operands):
            for operand in operands:
                earlier = 0 <= operand < number
                _require(earlier, f"instruction {number} uses %{operand} too early")
            types = tuple(kernel.dtype_of(operand) for operand in operands)
            reason = mismatch(name, dtype, types)
            _require(reason is None, f"instruction {number}: {reason}")


def _verify_store(kernel: Kernel, number: int, store: Store, values: int) -> None:
    known = 0 <= store.argument < len(kernel.arguments)
    _require(known, f"store {number} names no argument")
    _require(0 <= store.value < values, f"store {number} names no value")
    argument = kernel.arguments[store.argument]
    _require(
        argument.writes,
        f"store {number} writes argument {store.argument}, which is read-only",
    )
    fits = kernel.dtype_of(store.value) == argument.dtype
    _require(fits, f"store {number} has a value of another type than its argument")
