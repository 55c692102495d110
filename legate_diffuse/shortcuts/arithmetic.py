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

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.broadcast import common_shape, repeated
from legate_diffuse.shortcuts.conversions import TARGETS, common_type
from legate_diffuse.shortcuts.submission import Submission
from legate_diffuse.shortcuts.templates import COMPLEX, PRODUCTS, Template, Templates
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# Python's numbers.
_NUMBERS: Final = frozenset((float, int, complex, bool))


def submit_over(
    submission: Submission, template: Template, views: list[View], out: Any = None
) -> Any:
    """Submit a task on views that repeat over the shape that they have in common.

    It writes ``out``, or a new array. None if that is left to the original.
    """
    shape = views[0].shape
    for view in views[1:]:
        over_both = shape if view.shape == shape else common_shape(shape, view.shape)
        if over_both is None:
            return None
        shape = over_both
    operands = [
        view if view.shape == shape else repeated(view, shape) for view in views
    ]
    if out is None:
        made = submission.make(template, shape, *operands)
    else:
        made = submission.write(template, shape, out, *operands)
    template.learn_once(*[view.root.dtype for view in views])
    return made


class Pointwise:
    """Submits operations on arrays, and on numbers beside them."""

    def __init__(self, submission: Submission) -> None:
        self._submission, self._client = submission, submission.client
        self._selections, self._apply = submission.selections, submission.apply
        self._conversions = submission.conversions
        self._ndarray, self._view_of = self._client.ndarray, self._client.view_of

    def submit(
        self, templates: Templates, operands: Sequence[Any], out: Any = None
    ) -> Any:
        """Submit an operation; None if it is left to the original."""
        arrays = [each for each in operands if type(each) is self._ndarray]
        if any([isinstance(each, np.number) for each in operands]) and arrays:
            plain = [_number(each, arrays[0].dtype) for each in operands]
            operands = [self._submission.single_of(each) for each in plain]
            arrays = [each for each in operands if type(each) is self._ndarray]
            made = self._apply(templates.function, out, *operands)
            if made is not None:
                return made
        if any([type(each._thunk) is self._selections.type for each in arrays]):
            return self._selections.apply(self.submit, templates, operands, out)
        views = [self._view_of(each) for each in operands]
        roots = [view.root for view in views if view is not None]
        # within a task, stores are Legate's own
        if not roots or len(roots) < len(arrays) or self._client.doctor.is_on:
            return None
        if len(roots) < len(operands):
            kinds = {type(each) for each in operands} - {self._ndarray}
            if not (templates.takes_numbers and kinds <= _NUMBERS):
                return None
            made = self._power(templates, operands, roots[0], out)
            if made is not None:
                return made
        return self._typed(templates, operands, views, roots, out)

    def _typed(
        self,
        templates: Templates,
        operands: Sequence[Any],
        views: list[View | None],
        roots: list[Root],
        out: Any,
    ) -> Any:
        """Submit an operation on operands of which the types are known."""
        root, template = roots[0], templates[roots[0].dtype]
        kinds: tuple[Any, ...] = tuple(
            [
                type(each) if view is None else view.root.dtype
                for each, view in zip(operands, views, strict=True)
            ]
        )
        common: str | None = root.dtype
        for kind in kinds:
            common = common_type(common, kind)
        if (
            template is None
            or any([each.dtype is not root.dtype for each in roots])
            or common not in (None, root.dtype)
        ):
            return self._mixed(templates, operands, kinds, out, common)
        found = [
            self._submission.constant(root, each) if view is None else view
            for each, view in zip(operands, views, strict=True)
        ]
        shown = [view for view in found if view is not None]
        if len(shown) < len(found):
            return None
        return submit_over(self._submission, template, shown, out)

    def _mixed(
        self,
        templates: Templates,
        operands: Sequence[Any],
        kinds: tuple[Any, ...],
        out: Any,
        common: str | None,
    ) -> Any:
        """Submit an operation on operands that are first converted to one type."""
        target = templates.resolved(common)
        if target not in TARGETS:
            return None
        converted = [
            each
            if type(each) is not self._ndarray or kind == target
            else self._conversions.convert(each, target)
            for each, kind in zip(operands, kinds, strict=True)
        ]
        if any([each is None for each in converted]):
            return None
        made = self._apply(templates.function, out, *converted)
        if made is None:
            return self.submit(templates, converted, out)
        views = [view for each in converted if (view := self._view_of(each))]
        self._conversions.learn(templates.function, kinds, views[0].root.dtype)
        return made

    def _power(
        self, templates: Templates, operands: Sequence[Any], root: Root, out: Any
    ) -> Any:
        """Submit the products that a power is; None if it is none."""
        factor, exponent = operands[0], operands[-1]
        products = templates.products
        if (
            products is None
            or root.dtype not in COMPLEX
            or type(exponent) in (self._ndarray, complex)
            or exponent not in PRODUCTS
        ):
            return None
        if exponent == 2:
            return self.submit(products, (factor, factor), out)
        square = self.submit(products, (factor, factor))
        if square is None:
            return None
        return self.submit(products, (factor if exponent == 3 else square, square), out)


def _number(number: Any, dtype: Any) -> Any:
    """Return a number of NumPy's as Python's, where that makes the same of an array.

    Anything else as it is.
    """
    if not isinstance(number, np.number):
        return number
    plain = number.item()
    if type(plain) not in _NUMBERS:
        return number
    alike = np.result_type(dtype, number.dtype) == np.result_type(dtype, type(plain)(0))
    return plain if alike else number
