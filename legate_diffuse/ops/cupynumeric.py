# SPDX-License-Identifier: Apache-2.0
"""What cuPyNumeric 26.06's tasks compute, as its CPU variants do.

Results of element-wise tasks have the bits of upstream's C++, functions of the maths
library included (see `legate_diffuse.codegen.vector_math`); only the sign and payload
of NaN may differ. For reductions see `legate_diffuse.ops.reductions`.
"""

from typing import Final

from legate_diffuse.kernel.builder import Builder, Value
from legate_diffuse.kernel.dtypes import ALL, COMPLEX, COMPONENT, INTEGERS
from legate_diffuse.ops.binary import BINARY
from legate_diffuse.ops.reductions import (
    REDUCTION_CODES,
    REDUCTIONS_OF_ARGUMENTS,
    reductions,
)
from legate_diffuse.ops.registry import (
    Emitter,
    Lowering,
    Meaning,
    OperationKind,
    Refusal,
    expand,
)
from legate_diffuse.ops.unary import LOGICAL, REAL, UNARY, call, same


def _convert_to(dtype: str) -> Lowering:
    """Return the lowering of a conversion that keeps NaNs (`convert_util.h`)."""

    def lower(emit: Emitter, x: Value) -> Value:
        if dtype in COMPLEX:
            part = COMPONENT[dtype]
            if x.dtype not in COMPLEX:
                return emit.complex(emit.cast(part, x), emit.constant(part, 0))
            real = emit.cast(part, emit("real", x))
            return emit.complex(real, emit.cast(part, emit("imag", x)))
        if x.dtype not in COMPLEX:
            return emit.cast(dtype, x)
        real = emit.cast(dtype, emit("real", x))
        if dtype != "bool":
            return real
        return emit("or", real, emit.cast(dtype, emit("imag", x)))

    return lower


def _select_complex(emit: Emitter, mask: Value, a: Value, b: Value) -> Value:
    real = emit("select", mask, emit("real", a), emit("real", b))
    imag = emit("select", mask, emit("imag", a), emit("imag", b))
    return emit.complex(real, imag)


_COPY: Final[dict[str, tuple[Meaning, ...]]] = {"": (Meaning(ALL, "T -> T", same),)}

_MEANINGS: Final[dict[str, dict[str, tuple[Meaning, ...]]]] = {
    "UNARY_OP": UNARY,
    "BINARY_OP": BINARY,
    "WHERE": {
        "": (
            Meaning(REAL, "bool T T -> T", call("select")),
            Meaning(COMPLEX, "bool T T -> T", _select_complex),
        )
    },
    "CONVERT": {
        "NOOP": tuple(Meaning(ALL, f"T -> {to}", _convert_to(to)) for to in ALL)
    },
    "FILL": _COPY,
    "COPY": _COPY,
}
"""By task and operation code. The value that FILL writes is its input."""

_TABLE: Final[dict[OperationKind, Lowering]] = {
    kind: lowering
    for task, meanings in _MEANINGS.items()
    for kind, lowering in expand(task, meanings).items()
} | {kind: lowering for kind, _, lowering in reductions()}

_OPERATORS: Final = {kind: operator for kind, operator, _ in reductions()}

_REFUSED_CODES: Final = {
    **dict.fromkeys(REDUCTIONS_OF_ARGUMENTS, Refusal.PLACE),
    ("UNARY_OP", "FREXP"): Refusal.SEVERAL_OUTPUTS,
    ("UNARY_OP", "MODF"): Refusal.SEVERAL_OUTPUTS,
    ("BINARY_OP", "GCD"): Refusal.ITERATIVE,
    ("BINARY_OP", "LCM"): Refusal.ITERATIVE,
    ("CONVERT", "PROD"): Refusal.NAN_CONVERSION,
    ("CONVERT", "SUM"): Refusal.NAN_CONVERSION,
}
_DIVISIONS: Final = {"FLOOR_DIVIDE", "MOD", "FMOD"}


def supported(kind: OperationKind) -> Refusal | None:
    """Return None when the table covers `kind`, else why it does not."""
    if kind in _TABLE:
        return None
    codes = REDUCTION_CODES.get(kind.task) or _MEANINGS.get(kind.task)
    if codes is None:
        return Refusal.TASK
    if (kind.task, kind.code) in _REFUSED_CODES:
        return _REFUSED_CODES[kind.task, kind.code]
    types = {*kind.inputs, *kind.outputs}
    if kind.code not in codes:
        return Refusal.CODE
    if "float16" in types:
        return Refusal.HALF
    if kind.code in _DIVISIONS and types <= {*LOGICAL, *INTEGERS}:
        return Refusal.INTEGER_DIVISION
    return Refusal.COMPLEX if types & {*COMPLEX} else Refusal.TYPES


def lower(kind: OperationKind, builder: Builder, operands: list[Value]) -> list[Value]:
    """Emit `kind` over its inputs, then its scalars, and return its outputs.

    Of a reduction that is the value to combine at each point.

    Raises:
        KeyError: the table does not cover `kind` (see `supported`).
    """
    return [_TABLE[kind](Emitter(builder), *operands)]


def reduction(kind: OperationKind) -> str | None:
    """Return the operator that combines the values of `kind`; None if it has none."""
    return _OPERATORS.get(kind)


def kinds() -> tuple[OperationKind, ...]:
    """Return every operation kind that the table covers."""
    return tuple(_TABLE)
