# SPDX-License-Identifier: Apache-2.0
"""Tables of meanings: from operation kinds to kernel operators."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel.builder import Builder, Value
from legate_diffuse.kernel.dtypes import COMPONENT, HALF
from legate_diffuse.kernel.functions import ScalarFunction
from legate_diffuse.kernel.operators import COMPARISONS, OF_ROWS


class Emitter:
    """Emits operators whose result type follows from the operands."""

    def __init__(self, builder: Builder) -> None:
        """Emit into `builder`."""
        self._builder = builder

    def __call__(self, name: str, *operands: Value) -> Value:
        """Return the result of an operator other than `cast` and `complex`."""
        if name in COMPARISONS or name == "signbit":
            dtype = "bool"
        elif name == "exponent":
            dtype = "int32"
        elif name in OF_ROWS:
            dtype = operands[2].dtype
        elif name in ("real", "imag"):
            dtype = COMPONENT[operands[0].dtype]
        else:
            dtype = operands[name == "select"].dtype
        return self._builder.op(name, dtype, *operands)

    def cast(self, dtype: str, value: Value) -> Value:
        """Return `value` as a `dtype`."""
        if value.dtype == dtype:
            return value
        return self._builder.op("cast", dtype, value)

    def complex(self, real: Value, imag: Value) -> Value:
        """Return the complex number with these components."""
        dtype = "complex64" if real.dtype == "float32" else "complex128"
        return self._builder.op("complex", dtype, real, imag)

    def index(self, dimension: int) -> Value:
        """Return the index of the point along a dimension counted from the last."""
        return self._builder.index(dimension)

    def constant(self, dtype: str, value: bool | int | float) -> Value:
        """Return a constant."""
        return self._builder.constant(dtype, value)

    def results(
        self, function: ScalarFunction, operands: Sequence[Value]
    ) -> tuple[Value, ...]:
        """Return what a scalar function makes of operands."""
        return tuple(
            self._builder.op(operator, dtype, *operands)
            for operator, dtype in zip(
                function.operators(), function.outputs, strict=True
            )
        )

    def like(self, value: Value, number: bool | int | float) -> Value:
        """Return `number` as a constant of the type of `value`."""
        return self._builder.constant(value.dtype, number)


Lowering = Callable[..., Value]
"""`(emitter, *operands) -> result`; the operands are the inputs, then the scalars."""

LoweringToSeveral = Callable[..., tuple[Value, ...]]
"""The same with several results."""


def call(name: str) -> Lowering:
    """Return the lowering to one operator."""
    return lambda emit, *operands: emit(name, *operands)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an operation does with operands of certain types.

    `signature` reads like `T int32; T -> bool`: the inputs, after the semicolon the
    scalars, after the arrow the outputs. `T` stands for each type of `dtypes` in turn,
    and `R` for its component type.
    """

    dtypes: tuple[str, ...]
    signature: str
    lowering: Lowering | LoweringToSeveral

    def kinds(self, task: str, code: str) -> Iterable[OperationKind]:
        """Return every operation kind that this meaning covers."""
        operands, output = self.signature.split("->")
        inputs, _, scalars = operands.partition(";")
        for dtype in self.dtypes:
            names = {"T": dtype, "R": COMPONENT.get(dtype, dtype)}

            def types(text: str, names: dict[str, str] = names) -> tuple[str, ...]:
                return tuple(names.get(word, word) for word in text.split())

            yield OperationKind(
                task, code, types(inputs), types(output), types(scalars)
            )


def with_half(meanings: tuple[Meaning, ...]) -> tuple[Meaning, ...]:
    """Return `meanings`, and the one of float32 for float16 if that has none.

    As upstream does, operands are converted to float32, and a result that is a float16
    is rounded once.
    """
    if any(HALF in meaning.dtypes for meaning in meanings):
        return meanings
    for single in meanings:
        if "float32" in single.dtypes:
            lowering = _through_single(single.lowering, single.signature.endswith("T"))
            return (*meanings, Meaning((HALF,), single.signature, lowering))
    return meanings


def _through_single(
    lowering: Lowering | LoweringToSeveral, rounds: bool
) -> Lowering | LoweringToSeveral:
    def rounded(emit: Emitter, result: Value) -> Value:
        return emit.cast(HALF, result) if result.dtype == "float32" else result

    def lower(emit: Emitter, *operands: Value) -> Any:
        wide = [emit.cast("float32", x) if x.dtype == HALF else x for x in operands]
        result = lowering(emit, *wide)
        if isinstance(result, tuple):
            return tuple(rounded(emit, each) for each in result)
        return rounded(emit, result) if rounds else result

    return lower
