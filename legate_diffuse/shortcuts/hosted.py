# SPDX-License-Identifier: Apache-2.0
"""Runs functions by NumPy where all their arrays are in this process, or may be.

What moves elements, sorts, scans or solves is no loop of ours. As a task it takes 100
to 1,000 times as long as NumPy does on a few thousand elements, and no less time than
NumPy takes on many, but where several processors divide them. So NumPy does it, on
copies of the elements, or on the memory of large arrays, which Legate maps, and its
results become arrays. Where an argument is of another kind, or NumPy raises, the
original function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from contextvars import ContextVar, copy_context
from functools import update_wrapper
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.launch.few_points import MOST_POINTS
from legate_diffuse.shortcuts.blas import Blas
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.elements import (
    ALL_KINDS,
    PLAIN,
    Elements,
    UnsuitableError,
)
from legate_diffuse.shortcuts.places import put, take
from legate_diffuse.shortcuts.recipes import Recipe
from legate_diffuse.shortcuts.shortcut import array_places
from legate_diffuse.shortcuts.templates import NewArrays
from legate_diffuse.shortcuts.written import parameters_of
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.form import dense
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# What NumPy raises of arguments that do not fit.
_REFUSALS: Final = (TypeError, ValueError, IndexError, OverflowError)
# More arguments than any function has by position.
_ANY: Final = 32


def _no_warnings() -> tuple[ContextVar[Any], Any]:
    """Return the variable that says of what NumPy warns, and its value for nothing."""
    before = copy_context()
    with np.errstate(all="ignore"):
        within = copy_context()
    (changed,) = [each for each in within if before.get(each) is not within[each]]
    return changed, within[changed]


def leave(*_: Any, **__: Any) -> None:
    """Leave everything to the original."""


def _apart(argument: Any, elements: Any) -> Any:
    """Return what an argument is before the elements change."""
    if type(argument) is tuple:
        return tuple([_apart(each, elements) for each in argument])
    is_shared = type(argument) is np.ndarray and np.may_share_memory(argument, elements)
    return argument.copy() if is_shared else argument


def _is_mask(key: Any) -> bool:
    while type(key) is list and key:
        key = key[0]
    return type(key) is bool or (type(key) is np.ndarray and key.dtype == bool)


class Hosted:
    """Runs functions by NumPy.

    Args:
        client: what is needed of cuPyNumeric.
        show: returns a new array of a root's owner, a view, and NumPy's type.

    Attributes:
        new_arrays: what native code needs to make arrays of each type.
        elements: finds those of arrays.
        blas: NumPy's.
    """

    def __init__(self, client: Client, show: Callable[[Any, View, Any], Any]) -> None:
        self._native = native = client.legate.native
        self._legate = client.legate
        self._show, self._to_core_type = show, client.to_core_type
        self._ndarray = client.ndarray
        self._view_of, self._settle = client.view_of, client.settled_view_of
        self._doctor, self._warn = client.doctor, client.warn
        self.new_arrays = NewArrays(client, ALL)
        self._array_of = self.new_arrays.function.array_of
        self.blas = Blas(native.launch_policy()[0])
        self._small = small = window.submitter.small
        self._limit = small.limit
        self.elements = Elements(client, self.new_arrays)
        self._plain = self.elements.plain
        self._names = {
            dtype: dtype_name(client.to_core_type(dtype))
            for dtype in self.elements.dtypes.values()
        }
        self._converts = client.converts
        self._put = self.changed_by(put, "assignment")
        taken = self.recipe(take, "take", ALL_KINDS, (2, 2, 1), computes=False)
        self._take_at = self.native_first("hosted", leave, extra=taken)
        if window.runs_at_once:
            native.know_numpy(
                {self._names[dtype]: dtype for dtype in self._names},
                self._names,
                PLAIN,
                (np.generic, np.dtype),
                _REFUSALS,
                np.asarray,
                *_no_warnings(),
                self.new_array,
                self.elements.given,
                small.may_stay,
            )

    def recipe(
        self,
        function: Callable[..., Any],
        label: str,
        kinds: str = ALL_KINDS,
        counts: tuple[int, int, int] = (0, _ANY, 0),
        keywords: Set[str] = frozenset(),
        *,
        brings: bool = True,
        reads_many: bool = True,
        computes: bool = True,
        converts: bool = True,
        needs_axes: bool = False,
        needs_elements: bool = False,
        orders: bool = False,
        in_blas: bool = False,
        changes: bool = False,
        grows: bool = False,
    ) -> Any:
        """Return how native code lets NumPy run a function.

        Args:
            function: NumPy's; it raises what is refused.
            label: what people call the operation.
            kinds: those of the types of its arrays, as NumPy names them.
            counts: the least arguments, the most by position, and how many are arrays.
            keywords: the names of those that may come by name.
            brings: whether what its arrays wait for is submitted, and Legate's come.
            reads_many: whether arrays of many elements are not left to the original.
            computes: whether NumPy may warn, which cuPyNumeric does not.
            converts: whether the original makes arrays of sequences.
            needs_axes: whether it refuses a first array without axes.
            needs_elements: whether it refuses one without elements.
            orders: whether it refuses one with NaN.
            in_blas: whether it works in BLAS, which may use several processors.
            changes: whether it changes its first argument, an array with few
                elements, and returns nothing.
            grows: whether few elements may become many: these get memory of ours.
        """
        function = self.blas.limited(function) if in_blas else function
        how = computes, brings, reads_many, converts
        needs = needs_axes, needs_elements
        known = function, label, kinds, counts, frozenset(keywords)
        return self._native.Recipe(*known, *how, *needs, orders, changes, grows)

    def recipe_of(self, recipe: Recipe, **how: bool) -> Any:
        """Return the same for a function of the table, some options aside."""
        options: dict[str, Any] = {
            "brings": not recipe.is_loop,
            "reads_many": recipe.ends,
            "computes": recipe.may_warn,
            "converts": recipe.converts,
            "needs_axes": recipe.needs_axes,
            "needs_elements": recipe.needs_elements,
            "orders": recipe.orders,
            "in_blas": recipe.in_blas,
            "grows": recipe.grows,
        }
        counts = recipe.least, recipe.positional, recipe.arrays
        keywords = frozenset(recipe.keywords.split())
        own = recipe.runs, recipe.name, recipe.kinds, counts, keywords
        return self.recipe(*own, **(options | how))

    def index(self, array: Any, key: Any) -> Any:
        """Return ``array[key]`` for a key with arrays; None if the original must."""
        if self._doctor.is_on or not self.elements.has_arrays(key):
            return None
        try:
            plain = self.elements.key_of(key, array.ndim)
            is_ours = type(key) is not np.ndarray
            if is_ours and _is_mask(plain) and np.shape(plain) == array.shape:
                # others select by masks
                return None
        except UnsuitableError:
            return None
        return self._take_at(array, plain)

    def selected(self, array: Any, mask: Any) -> Any:
        """Return the elements of an array at a mask; None if the original must."""
        for each in (array, mask):
            view = self._view_of(each)
            if view is not None and (
                not view.root.is_here or window.may_change(view.root)
            ):
                self.elements.bring(each)
        return self.new_arrays.make(self._native.get_at_places, array, mask)

    def text(self, function: Callable[[Any], Any], array: Any) -> Any:
        """Return what a function says of an array; None if the original must."""
        if self._doctor.is_on:
            return None
        elements = self.elements.given(array, brings=True)
        return None if elements is None else function(elements)

    def assign(self, array: Any, key: Any, value: Any) -> bool:
        """Do ``array[key] = value``; False if the original must."""
        is_copy = type(value) is self._ndarray and not self.elements.has_arrays(key)
        if is_copy or self._doctor.is_on:
            # the original may be fused, and refuses some
            return False
        # a single value is put where a mask of all elements says by a loop
        is_single = type(value) is not self._ndarray or value.size == 1
        try:
            plain = self.elements.key_of(key, array.ndim if is_single else -1)
            value = self._plain(value, ALL_KINDS)
            other = np.asarray(value).dtype
        except _REFUSALS:
            # the original raises what it raises
            return False
        dtype = array.dtype
        if (
            other.kind not in ALL_KINDS
            or (other != dtype and self._warn.is_on)
            or (other.kind == "c" != dtype.kind)
        ):
            return False

        is_of_all = _is_mask(plain) and np.shape(plain) == array.shape
        if array.size > MOST_POINTS and (
            (is_of_all and np.size(value) == 1) or not self.elements.has_arrays(key)
        ):
            # the original is a loop
            return False

        return self._put(array, plain, value) is None

    def changed_by(self, function: Callable[..., None], label: str) -> Any:
        """Return what lets a function change the elements of its first argument.

        It returns False if the original must, and None if it has done so. The function
        changes none if it raises.
        """
        keywords = parameters_of(function).keys()
        extra = self.recipe(function, label, keywords=keywords, changes=True)
        change_few = self.native_first("hosted", lambda *_, **__: False, extra=extra)

        def change(array: Any, *arguments: Any, **named: Any) -> Any:
            view = self._settle(array)
            if view is None or self._doctor.is_on or self._warn.is_on:
                # the original warns of conversions
                return False
            if view.volume <= MOST_POINTS:
                is_here = self._native.elements_of(array) is not None
                if is_here or not self.elements.bring(array, changes=True):
                    return False
                return change_few(array, *arguments, **named)
            return self._change_many(function, array, view, arguments, named)

        return self.native_first("hosted", change, extra=extra)

    def _change_many(
        self,
        function: Callable[..., None],
        array: Any,
        view: View,
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> bool | None:
        """Do so where many elements are, which are not copied here and back."""
        root = view.root
        try:
            given = tuple([self._plain(each, ALL_KINDS) for each in arguments])
            options = {key: self._plain(named[key], ALL_KINDS) for key in named}
        except UnsuitableError:
            return False
        if (
            not array._writeable
            or not self.elements.bring(array, changes=True)
            or not view.affine
            or window.is_waited_for(root)
            or not root.is_here
        ):
            return False
        root.constant = None
        root.version += 1
        elements = self.elements.shown(view, changes=True)
        others = {key: _apart(options[key], elements) for key in options}
        try:
            with np.errstate(all="ignore"):
                function(elements, *_apart(given, elements), **others)
        except _REFUSALS:
            # the original raises what it raises
            return False
        window.counters.add_runs(1, 1, 0)
        return None

    def native_first(
        self, way: str, otherwise: Any, *names: str, extra: Any = None
    ) -> Callable[..., Any]:
        """Return a function that lets native code try before Python.

        See ``Submission.front``. Where a function of cuPyNumeric's makes arrays of
        arguments, native code tries again with these.
        """
        if not window.runs_at_once:
            found: Callable[..., Any] = otherwise
            return found
        new, places = self.new_arrays, array_places(otherwise) if self._converts else 0
        known = way, new.function, extra, names or None, new.learn, otherwise, places
        return update_wrapper(self._native.front(*known), otherwise)

    def new_array(self, result: Any, label: str) -> Any:
        """Return a new array of elements of NumPy's; None if there is no such array."""
        shape = result.shape
        name = self._names.get(result.dtype)
        if name is None or len(shape) > real.LEGATE_MAX_DIM:
            return None
        is_large = result.nbytes > self._limit
        if is_large and not self._small.maps:
            return None
        # native code takes no more elements, however narrow they are
        if is_large or result.size > MOST_POINTS:
            return self._large_array(result, name)
        return self._array_of(result, label)

    def _large_array(self, result: Any, name: str) -> Any:
        """Return a new array, whose memory may be the result's."""
        layout = dense(result.shape)
        root = Root(self._legate, self._to_core_type(result.dtype), name, layout, False)
        self._small.take(root, result)
        window.counters.add_runs(1, 1, 0)
        view = View(root, layout)
        return self._show(view.root.owner, view, result.dtype)
