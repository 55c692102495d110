# SPDX-License-Identifier: Apache-2.0
"""The statements of random programs: what they may do, and what NumPy says of it.

Left out, as cuPyNumeric 26.6 refuses it: slices with steps (it has flip), ``where=``
of element-wise functions; and as its unfused results are wrong on two processors:
choose.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy_programs import MAX_SIZE, Agreement, Array, Choices, NoChoiceError, Writer

BITS, NEAR, NONE = Agreement

DTYPES = (
    *("float64", "float32", "int64", "bool", "complex128", "int32", "float16"),
    *("uint8", "int8", "uint32", "complex64", "int16", "uint16", "uint64"),
)

# Functions of one array: the kinds of dtype that they take, and how closely
# cuPyNumeric agrees with NumPy where the operands do.
UNARY = {
    **dict.fromkeys(("negative", "conj", "positive"), ("iufc", BITS)),
    **dict.fromkeys(("floor", "ceil", "trunc", "signbit"), ("f", BITS)),
    **dict.fromkeys(("isnan", "isinf", "isfinite"), ("fc", BITS)),
    **dict.fromkeys(("exp", "log", "sin", "cos", "tanh", "expm1"), ("f", NEAR)),
    **dict.fromkeys(("log1p", "log2", "log10", "exp2", "sinh"), ("f", NEAR)),
    **dict.fromkeys(("cosh", "arcsinh", "arctanh", "cbrt"), ("f", NEAR)),
    **dict.fromkeys(("arcsin", "arccos", "arctan", "tan"), ("f", NEAR)),
    **dict.fromkeys(("rad2deg", "deg2rad"), ("f", NEAR)),
    **dict.fromkeys(("real", "imag"), ("c", BITS)),
    "absolute": ("biuf", BITS),
    "square": ("iuf", BITS),
    "sqrt": ("f", BITS),
    "rint": ("f", BITS),
    "sign": ("iuf", BITS),
    # of zero cuPyNumeric's is zero
    "reciprocal": ("f", NONE),
    "logical_not": ("biuf", BITS),
    "invert": ("biu", BITS),
}
# The same for what differs in complex numbers' last bits, or in more.
COMPLEX_UNARY = ("absolute", "square", "sqrt", "exp", "log", "sin")
BINARY = {
    **dict.fromkeys(("add", "multiply"), ("biufc", BITS)),
    **dict.fromkeys(("equal", "not_equal"), ("biufc", BITS)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), ("biuf", BITS)),
    **dict.fromkeys(("less", "greater", "less_equal"), ("biuf", BITS)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), ("biu", BITS)),
    **dict.fromkeys(("hypot", "logaddexp"), ("f", NEAR)),
    **dict.fromkeys(("maximum", "minimum"), ("biufc", BITS)),
    "copysign": ("f", BITS),
    # of float16 cuPyNumeric's takes the step in float32
    "nextafter": ("f", NONE),
    "subtract": ("iufc", BITS),
    "true_divide": ("iufc", BITS),
    "fmod": ("f", BITS),
    "remainder": ("f", BITS),
    # of infinities cuPyNumeric's are infinite
    "floor_divide": ("f", NONE),
    "isclose": ("iuf", BITS),
}
# Whose routines give other bits than libm, by the type of the result.
_SINGLE = {"arcsin", "cbrt", "tan"}
OTHER_BITS = {
    "float16": _SINGLE,
    "float32": _SINGLE,
    "float64": _SINGLE | {"arccos", "arctan", "cos", "hypot", "sin"},
    "complex128": {"absolute", "exp", "log", "sin", "sqrt"},
}
# Divisors of each type, at the ends of exponents' range too.
DIVISORS = {
    "float16": (3.0, 0.1, -7.0, 6e-8, 6e4),
    "float32": (3.0, 0.1, -7.0, 1e-44, -2e-38, 2.0**-41, 2.0**40, 1e12, 3e38, 0.0),
    "float64": (3.0, 0.1, -7.0, 5e-324, -3e-308, 1e-31, 2.0**100, 1e31, 1e308, 0.0),
}
# With these powers are as NumPy's.
SIMPLE_EXPONENTS = ("2", "2.0", "0.5", "-1.0", "0", "1.0")
OPERATORS = ("+", "*", "-", "/", "//", "%", "&", "|", "^", "<<", ">>")


def without_other_bits(functions: list[str], writer: Writer, *names: str) -> list[str]:
    """Return the functions of some variables that must have the unfused run's bits."""
    if os.environ.get("LEGATE_DIFFUSE_MATH") == "libm":
        return functions
    dtype = np.result_type(*(writer.value(name).dtype for name in names)).name
    return [f for f in functions if f not in OTHER_BITS.get(dtype, ())]


