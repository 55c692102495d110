# SPDX-License-Identifier: Apache-2.0
"""Meanings of cuPyNumeric's operations whose values depend on the index of a point.

Matrices are the last two dimensions of an array.

Follows: cuPyNumeric (nullary/arange.cc, nullary/eye_template.inl, matrix/trilu.cc)
"""

from typing import Final

from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import ALL, COMPLEX, COMPONENT, FLOATS, HALF, INTEGERS
from legate_diffuse.libraries.cupynumeric.complex_numbers import select
from legate_diffuse.libraries.cupynumeric.unary import per_component
from legate_diffuse.libraries.table import Emitter, Meaning, call


def _arange_of_bools(emit: Emitter, start: Value, step: Value) -> Value:
    index = emit.index(0)
    return emit("or", emit("and", emit("ne", index, emit.like(index, 0)), step), start)


def _arange(emit: Emitter, start: Value, step: Value) -> Value:
    """Return static_cast<T>(index) * step + start."""
    index = emit.cast(start.dtype, emit.index(0))
    if start.dtype in FLOATS:
        # so GCC contracts the expression in upstream's wheels
        return emit("fma", index, step, start)
    return emit("add", emit("mul", index, step), start)


def _arange_of_halves(emit: Emitter, start: Value, step: Value) -> Value:
    """Round the index, the product and the sum, as cuda_fp16.h does."""
    index = emit.cast(HALF, emit.cast("float32", emit.index(0)))
    x, y, z = (emit.cast("float32", each) for each in (index, step, start))
    product = emit.cast("float32", emit.cast(HALF, emit("mul", x, y)))
    return emit.cast(HALF, emit("add", product, z))


def _complex_arange(emit: Emitter, start: Value, step: Value) -> Value:
    part = COMPONENT[start.dtype]
    index = emit.complex(emit.cast(part, emit.index(0)), emit.constant(part, 0))
    product = emit("complex_mul", index, step)
    return per_component(call("add"))(emit, product, start)


def _eye(emit: Emitter, x: Value, offset: Value) -> Value:
    """Put 1 on a diagonal and keep what is elsewhere."""
    on_diagonal = emit("eq", _diagonal(emit, offset), emit.index(0))
    return select(emit, on_diagonal, emit.like(x, 1), x)


def _triangle(emit: Emitter, x: Value, lower: Value, offset: Value) -> Value:
    """Keep what is not above a diagonal, or not below it, and put 0 elsewhere."""
    diagonal, column = _diagonal(emit, offset), emit.index(0)
    below, above = emit("ge", diagonal, column), emit("le", diagonal, column)
    return select(emit, emit("select", lower, below, above), x, emit.like(x, 0))


def _diagonal(emit: Emitter, offset: Value) -> Value:
    """Return the column of a diagonal in the point's row."""
    return emit("add", emit.index(1), emit.cast("int64", offset))


INDEXED: Final[dict[str, dict[str, tuple[Meaning, ...]]]] = {
    "ARANGE": {
        "": (
            Meaning(("bool",), "; T T -> T", _arange_of_bools),
            Meaning((*INTEGERS, *FLOATS), "; T T -> T", _arange),
            Meaning((HALF,), "; T T -> T", _arange_of_halves),
            Meaning(COMPLEX, "; T T -> T", _complex_arange),
        )
    },
    "EYE": {"": (Meaning(ALL, "T; int32 -> T", _eye),)},
    "TRILU": {"": (Meaning(ALL, "T; bool int32 -> T", _triangle),)},
}
"""By task and operation code, which is always ''."""
