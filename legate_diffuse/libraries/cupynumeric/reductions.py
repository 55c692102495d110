# SPDX-License-Identifier: Apache-2.0
"""Meanings of cuPyNumeric's reductions: the value at each point, and the operator.

A meaning does not say in what order values are combined, and upstream's order depends
on the number of processors. So sums and products of floats may differ from upstream's
in their last bits, and `MAX` and `MIN` may choose another one of two zeros of different
signs. Sums and products of float16 differ by more: upstream rounds them at every point,
kernels and NumPy do not. All other results are upstream's. `MAX` and `MIN` never give a
NaN. The maximum of nothing but minus infinities, and the minimum of nothing but
infinities, is a finite number. Upstream's `MIN` of float16 forgets what comes before a
NaN: that depends on the order, so it has no meaning here.

Follows: cuPyNumeric (unary/unary_red_util.h, unary/scalar_unary_red_template.inl,
binary/binary_red.cc, matrix/dot.cc, matrix/matvecmul.cc)
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, cast

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import (
    ALL,
    COMPLEX,
    FLOATS,
    HALF,
    INTEGERS,
    SIGNED,
    UNSIGNED,
)
from legate_diffuse.kernel.reductions import identity
from legate_diffuse.libraries.cupynumeric.binary import BINARY
from legate_diffuse.libraries.cupynumeric.complex_numbers import select
from legate_diffuse.libraries.cupynumeric.unary import (
    LOGICAL,
    REAL,
    either_component,
    per_component,
    same,
)
from legate_diffuse.libraries.table import Emitter, Lowering, Meaning, call


@dataclass(frozen=True, slots=True)
class Reduction:
    """An operator, and the meaning that gives the values that it combines."""

    operator: str
    meaning: Meaning

    @property
    def lowering(self) -> Lowering:
        """Of the one value that each point adds."""
        return cast("Lowering", self.meaning.lowering)

    def kinds(self, task: str, code: str) -> Iterable[OperationKind]:
        """Return every operation kind that this covers."""
        return self.meaning.kinds(task, code)


def _nonzero(emit: Emitter, x: Value) -> Value:
    """Return whether x differs from 0; a NaN does."""
    if x.dtype in COMPLEX:
        return either_component("or", _nonzero)(emit, x)
    if x.dtype == "bool":
        return x
    number = emit.cast("float32", x) if x.dtype == HALF else x
    return emit("ne", number, emit.like(number, 0))


def _count(emit: Emitter, x: Value) -> Value:
    return emit.cast("uint64", _nonzero(emit, x))


def _equal(emit: Emitter, x: Value, y: Value) -> Value:
    if x.dtype in COMPLEX:
        return either_component("and", _equal)(emit, x, y)
    if x.dtype == HALF:
        x, y = (emit.cast("float32", number) for number in (x, y))
    return emit("eq", x, y)


def _square(emit: Emitter, x: Value) -> Value:
    return _product(emit, x, x)


def _product(emit: Emitter, x: Value, y: Value) -> Value:
    if x.dtype == HALF:
        return emit.cast(HALF, _single_product(emit, x, y))
    return emit("complex_mul" if x.dtype in COMPLEX else "mul", x, y)


def _single_product(emit: Emitter, x: Value, y: Value) -> Value:
    return emit("mul", *(emit.cast("float32", number) for number in (x, y)))


def _squared_distance(emit: Emitter, x: Value, mean: Value) -> Value:
    if x.dtype in COMPLEX:
        return _square(emit, per_component(call("sub"))(emit, x, mean))
    if x.dtype == HALF:
        wide = [emit.cast("float32", number) for number in (x, mean)]
        return _square(emit, emit.cast(HALF, emit("sub", *wide)))
    return _square(emit, emit("sub", x, mean))


def _converted(dtype: str) -> Lowering:
    return lambda emit, x: emit.cast(dtype, x)


def _without_nan(operator: str) -> Lowering:
    """Return the lowering that puts the operator's identity for NaN."""

    def lower(emit: Emitter, x: Value) -> Value:
        if x.dtype in COMPLEX:
            parts = emit("real", x), emit("imag", x)
            number = emit("and", *(emit("eq", part, part) for part in parts))
        else:
            number = emit("eq", x, x)
        return select(emit, number, x, emit.like(x, identity(operator, x.dtype)))

    return lower


def _masked(operator: str, lowering: Lowering) -> Lowering:
    """Return the lowering with a mask after the input, where false adds nothing."""

    def lower(emit: Emitter, x: Value, mask: Value, *scalars: Value) -> Value:
        value = lowering(emit, x, *scalars)
        neutral = emit.like(value, identity(operator, value.dtype))
        return select(emit, mask, value, neutral)

    return lower