def kind_of(writer: Writer, *names: str) -> str:
    """Return the kind of the type that arrays are converted to."""
    return str(np.result_type(*(writer.value(name).dtype for name in names)).kind)


def fits(values: Array, dtype: str) -> bool:
    """Whether a conversion is NumPy's to define: no number is out of range."""
    if np.dtype(dtype).kind not in "iu" or values.dtype.kind in "biu":
        return True
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -(2**53)), min(limits.max, 2**53)
    with np.errstate(all="ignore"):
        return bool(((values.real > low) & (values.real < high)).all())


def has_plain_order(*values: Array) -> bool:
    """Whether there is no NaN, which upstream orders in its own way, and no -0.0."""
    return all(
        x.dtype.kind in "biu"
        or (x.dtype.kind == "f" and not (np.isnan(x) | np.signbit(x) & (x == 0)).any())
        for x in values
    )


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def partner(writer: Writer, choices: Choices, name: str) -> str:
    """Choose a variable that another one can be combined with."""
    shape = writer.value(name).shape

    def fits_to(other: str) -> bool:
        other_shape = writer.value(other).shape
        found = broadcast(shape, other_shape)
        # outer products of an array have now and then a wrong tile in Legate
        outer = found not in (shape, other_shape) and writer.may_share(name, other)
        return found is not None and int(np.prod(found)) <= MAX_SIZE and not outer

    return str(choices.of([other for other in writer.names() if fits_to(other)]))


def index_of(shape: tuple[int, ...], choices: Choices, *, grow: bool = False) -> str:
    """Write the index of a basic view."""
    parts = []
    for extent in shape:
        low = choices.below(max(1, extent))
        high = low + 1 + choices.below(max(1, extent - low))
        form = choices.below(9)
        if form == 7 and extent:
            parts.append(f"{low}" if low % 2 else f"{low - extent}")
        elif form == 8 and grow:
            parts += ["None", ":"]
        else:
            parts.append(
                (":", "1:", ":-1", f"{low}:", f"{low}:{high}", f"-{high}:", f":{low}")[
                    form % 7
                ]
            )
    return ", ".join([*parts, "..."])


def element_of(writer: Writer, choices: Choices, name: str) -> str:
    """Write one element of an array that has some."""
    extents = writer.value(name).shape
    index = (choices.below(2 * extent) - extent for extent in extents)
    return f"{name}[{', '.join(map(str, index))}]"


def has_elements(x: Array) -> bool:
    return x.ndim > 0 and x.size > 0


def scalar(writer: Writer, choices: Choices, dtype: np.dtype[Any]) -> tuple[str, str]:
    """Write a number to combine with an array; return it and the variable in it."""
    small = choices.below(6)
    form = choices.below(5)
    read = writer.numbers()
    if form == 4 and read and dtype.kind in "fc":
        name = choices.of(read)
        return name, name
    if form == 3:
        return f"np.{dtype.name if dtype.kind != 'b' else 'int32'}({small})", ""
    if form == 2 and dtype.kind in "fc":
        return f"{small / 4}", ""
    if form == 1 and dtype.kind != "b":
        return f"np.float32({small / 2})" if dtype.kind in "fc" else f"{small}", ""
    return (f"{small}" if dtype.kind != "b" else str(small % 2 == 1)), ""


