# SPDX-License-Identifier: Apache-2.0
"""A window's key -> the IR's window.

The IR holds what the key holds (``launch/state.py``) and what kinds of operations mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.ir import (
    Access,
    IndexTask,
    Points,
    Privilege,
    Store,
    View,
    Window,
)
from legate_diffuse.ir.landmarks import Landmarks
from legate_diffuse.ir.outline import OUTLINES
from legate_diffuse.ir.region import Endpoint, Interval, Region, Zones, point
from legate_diffuse.ir.store import OTHER
from legate_diffuse.ir.task import ALL as WHOLE
from legate_diffuse.kernel.dtypes import ALL, RECT

DTYPES: Final = (*ALL, RECT, OTHER)
NEW_VIEW: Final = -1
"""What a view's description follows in a key."""
# What a key says of a root.
REPLICATED: Final = 1
CONSTANT: Final = 2
SINGLE: Final = 4
UNDEFINED: Final = 8
FIXED: Final = 16

_POINTS: Final = (Points.NONE, Points.ONE, Points.MANY, Points.SHORT)
"""By what keys say of a shape: ``Layout.points``."""


def translate(window: Any, meanings: Meanings) -> Window:
    """Return the IR of the operations of a ``ClosedWindow``.

    Ids of stores, views and shapes are the numbers in the window's key. Views that
    show the same through other transforms have the number of the first one.
    """
    reader = _Reader(window.key)
    accesses = [reader.operation(len(one.views))[1] for one in window.operations]
    views = reader.settled(window.alive)
    tasks = tuple(
        _task(operation, [views[number] for number in numbers], meanings)
        for operation, numbers in zip(window.operations, accesses, strict=True)
    )
    return Window(tasks, window.carried)


def spells(key: Sequence[int], operations: Sequence[Any], views: Sequence[Any]) -> bool:
    """Whether a key was computed from these operations, and no others.

    ``views`` are those of the operations, by number.
    """
    numbers = {view: number for number, view in enumerate(views)}
    reader = _Reader(key)
    try:
        return all(
            reader.operation(len(one.views))
            == (one.kind.id, [numbers.get(view, -1) for view in one.views])
            for one in operations
        ) and reader.at_end(len(views))
    except (IndexError, ValueError):
        return False


class _Reader:
    """Reads stores and views off a key; their landmarks have places at its end."""

    def __init__(self, tokens: Sequence[int]) -> None:
        # the next one is at the end
        self._tokens = list(reversed(tokens))
        self._views: list[View] = []
        self._stores: list[Store] = []
        self._points: list[Points] = []
        self._landmarks: dict[tuple[int, int], Landmarks] = {}

    def operation(self, count: int) -> tuple[int, list[int]]:
        """Return the kind of the next operation, and the numbers of its views."""
        kind = self._tokens.pop()
        numbers = []
        for _ in range(count):
            number = self._tokens.pop()
            if number == NEW_VIEW:
                number = len(self._views)
                self._views.append(self._view(number))
            numbers.append(number)
        return kind, numbers

    def at_end(self, num_views: int) -> bool:
        """Whether all operations were read, with so many views."""
        ended = not self._tokens or self._tokens[-1] < NEW_VIEW
        return ended and len(self._views) == num_views

    def settled(self, live: Sequence[bool]) -> list[View]:
        """Return all views, whose stores are alive as ``live`` says."""
        dims = {
            view.store.id: len(view.region)
            for view in self._views
            if view.region is not None
        }
        stores = [
            replace(
                store,
                live=live[store.id],
                zones=self._zones(store, dims.get(store.id, 0)),
            )
            for store in self._stores
        ]
        first: dict[object, int] = {}
        settled = []
        for view in self._views:
            region = view.region and tuple(self._settled(view.store, view.region))
            number = view.id
            if region is not None:
                alike = view.store.id, view.shape, region, view.dims
                number = first.setdefault(alike, number)
            store = stores[view.store.id]
            settled.append(
                replace(view, id=number, store=store, region=region, recorded=number)
            )
        return settled

    def _view(self, number: int) -> View:
        store, shape = self._store(), self._shape()
        outline = OUTLINES[self._tokens.pop()]
        if outline.ends is None:
            return View(number, store, shape, self._points[shape])
        region = []
        for dim, (low, high, is_point) in enumerate(outline.ends):
            first = low or self._position(store, dim, is_point)
            if is_point:
                region.append(point(first))
            else:
                last = high or self._position(store, dim, is_point)
                region.append(Interval(first, last))
        return View(
            number, store, shape, self._points[shape], tuple(region), outline.dims
        )

    def _store(self) -> Store:
        take = self._tokens.pop
        number = take()
        if number == len(self._stores):
            dtype, flags = DTYPES[take()], take()
            self._stores.append(
                Store(
                    number,
                    dtype,
                    replicated=bool(flags & REPLICATED),
                    constant=bool(flags & CONSTANT),
                    single=bool(flags & SINGLE),
                    undefined=bool(flags & UNDEFINED),
                    fixed=bool(flags & FIXED),
                )
            )
        return self._stores[number]

    def _shape(self) -> int:
        number = self._tokens.pop()
        if number == len(self._points):
            self._points.append(_POINTS[self._tokens.pop()])
        return number

    def _position(self, store: Store, dim: int, is_point: bool) -> Endpoint:
        landmarks = self._landmarks.setdefault((store.id, dim), Landmarks())
        return landmarks.decode(self._tokens, point=is_point)

    def _settled(self, store: Store, region: Region) -> Iterator[Interval]:
        """Yield the intervals of a region with the landmarks that points have now."""
        for dim, interval in enumerate(region):
            landmarks = self._landmarks.get((store.id, dim))
            moved = landmarks.moved.get(interval.low.landmark) if landmarks else None
            yield point(moved) if moved is not None and interval.point else interval

    def _zones(self, store: Store, dims: int) -> tuple[Zones, ...]:
        zones = tuple(
            self._landmarks[store.id, dim].zones
            if (store.id, dim) in self._landmarks
            else Zones()
            for dim in range(dims)
        )
        return zones if any(zones) else ()


def _task(operation: Any, views: Sequence[View], meanings: Meanings) -> IndexTask:
    kind = operation.kind.operation
    operator = meanings.reduction(kind) or "add"
    accesses = tuple(
        Access(Privilege.REDUCE, view, operator)
        if privilege >= Privilege.REDUCE
        else Access(Privilege(privilege), view)
        for privilege, view in zip(operation.privileges, views, strict=True)
    )
    if meanings.sums_rows(kind):
        reads = [access for access in accesses if access.privilege is Privilege.READ]
        accesses = tuple(
            replace(access, operator=WHOLE) if access in reads[1:] else access
            for access in accesses
        )
    if not operation.kind.overwrites:
        # what it leaves as it is counts as read
        accesses += tuple(
            Access(Privilege.READ, access.view)
            for access in accesses
            if access.privilege is Privilege.WRITE
        )
    return IndexTask(kind, _launch_shape(accesses), accesses)


def _launch_shape(accesses: tuple[Access, ...]) -> int:
    """Return the shape of what is written, or of what is read to be reduced."""
    for privilege in (Privilege.WRITE, Privilege.READ, Privilege.REDUCE):
        for access in accesses:
            if access.privilege is privilege:
                return access.view.shape
    raise ValueError("a task has no arguments")
