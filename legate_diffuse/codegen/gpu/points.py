# SPDX-License-Identifier: Apache-2.0
"""What a GPU thread computes at the points that it takes at a time."""

from legate_diffuse.codegen.gpu.maths import GpuMaths
from legate_diffuse.codegen.gpu.memory import Memory, scalar
from legate_diffuse.codegen.gpu.operations import GpuOperations
from legate_diffuse.codegen.gpu.parameters import scalar_word
from legate_diffuse.codegen.gpu.row_sum import emit_row_sum
from legate_diffuse.codegen.memory import Parts
from legate_diffuse.codegen.operations import constant_parts
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
from legate_diffuse.kernel.operators import ROW_SUMS
from legate_diffuse.llvm.lines import Lines


class Points:
    """Emits the body of a kernel at `lines.lanes` points, from `x` of a row on.

    Attributes:
        reduced: the values to be reduced, by argument.
        operations: what emits the operators.
    """

    def __init__(
        self,
        kernel: Kernel,
        memory: Memory,
        lines: Lines,
        maths: GpuMaths,
        x: str,
    ) -> None:
        """Emit the loads into `lines`."""
        self.reduced: dict[int, Parts] = {}
        self.operations = GpuOperations(maths, lines.lanes, fast_math=False)
        self._kernel = kernel
        self._memory = memory
        self._lines = lines
        self._x = x
        self._values: list[Parts] = []
        self._stores: list[Store] = []
        self._loads = {
            place: memory.load(lines, step.argument, x)
            for place, step in enumerate(kernel.body)
            if isinstance(step, Load) and kernel.arguments[step.argument].moves
        }

    def compute(self) -> None:
        """Emit everything but the stores."""
        for place, step in enumerate(self._kernel.body):
            if isinstance(step, Store):
                self._stores.append(step)
            elif isinstance(step, Reduce):
                self.reduced[step.argument] = self._values[step.value]
            elif place in self._loads:
                self._values.append(self._loads[place])
            else:
                self._values.append(self._pure(step))

    def store(self) -> None:
        """Emit the stores."""
        for step in self._stores:
            value = self._values[step.value]
            self._memory.store(self._lines, step.argument, value, self._x)

    def _pure(self, step: Pure) -> Parts:
        kernel, lines, body = self._kernel, self._lines, self._kernel.body
        match step:
            case Load():
                # a row's sum finds what it needs
                return ()
            case Scalar(index):
                word = scalar_word(kernel, index)
                return scalar(lines, kernel.scalars[index], word)
            case Index(dimension):
                number = len(kernel.arguments) + kernel.indices.index(dimension)
                return (self._memory.index(lines, number, self._x),)
            case Constant(dtype, bits):
                return constant_parts(dtype, bits)
            case Op(name, dtype, numbers) if name in ROW_SUMS:
                loads = [each for n in numbers if isinstance(each := body[n], Load)]
                rows, columns, *_ = arguments = [load.argument for load in loads]
                places = [f"%row{argument}" for argument in arguments]
                places[0] = self._memory.place(lines, rows, self._x)
                of_columns = kernel.arguments[columns].dtype
                return emit_row_sum(
                    lines, self.operations, name, dtype, of_columns, places
                )
            case Op(name, dtype, numbers):
                dtypes = tuple(kernel.dtype_of(number) for number in numbers)
                operands = [self._values[number] for number in numbers]
                return self.operations.emit(lines, name, dtype, dtypes, operands)