def safe_operand(operator: str, text: str, kind: str) -> str:
    """Write a divisor or a shift that no processor stops at."""
    if kind in "biu" and operator in ("//", "%"):
        return f"({text} & 7 | 1)" if kind != "b" else f"({text} | True)"
    if operator in ("<<", ">>"):
        return f"({text} & 7)"
    return text


def accepts(operator: str, kind: str) -> bool:
    if operator in ("&", "|", "^"):
        return kind in "biu"
    if operator in ("<<", ">>"):
        return kind in "iu"
    if operator in ("//", "%"):
        return kind in "iuf"
    return operator in "+*" or kind != "b"


def agreement_of(operator: str, kind: str) -> Agreement:
    unlike = (kind == "c" and operator in "*/") or (kind == "f" and operator == "//")
    return NONE if unlike else BITS


# -- new arrays -------------------------------------------------------------------
def unary(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names())
    kind = writer.value(name).dtype.kind
    functions = [f for f, (kinds, _) in UNARY.items() if kind in kinds]
    if kind == "c":
        functions += COMPLEX_UNARY
    function = choices.of(without_other_bits(functions, writer, name))
    kinds, agreement = UNARY.get(function, ("f", NEAR))
    if function == "signbit" and np.isnan(writer.value(name)).any():
        # the sign of NaN is nobody's to define
        raise NoChoiceError
    # of NaN in float16 cuPyNumeric's sign is 0
    unlike = function == "sign" and not has_plain_order(writer.value(name))
    if kind not in kinds or unlike:
        agreement = NONE
    ties = {"may_view": name} if function in ("real", "imag") else {}
    writer.assign(
        f"n.{function}({name})", max(agreement, writer.agreement(name)), **ties
    )


def binary(writer: Writer, choices: Choices) -> None:
    left = choices.of(writer.names())
    right = partner(writer, choices, left)
    kind = kind_of(writer, left, right)
    functions = [f for f, (kinds, _) in BINARY.items() if kind in kinds]
    function = choices.of(without_other_bits(functions, writer, left, right))
    agreement = max(BINARY[function][1], writer.agreement(left, right))
    values = writer.value(left), writer.value(right)
    if function == "copysign" and np.isnan(values[1]).any():
        raise NoChoiceError
    if function in ("maximum", "minimum") and not has_plain_order(*values):
        agreement = NONE
    if kind == "c" and function in ("multiply", "true_divide"):
        agreement = NONE
    writer.assign(f"n.{function}({left}, {right})", agreement)


def with_operator(writer: Writer, choices: Choices) -> None:
    left = choices.of(writer.names())
    right = partner(writer, choices, left)
    kind = kind_of(writer, left, right)
    operator = choices.of([o for o in OPERATORS if accepts(o, kind)])
    if kind_of(writer, right) not in "iu" and operator in ("<<", ">>"):
        raise NoChoiceError
    operand = safe_operand(operator, right, kind_of(writer, right))
    agreement = max(writer.agreement(left, right), agreement_of(operator, kind))
    writer.assign(f"{left} {operator} {operand}", agreement)


def with_scalar(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names())
    dtype = writer.value(name).dtype
    operator = choices.of([o for o in OPERATORS if accepts(o, dtype.kind)])
    number, read = scalar(writer, choices, dtype)
    names = (name, read) if read else (name,)
    agreement = max(writer.agreement(*names), agreement_of(operator, dtype.kind))
    if dtype.kind in "biu" and operator not in "+*-/":
        number = "2" if dtype.kind != "b" else "True"
    expression = f"{name} {operator} {number}"
    if choices.below(2) and operator in "+*-":
        expression = f"{number} {operator} {name}"
    elif choices.below(12) == 11 and dtype.kind in "iu":
        expression, agreement = f"{name} ** 2", NONE
    writer.assign(expression, agreement)


