# SPDX-License-Identifier: Apache-2.0
"""What a chain of transforms makes of a shape, without asking Legate.

A layout does not know which storage is seen through it. All storages of one shape
share their layouts, so a program computes each slice once.

Follows: Legate (src/cpp/legate/data/detail)
"""

from __future__ import annotations

import math
import operator
from collections import deque
from typing import Any, Final, TypeVar

T = TypeVar("T")

# A layout remembers at most so many layouts that were derived from it: a program that
# walks through an array element by element derives one for each.
_MAX_DERIVED: Final = 4096
_MAX_IN_ALL: Final = 1 << 16
# As in mappers/program/joined_row.h.
_SHORT_LOOP: Final = 16
# So many shapes of new stores are remembered: a loop may have another one each time.
_MAX_SHAPES: Final = 1 << 15


def _points_of(shape: tuple[int, ...], volume: int) -> int:
    """Return how many points a shape has, as the number of one of ``ir.Points``."""
    in_short_rows = len(shape) > 1 and 1 < shape[-1] < _SHORT_LOOP
    # squares of a loop over ever smaller ones are alike to the end
    return 3 if in_short_rows and volume >= _SHORT_LOOP**2 else min(volume, 2)


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


class Layout:
    """A shape seen through a chain of transforms.

    ``dims[i]`` is the root's dimension behind dimension ``i`` of the view, or -1
    where the view repeats. ``low`` and ``extents`` are the box of the root that the
    view covers, as in Legate's sub-storages
    (``src/cpp/legate/data/detail/storage.cc``).
    """

    __slots__ = (
        "affine",
        "chain",
        "dense",
        "derived",
        "dims",
        "disjoint",
        "extents",
        "form",
        "indexed",
        "low",
        "packed",
        "placed",
        "points",
        "repeated",
        "shape",
        "substorage",
        "transformed",
        "volume",
    )

    def __init__(
        self,
        shape: tuple[int, ...],
        dims: tuple[int, ...],
        low: tuple[int, ...],
        extents: tuple[int, ...],
        chain: tuple[tuple[Any, ...], ...] = (),
        *,
        transformed: bool = False,
        substorage: bool = False,
        affine: bool = True,
    ) -> None:
        self.shape = Shape(shape)
        self.dims = dims
        self.low = low
        self.extents = extents
        self.chain = chain
        # as Legate says it, which sees nothing in a slice that starts at 0
        self.transformed = transformed
        # True if Legate keeps the view in a partition's child, not in the root
        self.substorage = substorage
        self.affine = affine
        self.volume = math.prod(shape)
        self.points = _points_of(shape, self.volume)
        self.derived: dict[tuple[Any, ...], Layout] = {}
        # by a client's indexing expression
        self.indexed: dict[tuple[Any, ...], Layout] = {}
        # by another layout: whether they have no element in common
        self.disjoint: dict[Layout, bool] = {}
        # the layout as an operand of a program, once it was one (``launch.program``)
        self.packed = b""
        # what keys say of the layout, once one did (``stores.outline``)
        self.placed: Any = None
        # what native code needs of the layout, once it did (``stores.form``)
        self.form: bytes | None = None
        # then also the layout of a new store of this shape
        self.dense: Layout | None = None
        # by the shape over which a single element is repeated
        self.repeated: dict[tuple[int, ...], Layout] = {}

    def derive(self, step: tuple[Any, ...]) -> Layout | None:
        """Return the layout after one more transform.

        None if the transform is wrong (Legate says how) or not affine.
        """
        try:
            found = self.derived.get(step)
        except TypeError:
            # an array of one integer has no hash
            return self.derive(tuple([_hashable(each) for each in step]))
        if found is None:
            found = _STEPS[step[0]](self, *step[1:])
            if found is not None:
                found = _remember_for_all(self.derived, step, found)
        return found

    def is_disjoint_from(self, other: Layout) -> bool:
        """Whether two layouts of one shape are known to share no element."""
        found = self.disjoint.get(other)
        if found is None:
            found = self._is_disjoint_from(other)
            found = _remember_for_all(self.disjoint, other, found)
        return found

    def _is_disjoint_from(self, other: Layout) -> bool:
        if not (self.affine and other.affine):
            return False
        return any(
            low >= other_low + other_extent or other_low >= low + extent
            for low, extent, other_low, other_extent in zip(
                self.low, self.extents, other.low, other.extents, strict=True
            )
        )

    def index(self, key: tuple[Any, ...], layout: Layout) -> None:
        """Remember what an indexing expression leads to."""
        _remember_for_all(self.indexed, key, layout)

    def over(self, shape: Shape) -> Layout:
        """Return the layout of the single element, repeated over a shape."""
        found = self.repeated.get(shape)
        if found is None:
            found = self
            steps: list[tuple[Any, ...]] = [("project", 0, 0)] * len(self.shape)
            steps += [("promote", dim, extent) for dim, extent in enumerate(shape)]
            for step in steps:
                found = found.derive(step)
                assert found is not None
            found = _remember_for_all(self.repeated, shape, found)
        return found

    def _then(
        self,
        step: tuple[Any, ...],
        shape: tuple[int, ...],
        dims: tuple[int, ...] | None = None,
        low: tuple[int, ...] | None = None,
        extents: tuple[int, ...] | None = None,
        *,
        transformed: bool = True,
        substorage: bool | None = None,
    ) -> Layout:
        return Layout(
            shape,
            self.dims if dims is None else dims,
            self.low if low is None else low,
            self.extents if extents is None else extents,
            (*self.chain, step),
            transformed=transformed,
            substorage=self.substorage if substorage is None else substorage,
            affine=self.affine,
        )


