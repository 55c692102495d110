# SPDX-License-Identifier: Apache-2.0
"""The statements of random programs that change arrays in place."""

from __future__ import annotations

import numpy as np
from numpy_programs import Agreement, Array, Choices, NoChoiceError, Writer
from numpy_statements import (
    BINARY,
    OPERATORS,
    Statement,
    accepts,
    agreement_of,
    broadcast,
    element_of,
    fits,
    has_elements,
    has_plain_order,
    index_of,
    mask,
    safe_operand,
)

BITS, _, NONE = Agreement


def part_of(writer: Writer, choices: Choices, name: str) -> tuple[str, Array]:
    """Write a whole array, or a part of it."""
    value = writer.value(name)
    if not choices.below(3):
        return f"{name}[...]", value
    index = index_of(value.shape, choices)
    return f"{name}[{index}]", writer.evaluate(f"{name}[{index}]")


def writable(writer: Writer, choices: Choices) -> str:
    return str(choices.of(writer.names(lambda x: x.flags.writeable)))


def in_place(writer: Writer, choices: Choices) -> None:
    name = writable(writer, choices)
    target, value = part_of(writer, choices, name)
    if choices.below(2):
        target, value = name, writer.value(name)
    operator = choices.of([o for o in OPERATORS if accepts(o, value.dtype.kind)])
    sources = writer.names(
        lambda x: (
            broadcast(x.shape, value.shape) == value.shape
            and np.can_cast(np.result_type(x, value), value.dtype, "same_kind")
            and (x.dtype.kind in "iu" or operator not in ("<<", ">>"))
        )
    )
    if value.dtype.kind in "biu" and operator == "/":
        raise NoChoiceError
    agreement = agreement_of(operator, value.dtype.kind)
    if sources and choices.below(4):
        source = choices.of(sources)
        operand = safe_operand(operator, source, writer.value(source).dtype.kind)
        agreement = max(agreement, writer.agreement(source))
    else:
        operand = "True" if value.dtype.kind == "b" else str(1 + choices.below(3))
    writer.change(f"{target} {operator}= {operand}", name, agreement)


def assign_part(writer: Writer, choices: Choices) -> None:
    name = writable(writer, choices)
    target, value = part_of(writer, choices, name)
    sources = writer.names(
        lambda x: (
            broadcast(x.shape, value.shape) == value.shape
            and (x.dtype.kind != "c" or value.dtype.kind in "cb")
        )
    )
    if sources and choices.below(4):
        source = choices.of(sources)
        fitting = fits(writer.value(source), value.dtype.name)
        agreement = writer.agreement(source) if fitting else NONE
    else:
        source, agreement = str(choices.below(3)), BITS
    writer.change(f"{target} = {source}", name, agreement)


def write_element(writer: Writer, choices: Choices) -> None:
    name = choices.of(writer.names(lambda x: x.flags.writeable and has_elements(x)))
    dtype = writer.value(name).dtype
    alike = writer.names(lambda x: x.dtype == dtype and has_elements(x))
    sources = choices.of(alike), choices.of(alike)
    target, *elements = (element_of(writer, choices, x) for x in (name, *sources))
    operator = "^" if dtype.kind == "b" else "+"
    forms = [
        f"{target} = {elements[0]}",
        f"{target} = {elements[0]} {operator} {elements[1]}",
        f"{target} {operator}= {elements[0]}",
        f"{target} = {choices.below(2)}",
    ]
    writer.change(choices.of(forms), name, writer.agreement(name, *sources))


