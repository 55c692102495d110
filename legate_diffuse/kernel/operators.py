# SPDX-License-Identifier: Apache-2.0
"""The operators of the kernel IR and the types that they take and give.

Meanings are those of C++ on x86-64 without fast-math. Integer arithmetic wraps around.
Comparisons with a NaN are false, except `ne`. `cast` is a C++ `static_cast`; a float
that the integer type cannot hold gives what the machine's conversion instruction
gives (see `legate_diffuse.codegen.casts`). Shift counts must be less than the width.
Integer division never traps: by 0, `quotient` and `remainder` give 0, and the quotient
of the lowest number and -1 wraps around.
"""

from functools import cache
from typing import Final

from legate_diffuse.kernel.dtypes import ALL, COMPLEX, COMPONENT, FLOATS, INTEGERS, RECT
from legate_diffuse.kernel.functions import called

ARITHMETIC: Final = frozenset({"add", "sub", "mul", "neg"})
BITWISE: Final = frozenset({"and", "or", "xor", "not"})
SHIFTS: Final = frozenset({"shl", "shr"})
DIVISIONS: Final = frozenset({"quotient", "remainder", "gcd"})
"""Operators over integers: C++'s `/` and `%`, and the greatest common divisor."""

COMPARISONS: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
EXACT: Final = frozenset(
    {"div", "sqrt", "floor", "ceil", "trunc", "rint", "round", "abs", "copysign", "fma"}
)
"""Floating-point operators that IEEE 754 defines to the last bit.

`rint` rounds half to even, `round` half away from zero.
"""

MATHS_OF_ONE: Final = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "exp"}
    | {"exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"}
)
MATHS_OF_TWO: Final = frozenset({"atan2", "fmod", "hypot", "nextafter", "pow"})
"""Floating-point operators that are calls to the C function of the same name, of two
operands (those above: of one).
"""

POWER: Final = "power"
"""`pow`, but with the exponents -1, 0.5 and 2 a quotient, a root and a product, as in
NumPy (see `legate_diffuse.maths.simple_powers`).
"""

INTEGER_POWER: Final = "integer_power"
"""`pow` of floats that are integers, where squares that floats have are products."""

POWERS: Final = frozenset({POWER, INTEGER_POWER})

FLOAT_PARTS: Final = frozenset({"exponent", "fraction"})
"""What C's `frexp` splits a float into; the exponent is an int32."""

COMPLEX_ARITHMETIC: Final = frozenset({"complex_mul", "complex_div"})
"""Products and quotients of complex numbers as C's Annex G defines them."""

ROW_SUM: Final = "row_sum"
"""The sum, in order from 0, of `values[k] * x[columns[k]]` for k from a row's first to
its last element. The operands are loads of the row and of three whole arguments:
columns, values and x. Products are plain ones, of complex numbers with Annex G.
"""

CONTRACTED_ROW_SUM: Final = "contracted_row_sum"
"""The same, but real products are not rounded before they are added."""

ROW_SUMS: Final = frozenset({ROW_SUM, CONTRACTED_ROW_SUM})

ROW_ELEMENT: Final = "row_element"
"""The last of a row's elements whose column is the wanted one, 0 if there is none. The
operands are loads of the row and of two whole arguments, columns and values, and the
wanted column, an int64.
"""

OF_ROWS: Final = ROW_SUMS | {ROW_ELEMENT}

ARITY: Final = {
    **dict.fromkeys(ARITHMETIC | BITWISE | SHIFTS | COMPARISONS | EXACT, 2),
    **dict.fromkeys(DIVISIONS | COMPLEX_ARITHMETIC, 2),
    **dict.fromkeys(("neg", "not", "sqrt", "floor", "ceil", "trunc", "rint"), 1),
    **dict.fromkeys(("round", "abs", "cast", "signbit", "real", "imag"), 1),
    **dict.fromkeys(MATHS_OF_ONE | FLOAT_PARTS, 1),
    **dict.fromkeys(MATHS_OF_TWO | POWERS | {"complex", "ldexp"}, 2),
    **dict.fromkeys(("fma", "select"), 3),
    **dict.fromkeys(OF_ROWS, 4),
}
"""Number of operands of each operator."""


def mismatch(name: str, dtype: str, operands: tuple[str, ...]) -> str | None:
    """Say why operator `name` cannot give `dtype` from `operands`; None if it can."""
    if (known := called(name)) is not None:
        _, function, result = known
        fits = operands == function.inputs and dtype == function.outputs[result]
        return None if fits else f"{name} cannot give {dtype} from {operands}"
    if name not in ARITY:
        return f"unknown operator {name}"
    if len(operands) != ARITY[name]:
        return f"{name} takes {ARITY[name]} operands, not {len(operands)}"
    if dtype not in ALL:
        return f"unknown type {dtype}"
    if _types_fit(name, dtype, operands):
        return None
    return f"{name} cannot give {dtype} from {', '.join(operands)}"


@cache
def _types_fit(name: str, dtype: str, operands: tuple[str, ...]) -> bool:
    first = operands[0]
    uniform = all(operand == first for operand in operands)
    if name in OF_ROWS or RECT in operands:
        last = "int64" if name == ROW_ELEMENT else dtype
        typed = dtype in FLOATS + COMPLEX and operands[2:] == (dtype, last)
        columns = operands[1] if name in OF_ROWS else ""
        return first == RECT and columns in ("int32", "int64") and typed
    if name in COMPARISONS:
        return uniform and dtype == "bool" and first not in COMPLEX
    if name == "cast":
        return dtype not in COMPLEX and first not in COMPLEX
    if name == "signbit":
        return dtype == "bool" and first in FLOATS
    if name in FLOAT_PARTS:
        return first in FLOATS and dtype == ("int32" if name == "exponent" else first)
    if name == "select":
        same = operands[1] == operands[2] == dtype
        return first == "bool" and same and dtype not in COMPLEX
    if name == "ldexp":
        return first in FLOATS and operands[1] == "int32" and dtype == first
    if name == "complex":
        return uniform and dtype in COMPLEX and COMPONENT[dtype] == first
    if name in ("real", "imag"):
        return first in COMPLEX and COMPONENT[first] == dtype
    if not uniform or dtype != first:
        return False
    if name in COMPLEX_ARITHMETIC:
        return dtype in COMPLEX
    if name in ARITHMETIC:
        return dtype in INTEGERS + FLOATS
    if name in BITWISE:
        return dtype == "bool" or dtype in INTEGERS
    if name in SHIFTS | DIVISIONS:
        return dtype in INTEGERS
    return dtype in FLOATS
