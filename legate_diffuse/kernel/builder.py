# SPDX-License-Identifier: Apache-2.0
"""Builds kernels. Equal pure instructions are one, and dead values are left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from legate_diffuse.kernel.dtypes import bits_of
from legate_diffuse.kernel.ir import (
    Argument,
    Constant,
    Index,
    Instruction,
    Kernel,
    Load,
    Op,
    Pure,
    Reduce,
    Scalar,
    Store,
)
from legate_diffuse.kernel.operators import mismatch
from legate_diffuse.kernel.verify import verify_kernel


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a kernel under construction."""

    number: int
    dtype: str


class Builder:
    """Collects the instructions of one kernel.

    The same pure instruction over the same values gives the same `Value`. A load from
    an argument that was stored to before gives the stored value, and a second store
    replaces the first, as if the instructions ran in the order of the calls.
    """

    def __init__(self, arguments: Sequence[Argument], scalars: Sequence[str]) -> None:
        """Start a kernel over `arguments` and a scalar block of types `scalars`."""
        self.arguments = tuple(arguments)
        self.scalars = tuple(scalars)
        self._body: list[Pure] = []
        self._numbers: dict[Pure, Value] = {}
        self._stored: dict[int, Value] = {}
        self._reduced: dict[int, Value] = {}

    def load(self, argument: int) -> Value:
        """Return the current element of argument number `argument`."""
        if argument in self._stored:
            return self._stored[argument]
        return self._value(Load(argument), self.arguments[argument].dtype)

    def scalar(self, index: int) -> Value:
        """Return scalar number `index` of the scalar block."""
        return self._value(Scalar(index), self.scalars[index])

    def index(self, dimension: int) -> Value:
        """Return the index of the point along a dimension counted from the last."""
        return self._value(Index(dimension), "int64")

    def constant(self, dtype: str, value: bool | int | float | complex) -> Value:
        """Return `value` as a `dtype`; integers wrap around and floats round."""
        return self._value(Constant(dtype, bits_of(dtype, value)), dtype)

    def op(self, name: str, dtype: str, *operands: Value) -> Value:
        """Return the result, of type `dtype`, of an operator.

        Raises:
            TypeError: the operator does not take these operands.
        """
        reason = mismatch(name, dtype, tuple(operand.dtype for operand in operands))
        if reason is not None:
            raise TypeError(reason)
        numbers = tuple(operand.number for operand in operands)
        return self._value(Op(name, dtype, numbers), dtype)

    def store(self, argument: int, value: Value) -> None:
        """Set the current element of argument number `argument`."""
        self._stored[argument] = value

    def reduce(self, argument: int, value: Value) -> None:
        """Combine `value` with the current element of a reducing argument.

        Raises:
            ValueError: `argument` has been given a value before.
        """
        if argument in self._reduced:
            raise ValueError(f"argument {argument} is reduced to twice")
        self._reduced[argument] = value

    def build(self) -> Kernel:
        """Return the verified kernel without the values that no effect needs.

        Raises:
            InvalidKernelError: see `verify_kernel`.
        """
        results = [*self._stored.values(), *self._reduced.values()]
        steps, renumbered = needed_for([value.number for value in results], self._body)
        body: list[Instruction] = [*steps]
        for argument, value in sorted(self._stored.items()):
            body.append(Store(argument, renumbered[value.number]))
        for argument, value in sorted(self._reduced.items()):
            body.append(Reduce(argument, renumbered[value.number]))
        kernel = Kernel(self.arguments, self.scalars, tuple(body))
        verify_kernel(kernel)
        return kernel

    def _value(self, instruction: Pure, dtype: str) -> Value:
        value = self._numbers.get(instruction)
        if value is None:
            value = Value(len(self._body), dtype)
            self._body.append(instruction)
            self._numbers[instruction] = value
        return value


def needed_for(
    values: Iterable[int], body: Sequence[Instruction]
) -> tuple[list[Pure], dict[int, int]]:
    """Return the instructions that values need, in order, with new numbers.

    And the new number of each of their values, by its old one.
    """
    live: set[int] = set()
    pending = list(values)
    while pending:
        number = pending.pop()
        if number not in live:
            live.add(number)
            step = body[number]
            if isinstance(step, Op):
                pending.extend(step.operands)
    renumbered = {old: new for new, old in enumerate(sorted(live))}
    steps: list[Pure] = []
    for old in renumbered:
        step = body[old]
        assert not isinstance(step, Store | Reduce), "these give no value"
        if isinstance(step, Op):
            operands = tuple([renumbered[operand] for operand in step.operands])
            step = Op(step.name, step.dtype, operands)
        steps.append(step)
    return steps, renumbered
