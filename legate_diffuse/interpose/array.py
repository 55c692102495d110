# SPDX-License-Identifier: Apache-2.0
"""Stand-in for ``legate.core.LogicalArray``.

An array is a data store with an optional null mask. If it is one stand-in store
without a mask, the stand-in keeps that store. Any other array is wrapped as it is,
and operations on its stores are never held back.
"""

from __future__ import annotations

from typing import Any

from legate_diffuse.interpose.access import expose, hold
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.store import (
    LogicalStore,
    _AcceptsReal,
    adopt,
    view_of,
)
from legate_diffuse.interpose.window import window


class LogicalArray(metaclass=_AcceptsReal):
    """Stand-in for ``legate.core.LogicalArray``; same methods, same meaning."""

    __slots__ = ("_exposed", "_real", "_store")
    _real_name = "LogicalArray"

    def __init__(self, store: LogicalStore | None, array: Any = None) -> None:
        self._store = store
        self._real = array
        # keeps alive what raw_handle points to
        self._exposed: Any = None

    @staticmethod
    def from_store(store: Any) -> LogicalArray:
        """Return the array over a store, without a null mask."""
        return LogicalArray(adopt(store))

    @staticmethod
    def from_store_and_mask(store: Any, null_mask: Any) -> LogicalArray:
        """Return the array over a store and a null mask."""
        made = real.LogicalArray.from_store_and_mask(
            expose(view_of(store)), expose(view_of(null_mask))
        )
        return LogicalArray(None, made)

    @staticmethod
    def from_raw_handle(raw_handle: int) -> LogicalArray:
        """Return the array at the address of a C++ ``LogicalArray``."""
        return LogicalArray(None, real.LogicalArray.from_raw_handle(raw_handle))

    @staticmethod
    def unwrap(array: Any) -> Any:
        """Return the real array for a task that is being built."""
        if type(array) is not LogicalArray:
            return array
        if array._real is None:
            return hold(view_of(array._store))
        return array._real

    @staticmethod
    def plain_store(array: Any) -> Any:
        """Return the stand-in store that an array is, and anything else as it is."""
        if type(array) is LogicalArray and array._store is not None:
            return array._store
        return array

    @staticmethod
    def to_real(array: Any) -> Any:
        """Return the real ``LogicalArray`` of an argument of a task."""
        found = LogicalArray.unwrap(array)
        if isinstance(found, real.LogicalStore):
            found = real.LogicalArray.from_store(found)
        return found

    def expose(self) -> Any:
        """Return the real array for code that is not intercepted."""
        if self._store is not None:
            return real.LogicalArray.from_store(expose(view_of(self._store)))
        window.flush("escape")
        return self._real

    @property
    def data(self) -> LogicalStore:
        """The store of the elements."""
        return self._store if self._store is not None else adopt(self._real.data)

    @property
    def nullable(self) -> bool:
        """Whether the array has a null mask."""
        return self._store is None and bool(self._real.nullable)

    @property
    def nested(self) -> bool:
        """Whether the array has child arrays."""
        return self._store is None and bool(self._real.nested)

    @property
    def num_children(self) -> int:
        """The number of child arrays."""
        return 0 if self._store is not None else int(self._real.num_children)

    @property
    def __legate_data_interface__(self) -> dict[str, Any]:
        return {"version": 1, "data": {real.Field("store", self.type): self}}

    @property
    def raw_handle(self) -> int:
        """Address of the C++ array."""
        self._exposed = self.expose()
        return int(self._exposed.raw_handle)

    def get_physical_array(self, target: Any = None) -> Any:
        """Return the physical array; waits for the pending tasks that write it."""
        if self._store is not None:
            self._store._view.root.lend()
        return self.expose().get_physical_array(target)

    def fill(self, value: Any) -> None:
        """Fill the array with a value."""
        if self._store is not None:
            self._store.fill(value)
        else:
            window.flush("fill")
            self._real.fill(value)

    def __getitem__(self, indices: Any) -> LogicalArray:
        if self._store is not None:
            return LogicalArray(self._store[indices])
        return LogicalArray(None, self._real[indices])

    def __getattr__(self, name: str) -> Any:
        if self._store is not None and hasattr(LogicalStore, name):
            found = getattr(self._store, name)
            return _rewrap(found) if name in _VIEWS else found
        return _rewrap(getattr(self.expose(), name))

    def __str__(self) -> str:
        return str(self.expose())

    __repr__ = __str__


def _data_of_store(store: LogicalStore) -> dict[str, Any]:
    array = LogicalArray.from_store(store)
    return {"version": 1, "data": {real.Field("store", store.type): array}}


LogicalStore.__legate_data_interface__ = property(_data_of_store)

_VIEWS = frozenset(
    ("promote", "project", "broadcast", "slice", "transpose", "delinearize")
)


def _rewrap(value: Any) -> Any:
    """Return stand-ins for the arrays and stores in a result."""
    if callable(value):
        return lambda *arguments, **options: _rewrap(value(*arguments, **options))
    if isinstance(value, tuple):
        return tuple(_rewrap(each) for each in value)
    if type(value) is LogicalStore:
        return LogicalArray(value)
    if type(value) is real.LogicalStore:
        return adopt(value)
    if isinstance(value, real.LogicalArray):
        return LogicalArray(None, value)
    return value
