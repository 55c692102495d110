# SPDX-License-Identifier: Apache-2.0
"""A storage seen through a chain of transforms, without asking Legate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from legate_diffuse.interpose.storage import Root

# A view remembers the views derived from it, so that the same slice taken twice
# is the same object: two views of one root are equal if and only if they are
# identical, or nothing is known about them. The memory is bounded because
# programs that walk through an array element by element would fill it.
_MAX_DERIVED: Final = 256


class Shape(tuple[int, ...]):
    """Extents of a store, with the attributes of ``legate.core.Shape``."""

    __slots__ = ()

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents as a plain tuple."""
        return tuple(self)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self)

    @property
    def volume(self) -> int:
        """The number of elements."""
        return math.prod(self)


class View:
    """A root seen through a chain of transforms.

    ``dims[i]`` is the root's dimension behind dimension ``i`` of the view, -1
    where the view only repeats. ``low`` and ``extents`` bound the part of the
    root that the view covers, as Legate's sub-storages do
    (``src/cpp/legate/data/detail/storage.cc``).
    """

    __slots__ = (
        "_handle",
        "affine",
        "chain",
        "derived",
        "dims",
        "extents",
        "inner_broadcast",
        "low",
        "real",
        "root",
        "shape",
        "substorage",
        "transformed",
        "volume",
    )

    def __init__(
        self,
        root: Root,
        shape: Shape,
        dims: tuple[int, ...],
        low: tuple[int, ...],
        extents: tuple[int, ...],
        chain: tuple[tuple[Any, ...], ...],
        *,
        transformed: bool,
        substorage: bool,
        affine: bool,
    ) -> None:
        self.root = root
        self.shape = shape
        self.dims = dims
        self.low = low
        self.extents = extents
        self.chain = chain
        self.transformed = transformed
        # True if Legate keeps the view in a partition's child, not in the root
        self.substorage = substorage
        self.affine = affine
        self.volume = math.prod(shape)
        self.inner_broadcast = bool(dims) and dims[-1] < 0
        self.derived: dict[tuple[Any, ...], View] = {}
        self.real: Any = None
        self._handle = 0

    def materialize(self) -> Any:
        """Return the real ``LogicalStore`` seen through the same transforms."""
        real = self.real
        if real is None:
            real = self.root.materialize()
            for name, *arguments in self.chain:
                real = getattr(real, name)(*arguments)
            self.real = real
        return real

    @property
    def handle(self) -> int:
        """Address of the C++ ``legate::LogicalStore`` of the real view."""
        if not self._handle:
            self._handle = int(self.materialize().raw_handle)
        return self._handle

    def promote(self, dim: int, size: int) -> View:
        """Add a dimension of extent ``size`` along which the view repeats."""
        step = ("promote", dim, size)
        found = self.derived.get(step)
        if found is not None:
            return found
        if not (0 <= dim <= len(self.shape) and size >= 0):
            return self._delegate(step)
        shape = self.shape
        return self._derive(
            step,
            Shape((*shape[:dim], size, *shape[dim:])),
            (*self.dims[:dim], -1, *self.dims[dim:]),
            self.low,
            self.extents,
            transformed=True,
            substorage=self.substorage,
        )

    def project(self, dim: int, index: int) -> View:
        """Fix one dimension at ``index`` and drop it."""
        step = ("project", dim, index)
        found = self.derived.get(step)
        if found is not None:
            return found
        shape = self.shape
        if not (self.affine and 0 <= dim < len(shape) and 0 <= index < shape[dim]):
            return self._delegate(step)
        low, extents = self.low, self.extents
        root_dim = self.dims[dim]
        if root_dim >= 0:
            low = _replace(low, root_dim, low[root_dim] + index)
            extents = _replace(extents, root_dim, 1)
        return self._derive(
            step,
            Shape((*shape[:dim], *shape[dim + 1 :])),
            (*self.dims[:dim], *self.dims[dim + 1 :]),
            low,
            extents,
            transformed=True,
            substorage=self.substorage or self.volume != 0,
        )

    def slice(self, dim: int, start: int | None, stop: int | None) -> View | None:
        """Return the part [start, stop) of one dimension; None if it is empty.

        Legate makes a new store for an empty slice.
        """
        step = ("slice", dim, slice(start, stop))
        key = ("slice", dim, start, stop)
        found = self.derived.get(key)
        if found is not None:
            return found
        shape = self.shape
        if not (self.affine and 0 <= dim < len(shape)):
            return self._delegate(step, key)
        extent = shape[dim]
        first, last = _sanitize(start, stop, extent)
        if first >= last:
            return self if extent == 0 else None
        if last > extent:
            return self._delegate(step, key)
        if last - first == extent:
            return self
        low, extents = self.low, self.extents
        root_dim = self.dims[dim]
        if root_dim >= 0:
            low = _replace(low, root_dim, low[root_dim] + first)
            extents = _replace(extents, root_dim, last - first)
        return self._derive(
            step,
            Shape(_replace(shape, dim, last - first)),
            self.dims,
            low,
            extents,
            # a slice that starts at 0 adds no shift to the transform
            transformed=self.transformed or first != 0,
            substorage=self.substorage or self.volume != 0,
            key=key,
        )

    def broadcast(self, dim: int, size: int) -> View:
        """Repeat a dimension of extent 1 ``size`` times."""
        step = ("broadcast", dim, size)
        found = self.derived.get(step)
        if found is not None:
            return found
        shape = self.shape
        if not (0 <= dim < len(shape) and shape[dim] == 1 and size >= 0):
            return self._delegate(step)
        return self._derive(
            step,
            Shape(_replace(shape, dim, size)),
            _replace(self.dims, dim, -1),
            self.low,
            self.extents,
            transformed=True,
            substorage=self.substorage,
        )

    def transpose(self, axes: tuple[int, ...]) -> View:
        """Permute the dimensions."""
        step = ("transpose", axes)
        found = self.derived.get(step)
        if found is not None:
            return found
        if sorted(axes) != list(range(len(self.shape))):
            return self._delegate(step)
        return self._derive(
            step,
            Shape(self.shape[axis] for axis in axes),
            tuple(self.dims[axis] for axis in axes),
            self.low,
            self.extents,
            transformed=True,
            substorage=self.substorage,
        )

    def delinearize(self, dim: int, sizes: tuple[int, ...]) -> View:
        """Split one dimension into several."""
        step = ("delinearize", dim, sizes)
        found = self.derived.get(step)
        return found if found is not None else self._delegate(step)

    def overlaps(self, other: View) -> bool:
        """Whether Legate says that the two views share elements."""
        root, other_root = self.root, other.root
        if root is not other_root and not (root.escaped and other_root.escaped):
            return False
        if root is not other_root or not (self.affine and other.affine):
            return bool(self.materialize().overlaps(other.materialize()))
        if self.root.scalar_storage or self is other:
            return True
        for low, extent, other_low, other_extent in zip(
            self.low, self.extents, other.low, other.extents, strict=True
        ):
            if low >= other_low + other_extent or other_low >= low + extent:
                return False
        return True

    def equal_storage(self, other: View) -> bool:
        """Whether the two views cover the same (sub)storage, as Legate sees it."""
        if self is other:
            return True
        root, other_root = self.root, other.root
        if root is not other_root and not (root.escaped and other_root.escaped):
            return False
        if root is not other_root or not (self.affine and other.affine):
            return bool(self.materialize().equal_storage(other.materialize()))
        if self.root.scalar_storage:
            return True
        return (
            self.substorage == other.substorage
            and self.low == other.low
            and self.extents == other.extents
        )

    def _derive(
        self,
        step: tuple[Any, ...],
        shape: Shape,
        dims: tuple[int, ...],
        low: tuple[int, ...],
        extents: tuple[int, ...],
        *,
        transformed: bool,
        substorage: bool,
        affine: bool | None = None,
        key: tuple[Any, ...] | None = None,
    ) -> View:
        view = View(
            self.root,
            shape,
            dims,
            low,
            extents,
            (*self.chain, step),
            transformed=transformed,
            substorage=substorage,
            affine=self.affine if affine is None else affine,
        )
        if len(self.derived) >= _MAX_DERIVED:
            self.derived.clear()
        self.derived[key or step] = view
        return view

    def _delegate(
        self, step: tuple[Any, ...], key: tuple[Any, ...] | None = None
    ) -> View:
        """Let Legate apply a step that is wrong (it raises) or not affine."""
        name, *arguments = step
        real = getattr(self.materialize(), name)(*arguments)
        shape = Shape(real.shape)
        view = self._derive(
            step,
            shape,
            (-1,) * len(shape),
            self.low,
            self.extents,
            transformed=bool(real.transformed),
            substorage=self.substorage,
            affine=False,
            key=key,
        )
        view.real = real
        return view


def over(view: View, shape: Shape) -> View:
    """Return a view of a launch domain's shape; only one-element views differ."""
    if view.shape == shape:
        return view
    while view.shape:
        view = view.project(0, 0)
    for dim, extent in enumerate(shape):
        view = view.promote(dim, extent)
    return view


def _replace(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return (*values[:position], value, *values[position + 1 :])


def _sanitize(start: int | None, stop: int | None, extent: int) -> tuple[int, int]:
    """Resolve open and negative bounds (``LogicalStore::slice_`` in Legate)."""
    first = 0 if start is None else start
    last = extent if stop is None else stop
    if first < 0:
        first += extent
    if last < 0:
        last += extent
    return max(0, first), max(0, last)
