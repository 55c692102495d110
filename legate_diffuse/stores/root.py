# SPDX-License-Identifier: Apache-2.0
"""The Legate storage behind a stand-in store, which may not exist yet.

Legate gets to know a storage when a task that needs it is submitted. A temporary
that fusion removes never exists in Legate.

Follows: Legate (src/cpp/legate/operation/detail)
"""

from __future__ import annotations

import sys
from itertools import count
from typing import Any, Final

import numpy as np

from legate_diffuse.stores.given import Given
from legate_diffuse.stores.layout import Layout
from legate_diffuse.stores.legate import Legate

# The references to a physical store that nobody else holds, when they are counted:
# by the tuple, and by the loop variable and the counting call, if Python counts those.
# Measured below.
_lent_references = 0

# The references to an owner that no stand-in holds, when they are counted: by the
# root, and by the counting call, if Python counts it. Measured below.
_owner_references = 0

_NUMBERS: Final = count(1)


class Spare:
    """A real store of a root's type and shape that may take the place of its own."""

    __slots__ = ("handle", "store")

    def __init__(self, store: Any) -> None:
        self.store = store
        self.handle = int(store.raw_handle)


class Root:
    """One storage, made by Legate only when :attr:`real` is first needed.

    Every stand-in of the root holds its ``owner``. So the references to the owner
    are the application's half of the split reference count (Diffuse, section 5.2).
    The window refers to the root, which does not count.
    """

    __slots__ = (
        "__weakref__",
        "_handle",
        "_number",
        "constant",
        "constant_bytes",
        "dtype",
        "escaped",
        "forsaken",
        "fusable",
        "held",
        "initial",
        "legate",
        "lent",
        "mapped",
        "moves",
        "owner",
        "places",
        "real",
        "scalar_storage",
        "shape",
        "shared",
        "shared_future",
        "small",
        "spare",
        "type",
        "version",
        "volume",
    )

    def __init__(
        self,
        legate: Legate,
        type_: Any,
        dtype: str | None,
        layout: Layout,
        scalar_storage: bool,
        initial: Any = None,
    ) -> None:
        self.legate = legate
        self.type = type_
        # see ``dtype_name``
        self.dtype = dtype
        self.shape: tuple[int, ...] = layout.shape
        self.volume = layout.volume
        # whether Legate keeps the one element in a future
        self.scalar_storage = scalar_storage
        self.owner = object()
        # how often it has moved to another real store
        self.moves = 0
        # legate.core.Scalar from which Legate makes the store
        self.initial = initial
        # the same, while nothing has been written
        self.constant = initial
        self.constant_bytes: bytes | None = None
        self.real: Any = None
        # the native ``SmallArray``, if the elements may lie in this process
        self.small: Any = None
        self._handle = 0
        self._number = 0
        # grows whenever an operation that may change it is submitted to the window, and
        # when the application gets hold of the memory
        self.version = 0
        # True once code that is not intercepted may hold the real store
        self.escaped = False
        # True once a task that is being built may hold it
        self.held = False
        # True once another rank's program cannot reach it any more
        self.forsaken = False
        self.fusable = dtype is not None
        # True if the application may hold the storage's memory
        self.shared = False
        # the real physical stores through which it does; None: it does for good
        self.lent: tuple[Any, ...] | None = ()
        # the real physical store whose memory ``small`` uses, or ``Given``
        self.mapped: Any = None
        # where the elements lie: see ``launch.choice``
        self.places = 0
        # stands for the future behind a single element, if other elements may lie in
        # it as well: a new object for each task that has written such elements
        self.shared_future: object | None = None
        # the store that the root has moved from, or will move to
        self.spare: Spare | None = None

    @property
    def alive(self) -> bool:
        """Whether the application can still reach the storage."""
        return sys.getrefcount(self.owner) > _owner_references

    @property
    def number(self) -> int:
        """A number that no other root has had in this process, from 1 on."""
        if self._number == 0:
            self._number = next(_NUMBERS)
        return self._number

    @property
    def nbytes(self) -> int:
        """The size of the storage, in bytes."""
        return self.volume * int(self.type.size)

    @property
    def is_here(self) -> bool:
        """Whether the elements lie in this process, and Legate may lack them."""
        small = self.small
        return small is not None and bool(small.valid)

    @property
    def undefined(self) -> bool:
        """Whether nothing was written yet."""
        return self.real is None and not self.is_here

    @property
    def is_mapped(self) -> bool:
        """Whether the elements lie in memory of Legate's, which it maps."""
        mapped = self.mapped
        return mapped is not None and type(mapped) is not Given and self.is_here

    def small_array(self) -> Any:
        """Return what keeps the elements in this process, once they are there."""
        if self.small is None:
            small = self.legate.native.SmallArray(self.type.size, self.shape)
            # unless somebody has made one meanwhile
            if self.small is None:
                self.small = small
        return self.small

    def bind(self, dtype: str | None, layout: Layout) -> None:
        """Note the shape that an unbound store has got: its operations may wait."""
        self.dtype = dtype
        self.shape = layout.shape
        self.volume = layout.volume
        self.fusable = dtype is not None

    def lend(self, physical: Any = None) -> None:
        """Note that the application holds the memory, as long as ``physical`` lives.

        Without ``physical`` it holds the memory for good.
        """
        while True:
            lent = self.lent
            if physical is None or lent is None:
                more = None
            else:
                held = [each for each in _held(lent) if each is not physical]
                more = (*held, physical)
            if self.lent is lent:
                self.lent = more
                self.shared = True
                self.version += 1
                break
        if self.mapped is not None and self.small is not None:
            self.small.expose()

    def is_shared(self) -> bool:
        """Whether the application holds the memory now; call it if ``shared``."""
        while (lent := self.lent) is not None:
            held = _held(lent)
            if self.lent is lent:
                self.lent = held
                self.shared = bool(held) or self._is_shown()
                break
        return self.shared

    @property
    def is_intact(self) -> bool:
        """Whether only operations that were seen can change the elements now."""
        return self.fusable and not self.escaped and not self.shared

    def is_held(self) -> bool:
        """Whether the application of this rank holds the memory now."""
        lent = self.lent
        return lent is None or bool(_held(lent)) or self._is_shown()

    def _is_shown(self) -> bool:
        return self.small is not None and bool(self.small.shown)

    def show(self) -> Any:
        """Return the bytes of the elements here, which the application gets hold of."""
        self.constant = None
        self.shared = True
        self.version += 1
        return self.small.show()

    def materialize(self, *, reads_only: bool = False, maps: bool = False) -> Any:
        """Return the real ``LogicalStore`` of the whole storage.

        Elements that lie in this process are stored there first. They stay here as
        well if the caller ``reads_only``, and passes the store to nobody who writes.
        What is mapped stays so for a caller who ``maps`` it, too.
        """
        if self.small is None:
            self._make()
        elif not (maps and self.is_mapped):
            self.hand_over(reads=True, writes=not reads_only)
        return self.real

    def hand_over(self, *, reads: bool, writes: bool) -> None:
        """Store elements that lie in this process in the real store.

        For whom only writes, nothing is stored that it writes over.
        """
        given = self.mapped
        if type(given) is Given:
            if given.physical is None:
                self._attach(given.elements)
        elif given is None and self._is_shown():
            self._attach(np.ndarray(self.shape, self.dtype, self.small.lend()))
        self._make()
        if self.mapped is not None:
            self._unmap()
        elif reads:
            store_array = self.legate.native.store_array
            store_array(self.small, int(self.real.raw_handle), not writes)
        else:
            self.small.drop()

    def map(self, physical: Any, address: int) -> None:
        """Use the memory that a real physical store has mapped for this process.

        It has all elements in row-major order. Legate keeps it up to date: whatever
        uses the store has done so when its submission returns.
        """
        self.constant = None
        # kept before it is used, whatever a signal handler raises in between
        self.mapped = physical
        is_seen = self.shared or type(physical) is Given
        self.small_array().map(address, None if is_seen else (physical, self.real))

    def use(self, elements: Any) -> None:
        """Let the elements lie in memory of the application's, which it holds for good.

        Args:
            elements: a NumPy array of the root's type and shape, in row-major order.
        """
        self.lend()
        self.map(Given(elements), elements.ctypes.data)

    def _attach(self, elements: Any) -> None:
        """Let Legate use the memory here that the application has got hold of.

        Raises:
            RuntimeError: Legate maps other memory than was attached.
        """
        store, physical = self.legate.attach(self.type, elements)
        if physical is None:
            raise RuntimeError("Legate maps other memory than was attached")
        if self.real is not None:
            self.moves += 1
        self._handle = 0
        self.spare = None
        self.real = store
        given = self.mapped
        if type(given) is Given:
            given.physical = physical
        else:
            self.map(physical, elements.ctypes.data)

    def _unmap(self) -> None:
        """Let Legate have its memory for itself, unless the application holds it, too.

        With memory that is mapped a task waits until those before it have ended.
        """
        if not self.is_shared():
            self.small.unmap()
            self.mapped = None

    def _make(self) -> None:
        found = self.real
        if found is None:
            runtime = self.legate.runtime
            if self.initial is not None:
                found = runtime.create_store_from_scalar(self.initial, self.shape)
            else:
                found = runtime.create_store(self.type, self.shape, self.scalar_storage)
            self.keep(found)

    def keep(self, store: Any) -> None:
        """Use a real store, unless somebody has made one meanwhile."""
        if self.real is None:
            self.real = store

    def settle(self) -> None:
        """Give a single element a future of its own, if it shares one.

        Tasks may read it from a shared future. In other places Legate forgets where
        in the future it lies: a fill's value, a copy's source, a reduction's start
        (``operation/detail/fill.cc``, ``copy.cc`` and ``task.cc``).
        """
        shared = self.shared_future
        if shared is not None:
            # a program without loops copies the old value into a new future
            submit = self.legate.native.submit_program
            submit((self.handle,), b"\3", bytes(32), False, None)
            # unless nested work has put it into another one since
            if self.shared_future is shared:
                self.shared_future = None

    def find_spare(self) -> Spare:
        """Return a store that may take the place of the root's own."""
        if self.spare is None:
            create_store = self.legate.runtime.create_store
            store = create_store(self.type, self.shape, self.scalar_storage)
            spare = Spare(store)
            if self.spare is None:
                self.spare = spare
        return self.spare

    def move(self, spare: Spare) -> None:
        """Use another real store from now on, unless the root has it already."""
        if self.real is spare.store:
            return
        old = Spare(self.materialize())
        self.moves += 1
        self.spare = old
        self._handle = spare.handle
        self.real = spare.store

    @property
    def handle(self) -> int:
        """Address of the C++ ``legate::LogicalStore`` of the whole storage.

        It may lack elements that lie in this process: see ``hand_over``.
        """
        if not self._handle:
            self._handle = int(self.materialize(reads_only=True).raw_handle)
        return self._handle


def _held(lent: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return which physical stores the application still holds."""
    return tuple([p for p in lent if sys.getrefcount(p) > _lent_references])


def _measure() -> None:
    """Find out how many references Python counts to what nobody else holds.

    References that Python's own instructions borrow are not counted from 3.14 on.
    """
    global _lent_references, _owner_references
    while _held((object(),)):
        _lent_references += 1
    root = Root.__new__(Root)
    root.owner = object()
    while root.alive:
        _owner_references += 1


_measure()