def quotients(writer: Writer, choices: Choices) -> None:
    """Divide arrays by one divisor."""
    name = choices.of(writer.names(lambda x: x.dtype.kind == "f"))
    value = writer.value(name)
    dtype = value.dtype.name

    def of_any_size() -> str:
        return f'n.array(any_size({value.shape}, "{dtype}", {choices.below(64)}))'

    alike = writer.names(lambda x: x.shape == value.shape and x.dtype == value.dtype)
    dividends = choices.of([name, of_any_size()]), choices.of([*alike, of_any_size()])
    by = f"np.{dtype}({choices.of(DIVISORS[dtype])})"
    if choices.below(2):
        by = choices.of(alike)
    if choices.below(3) == 2:
        by = writer.assign(of_any_size(), BITS)
    one, other = (f"{dividend} / {by}" for dividend in dividends)
    expression = choices.of(
        [one, f"{one} - {other}", f"({one}) * n.sqrt(n.absolute({other}))"]
    )
    used = [each for each in (*dividends, by) if each in writer.names()]
    writer.assign(expression, writer.agreement(*used))


def powers(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names(lambda x: x.dtype in (np.float32, np.float64)))
    other = partner(writer, choices, name)
    agreement = writer.agreement(name)
    form = choices.below(4)
    if form == 0:
        exponent = choices.of(["3", "1.5", "-2.0", "2.5"])
        writer.assign(f"{name} ** {exponent}", max(NEAR, agreement))
    elif form == 1:
        if writer.value(other).dtype.kind != "f" or np.isinf(writer.value(name)).any():
            raise NoChoiceError
        power = f"n.power({name}, {other})"
        writer.reduce_with_rounding(power, f"n.absolute({power})", 1)
    elif agreement is not BITS:
        raise NoChoiceError
    elif form == 2:
        writer.compute_as_numpy(f"{name} ** {choices.of(SIMPLE_EXPONENTS)}")
    else:
        exponents = (choices.of(SIMPLE_EXPONENTS), choices.of(SIMPLE_EXPONENTS))
        writer.compute_as_numpy(
            f"({name} ** {exponents[0]} + {name} * 0.25) ** {exponents[1]}"
        )


def chain(writer: Writer, choices: Choices) -> None:
    """Compute with results that have no name."""
    first = choices.of(writer.names())
    shape = writer.value(first).shape
    others = writer.names(lambda x: broadcast(x.shape, shape) == shape)
    names = [first, *[choices.of(others) for _ in range(2 + choices.below(3))]]
    expression = first
    for number, name in enumerate(names[1:]):
        operators = "+*" if kind_of(writer, *names[: number + 2]) == "b" else "+*-"
        expression = f"({expression} {choices.of(operators)} {name})"
    complex_product = kind_of(writer, *names) == "c" and "*" in expression
    agreement = NONE if complex_product else writer.agreement(*names)
    writer.assign(expression, agreement)


def astype(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names())
    dtype = choices.of(DTYPES)
    value = writer.value(name)
    if value.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        raise NoChoiceError
    agreement = writer.agreement(name) if fits(value, dtype) else NONE
    # to its own type an array is not copied by cuPyNumeric
    ties = {"may_view": name} if value.dtype == dtype else {}
    if ties and not value.flags.writeable:
        raise NoChoiceError
    writer.assign(f'{name}.astype("{dtype}")', agreement, **ties)


def make(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names())
    number, dtype = choices.below(5), choices.of(DTYPES)
    form = choices.of(
        (
            f"n.full_like({name}, {number % 2})",
            f"n.zeros_like({name})",
            f"n.ones({writer.value(name).shape})",
            f"n.arange({number}, {number + 20}, {number + 1})",
            f'n.arange({number + 3}, dtype="{choices.of(DTYPES[:3])}")',
            f'n.eye({number + 1}, {choices.below(6) + 1}, dtype="{dtype}")',
            f"{name}.copy()",
            f"n.full({writer.value(name).shape}, {number}.5)",
        )
    )
    writer.assign(form, writer.agreement(name))