def shift(writer: Writer, choices: Choices) -> None:
    """Assign one part of an array to another one that overlaps it."""
    names = writer.names(lambda x: x.flags.writeable and max(x.shape, default=0) > 2)
    name = choices.of(names)
    value = writer.value(name)
    axis = choices.of([a for a, extent in enumerate(value.shape) if extent > 2])
    ends = [(f"{k}:", f":-{k}") for k in (1, 2)]
    left, right = choices.of(ends)
    if choices.below(2):
        left, right = right, left
    lead = ":, " * axis
    target, source = f"{name}[{lead}{left}, ...]", f"{name}[{lead}{right}, ...]"
    form, operator = choices.below(4), "^" if value.dtype.kind == "b" else "+"
    if form == 0:
        writer.change(f"{target} = {source}", name, BITS)
    elif form == 1:
        writer.change(f"{target} {operator}= {source}", name, BITS)
    elif form == 2:
        writer.change(f"{target} = {source} {operator} {target}", name, BITS)
    else:
        writer.change(
            f"{target} = n.where({source} != 0, {source}, {target})", name, BITS
        )


def sweeps(writer: Writer, choices: Choices) -> None:
    """Update an array from copies of itself, again and again, and then its ends."""
    names = writer.names(lambda x: x.flags.writeable and max(x.shape, default=0) > 2)
    name = choices.of(names)
    value = writer.value(name)
    axis = choices.of([a for a, extent in enumerate(value.shape) if extent > 2])
    operator = "^" if value.dtype.kind == "b" else "+"
    lead = ":, " * axis

    def part(array: str, index: str) -> str:
        return f"{array}[{lead}{index}, ...]"

    middle = (
        f"{part(name, '1:-1')} = {part('old', ':-2')} {operator} {part('old', '2:')}"
    )
    first = f"{part(name, '0')} = {part(name, '1')}"
    last = f"{part(name, '-1')} = {part('old', '-2')}"
    forms = (
        [middle, first, last],
        [first, last, middle],
        [middle, last],
        [middle, first, last, f"{part(name, '1:')} {operator}= {part('old', '1:')}"],
    )
    statements = []
    for _ in range(1 + choices.below(5)):
        statements += [f"old = {name}.copy()", *choices.of(forms)]
    writer.change("; ".join([*statements, "del old"]), name, BITS)


def masked_write(writer: Writer, choices: Choices) -> None:
    name = writable(writer, choices)
    value = writer.value(name)
    condition, names = mask(writer, choices, name)
    if writer.value(names[0]).shape != value.shape:
        raise NoChoiceError
    number = "True" if value.dtype.kind == "b" else f"{choices.below(4)}"
    operator = "^" if value.dtype.kind == "b" else "+"
    forms = [
        f"{name}[{condition}] = {number}",
        f"n.putmask({name}, {condition}, {number})",
    ]
    if value.ndim:
        forms += [
            f"{name}[{condition}] = {name}[{condition}] {operator} {number}",
            f"n.copyto({name}, {name} {operator} {number}, where={condition})",
            f"n.putmask({name}, {condition}, {name} {operator} {name})",
        ]
    writer.change(choices.of(forms), name, writer.agreement(*names))


def out(writer: Writer, choices: Choices) -> None:
    name = writable(writer, choices)
    value = writer.value(name)
    alike = writer.names(lambda x: x.shape == value.shape and x.dtype == value.dtype)
    left, right = choices.of(alike), choices.of(alike)
    kind = value.dtype.kind
    functions = [
        f
        for f in ("add", "multiply", "subtract", "maximum", "bitwise_xor")
        if kind in BINARY[f][0]
    ]
    function = choices.of(functions)
    agreement = writer.agreement(left, right)
    values = writer.value(left), writer.value(right)
    if kind == "c" or (function == "maximum" and not has_plain_order(*values)):
        agreement = NONE
    writer.change(f"n.{function}({left}, {right}, out={name})", name, agreement)


def fill(writer: Writer, choices: Choices) -> None:
    # of an empty part upstream fills other elements
    names = writer.names(lambda x: x.flags.writeable and x.size > 0)
    name = choices.of(names)
    writer.change(f"{name}.fill({choices.below(2)})", name, BITS)


WRITES: dict[str, Statement] = {
    function.__name__: function
    for function in (
        *(in_place, assign_part, write_element, shift, sweeps, masked_write),
        *(out, fill),
    )
}
