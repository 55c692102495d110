# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for ``legate.core.PhysicalStore`` outside of tasks."""

from __future__ import annotations

from typing import Any

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.stores.form import seen
from legate_diffuse.stores.given import Given
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View


class PhysicalStore:
    """Stand-in for a physical store.

    Legate keeps its memory up to date: a task that writes the store has done so when
    its submission returns. The real physical store lives as long as a NumPy array
    over it. Other interfaces hand out memory that cannot be tracked, which then
    counts as held for good.
    """

    __slots__ = ("_real", "_root")

    def __init__(self, physical: Any, root: Root) -> None:
        self._real = physical
        self._root = root

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return real.PhysicalStore

    def __dlpack__(self, **options: Any) -> Any:
        self._root.lend()
        return self._real.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._real.__dlpack_device__()

    @property
    def __array_interface__(self) -> Any:
        self._root.lend()
        return self._real.__array_interface__

    @property
    def __cuda_array_interface__(self) -> Any:
        self._root.lend()
        return self._real.__cuda_array_interface__

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class SmallPhysicalStore:
    """Stand-in for a physical store over a copy of a single element.

    The element lies in this process. What only Legate knows comes from the real
    physical store.
    """

    __slots__ = ("_real", "_value", "_view")

    def __init__(self, view: View, value: bytes) -> None:
        self._view = view
        self._value = value
        self._real: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return real.PhysicalStore

    def get_inline_allocation(self) -> Any:
        """Return the element's memory, as far as NumPy is concerned."""
        return _array_of(self._view, self._value)

    @property
    def __array_interface__(self) -> Any:
        return self.get_inline_allocation().__array_interface__

    def __getattr__(self, name: str) -> Any:
        if self._real is None:
            self._real = self._view.materialize(reads_only=True).get_physical_store()
        return getattr(self._real, name)


def _array_of(view: View, value: bytes) -> Any:
    # a bytearray, as NumPy does not let an array over bytes be written
    return np.frombuffer(bytearray(value), view.root.dtype).reshape(view.shape)


def value_here(view: View) -> Any:
    """Return a copy of the only element of a root in this process."""
    return _array_of(view, view.root.small.value())


def shown_elements(view: View) -> Any:
    """Return the elements of a view in this process, which NumPy shares from now on."""
    root = view.root
    if type(root.mapped) is Given:
        return seen(view.layout, root.shape, root.mapped.elements)
    return seen(view.layout, root.shape, root.show().view(root.dtype))


class ShownPhysicalStore:
    """Stand-in for a physical store over elements that lie in this process.

    The memory is ours until a task of Legate's needs the array: then it is attached,
    and Legate keeps it up to date. What only Legate knows makes that happen, too.
    """

    __slots__ = ("_elements", "_real", "_view")

    def __init__(self, view: View) -> None:
        self._view = view
        self._elements = shown_elements(view)
        self._real: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return real.PhysicalStore

    def get_inline_allocation(self) -> Any:
        """Return the memory, as far as NumPy is concerned."""
        return self._elements

    def __getattr__(self, name: str) -> Any:
        if self._real is None:
            store = self._view.materialize().get_physical_store()
            self._view.root.lend(store)
            self._real = PhysicalStore(store, self._view.root)
        return getattr(self._real, name)
