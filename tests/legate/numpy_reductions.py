# SPDX-License-Identifier: Apache-2.0
"""The reductions and opaque operations of random programs.

Sums and products of floating-point numbers may be combined in any order. Some are
taken of numbers for which every order gives the same bits, so that the program can
go on with them; others only at the end of what is computed, and with a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy_programs import Agreement, Array, Choices, NoChoiceError, Writer
from numpy_statements import Statement, has_plain_order

BITS, NEAR, NONE = Agreement


def sums_exactly(values: Array) -> bool:
    """Whether the sum has the same bits in every order: no partial sum is rounded."""
    if values.dtype.kind in "biu":
        return True
    if values.dtype.kind == "c":
        return sums_exactly(values.real) and sums_exactly(values.imag)
    if not np.isfinite(values).all() or (np.signbit(values) & (values == 0)).any():
        return False
    wide = np.abs(values.astype("float64")) * 8
    bits = {"float16": 11, "float32": 24, "float64": 53}[values.dtype.name]
    return bool((wide == np.rint(wide)).all() and wide.sum() < 2.0**bits)


def multiplies_exactly(values: Array) -> bool:
    """Whether the product has the same bits in every order."""
    if values.dtype.kind in "biu":
        return True
    if values.dtype.kind == "c" or not sums_exactly(values):
        return False
    wide = values.astype("float64")
    if (wide != np.rint(wide)).any() or (wide <= 0).any():
        return False
    return float(np.log2(wide).sum()) < 10


def stays_in_range(values: Array) -> bool:
    """Whether no order of multiplying floats overflows or underflows on the way."""
    sizes = np.abs(values.astype("float64"))
    if not np.isfinite(sizes).all():
        return False
    powers = np.log2(sizes[sizes > 0])
    limits = np.finfo(values.dtype)
    return bool(
        powers[powers > 0].sum() < limits.maxexp - 1
        and powers[powers < 0].sum() > limits.minexp + 1
    )


def rounded_to_integers(name: str, kind: str) -> str:
    """Write small integers made of floating-point numbers, without -0.0."""
    real = f"{name}.real" if kind == "c" else name
    return f"(n.rint(n.clip({real}, -2, 2)) + 0)"


def axes(value: Array, choices: Choices) -> str:
    """Write the arguments that say what to reduce over."""
    if not value.ndim or choices.below(2):
        return ""
    axis = choices.below(value.ndim)
    keep = ", keepdims=True" if choices.below(2) else ""
    return f"axis={axis - value.ndim if choices.below(2) else axis}{keep}"


def names_of(
    writer: Writer, accept: Callable[[Array], bool] = lambda _: True
) -> list[str]:
    """Return the variables that may be reduced.

    Of what repeats upstream takes elements more than once on two processors, aborts
    along an axis, and in dot.
    """
    return writer.names(lambda x: x.flags.writeable and accept(x))


def total(writer: Writer, choices: Choices) -> None:
    """Sums and products that are the same in every order."""
    name = choices.of(names_of(writer))
    value = writer.value(name)
    functions = ("sum", "prod", "mean", "nansum")
    function = choices.of(functions if value.dtype.kind != "c" else ("sum",))
    agreement = writer.agreement(name)
    exact = multiplies_exactly if function == "prod" else sums_exactly
    operand, kind = name, value.dtype.kind
    if function == "mean" and (kind not in "f" or not value.size):
        # integers are converted, and rounded
        function = "sum"
    if agreement is not BITS or not exact(value):
        if kind in "fc" and function == "prod":
            operand = f"({rounded_to_integers(name, kind)} * 0 + 1)"
        elif kind in "fc":
            operand = rounded_to_integers(name, kind)
        if kind in "fc":
            agreement = NONE
    if function == "nansum" and kind not in "fc":
        function = "sum"
    if function == "mean":
        agreement = NONE
    writer.assign(f"n.{function}({operand}{_and(axes(value, choices))})", agreement)


def rounded_total(writer: Writer, choices: Choices) -> None:
    """Sums, products and variances that are rounded on the way."""
    names = names_of(writer, lambda x: x.dtype.kind == "f" and x.size > 0)
    name = choices.of(names)
    value = writer.value(name)
    over = _and(axes(value, choices))
    wide = f'{name}.astype("float64")'
    form = choices.below(4)
    if form == 0:
        scale = f"n.sum(n.absolute({wide}){over})"
        writer.reduce_with_rounding(f"n.sum({name}{over})", scale, value.size)
    elif form == 1:
        if not stays_in_range(value):
            raise NoChoiceError
        scale = f"n.absolute(n.prod({wide}{over}))"
        writer.reduce_with_rounding(f"n.prod({name}{over})", scale, value.size)
    elif form == 2:
        scale = f"n.max(n.square({wide}){over})"
        writer.reduce_with_rounding(f"n.var({name}{over})", scale, 4 * value.size)
    elif value.ndim == 1:
        scale = f"n.sum(n.square({wide}))"
        writer.reduce_with_rounding(f"n.dot({name}, {name})", scale, value.size)


def extremum(writer: Writer, choices: Choices) -> None:
    names = names_of(writer, lambda x: x.size > 0 and x.dtype.kind != "c")
    name = choices.of(names)
    value = writer.value(name)
    function = choices.of(("max", "min"))
    # upstream starts with the lowest finite number
    plain = has_plain_order(value) and np.isfinite(value).all()
    agreement = writer.agreement(name) if plain else NONE
    # either of two zeros may be the larger one: -0.0 + 0 is 0.0
    operand = f"{name} + 0" if value.dtype.kind == "f" else name
    if value.dtype == np.float16:
        # upstream's minimum is NaN if one comes last
        operand = f"n.where({name} == {name}, {name} + 0, np.float16(0))"
    writer.assign(f"n.{function}({operand}{_and(axes(value, choices))})", agreement)


def test(writer: Writer, choices: Choices) -> None:
    name = choices.of(names_of(writer))
    value = writer.value(name)
    function = choices.of(("any", "all", "count_nonzero"))
    # of complex numbers cuPyNumeric's count along an axis is none of NumPy's
    # and its any and all along an axis abort
    whole = function == "count_nonzero" or value.dtype.kind == "c"
    over = "" if whole else _and(axes(value, choices))
    expression = f"n.{function}({name}{over})"
    if function == "count_nonzero":
        # cuPyNumeric's is uint64
        expression = f'n.asarray({expression}).astype("int64")'
    # cuPyNumeric looks at real parts only
    agreement = writer.agreement(name) if value.dtype.kind != "c" else NONE
    writer.assign(expression, agreement)


def dot(writer: Writer, choices: Choices) -> None:
    names = names_of(writer, lambda x: x.ndim in (1, 2))
    left = choices.of(names)
    extent, dtype = writer.value(left).shape[-1], writer.value(left).dtype
    right = choices.of(
        [
            name
            for name in names
            if writer.value(name).shape == (extent,)
            and writer.value(name).dtype == dtype
        ]
        or [left]
    )
    if writer.value(right).shape != (extent,):
        raise NoChoiceError
    if writer.value(left).ndim > 1 and dtype.name not in ("float32", "float64"):
        raise NoChoiceError
    agreement, operands = writer.agreement(left, right), [left, right]
    if dtype.kind in "fc":
        operands = [rounded_to_integers(name, dtype.kind) for name in operands]
        agreement = NONE
    writer.assign(f"n.dot({operands[0]}, {operands[1]})", agreement)


def opaque(writer: Writer, choices: Choices) -> None:
    """What is not fused, between what is."""
    names = names_of(writer, lambda x: x.ndim > 0 and x.size > 0)
    name = choices.of(names)
    value = writer.value(name)
    agreement = writer.agreement(name)
    plain = value.dtype.kind != "c" and has_plain_order(value)
    axis = choices.below(value.ndim)
    forms = [
        f"n.concatenate([{name}, {name}], axis={axis})",
        f"n.flip({name}, {axis}).copy()",
        f"n.roll({name}, 1, axis={axis})",
        f"n.take({name}, n.array([0, {value.shape[axis] - 1}]), axis={axis})",
    ]
    if plain:
        # upstream aborts on views that are not contiguous; elements are lost when
        # parts are assigned to of what is partitioned like its result
        forms.append(f"n.array(np.asarray(n.sort({name}.copy(), axis={axis})))")
    if value.ndim == 2:
        forms.append(f"n.tril({name})")
        if value.dtype.name in ("float32", "float64"):
            small = rounded_to_integers(name, value.dtype.kind)
            forms.append(f"{small} @ {small}.T")
    form = choices.of(forms)
    if "rint" in form:
        agreement = NONE
    writer.assign(form, agreement)


def _and(arguments: str) -> str:
    return f", {arguments}" if arguments else ""


REDUCTIONS: dict[str, Statement] = {
    function.__name__: function
    for function in (total, rounded_total, extremum, test, dot, opaque)
}
