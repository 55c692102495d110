# SPDX-License-Identifier: Apache-2.0
"""Submits operations on one array or two, as cuPyNumeric's own code would.

That is done if all operands have one type, which the operation takes without a
conversion, and one shape, or become such. Single elements (Python numbers and 0-d
arrays) fit any shape. The task is that of ``DeferredArray.binary_op`` or ``unary_op``,
over stand-ins that are made here.

A Python number becomes a constant of the arrays' type at once. The original makes a
constant of the number's own type, and submits a task that converts it.

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.shortcuts.broadcast import common_shape, repeated
from legate_diffuse.shortcuts.conversions import TARGETS, common_type
from legate_diffuse.shortcuts.submission import Submission
from legate_diffuse.shortcuts.templates import COMPLEX, PRODUCTS, Templates
from legate_diffuse.stores.view import over

# Python's numbers.
_NUMBERS: Final = frozenset((float, int, complex, bool))


def binary_of(submission: Submission) -> Callable[..., Any]:
    """Return what submits an operation on an array and another operand."""
    client, selections = submission.client, submission.selections
    make, write, constant = submission.make, submission.write, submission.constant
    apply, convert = submission.apply, submission.conversions.convert
    selection = selections.type
    ndarray, doctor = client.ndarray, client.doctor

    def mixed(
        templates: Templates,
        x: Any,
        y: Any,
        swapped: bool,
        out: Any,
        common: str | None,
    ) -> Any:
        """Submit an operation on operands that are first converted to one type."""
        kind = templates.resolved(common)
        if kind not in TARGETS:
            return None
        kinds = [
            each._thunk.base._view.root.dtype if type(each) is ndarray else type(each)
            for each in (x, y)
        ]
        if x._thunk.base._view.root.dtype != kind:
            x = convert(x, kind)
        if type(y) is ndarray and y._thunk.base._view.root.dtype != kind:
            y = convert(y, kind)
        if x is None or y is None:
            return None
        operands = (y, x) if swapped else (x, y)
        made = apply(templates.function, out, *operands)
        if made is None:
            made = binary(templates, x, y, swapped, out)
        else:
            order = slice(None, None, -1 if swapped else 1)
            target = x._thunk.base._view.root.dtype
            submission.conversions.learn(
                templates.function, tuple(kinds[order]), target
            )
        return made

    def binary(
        templates: Templates, x: Any, y: Any, swapped: bool, out: Any = None
    ) -> Any:
        """Submit an operation on an array and another operand.

        None if it is left to the original.
        """
        thunk = x._thunk
        kind: Any = type(y)
        if issubclass(kind, np.number):
            y = _number(y, x.dtype)
            made = apply(templates.function, out, *((y, x) if swapped else (x, y)))
            if made is not None:
                return made
            kind = type(y)
        if type(thunk) is selection or (
            kind is ndarray and type(y._thunk) is selection
        ):
            return selections.binary(binary, templates, (x, y), swapped, out)
        base = thunk.base
        if type(base) is not LogicalStore:
            # within a task, stores are Legate's own
            return None
        a = base._view
        root = a.root
        template = templates[root.dtype]
        if not root.fusable or doctor.is_on:
            return None
        shape = a.shape
        if kind is ndarray:
            base = y._thunk.base
            if type(base) is not LogicalStore:
                return None
            b = base._view
            if not b.root.fusable:
                return None
            if template is None or b.root.dtype is not root.dtype:
                common = common_type(root.dtype, b.root.dtype)
                return mixed(templates, x, y, swapped, out, common)
            if b.shape != shape:
                over_both = common_shape(shape, b.shape)
                if over_both is None:
                    return None
                shape = over_both
                a, b = repeated(a, shape), repeated(b, shape)
        elif templates.takes_numbers and kind in _NUMBERS:
            if templates.products is not None and root.dtype in COMPLEX and not swapped:
                made = power(templates.products, x, y, out)
                if made is not None:
                    return made
            common = common_type(root.dtype, kind)
            if common is not None and (template is None or common != root.dtype):
                return mixed(templates, x, y, swapped, out, common)
            number = constant(root, y)
            if number is None:
                return None
            b = number
            if shape:
                b = over(b, shape)
        else:
            return None
        if template is None:
            return None
        if swapped:
            a, b = b, a
        if out is None:
            made = make(template, shape, a, b)
        else:
            made = write(template, shape, out, a, b)
        template.learn_once(root.dtype, root.dtype)
        return made

    def power(products: Templates, x: Any, exponent: complex, out: Any) -> Any:
        """Submit the products that a power is; None if it is none."""
        if type(exponent) is complex or exponent not in PRODUCTS:
            return None
        if exponent == 2:
            return binary(products, x, x, False, out)
        square = binary(products, x, x, False)
        if square is None:
            return None
        return binary(products, x if exponent == 3 else square, square, False, out)

    return binary


def _number(number: Any, dtype: Any) -> Any:
    """Return a number of NumPy's as Python's, where that makes the same of an array."""
    plain = number.item()
    if type(plain) not in _NUMBERS:
        return number
    alike = np.result_type(dtype, number.dtype) == np.result_type(dtype, type(plain)(0))
    return plain if alike else number


def unary_of(submission: Submission) -> Callable[..., Any]:
    """Return what submits an operation on an array."""
    selections, make, write = submission.selections, submission.make, submission.write
    selection, doctor = selections.type, submission.client.doctor
    conversions, apply = submission.conversions, submission.apply

    def mixed(templates: Templates, x: Any, out: Any, source: str | None) -> Any:
        """Submit an operation on an operand that is first converted."""
        target = templates.resolved(source)
        if target not in TARGETS or source == target or out is not None:
            return None
        converted = conversions.convert(x, target)
        if converted is None:
            return None
        made = apply(templates.function, None, converted)
        if made is None:
            return unary(templates, converted)
        target = converted._thunk.base._view.root.dtype
        conversions.learn(templates.function, (source,), target)
        return made

    def unary(templates: Templates, x: Any, out: Any = None) -> Any:
        """Submit an operation on an array; None if it is left to the original."""
        thunk = x._thunk
        if type(thunk) is selection:
            return selections.unary(unary, templates, x, out)
        base = thunk.base
        if type(base) is not LogicalStore:
            return None
        view = base._view
        template = templates[view.root.dtype]
        if not view.root.fusable or doctor.is_on:
            return None
        if template is None:
            return mixed(templates, x, out, view.root.dtype)
        if out is None:
            made = make(template, view.shape, view)
        else:
            made = write(template, view.shape, out, view)
        template.learn_once(view.root.dtype)
        return made

    return unary
