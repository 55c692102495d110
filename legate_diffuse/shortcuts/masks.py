# SPDX-License-Identifier: Apache-2.0
"""Selections: what ``x[mask]`` gives, before anybody asks how many elements it has.

cuPyNumeric compacts the elements at once, which ends the window, and puts them back
with a scatter. A selection keeps all elements of ``x`` and the mask instead. Operations
on selections of one mask compute with all elements, and ``x[mask] = selection`` is a
masked write. Everything else compacts, as the original does.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window
from legate_diffuse.launch import ranks
from legate_diffuse.launch.likeness import Likeness
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.templates import ByType, Templates
from legate_diffuse.stores.view import View

# What functions cost on elements that the mask leaves out, in additions. Others cost
# _COSTLY, and integers have no others: their division by zero ends the program.
_COSTS: Final = {
    **dict.fromkeys(("add", "subtract", "multiply", "square", "negative"), 1),
    **dict.fromkeys(("positive", "absolute", "maximum", "minimum"), 1),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), 1),
    **dict.fromkeys(("equal", "not_equal"), 1),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "invert"), 1),
}
_DIVISIONS: Final = ("divide", "true_divide", "reciprocal", "sqrt")
_COSTLY: Final = 12
# To compact the elements of one array costs about as much.
_COST_OF_COMPACTING: Final = 16
# After so many selections in a row whose elements were wanted they are compacted at
# once, until so many were.
_PATIENCE: Final = 4
_MOST_SETTLED: Final = 32


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a view when it was selected from, or was a mask."""

    view: View
    version: int
    unseen: int

    @classmethod
    def now(cls, view: View) -> Moment:
        """Return the state of a view."""
        return cls(view, view.root.version, window.submitter.unseen)

    def lasts(self) -> bool:
        """Whether the view still exists, and nothing can have changed it."""
        root = self.view.root
        return (
            root.version == self.version
            and window.submitter.unseen == self.unseen
            and root.alive
            and root.is_intact
        )


class Mask:
    """A mask when it was used first, and a copy of it."""

    __slots__ = ("__weakref__", "array", "moment")

    def __init__(self, array: Any, moment: Moment) -> None:
        self.array = array
        self.moment = moment

    def is_still(self, view: View) -> bool:
        """Whether a view shows what this mask was."""
        return self.moment.lasts() and self.moment.view.equal_storage(view)


