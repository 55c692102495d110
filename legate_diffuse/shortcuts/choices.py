# SPDX-License-Identifier: Apache-2.0
"""Choices between elements of arrays, and numbers, as ``where`` makes them.

Follows: cuPyNumeric (cupynumeric/_module, _thunk)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.arithmetic import submit_over
from legate_diffuse.shortcuts.conversions import TARGETS
from legate_diffuse.shortcuts.submission import Submission
from legate_diffuse.shortcuts.templates import EXACT, Template, new_function
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.root import Root

# The types of arrays beside which ``where`` takes numbers, and the numbers that become
# such an element. Beside others a number may change the type of the result.
_CHOICES: Final = {
    "float64": (float, int),
    "int64": (int,),
    "complex128": (complex, float, int),
}

# Numbers of which NumPy makes the type that the original makes: the type of two.
_CHOSEN: Final = frozenset((float, int, complex))
# What the original makes of numbers.
_TYPES: Final = {
    float: np.dtype(float),
    int: np.dtype(np.int64),
    complex: np.dtype(complex),
}


def _type_of_numbers(kinds: set[type]) -> str:
    if complex in kinds:
        return "complex128"
    return "float64" if float in kinds else "int64"


def _alike(submission: Submission, x: Any, y: Any) -> tuple[Any, Any] | None:
    """Return both in the type that the original makes of two, None if it must."""
    client, ndarray = submission.client, submission.client.ndarray
    is_watched = client.doctor.is_on or client.warn.is_on
    if is_watched or ndarray not in {type(x), type(y)}:
        return None
    dtypes = [
        each.dtype if type(each) is ndarray else _TYPES.get(type(each))
        for each in (x, y)
    ]
    # a type equals None if it is the one of which arrays are made without a type
    if any([each is None for each in dtypes]) or dtypes[0] == dtypes[1]:
        return None
    common = np.result_type(*dtypes)
    if common.name not in (_CHOICES if len(set(map(type, (x, y)))) > 1 else TARGETS):
        return None
    one, other = [
        (common.type(each).item() if abs(each) <= EXACT else None)
        if type(each) is not ndarray
        else each
        if each.dtype == common
        else submission.conversions.convert(each, common.name)
        for each in (x, y)
    ]
    return None if one is None or other is None else (one, other)


def _flags(submission: Submission, mask: Any, x: Any, y: Any) -> Any:
    """Return what a mask is as one of flags, None if it is one or the original must."""
    client = submission.client
    is_watched = client.doctor.is_on or client.warn.is_on
    if x is None or y is None or is_watched or mask.dtype == bool:
        return None
    return submission.conversions.convert(mask, "bool")


class Choices:
    """Chooses elements of arrays, or numbers, where a mask says, as ``where`` does."""

    def __init__(self, submission: Submission) -> None:
        self._submission = submission
        self._client = client = submission.client
        self._by_numpy = submission.by_numpy(
            np.where, "where", brings=False, computes=False
        )
        self._known = new_function(client, takes_numbers=True)
        self._known_apart = new_function(client)
        # numbers do not say of which type the result is
        self._known_of = {
            name: new_function(client, takes_numbers=True) for name in _CHOICES
        }
        self._templates = {name: self._made_for(self._known, name) for name in _CHOICES}
        self._templates_apart = {
            str(name): self._made_for(self._known_apart, str(name)) for name in TARGETS
        }
        self._numbered = {
            name: self._made_for(each, name) for name, each in self._known_of.items()
        }
        self._likes = {
            name: Root(client.legate, each.type, name, whole(()), scalar_storage=False)
            for name, each in self._numbered.items()
        }

    def where(self, a: Any, x: Any, y: Any) -> Any:
        """Return what is chosen; None if that is left to the original."""
        submission, made = self._submission, None
        ndarray, array_of = self._client.ndarray, submission.array_of
        if type(x) is not ndarray:
            x = submission.single_of(array_of(x))
        if type(y) is not ndarray:
            y = submission.single_of(array_of(y))
        if type(a) is not ndarray:
            a = submission.single_of(array_of(a))
        if type(a) is not ndarray:
            return None
        kinds = {type(x), type(y)}
        if are_known := ndarray in kinds or kinds <= _CHOSEN:
            made = submission.apply(self._function(kinds), None, a, x, y)
        if made is None and (mask := _flags(submission, a, x, y)) is not None:
            return self.where(mask, x, y)
        if made is None and are_known and not self._client.doctor.is_on:
            made = self._by_task(a, x, y)
        if made is None and self._agree(a, x, y):
            made = self._by_numpy(a, x, y)
        if made is None and (alike := _alike(submission, x, y)) is not None:
            return self.where(a, *alike)
        return made

    def _made_for(self, function: Any, name: str) -> Template:
        client = self._client
        template = Template(client, client.tasks.WHERE, 3, None, np.dtype(name))
        template.function = function
        return template

    def _function(self, kinds: set[type]) -> Any:
        """Return what native code knows of a choice from such objects."""
        ndarray = self._client.ndarray
        if kinds == {ndarray}:
            return self._known_apart
        if ndarray in kinds:
            return self._known
        return self._known_of[_type_of_numbers(kinds)]

    def _agree(self, mask: Any, x: Any, y: Any) -> bool:
        """Whether NumPy chooses from the types that the original chooses from."""
        kinds, ndarray = {type(x), type(y)}, self._client.ndarray
        if ndarray not in kinds:
            return mask.dtype == bool and (kinds <= _CHOSEN or kinds == {bool})
        dtypes = {each.dtype for each in (x, y) if type(each) is ndarray}
        return mask.dtype == bool and len(dtypes) == 1 and kinds == {ndarray}

    def _by_task(self, a: Any, x: Any, y: Any) -> Any:
        mask, one, other = map(self._client.view_of, (a, x, y))
        chosen = one or other
        if mask is None or mask.root.dtype != "bool":
            return None
        if one is not None and other is not None:
            like, of = one.root, self._templates_apart
        elif chosen is not None:
            like, of = chosen.root, self._templates
        elif self._client.ndarray not in (kinds := {type(x), type(y)}):
            like, of = self._likes[_type_of_numbers(kinds)], self._numbered
        else:
            return None
        if like.dtype not in of:
            return None
        views = [mask]
        for view, value in ((one, x), (other, y)):
            if view is None and type(value) in _CHOICES[like.dtype]:
                view = self._submission.constant(like, value)
            if view is None or view.root.dtype != like.dtype:
                return None
            views.append(view)
        return submit_over(self._submission, of[like.dtype], views)
