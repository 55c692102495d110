# SPDX-License-Identifier: Apache-2.0
"""What cuPyNumeric 26.06's tasks compute, as its CPU variants do.

Results of element-wise tasks have the bits of upstream's C++, functions of the maths
library included (see `legate_diffuse.maths.registry`); only the sign and payload of NaN
may differ. For reductions see `legate_diffuse.libraries.cupynumeric.reductions`.

Follows: cuPyNumeric (src/cupynumeric)
"""

from functools import partial
from typing import Final

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import (
    ALL,
    COMPLEX,
    COMPONENT,
    FLOATS,
    HALF,
    INTEGERS,
)
from legate_diffuse.libraries.cupynumeric import complex_numbers
from legate_diffuse.libraries.cupynumeric.binary import BINARY
from legate_diffuse.libraries.cupynumeric.indexed import INDEXED
from legate_diffuse.libraries.cupynumeric.reductions import REDUCTIONS, reductions
from legate_diffuse.libraries.cupynumeric.unary import UNARY, same
from legate_diffuse.libraries.operations import (
    Operation,
    Operations,
    OperationTable,
)
from legate_diffuse.libraries.table import (
    Emitter,
    Lowering,
    LoweringToSeveral,
    Meaning,
)


def _convert_to(dtype: str) -> Lowering:
    """Return the lowering of a conversion that keeps NaNs (`convert_util.h`)."""

    def lower(emit: Emitter, x: Value) -> Value:
        if dtype in COMPLEX:
            part = COMPONENT[dtype]
            if x.dtype not in COMPLEX:
                return emit.complex(emit.cast(part, x), emit.constant(part, 0))
            real = emit.cast(part, emit("real", x))
            return emit.complex(real, emit.cast(part, emit("imag", x)))
        if x.dtype == HALF and dtype in INTEGERS:
            return _half_to_integer(emit, dtype, x)
        if x.dtype not in COMPLEX:
            return emit.cast(dtype, x)
        real = emit.cast(dtype, emit("real", x))
        if dtype != "bool":
            return real
        return emit("or", real, emit.cast(dtype, emit("imag", x)))

    return lower


def _conversions_without_nan(replacement: int) -> tuple[Meaning, ...]:
    """Return the conversions that put `replacement` for NaN."""
    return tuple(
        Meaning((*FLOATS, *COMPLEX), f"T -> {to}", _replace_nan(to, replacement))
        for to in ALL
    )


def _replace_nan(dtype: str, replacement: int) -> Lowering:
    convert = _convert_to(dtype)

    def lower(emit: Emitter, x: Value) -> Value:
        parts = [x]
        if x.dtype in COMPLEX:
            parts = [emit("real", x), emit("imag", x)]
        number = parts[0]
        known = emit("eq", number, number)
        for part in parts[1:]:
            known = emit("and", known, emit("eq", part, part))
        # here upstream takes the truth value of a complex number's real part
        converted = emit.cast("bool", number) if dtype == "bool" else convert(emit, x)
        neutral = emit.constant(dtype, replacement)
        return complex_numbers.select(emit, known, converted, neutral)

    return lower


def _half_to_integer(emit: Emitter, dtype: str, x: Value) -> Value:
    """Return x as an integer; unlike those of other floats, its NaN gives 0."""
    number = emit.cast("float32", x)
    result = emit.cast(dtype, number)
    known = emit("eq", number, number)
    return emit("select", known, result, emit.constant(dtype, 0))


def _put(emit: Emitter, old: Value, mask: Value, new: Value) -> Value:
    """Return mask ? new : old."""
    return complex_numbers.select(emit, mask, new, old)


def _choose(emit: Emitter, index: Value, *choices: Value) -> Value:
    """Return the choice that `index` counts to from 0; upstream checks its range."""
    result = choices[-1]
    for place, choice in reversed(list(enumerate(choices[:-1]))):
        chosen = emit("eq", index, emit.like(index, place))
        result = complex_numbers.select(emit, chosen, choice, result)
    return result


def _select(emit: Emitter, *operands: Value) -> Value:
    """Return the choice after the first condition that holds, else the default."""
    *rest, result = operands
    number = len(rest) // 2
    for place in reversed(range(number)):
        choice = rest[number + place]
        result = complex_numbers.select(emit, rest[place], choice, result)
    return result


_MOST_CHOICES: Final = 6
_CHOICES: Final = [" T" * number for number in range(1, _MOST_CHOICES + 1)]

_COPY: Final[dict[str, tuple[Meaning, ...]]] = {"": (Meaning(ALL, "T -> T", same),)}

_MEANINGS: Final[dict[str, dict[str, tuple[Meaning, ...]]]] = {
    "UNARY_OP": UNARY,
    "BINARY_OP": BINARY,
    "WHERE": {"": (Meaning(ALL, "bool T T -> T", complex_numbers.select),)},
    "CONVERT": {
        "NOOP": tuple(Meaning(ALL, f"T -> {to}", _convert_to(to)) for to in ALL),
        "PROD": _conversions_without_nan(1),
        "SUM": _conversions_without_nan(0),
    },
    "PUTMASK": {"": (Meaning(ALL, "T bool T -> T", _put),)},
    "CHOOSE": {
        "": tuple(Meaning(ALL, f"int64{given} -> T", _choose) for given in _CHOICES)
    },
    "SELECT": {
        "": tuple(
            Meaning(ALL, f"{given.replace('T', 'bool')}{given}; T -> T", _select)
            for given in _CHOICES
        )
    },
    "FILL": _COPY,
    "COPY": _COPY,
    "READ": _COPY,
    "WRITE": _COPY,
    **INDEXED,
}
"""By task and operation code. The value that FILL writes is its input."""

_COPIES: Final = (("COPY", ""), ("UNARY_OP", "COPY"))
_INTEGER_DIVISIONS: Final = frozenset({"FLOOR_DIVIDE", "FMOD", "MOD"})


def _operation(
    kind: OperationKind, lowering: Lowering | LoweringToSeveral
) -> Operation:
    return Operation(
        lowering,
        copies=(kind.task, kind.code) in _COPIES and kind.inputs == kind.outputs,
        indexed=kind.task in INDEXED,
        # the machine traps where an integer is divided by zero; a kernel never does
        traps=kind.code in _INTEGER_DIVISIONS
        and not {*kind.inputs}.isdisjoint(INTEGERS),
    )


def _operations(task: str, code: str) -> dict[OperationKind, Operation]:
    return {
        kind: _operation(kind, meaning.lowering)
        for meaning in _MEANINGS[task][code]
        for kind in meaning.kinds(task, code)
    }


def _reductions(task: str, code: str) -> dict[OperationKind, Operation]:
    return {
        kind: Operation(lowering, operator)
        for kind, operator, lowering in reductions(task, code)
    }


OPERATIONS: Final = OperationTable(
    {
        (task, code): partial(make, task, code)
        for make, tasks in ((_operations, _MEANINGS), (_reductions, REDUCTIONS))
        for task, codes in tasks.items()
        for code in codes
    }
)
"""What each operation of cuPyNumeric computes that fusion covers."""

MEANINGS: Final = Operations(OPERATIONS)