def mask(writer: Writer, choices: Choices, name: str) -> tuple[str, tuple[str, ...]]:
    """Write a mask that has the shape of a variable, and what it is made of."""
    value = writer.value(name)
    masks = writer.names(lambda x: x.dtype == bool and x.shape == value.shape)
    if masks and choices.below(2):
        chosen = choices.of(masks)
        return chosen, (chosen,)
    alike = writer.names(lambda x: x.shape == value.shape and x.dtype.kind != "c")
    if not alike:
        return f"{name} != 0", (name,)
    left, right = choices.of(alike), choices.of([*alike, "1"])
    if right == "1":
        return f"{left} > 1", (left,)
    return f"{left} <= {right}", (left, right)


def where(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names())
    other = partner(writer, choices, name)
    condition, names = mask(writer, choices, choices.of([name, other]))
    form = choices.below(4)
    if form == 3:
        number = f"np.{writer.value(name).dtype.name}({choices.below(2)})"
        expression = f"n.where({condition}, {name}, {number})"
        other = name
    elif form == 2:
        expression = f"n.select([{condition}], [{name}], 0)"
        other = name
        if broadcast(writer.value(names[0]).shape) != writer.value(name).shape:
            raise NoChoiceError
    else:
        expression = f"n.where({condition}, {name}, {other})"
    writer.assign(expression, writer.agreement(name, other, *names))


def clip(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names(lambda x: x.dtype.kind in "iuf"))
    value = writer.value(name)
    agreement = writer.agreement(name) if has_plain_order(value) else NONE
    low = choices.below(3)
    writer.assign(f"n.clip({name}, {low}, {low + 1 + choices.below(9)})", agreement)


# -- views ------------------------------------------------------------------------
def view(writer: Writer, choices: Choices) -> None:
    # upstream reads a part of what repeats as if it were the whole
    name = choices.of(writer.names(lambda x: x.flags.writeable))
    shape = writer.value(name).shape
    forms = [f"{name}[{index_of(shape, choices, grow=True)}]"]
    forms.append(f"n.expand_dims({name}, {choices.below(len(shape) + 1)})")
    if len(shape) > 1:
        forms.append(f"{name}.T")
        axes = choices.below(len(shape)), choices.below(len(shape))
        forms += [f"{name}.swapaxes{axes}", f"n.moveaxis({name}, {axes[0]}, -1)"]
    if 1 in shape:
        forms.append(f"{name}.squeeze()")
    writer.assign(choices.of(forms), writer.agreement_of(name), view_of=name)


def element(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names(has_elements))
    writer.assign(element_of(writer, choices, name), writer.agreement_of(name))


def reshape(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names(lambda x: x.ndim > 0))
    value = writer.value(name)
    first = value.shape[0]
    shapes = [(value.size,), (*value.shape, 1), value.shape[::-1]]
    if first and first % 2 == 0 and value.ndim < 3:
        shapes.append((2, first // 2, *value.shape[1:]))
    shape = choices.of(shapes)
    writer.assign(f"{name}.reshape({shape})", NONE, may_view=name)


def broadcast_to(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names(lambda x: x.ndim < 3))
    shape = writer.value(name).shape
    grown = tuple(3 if extent == 1 else extent for extent in shape)
    shape = (choices.below(3) + 1, *grown) if choices.below(2) else grown
    writer.assign(
        f"n.broadcast_to({name}, {shape})", writer.agreement_of(name), view_of=name
    )


# -- the rest ------------------------------------------------------------------------
def read(writer: Writer, choices: Choices) -> None:
    names = writer.names(lambda x: x.size > 0 and x.dtype.kind in "biuf")
    name = choices.of(names)
    value = writer.value(name)
    index = ", ".join(f"{choices.below(extent)}" for extent in value.shape)
    one = f"{name}[{index}]" if value.ndim else name
    writer.read(f"float({one})", writer.agreement(name))


def delete(writer: Writer, choices: Choices) -> None:
    names = writer.names()
    # something must be left to compute with
    writer.delete(choices.of(names if len(names) > 1 else []))


Statement = Callable[[Writer, Choices], None]
STATEMENTS: dict[str, Statement] = {
    function.__name__: function
    for function in (
        *(binary, unary, with_scalar, with_operator, quotients, powers, chain),
        *(astype, make, where, clip, view, element, reshape, broadcast_to),
        *(read, delete),
    )
}