def _promote(layout: Layout, dim: int, size: int) -> Layout | None:
    """Add a dimension of extent ``size`` along which the view repeats."""
    shape, dims = layout.shape, layout.dims
    if not (0 <= dim <= len(shape) and size >= 0):
        return None
    return layout._then(
        ("promote", dim, size),
        (*shape[:dim], size, *shape[dim:]),
        (*dims[:dim], -1, *dims[dim:]),
    )


def _hashable(argument: Any) -> Any:
    """Return a part of a step with integers instead of what stands for some."""
    if isinstance(argument, tuple):
        return tuple([_hashable(each) for each in argument])
    is_name = argument is None or isinstance(argument, str)
    return argument if is_name else operator.index(argument)


def _project(layout: Layout, dim: int, index: int) -> Layout | None:
    """Fix one dimension at ``index`` and drop it."""
    shape, dims = layout.shape, layout.dims
    if not (layout.affine and 0 <= dim < len(shape) and 0 <= index < shape[dim]):
        return None
    # it may be a number of NumPy's, whose sums are its own
    low, extents = _restrict(layout, dim, int(index), 1)
    return layout._then(
        ("project", dim, index),
        (*shape[:dim], *shape[dim + 1 :]),
        (*dims[:dim], *dims[dim + 1 :]),
        low,
        extents,
        substorage=layout.substorage or layout.volume != 0,
    )


def _slice(
    layout: Layout, dim: int, start: int | None, stop: int | None
) -> Layout | None:
    """Return the part [start, stop) of one dimension, which is not empty."""
    shape = layout.shape
    if not (layout.affine and 0 <= dim < len(shape)):
        return None
    first, last = bounds(start, stop, shape[dim])
    if first >= last or last > shape[dim]:
        return None
    if last - first == shape[dim]:
        return layout
    low, extents = _restrict(layout, dim, first, last - first)
    return layout._then(
        ("slice", dim, slice(start, stop)),
        _replace(shape, dim, last - first),
        None,
        low,
        extents,
        # a slice that starts at 0 adds no shift to the transform
        transformed=layout.transformed or first != 0,
        substorage=layout.substorage or layout.volume != 0,
    )


def _broadcast(layout: Layout, dim: int, size: int) -> Layout | None:
    """Repeat a dimension of extent 1 ``size`` times."""
    shape = layout.shape
    if not (0 <= dim < len(shape) and shape[dim] == 1 and size >= 0):
        return None
    return layout._then(
        ("broadcast", dim, size),
        _replace(shape, dim, size),
        _replace(layout.dims, dim, -1),
    )


def _transpose(layout: Layout, axes: tuple[int, ...]) -> Layout | None:
    """Permute the dimensions."""
    if sorted(axes) != list(range(len(layout.shape))):
        return None
    return layout._then(
        ("transpose", axes),
        tuple(layout.shape[axis] for axis in axes),
        tuple(layout.dims[axis] for axis in axes),
    )


def _delinearize(layout: Layout, dim: int, sizes: tuple[int, ...]) -> None:
    """Split one dimension into several; the result is not affine in general."""


_STEPS: Final[dict[str, Any]] = {
    "promote": _promote,
    "project": _project,
    "slice": _slice,
    "broadcast": _broadcast,
    "transpose": _transpose,
    "delinearize": _delinearize,
}


def bounds(start: int | None, stop: int | None, extent: int) -> tuple[int, int]:
    """Resolve open and negative bounds (``LogicalStore::slice_`` in Legate).

    They may be numbers of NumPy's; what is returned is not.
    """
    first = 0 if start is None else int(start)
    last = extent if stop is None else int(stop)
    if first < 0:
        first += extent
    if last < 0:
        last += extent
    return max(0, first), max(0, last)


def whole(shape: tuple[int, ...]) -> Layout:
    """Return the layout of an untransformed store; the same one for each shape."""
    found = _whole.get(shape)
    if found is None:
        dims = tuple(range(len(shape)))
        found = Layout(shape, dims, (0,) * len(shape), tuple(shape))
        found = remember(_whole, found.shape, found, _MAX_SHAPES)
    return found


_whole: dict[tuple[int, ...], Layout] = {}


def _restrict(
    layout: Layout, dim: int, first: int, extent: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    low, extents = layout.low, layout.extents
    root_dim = layout.dims[dim]
    # a view without elements keeps its storage, as in Legate
    if root_dim >= 0 and layout.volume:
        low = _replace(low, root_dim, low[root_dim] + first)
        extents = _replace(extents, root_dim, extent)
    return low, extents


def _replace(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return (*values[:position], value, *values[position + 1 :])


# What layouts remember, and where, in the order in which it came.
_remembered: deque[tuple[dict[Any, Any], Any]] = deque()


def _remember_for_all(memory: dict[Any, T], key: Any, found: T) -> T:
    """Remember what was found with a layout, of all layouts at most so much.

    Each remembers so many others that all together would have no bound.
    """
    if len(_remembered) >= _MAX_IN_ALL:
        for _ in range(_MAX_IN_ALL // 2):
            old, place = _remembered.popleft()
            old.pop(place, None)
    _remembered.append((memory, key))
    return remember(memory, key, found)


def remember(memory: dict[Any, T], key: Any, found: T, most: int = _MAX_DERIVED) -> T:
    """Remember what was found, unless somebody has meanwhile; return what is.

    Of more than ``most`` the older half is forgotten. What a window has begun with is
    found again in it, else the window would seem to be another one.
    """
    if len(memory) >= most:
        for old in list(memory)[: most // 2]:
            memory.pop(old, None)
    return memory.setdefault(key, found)
