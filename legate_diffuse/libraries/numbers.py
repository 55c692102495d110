# SPDX-License-Identifier: Apache-2.0
"""Numbers that write down what a scalar function does with them.

A library describes an element-wise task by a function of such numbers. It is called
once for each combination of types, and what it does becomes part of kernels. So it must
not branch on a number: ``k.select`` chooses between two values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import COMPLEX
from legate_diffuse.libraries.table import Emitter

Method = Callable[[Any, Any], Any]

_OF_COMPLEX: Final = {"mul": "complex_mul", "div": "complex_div"}


def _methods(name: str) -> tuple[Method, Method]:
    """Return the methods of an operator, and with the operands swapped."""

    def method(self: Number, other: Any) -> Number:
        return self._apply(name, self, other)

    def swapped(self: Number, other: Any) -> Number:
        return self._apply(name, other, self)

    return method, swapped


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number of one type.

    A Python number beside it becomes one of its type. The operators and their types are
    those of ``legate_diffuse.kernel.operators``; ``/`` divides floats.
    """

    emit: Emitter
    value: Value

    @property
    def dtype(self) -> str:
        """NumPy's name of its type."""
        return self.value.dtype

    __add__, __radd__ = _methods("add")
    __sub__, __rsub__ = _methods("sub")
    __mul__, __rmul__ = _methods("mul")
    __truediv__, __rtruediv__ = _methods("div")
    __and__, __rand__ = _methods("and")
    __or__, __ror__ = _methods("or")
    __xor__, __rxor__ = _methods("xor")
    __lt__, __gt__ = _methods("lt")[0], _methods("gt")[0]
    __le__, __ge__ = _methods("le")[0], _methods("ge")[0]
    __eq__, __ne__ = _methods("eq")[0], _methods("ne")[0]

    def __neg__(self) -> Number:
        if self.dtype in COMPLEX:
            return self._apply("sub", -0.0, self)
        return Number(self.emit, self.emit("neg", self.value))

    def __invert__(self) -> Number:
        return Number(self.emit, self.emit("not", self.value))

    def __bool__(self) -> NoReturn:
        raise TypeError("a branch depends on a number: use k.select(condition, a, b)")

    def _like(self, constant: Any) -> Number:
        return Number(self.emit, self.emit.like(self.value, constant))

    def _apply(self, name: str, *operands: Any) -> Number:
        emit = self.emit
        values = [
            each.value if isinstance(each, Number) else self._like(each).value
            for each in operands
        ]
        if self.dtype in COMPLEX:
            if name in ("add", "sub"):
                parts = [
                    emit(name, *[emit(part, value) for value in values])
                    for part in ("real", "imag")
                ]
                return Number(emit, emit.complex(*parts))
            name = _OF_COMPLEX.get(name, name)
        return Number(emit, emit(name, *values))


class Functions:
    """The functions of numbers: every operator of kernels, by its name."""

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit

    def cast(self, dtype: str, x: Number) -> Number:
        """Return a number as another type."""
        return Number(self._emit, self._emit.cast(dtype, x.value))

    def constant(self, dtype: str, value: bool | int | float) -> Number:
        """Return a constant."""
        return Number(self._emit, self._emit.constant(dtype, value))

    def complex(self, real: Number, imag: Number) -> Number:
        """Return the complex number with these components."""
        return Number(self._emit, self._emit.complex(real.value, imag.value))

    def select(self, condition: Number, a: Any, b: Any) -> Number:
        """Return a where the condition is true, else b; one of them is a number."""
        given = next(each for each in (b, a) if type(each) is Number)
        if given.dtype not in COMPLEX:
            return given._apply("select", condition, a, b)
        emit = self._emit
        both = [each if type(each) is Number else given._like(each) for each in (a, b)]
        parts = [
            emit("select", condition.value, *[emit(part, each.value) for each in both])
            for part in ("real", "imag")
        ]
        return Number(emit, emit.complex(*parts))

    def __getattr__(self, name: str) -> Callable[..., Number]:
        def function(*operands: Any) -> Number:
            given = next(each for each in reversed(operands) if type(each) is Number)
            return given._apply(name, *operands)

        return function


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering of a scalar function ``function(k, *numbers)``."""

    def lower(emit: Emitter, *operands: Value) -> Any:
        result = function(Functions(emit), *[Number(emit, each) for each in operands])
        if isinstance(result, tuple):
            return tuple(_value(each) for each in result)
        return _value(result)

    return lower


def _value(result: Any) -> Value:
    if not isinstance(result, Number):
        raise TypeError(f"it returns {result!r} and no number of a kernel")
    return result.value
