# SPDX-License-Identifier: Apache-2.0
"""Stand-in for ``legate.core.Runtime``.

Stores are made lazily. Operations that can be fused go to the window. Everything
else goes to Legate, after the pending operations. A method that this module does
not know flushes the window and gets real objects.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np

from legate_diffuse.interpose.access import expose, writable
from legate_diffuse.interpose.array import LogicalArray
from legate_diffuse.interpose.manual_task import ManualTask
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.store import (
    LogicalStore,
    LogicalStorePartition,
    adopt,
    hold_fill,
    new_store,
    stand_in,
    view_of,
)
from legate_diffuse.interpose.task import AutoTask, RealTask
from legate_diffuse.interpose.window import window
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.form import form
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.root import Root


def _references(data: np.ndarray[Any, Any]) -> int:
    """Return the references to an array that is a parameter of the caller."""
    return sys.getrefcount(data)


def _measure_sole_references() -> int:
    """Return how many references ``_references`` counts where a caller kept none.

    Python need not count those of parameters. If what a caller keeps makes no
    difference, nobody can tell: then 0.
    """

    def count(data: np.ndarray[Any, Any]) -> int:
        return _references(data)

    kept = np.empty(0)
    alone = count(np.empty(0))
    return alone if count(kept) > alone else 0


_SOLE_REFERENCES: Final = _measure_sole_references()


def _kept_by_giver(caller: FrameType) -> int:
    """Return how many references to an array its giver keeps that uses it no more.

    cuPyNumeric 26.1 gives away the memory of a small array that nobody else has seen,
    once a task needs it (``TransferType.DONATE``): what was the array, and the
    ``caller``, who was asked to, have it still.
    """
    return 2 if getattr(caller.f_locals.get("transfer"), "name", "") == "DONATE" else 0


# The roots of arrays in memory of the application's, by the address of NumPy's array
# that has the memory, which they keep.
_given_roots: Final = WeakValueDictionary[int, Root]()


def _given(
    dtype: Any, name: str | None, shape: tuple[int, ...], data: Any
) -> LogicalStore | None:
    """Return an array in the memory of NumPy's array, None if Legate must have it.

    Arrays over the same memory are one, so that operations on them are ordered.
    """
    if (
        type(data) is not np.ndarray
        or name not in ALL
        or (data.shape, data.dtype) != (shape, np.dtype(name))
        or not (data.flags.carray and window.takes_memory(dtype, data))
    ):
        return None
    owner = data
    while type(owner.base) is np.ndarray:
        owner = owner.base
    root = _given_roots.get(id(owner))
    if root is None:
        form(whole(shape), shape)
        root = Root(real.legate, dtype, name, whole(shape), False)
        root.use(data)
        _given_roots[id(owner)] = root
    elif owner is not data or (root.dtype, root.shape) != (name, shape):
        return None
    return stand_in(root)


# Methods that neither submit work nor observe data.
_HARMLESS = frozenset(
    (
        "add_shutdown_callback",
        "config",
        "core_library",
        "create_library",
        "find_or_create_library",
        "get_machine",
        "machine",
        "node_count",
        "node_id",
        "realm_config",
        "start_profiling_range",
        "stop_profiling_range",
    )
)

# Methods that copy between stores.
_COPIES = frozenset(
    ("issue_copy", "issue_gather", "issue_scatter", "issue_scatter_gather")
)

# Methods that return an array, which Legate makes at once.
_MAKE_ARRAYS = frozenset(
    (
        "create_array",
        "create_array_like",
        "create_nullable_array",
        "create_struct_array",
    )
)


class Runtime:
    """Stand-in for ``legate.core.Runtime``; same methods, same meaning."""

    def __init__(self) -> None:
        self._libraries: dict[str, Any] = {}

    # -- libraries --------------------------------------------------------------
    def find_library(self, library_name: str) -> Any:
        """Return the library of a name; the same object every time."""
        library = self._libraries.get(library_name)
        if library is None:
            library = real.runtime.find_library(library_name)
            self._libraries[library_name] = library
        return library

    # -- stores -----------------------------------------------------------------
    def create_store(
        self,
        dtype: Any,
        shape: Any = None,
        optimize_scalar: bool = False,
        ndim: int | None = None,
    ) -> LogicalStore:
        """Create a store; Legate hears of it when a task needs it."""
        if (
            type(shape) is not tuple
            and not isinstance(shape, real.Shape)
            and isinstance(shape, Iterable)
        ):
            shape = tuple(shape)
        if (
            type(shape) is tuple
            and ndim is None
            and _plausible(shape)
            and not dtype.variable_size
        ):
            name = dtype_name(dtype)
            return new_store(dtype, name, shape, optimize_scalar=optimize_scalar)
        # a shape that may not be known yet, or something wrong that Legate refuses
        made = real.runtime.create_store(dtype, shape, optimize_scalar, ndim)
        return adopt(made, sole=True)

    def create_store_from_scalar(self, scalar: Any, shape: Any = None) -> LogicalStore:
        """Create a store that holds one value."""
        type_ = scalar.type
        extents = (1,) if shape is None else tuple(shape)
        name = dtype_name(type_)
        if name not in ALL or any(extent != 1 for extent in extents):
            made = real.runtime.create_store_from_scalar(scalar, shape)
            return adopt(made, sole=True)
        root = Root(
            real.legate,
            type_,
            name,
            whole(extents),
            scalar_storage=True,
            initial=scalar,
        )
        return stand_in(root)

    def create_store_from_buffer(
        self,
        dtype: Any,
        shape: Any,
        data: Any,
        read_only: bool,
        ordering: Any = None,
    ) -> LogicalStore:
        """Create a store attached to a buffer.

        The application may use the buffer at any time. So operations on it do not
        wait, and in one process Legate gets to know it when one of its tasks needs it.

        Legate does not order accesses through two stores over one buffer. So where it
        is told of the buffer at once, tasks on it are not held back.
        """
        sole = (
            isinstance(data, np.ndarray)
            and data.base is None
            and _references(data) <= _SOLE_REFERENCES + _kept_by_giver(sys._getframe(1))
        )
        sole = window.is_sole(sole)
        name = dtype_name(dtype)
        if sole and data.flags.c_contiguous and name in ALL:
            store = new_store(dtype, name, tuple(shape))
            if window.submitter.small.take(store._view.root, data):
                return store
        if not (sole or read_only) and (
            given := _given(dtype, name, tuple(shape), data)
        ):
            return given
        made = real.runtime.create_store_from_buffer(
            dtype, shape, data, read_only, ordering
        )
        store = adopt(made, sole=True)
        if not sole:
            store._view.root.lend()
            store._view.root.escaped = True
        return store

    def create_store_from_tiles(
        self, *arguments: Any, **options: Any
    ) -> tuple[LogicalStore, LogicalStorePartition]:
        """Create a store attached to several allocations."""
        store, partition = real.runtime.create_store_from_tiles(*arguments, **options)
        store = adopt(store)
        return store, LogicalStorePartition(store, partition)

    # -- tasks ------------------------------------------------------------------
    def create_auto_task(self, library: Any, task_id: int) -> AutoTask:
        """Create a task that Legate partitions."""
        return AutoTask(library, int(task_id))

    def create_manual_task(self, *arguments: Any, **options: Any) -> ManualTask:
        """Create a task with an explicit launch domain."""
        with window.scope(window.place()):
            made = real.runtime.create_manual_task(*arguments, **options)
        return ManualTask(made)

    def submit(self, op: Any) -> None:
        """Submit a task, or hold it back in the window."""
        if isinstance(op, AutoTask):
            window.submit(op)
        elif isinstance(op, RealTask):
            window.submit_now(op)
        else:
            window.flush("task that cannot be fused")
            real.runtime.submit(op)

    def issue_fill(self, array_or_store: Any, value: Any) -> None:
        """Fill a store with one value."""
        if type(array_or_store) is LogicalStore and hold_fill(
            array_or_store._view, value
        ):
            return
        self._issue("issue_fill", array_or_store, value)

    def tree_reduce(
        self, library: Any, task_id: int, store: Any, radix: int = 4
    ) -> LogicalStore:
        """Reduce a store by a tree of tasks."""
        window.let_pass("tree_reduce")
        source = view_of(store).materialize()
        return adopt(
            real.runtime.tree_reduce(library, task_id, source, radix), sole=True
        )

    def prefetch_bloated_instances(
        self, store: Any, low_offsets: Any, high_offsets: Any, initialize: bool = False
    ) -> None:
        """Hint that tiles of a store will be read with a halo.

        Fused tasks say themselves which halo they read. So a hint does not end the
        window, unless the store is to be filled, too.
        """
        if not initialize:
            return
        window.flush("prefetch_bloated_instances")
        real.runtime.prefetch_bloated_instances(
            _exposed(store), low_offsets, high_offsets, initialize
        )

    def _issue(self, name: str, *arguments: Any, **options: Any) -> None:
        window.let_pass(name)
        _call(getattr(real.runtime, name), arguments, options, _operand)

    # -- order and life time ----------------------------------------------------
    def issue_mapping_fence(self) -> None:
        """Order the mapping of everything before and after."""
        window.flush("fence")
        real.runtime.issue_mapping_fence()

    def issue_execution_fence(self, block: bool = False) -> None:
        """Order the execution of everything before and after."""
        window.flush("fence")
        if not block:
            real.runtime.issue_execution_fence(False)
            return
        with window.waiting():
            real.runtime.issue_execution_fence(True)

    def finish(self) -> None:
        """Finish the pending work and shut the runtime down."""
        window.finish()
        real.runtime.finish()

    def __getattr__(self, name: str) -> Any:
        found = getattr(real.runtime, name)
        if name in _HARMLESS:
            return found
        if name in _COPIES:
            return partial(self._issue, name)
        if name in _MAKE_ARRAYS:
            return lambda *arguments, **options: LogicalArray(
                None, _call(found, arguments, options)
            )
        window.flush(name)
        if not callable(found):
            return found
        return lambda *arguments, **options: _call(found, arguments, options)


_runtime = Runtime()


def get_legate_runtime() -> Runtime:
    """Return the runtime's stand-in."""
    return _runtime


def _exposed(value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(map(_exposed, value))
    if isinstance(value, LogicalArray):
        return value.expose() if type(value) is LogicalArray else value
    if type(value) is LogicalStore:
        return expose(value._view)
    return value


def _call(
    method: Callable[..., Any],
    arguments: Iterable[Any],
    options: dict[str, Any],
    made_real: Callable[[Any], Any] = _exposed,
) -> Any:
    """Call a method of Legate's with real objects."""
    return method(
        *map(made_real, arguments),
        **{key: made_real(value) for key, value in options.items()},
    )


def _operand(value: Any) -> Any:
    """Return the real store of an operand of a copy; Legate keeps no reference."""
    if type(value) is LogicalStore:
        return writable(value._view)
    return LogicalArray.unwrap(value)


def _plausible(extents: tuple[Any, ...]) -> bool:
    for extent in extents:
        if type(extent) is not int or extent < 0:
            return False
    return len(extents) <= int(real.LEGATE_MAX_DIM)
