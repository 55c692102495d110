# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for ``legate.core.LogicalStore`` and ``LogicalStorePartition``.

A stand-in answers what it can from its view, and makes the real store only for the
rest. Whatever hands out the real store flushes the window first, and marks the
storage as escaped.

Follows: Legate (src/cpp/legate/data/detail)
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as operator_index
from typing import Any

from legate_diffuse.interpose.access import expose, real_store, writable
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.physical_store import (
    PhysicalStore,
    ShownPhysicalStore,
    SmallPhysicalStore,
)
from legate_diffuse.interpose.window import window
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View


class _AcceptsReal(type):
    """Lets ``isinstance(real_store, LogicalStore)`` hold, as it did before.

    Code that is not intercepted, such as ``legate.io``, returns real objects.
    """

    _real_name: str

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(cls, instance) or isinstance(
            instance, getattr(real, cls._real_name)
        )


class LogicalStore(metaclass=_AcceptsReal):
    """Stand-in for ``legate.core.LogicalStore``; same methods, same meaning."""

    __slots__ = ("_owner", "_view")
    _real_name = "LogicalStore"
    # made of a LogicalArray, which is made of stores: interpose.array adds it
    __legate_data_interface__: Any

    def __init__(self, owner: object, view: View) -> None:
        self._owner = owner
        self._view = view

    # -- metadata ---------------------------------------------------------
    @property
    def shape(self) -> Any:
        """The shape of the view; waits for an unbound store."""
        view = self._view
        root = view.root
        if root.fusable:
            return view.shape
        shape = view.materialize().shape
        extents = tuple(shape)
        if extents != view.shape and not root.escaped:
            # no other stand-in has another view, and no pending task uses it
            view.layout = whole(extents)
            view.shape = view.layout.shape
            root.bind(dtype_name(root.type), view.layout)
        return shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        view = self._view
        return len(view.shape) if view.root.fusable else int(view.materialize().ndim)

    @property
    def type(self) -> Any:
        """The element type."""
        return self._view.root.type

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the view; waits for an unbound store."""
        return tuple(self.shape)

    @property
    def volume(self) -> int:
        """The number of elements; waits for an unbound store."""
        view = self._view
        if view.root.fusable:
            return view.volume
        return int(view.materialize().volume)

    size = volume

    @property
    def has_scalar_storage(self) -> bool:
        """Whether the storage is a Legion future."""
        view = self._view
        if view.root.fusable:
            return view.root.scalar_storage
        return bool(view.materialize().has_scalar_storage)

    @property
    def unbound(self) -> bool:
        """Whether the shape is still unknown."""
        view = self._view
        return not view.root.fusable and bool(view.materialize().unbound)

    @property
    def transformed(self) -> bool:
        """Whether the store is a transformed view."""
        view = self._view
        if view.root.fusable:
            return view.layout.transformed
        return bool(view.materialize().transformed)

    def overlaps(self, other: LogicalStore) -> bool:
        """Whether the two views share elements."""
        return self._view.overlaps(view_of(other))

    def equal_storage(self, other: LogicalStore) -> bool:
        """Whether the two views cover the same storage."""
        return self._view.equal_storage(view_of(other))

    # -- views --------------------------------------------------------------
    def promote(self, extra_dim: int, dim_size: int) -> LogicalStore:
        """Add a dimension along which the store repeats."""
        return self._derived("promote", self._dimension(extra_dim), dim_size)

    def project(self, dim: int, index: int) -> LogicalStore:
        """Fix a dimension at an index."""
        dim = self._dimension(dim)
        return self._derived("project", dim, index)

    def broadcast(self, dim: int, dim_size: int) -> LogicalStore:
        """Repeat a dimension of extent 1."""
        dim = self._dimension(dim)
        return self._derived("broadcast", dim, dim_size)

    def transpose(self, axes: Any) -> LogicalStore:
        """Permute the dimensions."""
        if not isinstance(axes, Iterable):
            raise ValueError(f"Expected an iterable but got {type(axes)}")
        return self._derived("transpose", tuple(axes))

    def delinearize(self, dim: int, shape: tuple[int, ...]) -> LogicalStore:
        """Split a dimension into several."""
        dim = self._dimension(dim)
        return self._derived("delinearize", dim, tuple(shape))

    def slice(self, dim: int, sl: slice) -> LogicalStore:
        """Return a contiguous part of one dimension."""
        dim = self._dimension(dim)
        view = self._view
        if not view.root.fusable:
            view.root.escaped = True
            return adopt(view.materialize().slice(dim, sl))
        if sl.step is not None and operator_index(sl.step) != 1:
            raise NotImplementedError(f"Unsupported slice: {sl}")
        part = view.slice(dim, sl.start, sl.stop)
        if part is view:
            return self
        if part is None:
            shape = (*view.shape[:dim], 0, *view.shape[dim + 1 :])
            return new_store(view.root.type, view.root.dtype, shape)
        return LogicalStore(self._owner, part)

    def __getitem__(self, indices: Any) -> LogicalStore:
        """Slice, project or promote dimension by dimension."""
        result = self
        if not isinstance(indices, tuple):
            indices = (indices,)
        for dim, index in enumerate(indices):
            if isinstance(index, slice):
                result = result.slice(dim, index)
            elif index is None:
                result = result.promote(dim, 1)
            else:
                result = result.project(dim, operator_index(index))
        return result

    def _dimension(self, dim: int) -> int:
        """Resolve a dimension that is counted from the end, if it is valid."""
        ndim = self.ndim if dim < 0 else 0
        return dim + ndim if dim >= -ndim else dim

    def _derived(self, name: str, *arguments: Any) -> LogicalStore:
        view = self._view
        if not view.root.fusable:
            view.root.escaped = True
            return adopt(getattr(view.materialize(), name)(*arguments))
        return LogicalStore(self._owner, getattr(view, name)(*arguments))

    # -- what needs the real store -----------------------------------------
    def fill(self, value: Any) -> None:
        """Fill the store with a value."""
        if not hold_fill(self._view, value):
            window.let_pass("issue_fill")
            real.runtime.issue_fill(writable(self._view), value)

    @property
    def partition(self) -> LogicalStorePartition | None:
        """The partition that this store is a child of."""
        found = expose(self._view).partition
        if found is None:
            return None
        return LogicalStorePartition(adopt(found.store()), found)

    def partition_by_tiling(
        self, tile_shape: Any, color_shape: Any = None
    ) -> LogicalStorePartition:
        """Partition the store into tiles."""
        view, tiling = self._view, (tile_shape, color_shape)
        if not view.root.fusable or view.root.scalar_storage:
            return LogicalStorePartition(
                self, expose(self._view).partition_by_tiling(*tiling)
            )
        # of another store, so that Legate refuses now what it would refuse later
        like = real.runtime.create_store(self.type, view.shape)
        return LogicalStorePartition(self, like.partition_by_tiling(*tiling), tiling)

    def get_physical_store(self, target: Any = None) -> Any:
        """Return the physical store; waits for the pending tasks that write it."""
        view = self._view
        root = view.root
        window.flush_for(root)
        if root.is_here and target is None:
            if root.scalar_storage and view.volume == 1:
                return SmallPhysicalStore(view, root.small.value())
            if view.affine and window.may_show(root):
                return ShownPhysicalStore(view)
        with window.waiting():
            real_store = view.materialize(maps=target is None)
            physical = real_store.get_physical_store(target)
        if root.scalar_storage:
            # a copy: Legate does not keep a future's physical store up to date
            return physical
        window.lend(root, physical)
        if window.runs_at_once:
            window.submitter.small.share(root)
        return PhysicalStore(physical, root)

    def detach(self) -> None:
        """Detach the store from its external allocation."""
        expose(self._view).detach()

    def offload_to(self, target_mem: Any) -> None:
        """Move the store's only copy to another memory."""
        window.flush("offload")
        self._view.materialize().offload_to(target_mem)

    @property
    def __array_interface__(self) -> Any:
        return self.get_physical_store().__array_interface__

    @property
    def __cuda_array_interface__(self) -> Any:
        physical = self.get_physical_store(real.StoreTarget.FBMEM)
        return physical.__cuda_array_interface__

    @property
    def raw_handle(self) -> int:
        """Address of the C++ store."""
        return int(expose(self._view).raw_handle)

    def __str__(self) -> str:
        window.flush("read")
        return str(self._view.materialize())

    __repr__ = __str__


