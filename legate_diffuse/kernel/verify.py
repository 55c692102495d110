# SPDX-License-Identifier: Apache-2.0
"""The rules that every kernel keeps, checked before code is generated."""

from typing import Final

from legate_diffuse.kernel.dtypes import ALL, ITEMSIZE, RECT
from legate_diffuse.kernel.ir import (
    Argument,
    Constant,
    Effect,
    Index,
    Kernel,
    Load,
    Op,
    Pure,
    Reduce,
    Scalar,
    Store,
)
from legate_diffuse.kernel.operators import OF_ROWS, ROW_SUMS, mismatch
from legate_diffuse.kernel.reductions import REDUCTIONS

MAX_DIMENSIONS: Final = 6
"""Of a loop nest, with the wheels' setting of Legate."""


class InvalidKernelError(ValueError):
    """A kernel breaks a rule of the IR; the message says which and where."""


def verify_kernel(kernel: Kernel) -> None:
    """Check `kernel` against the rules of the IR.

    Raises:
        InvalidKernelError: types are unknown or do not fit, a value is used before it
            is computed, an argument is used against its privileges, stored or reduced
            to twice or never, or a value is computed after a store or reduction.
    """
    for number, argument in enumerate(kernel.arguments):
        _verify_argument(number, argument)
    for number, dtype in enumerate(kernel.scalars):
        _require(dtype in ALL, f"scalar {number} has no known type")
    given: set[int] = set()
    for number, instruction in enumerate(kernel.body):
        if isinstance(instruction, Store | Reduce):
            _verify_effect(kernel, number, instruction, number - len(given))
            again = instruction.argument in given
            verb = "stored" if isinstance(instruction, Store) else "reduced"
            _require(not again, f"argument {instruction.argument} is {verb} to twice")
            given.add(instruction.argument)
            continue
        _require(not given, f"instruction {number} follows a store or reduction")
        _verify_pure(kernel, number, instruction)
    for number, argument in enumerate(kernel.arguments):
        written = number in given or not argument.writes
        _require(written, f"argument {number} is written but never stored to")
        reduced = number in given or argument.reduces is None
        _require(reduced, f"argument {number} reduces but is never reduced to")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidKernelError(message)


def _verify_argument(number: int, argument: Argument) -> None:
    known = argument.dtype in ALL or argument.dtype == RECT
    _require(known, f"argument {number} has no known type")
    used = argument.reads or argument.writes
    read_only = argument.reads and not argument.writes
    _require(argument.moves or read_only, f"argument {number} is not only read")
    if argument.reduces is None:
        _require(used, f"argument {number} is neither read nor written nor reduced to")
        return
    _require(not used, f"argument {number} reduces, so it cannot be read or written")
    types = REDUCTIONS.get(argument.reduces, ())
    _require(
        argument.dtype in types,
        f"argument {number}: {argument.reduces} cannot reduce {argument.dtype}",
    )


def _verify_pure(kernel: Kernel, number: int, instruction: Pure) -> None:
    match instruction:
        case Load(index):
            known = 0 <= index < len(kernel.arguments)
            _require(known, f"load {number} names no argument")
            _require(
                kernel.arguments[index].reads,
                f"load {number} reads argument {index}, which it may not read",
            )
        case Scalar(index):
            known = 0 <= index < len(kernel.scalars)
            _require(known, f"instruction {number} names no scalar")
        case Index(dimension):
            known = 0 <= dimension < MAX_DIMENSIONS
            _require(known, f"instruction {number} names no dimension")
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
            sources = [_argument(kernel, operand) for operand in operands]
            standing = [each for each in sources if each and not each.moves]
            shape = [each is not None and each.whole for each in sources]
            _require(
                shape == [False, True, True, name in ROW_SUMS]
                if name in OF_ROWS
                else not standing,
                f"instruction {number} finds other arguments than it needs",
            )


def _argument(kernel: Kernel, value: int) -> Argument | None:
    """Return the argument of which a value is the load."""
    step = kernel.body[value]
    return kernel.arguments[step.argument] if isinstance(step, Load) else None


def _verify_effect(kernel: Kernel, number: int, effect: Effect, values: int) -> None:
    noun = "store" if isinstance(effect, Store) else "reduction"
    known = 0 <= effect.argument < len(kernel.arguments)
    _require(known, f"{noun} {number} names no argument")
    _require(0 <= effect.value < values, f"{noun} {number} names no value")
    argument = kernel.arguments[effect.argument]
    if isinstance(effect, Store):
        _require(
            argument.writes,
            f"store {number} writes argument {effect.argument}, which it may not write",
        )
    else:
        _require(
            argument.reduces is not None,
            f"reduction {number} to argument {effect.argument}, which does not reduce",
        )
    source = _argument(kernel, effect.value)
    _require(source is None or source.moves, f"{noun} {number} has no value")
    fits = kernel.dtype_of(effect.value) == argument.dtype
    _require(fits, f"{noun} {number} has a value of another type than its argument")
