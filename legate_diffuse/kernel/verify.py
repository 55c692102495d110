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
        _require(dtype in ALL, "scalar {} has no known type", number)
    given: set[int] = set()
    for number, instruction in enumerate(kernel.body):
        if isinstance(instruction, Store | Reduce):
            _verify_effect(kernel, number, instruction, number - len(given))
            if instruction.argument in given:
                verb = "stored" if isinstance(instruction, Store) else "reduced"
                message = f"argument {instruction.argument} is {verb} to twice"
                raise InvalidKernelError(message)
            given.add(instruction.argument)
            continue
        _require(not given, "instruction {} follows a store or reduction", number)
        _verify_pure(kernel, number, instruction)
    for number, argument in enumerate(kernel.arguments):
        written = number in given or not argument.writes
        _require(written, "argument {} is written but never stored to", number)
        reduced = number in given or argument.reduces is None
        _require(reduced, "argument {} reduces but is never reduced to", number)


def _require(condition: bool, message: str, *values: object) -> None:
    if not condition:
        raise InvalidKernelError(message.format(*values))


def _verify_argument(number: int, argument: Argument) -> None:
    known = argument.dtype in ALL or argument.dtype == RECT
    _require(known, "argument {} has no known type", number)
    used = argument.reads or argument.writes
    read_only = argument.reads and not argument.writes
    _require(argument.moves or read_only, "argument {} is not only read", number)
    if argument.reduces is None:
        _require(used, "argument {} is neither read nor written nor reduced to", number)
        return
    _require(not used, "argument {} reduces, so it cannot be read or written", number)
    types = REDUCTIONS.get(argument.reduces, ())
    _require(
        argument.dtype in types,
        "argument {}: {} cannot reduce {}",
        number,
        argument.reduces,
        argument.dtype,
    )


def _verify_pure(kernel: Kernel, number: int, instruction: Pure) -> None:
    match instruction:
        case Load(index):
            known = 0 <= index < len(kernel.arguments)
            _require(known, "load {} names no argument", number)
            _require(
                kernel.arguments[index].reads,
                "load {} reads argument {}, which it may not read",
                number,
                index,
            )
        case Scalar(index):
            known = 0 <= index < len(kernel.scalars)
            _require(known, "instruction {} names no scalar", number)
        case Index(dimension):
            known = 0 <= dimension < MAX_DIMENSIONS
            _require(known, "instruction {} names no dimension", number)
        case Constant(dtype, bits):
            fits = dtype in ALL and 0 <= bits < 1 << 8 * ITEMSIZE[dtype]
            _require(fits, "constant {} does not fit its type", number)
            _require(dtype != "bool" or bits < 2, "constant {} is not 0 or 1", number)
        case Op(name, dtype, operands):
            for operand in operands:
                earlier = 0 <= operand < number
                _require(earlier, "instruction {} uses %{} too early", number, operand)
            types = tuple(kernel.dtype_of(operand) for operand in operands)
            reason = mismatch(name, dtype, types)
            _require(reason is None, "instruction {}: {}", number, reason)
            sources = [_argument(kernel, operand) for operand in operands]
            standing = [each for each in sources if each and not each.moves]
            shape = [each is not None and each.whole for each in sources]
            _require(
                shape == [False, True, True, name in ROW_SUMS]
                if name in OF_ROWS
                else not standing,
                "instruction {} finds other arguments than it needs",
                number,
            )


def _argument(kernel: Kernel, value: int) -> Argument | None:
    """Return the argument of which a value is the load."""
    step = kernel.body[value]
    return kernel.arguments[step.argument] if isinstance(step, Load) else None


def _verify_effect(kernel: Kernel, number: int, effect: Effect, values: int) -> None:
    noun = "store" if isinstance(effect, Store) else "reduction"
    known = 0 <= effect.argument < len(kernel.arguments)
    _require(known, "{} {} names no argument", noun, number)
    _require(0 <= effect.value < values, "{} {} names no value", noun, number)
    argument = kernel.arguments[effect.argument]
    if isinstance(effect, Store):
        _require(
            argument.writes,
            "store {} writes argument {}, which it may not write",
            number,
            effect.argument,
        )
    else:
        _require(
            argument.reduces is not None,
            "reduction {} to argument {}, which does not reduce",
            number,
            effect.argument,
        )
    source = _argument(kernel, effect.value)
    _require(source is None or source.moves, "{} {} has no value", noun, number)
    fits = kernel.dtype_of(effect.value) == argument.dtype
    _require(fits, "{} {} has a value of another type than its argument", noun, number)