class LogicalStorePartition(metaclass=_AcceptsReal):
    """Stand-in for ``legate.core.LogicalStorePartition``.

    With a ``tiling`` the real one is made when it is used, and ``like`` is one of a
    store of the same shape.
    """

    __slots__ = ("_like", "_store", "_tiling")
    _real_name = "LogicalStorePartition"

    def __init__(
        self, store: LogicalStore, like: Any, tiling: tuple[Any, Any] | None = None
    ) -> None:
        self._store = store
        self._like = like
        self._tiling = tiling

    def store(self) -> LogicalStore:
        """The store that is partitioned."""
        return self._store

    @property
    def color_shape(self) -> tuple[int, ...]:
        """The number of tiles in each dimension."""
        return tuple(self._like.color_shape)

    def get_child_store(self, *color: int) -> LogicalStore:
        """The tile of one color."""
        expose(self._store._view)
        return adopt(self.make(writes=True).get_child_store(*color))

    def make(self, *, writes: bool) -> Any:
        """Return the real partition, for a task that reads or ``writes``."""
        if self._tiling is None:
            return self._like
        return real_store(self._store._view, writes=writes).partition_by_tiling(
            *self._tiling
        )


def stand_in(root: Root) -> LogicalStore:
    """Return the first stand-in of a new root."""
    return LogicalStore(root.owner, View(root, whole(root.shape)))


