# SPDX-License-Identifier: Apache-2.0
"""What NumPy takes of arrays of cuPyNumeric's: their elements, in this process."""

from __future__ import annotations

from operator import is_
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.physical_store import shown_elements, value_here
from legate_diffuse.interpose.window import window
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.templates import NewArrays
from legate_diffuse.stores.form import seen
from legate_diffuse.stores.view import View

# Arguments that mean the same to NumPy.
PLAIN: Final = frozenset(
    (int, float, complex, bool, str, type(None), type, slice, type(Ellipsis))
)
# All kinds of types, as NumPy names them.
ALL_KINDS: Final = "biufc"
# Those of BLAS and LAPACK.
INEXACT: Final = "fc"
# How many elements an array may show that NumPy reads, where Legate's task would have
# more processors for them than it takes to be as fast: on one, tasks that are no loops
# (sort, take, histogram, argmin) take 4 to 16 times as long as NumPy does.
MOST_ALONE: Final = 2**20
_AS_FAST: Final = 8


def _listed(part: Any) -> Any:
    """Return a part of an index, where a tuple is a list of places."""
    return list(part) if type(part) is tuple else part


class UnsuitableError(ValueError):
    """An argument is not one that NumPy can take here."""


class Elements:
    """Finds the elements of arrays, and brings them here.

    Args:
        client: what is needed of cuPyNumeric.
        new_arrays: what native code needs to know of their types.

    Attributes:
        dtypes: NumPy's types, by the names of those of arrays.
    """

    def __init__(self, client: Client, new_arrays: NewArrays) -> None:
        native = client.legate.native
        self.dtypes: Final = {name: np.dtype(name) for name in ALL}
        self._ndarray, self._view_of = client.ndarray, client.view_of
        self._settle = client.settled_view_of
        self._learn = new_arrays.learn
        self._elements_of = native.elements_of
        self._launch_policy = native.launch_policy
        self._small = window.submitter.small

    def plain(self, argument: Any, kinds: str, brings: bool = True) -> Any:
        """Return an argument as NumPy takes it.

        Raises:
            UnsuitableError: it is an array that is not here, or of another kind, or
                another kind of object.
        """
        kind = type(argument)
        if kind is self._ndarray or kind is np.ndarray:
            is_ours = kind is self._ndarray
            found = self.find(argument, brings) if is_ours else argument
            if found.dtype.kind not in kinds:
                raise UnsuitableError
            return found
        if kind in PLAIN:
            return argument
        if (kind is tuple or kind is list) and argument:
            return kind([self.plain(each, kinds, brings) for each in argument])
        if kind is range and argument:
            return self.plain(np.array(argument), kinds)
        if isinstance(argument, (np.generic, np.dtype)):
            return argument
        raise UnsuitableError

    def key_of(self, key: Any, dims: int = -1) -> Any:
        """Return an index of an array of so many dimensions as NumPy takes it.

        Raises:
            UnsuitableError: the original refuses it, or takes it in another way.
        """
        if type(key) is tuple:
            return tuple([self.key_of(_listed(each)) for each in key])
        if type(key) is slice:
            if key.step is not None and key.step != 1:
                raise UnsuitableError
            return key
        if type(key) is bool:
            raise UnsuitableError
        return self.plain(key, "biu", self._brings(key, dims))

    def bounded(self, key: Any) -> Any:
        """Return an index whose slices go from number to number, as far as may be.

        A program that goes by elements has them in arrays, which come.
        """
        if type(key) is tuple:
            parts = [self.bounded(part) for part in key]
            is_same = all(map(is_, parts, key))
            return key if is_same else tuple(parts)
        if type(key) is not slice:
            return key
        start, stop = self._number(key.start), self._number(key.stop)
        is_same = start is key.start and stop is key.stop
        return key if is_same else slice(start, stop, key.step)

    def _number(self, bound: Any) -> Any:
        if (
            type(bound) is not self._ndarray
            or bound.ndim
            or bound.dtype.kind not in "iu"
        ):
            return bound
        found = self.given(bound, brings=True)
        return bound if found is None else int(found)

    def _brings(self, key: Any, dims: int) -> bool:
        """Whether what an index waits for is to be computed now."""
        # what waits for a mask of all elements can be fused with what is selected
        return type(key) is not self._ndarray or key.dtype != bool or key.ndim != dims

    def has_arrays(self, key: Any) -> bool:
        """Whether an index is an array or a sequence, or has some."""
        parts = map(_listed, key) if type(key) is tuple else (key,)
        return any(
            type(each) is self._ndarray or type(each) in (list, range, np.ndarray)
            for each in parts
        )

    def find(self, array: Any, brings: bool = True) -> Any:
        """Return an array's elements: a copy, or those of a large one themselves.

        Raises:
            UnsuitableError: they are not here.
        """
        found = self._copied(array, brings)
        if found is None:
            found = self._many(self._view_of(array))
        if found is None:
            raise UnsuitableError
        return found

    def given(self, array: Any, brings: bool) -> Any:
        """Return elements as ``find`` does; None if they are not here."""
        try:
            return self.find(array, brings)
        except UnsuitableError:
            return None

    def _copied(self, array: Any, brings: bool) -> Any:
        """Return a copy of an array's elements; None if they are not here."""
        if brings:
            self._settle(array)
        found = self._elements_of(array)
        if found is None and self._learn(array):
            found = self._elements_of(array)
        if found is None and brings and self.bring(array):
            found = self._elements_of(array)
        return found

    def bring(self, array: Any, changes: bool = False) -> bool:
        """Whether an array's elements may be here now, after they were not."""
        view = self._view_of(array)
        if (
            view is None
            or not window.runs_at_once
            or not self._small.may_be_brought(view.root)
            or not self._may_be_read(view)
        ):
            return False
        root = view.root
        if root.is_here and not changes and not window.may_change(root):
            # what is pending can wait
            return True
        window.flush_for(root, comes=True)
        return self._small.bring(root)

    def _may_be_read(self, view: View) -> bool:
        pieces, _ = self._launch_policy()
        return bool(pieces < _AS_FAST) or view.volume <= MOST_ALONE

    def _many(self, view: View | None) -> Any:
        """Return the many elements of an array that is here, None if it is not.

        They are those themselves, of ours or in memory that Legate has mapped. Nobody
        writes to them (``array_over`` in ``mappers/process/numpy_api.h``).
        """
        if view is None or not view.affine or not view.root.is_here:
            return None
        if window.may_change(view.root) or not self._may_be_read(view):
            return None
        return self.shown(view)

    def shown(self, view: View, changes: bool = False) -> Any:
        """Return the elements that an affine view of an array here shows."""
        root = view.root
        if root.mapped is None:
            small = root.small
            content = small.show() if changes else small.lend()
            whole = content.view(self.dtypes[str(root.dtype)])
        else:
            if changes:
                root.small.own()
            whole = np.asarray(root.mapped.get_inline_allocation())
        return seen(view.layout, root.shape, whole)

    def single(self, array: Any) -> Any:
        """Return a copy of an array of a single element that comes here; waits.

        None if it is none, or does not come.
        """
        view = self._view_of(array)
        if view is None or view.volume != 1 or not view.root.scalar_storage:
            return None
        window.flush_for(view.root)
        return value_here(view) if view.root.is_here else None

    def shared(self, array: Any) -> Any:
        """Return an array's elements in this process, which NumPy shares from now on.

        None if they are elsewhere, or something that waits may use them.
        """
        view = self._view_of(array)
        if view is None or not view.affine or not view.volume:
            return None
        root = view.root
        if root.scalar_storage or not window.may_show(root):
            return None
        return shown_elements(view)
