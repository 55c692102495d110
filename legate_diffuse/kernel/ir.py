# SPDX-License-Identifier: Apache-2.0
"""The kernel IR: a straight-line SSA body that runs for every point of a loop nest.

Value number `n` is the result of `body[n]`. Stores and reductions give no value and
come last, so that every load of an argument sees what was there before the kernel ran.
"""

from dataclasses import dataclass

from legate_diffuse.kernel.dtypes import RECT


@dataclass(frozen=True, slots=True)
class Argument:
    """A block of memory that the kernel reads or writes, one element for each point.

    `reduces` is the operator of `legate_diffuse.kernel.reductions` with which the
    kernel updates the elements. It then has no other access to them. Points share an
    element where the strides are 0, as all strides are in a reduction to a scalar.

    `broadcast` says that the inner stride is expected to be 0. It is a hint: the kernel
    is correct for any strides. `prefetch` is a hint, too: the kernel should prefetch
    what it reads.

    `whole` arguments do not move: a row's sum reads any of their elements, which are
    contiguous.
    """

    dtype: str
    reads: bool
    writes: bool
    broadcast: bool = False
    reduces: str | None = None
    prefetch: bool = False
    whole: bool = False

    @property
    def moves(self) -> bool:
        """Whether loads find the element of the point; sums find what they need."""
        return not self.whole and self.dtype != RECT


@dataclass(frozen=True, slots=True)
class Load:
    """The element of an argument at the current point."""

    argument: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of the scalar block, the same at all points."""

    index: int


@dataclass(frozen=True, slots=True)
class Index:
    """The index, an int64, of the current point along a dimension of the loop nest.

    Dimensions are counted from the last one, which is 0. The order of the loops does
    not matter, nor which part of the points one call of the kernel runs over.
    """

    dimension: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is part of the kernel, given by its bit pattern."""

    dtype: str
    bits: int


@dataclass(frozen=True, slots=True)
class Op:
    """An operator of `legate_diffuse.kernel.operators` over earlier values."""

    name: str
    dtype: str
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """Writes a value to the element of an argument at the current point."""

    argument: int
    value: int


@dataclass(frozen=True, slots=True)
class Reduce:
    """Combines a value with the element of a reducing argument at the current point.

    Somebody else has given the element its starting value. The generated code chooses
    the order in which values are combined (see `legate_diffuse.codegen.reduction`).
    """

    argument: int
    value: int


Pure = Load | Scalar | Index | Constant | Op
Effect = Store | Reduce
Instruction = Pure | Effect


@dataclass(frozen=True, slots=True)
class Kernel:
    """The arguments, the types of the scalar block, and the body."""

    arguments: tuple[Argument, ...]
    scalars: tuple[str, ...]
    body: tuple[Instruction, ...]

    @property
    def indices(self) -> tuple[int, ...]:
        """The dimensions along which the kernel uses the index of a point."""
        found = {step.dimension for step in self.body if isinstance(step, Index)}
        return tuple(sorted(found))

    def dtype_of(self, value: int) -> str:
        """Return the type of value number `value`."""
        match self.body[value]:
            case Load(argument):
                return self.arguments[argument].dtype
            case Scalar(index):
                return self.scalars[index]
            case Index():
                return "int64"
            case Constant(dtype, _) | Op(_, dtype, _):
                return dtype
            case Store() | Reduce():
                raise ValueError(f"instruction {value} gives no value")


@dataclass(frozen=True, slots=True)
class RowProgram:
    """Kernels that run one after the other on each row of an axis.

    Rows do not depend on one another, and within a row each kernel needs what all
    points of those before it have done. An argument that the kernels alone use, with
    the row of its own, is numbered in `local`, which has a number or None for each
    argument of each kernel.
    """

    kernels: tuple[Kernel, ...]
    local: tuple[tuple[int | None, ...], ...]