def new_store(
    type_: Any,
    dtype: str | None,
    shape: tuple[int, ...],
    *,
    optimize_scalar: bool = False,
) -> LogicalStore:
    """Return a stand-in for a bound store that Legate makes when it is needed."""
    layout = whole(shape)
    # src/cpp/legate/data/detail/storage.cc: such a store is a future
    scalar = optimize_scalar and layout.volume == 1
    root = Root(real.legate, type_, dtype, layout, scalar)
    return LogicalStore(root.owner, View(root, layout))


def adopt(store: Any, *, sole: bool = False) -> LogicalStore:
    """Return a stand-in for a real store.

    ``sole`` says that nothing else refers to the storage. Without it the
    storage may have other stand-ins, so that its tasks are never held back.
    """
    if type(store) is LogicalStore:
        return store
    bound = sole and not store.unbound
    type_ = store.type
    root = Root(
        real.legate,
        type_,
        dtype_name(type_) if bound else None,
        whole(tuple(store.extents) if bound else ()),
        scalar_storage=bound and store.has_scalar_storage,
    )
    root.keep(store)
    root.fusable = root.fusable and bound and not store.transformed
    root.escaped = not sole
    return stand_in(root)


def view_of(store: Any) -> View:
    """Return the view behind a stand-in or a real store."""
    if type(store) is LogicalStore:
        return store._view
    if not isinstance(store, real.LogicalStore):
        raise TypeError(f"Expected a logical store but got {type(store)}")
    return adopt(store)._view


def hold_fill(target: View, value: Any) -> bool:
    """Let a fill wait in the window; False if it cannot."""
    if target.root.dtype not in ALL:
        return False
    if isinstance(value, LogicalStore):
        window.submit(Fill(target, view_of(value)))
    elif type(value) is real.Scalar and dtype_name(value.type) == target.root.dtype:
        window.submit(Fill(target, value))
    else:
        return False
    return True