def _accumulated(operator: str) -> tuple[Reduction, ...]:
    """Integers are added or multiplied in 64 bits, others in their own type."""
    to_int64 = Meaning(LOGICAL + SIGNED, "T -> int64", _converted("int64"))
    to_uint64 = Meaning(UNSIGNED, "T -> uint64", _converted("uint64"))
    meanings = to_int64, to_uint64, Meaning((HALF, *FLOATS), "T -> T", same)
    return tuple(Reduction(operator, meaning) for meaning in meanings)


def _extremum(
    operator: str, of_truth_values: str, dtypes: tuple[str, ...]
) -> tuple[Reduction, ...]:
    return (
        Reduction(of_truth_values, Meaning(LOGICAL, "T -> T", same)),
        Reduction(operator, Meaning(dtypes, "T -> T", same)),
    )


def _nan_ignored(operator: str, dtypes: tuple[str, ...]) -> tuple[Reduction, ...]:
    return (Reduction(operator, Meaning(dtypes, "T -> T", _without_nan(operator))),)


_NUMBERS: Final = (*INTEGERS, HALF, *FLOATS, *COMPLEX)

_TRUTH: Final = Meaning((*REAL, HALF, "complex64"), "T -> bool", _nonzero)
"""Upstream's tasks do nothing for complex128."""

_OF_ONE: Final[dict[str, tuple[Reduction, ...]]] = {
    "ALL": (Reduction("and", _TRUTH),),
    "ANY": (Reduction("or", _TRUTH),),
    "COUNT_NONZERO": (Reduction("add", Meaning(ALL, "T -> uint64", _count)),),
    "MAX": _extremum("max", "or", (*INTEGERS, HALF, *FLOATS)),
    "MIN": _extremum("min", "and", (*INTEGERS, *FLOATS)),
    "NANMAX": _nan_ignored("max", FLOATS),
    "NANMIN": _nan_ignored("min", FLOATS),
    "NANPROD": _nan_ignored("mul", (*FLOATS, "complex64")),
    "NANSUM": _nan_ignored("add", FLOATS + COMPLEX),
    "PROD": (
        *_accumulated("mul"),
        Reduction("mul", Meaning(("complex64",), "T -> T", same)),
    ),
    "SUM": (*_accumulated("add"), Reduction("add", Meaning(COMPLEX, "T -> T", same))),
    "SUM_SQUARES": (
        Reduction("or", Meaning(LOGICAL, "T -> T", same)),
        Reduction("add", Meaning(_NUMBERS, "T -> T", _square)),
    ),
}

_OF_ONE_TO_SCALAR: Final[dict[str, tuple[Reduction, ...]]] = {
    **_OF_ONE,
    "CONTAINS": (Reduction("or", Meaning(ALL, "T; T -> bool", _equal)),),
    "VARIANCE": (
        Reduction("or", Meaning(LOGICAL, "T; T -> T", call("xor"))),
        Reduction("add", Meaning(_NUMBERS, "T; T -> T", _squared_distance)),
    ),
}
"""Along an axis, upstream's CONTAINS does nothing and its VARIANCE takes no mean."""

_OF_TWO: Final[dict[str, tuple[Reduction, ...]]] = {
    code: tuple(Reduction("and", meaning) for meaning in BINARY[code])
    for code in ("EQUAL", "ISCLOSE")
}

_DOT: Final[dict[str, tuple[Reduction, ...]]] = {
    "": (
        Reduction("or", Meaning(LOGICAL, "T T -> T", call("and"))),
        Reduction("add", Meaning(INTEGERS + FLOATS + COMPLEX, "T T -> T", _product)),
        Reduction("add", Meaning((HALF,), "T T -> float32", _single_product)),
    )
}

_MATVECMUL: Final[dict[str, tuple[Reduction, ...]]] = {
    "": (
        Reduction("add", Meaning(FLOATS + COMPLEX, "T T -> T", _product)),
        Reduction("add", Meaning((HALF,), "T T -> float32", _single_product)),
    )
}
"""Along an axis: the vector repeats over the rows, the result over the columns."""

REDUCTIONS: Final[dict[str, dict[str, tuple[Reduction, ...]]]] = {
    "SCALAR_UNARY_RED": _OF_ONE_TO_SCALAR,
    "UNARY_RED": _OF_ONE,
    "BINARY_RED": _OF_TWO,
    "DOT": _DOT,
    "MATVECMUL": _MATVECMUL,
}
"""By task and operation code."""

_MASKABLE: Final = ("SCALAR_UNARY_RED", "UNARY_RED")
"""Tasks that may have a mask as second input: a point where it is false is left out."""


def reductions(task: str, code: str) -> Iterable[tuple[OperationKind, str, Lowering]]:
    """Yield each kind of reduction, its operator and the lowering of its values."""
    for alternative in REDUCTIONS[task][code]:
        operator, lowering = alternative.operator, alternative.lowering
        for kind in alternative.kinds(task, code):
            yield kind, operator, lowering
            if task in _MASKABLE:
                masked = replace(kind, inputs=(*kind.inputs, "bool"))
                yield masked, operator, _masked(operator, lowering)
