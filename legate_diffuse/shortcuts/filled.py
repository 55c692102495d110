# SPDX-License-Identifier: Apache-2.0
"""New arrays of one number that are filled when what waits is submitted.

Those that are filled at once are native code's affair (mappers/process/extract.cc).

Follows: cuPyNumeric (cupynumeric/_module/creation_shape.py, _array, _thunk)
"""

from __future__ import annotations

from math import prod
from typing import Any

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window
from legate_diffuse.shortcuts.submission import Submission
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.form import form
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.root import Root


class Filled:
    """Makes arrays that are filled later.

    Args:
        submission: submits fills.
    """

    def __init__(self, submission: Submission) -> None:
        self._submission = submission
        self._small = window.submitter.small
        # Legate's numbers, by their types and values
        self._scalars: dict[tuple[str, int], Any] = {}

    def make(self, shape: Any, dtype: str | None, value: int) -> Any:
        """Return a new array of a shape and a type; None if the original must make it.

        Args:
            shape: of the array.
            dtype: the name of the type.
            value: 0 or 1. A few zeros are here at once.
        """
        submission = self._submission
        extents = shape if isinstance(shape, tuple) else (shape,)
        if (
            dtype is None
            or not window.runs_at_once
            or not all([type(each) is int and each > 0 for each in extents])
            or len(extents) > submission.most_dims
            or prod(extents) < 2
        ):
            return None
        template = submission.copies[dtype]
        if template is None:
            return None
        scalar = self._scalars.get((dtype, value))
        if scalar is None:
            number = template.dtype.type(value)
            scalar = real.Scalar(number.tobytes(), template.type)
            self._scalars[dtype, value] = scalar
        array, view = submission.new(template, extents)
        if value or not self._clear(view.root):
            window.submit(Fill(view, scalar))
        return array

    def _clear(self, root: Root) -> bool:
        """Let the elements of a new array be zeros here; False if it is for a window.

        On more elements a loop that makes others of them is worth its place there, and
        needs no zeros.
        """
        small, size = self._small, root.nbytes
        if (
            not root.fusable
            or root.volume > small.limit
            or not (small.may_stay(size) if size > small.limit else size)
        ):
            return False
        form(whole(root.shape), root.shape)
        root.small_array().clear()
        return True

    def make_like(self, array: Any, dtype: str | None, value: int) -> Any:
        """Return a new array of the shape of another one likewise.

        It has the other one's type, unless there is a ``dtype``.
        """
        view = self._submission.client.view_of(array)
        if view is None:
            return None
        return self.make(view.shape, dtype or view.root.dtype, value)