class Selections:
    """Makes selections, and computes with them.

    ``type`` is that of the thunk of a selection. When its ``base`` is wanted, it
    becomes a plain thunk.
    """

    def __init__(
        self,
        client: Client,
        show: Callable[[Any, View, Any], Any],
        make: Callable[..., Any],
        copies: ByType,
    ) -> None:
        self._ndarray = client.ndarray
        self._thunk_type = client.deferred_array
        self._library = client.library
        self._show_view = show
        self._make = make
        self._copies = copies
        self._latest: Callable[[], Mask | None] = lambda: None
        # selections in a row whose elements were wanted, and nothing else
        self._settled = 0
        # when a mask goes is one rank's affair
        self._view_of = client.view_of
        self._possible = not ranks.are_several(client.legate.runtime)
        # cuPyNumeric's own way to index, set by who replaces it
        self.compact: Callable[[Any, Any], Any]
        self.type = type(
            "Selection",
            (client.deferred_array,),
            {"__getattr__": lambda thunk, name: self._settle(thunk, name)},
        )

    # -- from arrays, and back ----------------------------------------------------
    def select(self, array: Any, key: Any) -> Any:
        """Return ``array[key]``, None if that is left to the original."""
        view, places = self._plain_view(array), self._plain_view(key)
        if (
            not self._possible
            or view is None
            or places is None
            or places.root.dtype != "bool"
            or not 0 < len(places.shape) <= real.LEGATE_MAX_DIM
            or places.shape != view.shape
        ):
            return None
        if self._is_better_settled():
            return self.compact(array, key)
        mask = self._latest()
        if mask is None or not self._is_mask(mask, places):
            # first the moment: a finalizer may change the mask before the copy
            moment = Moment.now(places)
            mask = Mask(self._copy(places), moment)
            self._latest = weakref.ref(mask)
        moment = Moment.now(view)
        return self._new(self._copy(view), mask, 0, 1, moment)

    def put(self, array: Any, key: Any, selection: Any) -> bool:
        """Assign a selection to ``array[key]``; False if the original must."""
        view, places = self._plain_view(array), self._plain_view(key)
        thunk = selection._thunk
        if (
            view is None
            or places is None
            or view.shape != places.shape
            or view.root is places.root
            or view.root.dtype != thunk.values._thunk.base._view.root.dtype
            or not self._is_mask(thunk.mask, places)
        ):
            return False
        self._settled = 0
        array._thunk.putmask(key._thunk, thunk.values._thunk)
        return True

    def total(self, selection: Any) -> Any:
        """Return the sum of a selection; None of another array."""
        if not self._is_selection(selection):
            return None
        self._settled = 0
        thunk = selection._thunk
        zero = thunk.dtype.type(0)
        where = importlib.import_module("cupynumeric").where
        return where(thunk.mask.array, thunk.values, zero).sum()

    # -- operations -----------------------------------------------------------------
    def apply(
        self,
        submit: Callable[..., Any],
        templates: Templates,
        operands: Sequence[Any],
        out: Any,
    ) -> Any:
        """Submit an operation of which at least one operand is a selection.

        None if it is left to the original. ``out`` may be the first operand.
        """
        masked = [x._thunk for x in operands if self._is_selection(x)]
        mask = masked[0].mask
        values: list[Any] = []
        for operand in operands:
            if self._is_selection(operand):
                if operand._thunk.mask is not mask:
                    return None
                operand = operand._thunk.values
            elif type(operand) is self._ndarray and operand.shape != ():
                return None
            values.append(operand)
        if out is not None and out is not operands[0]:
            return None
        return self._apply(templates, masked, lambda: submit(templates, values), out)

    def _apply(
        self, templates: Templates, masked: list[Any], submit: Any, out: Any
    ) -> Any:
        cost = _cost(templates.name, masked[0].dtype)
        if cost is None:
            return None
        self._settled = 0
        cost += sum(thunk.cost for thunk in masked)
        number = sum(thunk.number for thunk in masked)
        if cost > number * _COST_OF_COMPACTING:
            return None
        made = submit()
        if made is None:
            return None
        if out is None:
            return self._new(made, masked[0].mask, cost, number, None)
        if made.dtype != out.dtype or not out._writeable:
            return None
        out._thunk = self._new(made, masked[0].mask, cost, number, None)._thunk
        return out

    def _is_better_settled(self) -> bool:
        """Whether a program wants the elements of what it selects, time after time."""
        if self._settled < _PATIENCE or not window.runs_at_once:
            return False
        # it may do something else soon
        self._settled = (self._settled + 1) % _MOST_SETTLED
        return self._settled > 0

    def _is_mask(self, mask: Mask, places: View) -> bool:
        """Whether a view shows what a mask was, or was computed in the same way."""
        if mask.is_still(places):
            return True
        copied = self._plain_view(mask.array)
        return copied is not None and Likeness(window.state.operations).are_alike(
            copied, places
        )

    # -- thunks ---------------------------------------------------------------------
    def _is_selection(self, operand: Any) -> bool:
        return type(operand) is self._ndarray and type(operand._thunk) is self.type

    def _plain_view(self, array: Any) -> View | None:
        """Return the view of an array that only recorded operations can change."""
        view = self._view_of(array)
        return view if view is not None and view.root.is_intact else None

    def _new(
        self, values: Any, mask: Mask, cost: int, number: int, origin: Moment | None
    ) -> Any:
        thunk: Any = object.__new__(self.type)
        thunk.library = self._library
        thunk.dtype = values._thunk.dtype
        thunk.values = values
        thunk.mask = mask
        thunk.cost = cost
        thunk.number = number
        thunk.origin = origin
        thunk.place = window.place()
        array = object.__new__(self._ndarray)
        array._thunk = thunk
        array._legate_data = None
        array._writeable = True
        return array

    def _settle(self, thunk: Any, name: str) -> Any:
        """Compact the elements, when the store of a selection is wanted."""
        if name != "base":
            raise AttributeError(f"no attribute {name}")
        self._settled += 1
        origin, moment = thunk.origin, thunk.mask.moment
        # what is as it was need not be stored a second time
        is_mask, is_origin = moment.lasts(), origin is not None and origin.lasts()
        places = self._show(moment.view) if is_mask else thunk.mask.array
        values = self._show(origin.view) if is_origin else thunk.values
        if is_mask:
            thunk.mask = None
        if is_origin:
            thunk.values = None
        # the program has asked for it where it has made the selection
        with window.scope(thunk.place):
            try:
                base = self.compact(values, places)._thunk.base
            except BaseException:
                if is_mask:
                    thunk.mask = Mask(self._copy(moment.view), moment)
                if is_origin:
                    thunk.values = self._copy(origin.view)
                raise
        thunk.__class__ = self._thunk_type
        thunk.base = base
        del thunk.values, thunk.mask, thunk.origin, thunk.place
        return base

    def _copy(self, view: View) -> Any:
        return self._make(self._copies[view.root.dtype], view.shape, view)

    def _show(self, view: View) -> Any:
        root = view.root
        return self._show_view(root.owner, view, root.type.to_numpy_dtype())


def _cost(name: str, dtype: Any) -> int | None:
    """Return what a function costs on an element; None if it must not see all."""
    cost = _COSTS.get(name)
    if cost is None and dtype.kind in "fc":
        cost = 4 if name in _DIVISIONS else _COSTLY
    return cost
