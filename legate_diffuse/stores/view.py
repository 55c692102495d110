# SPDX-License-Identifier: Apache-2.0
"""A storage seen through a chain of transforms."""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.stores.layout import Layout, bounds, remember
from legate_diffuse.stores.layout import Shape as Shape
from legate_diffuse.stores.root import Root

# A view remembers the views that were derived from it, so that the same slice gives
# the same object. So two views of one root are equal if they are identical, and else
# different or unknown. It remembers at most so many: a program that walks through an
# array element by element derives one for each. One of a part remembers fewer, as the
# rows of an array, and the parts of each, are many.
_MAX_DERIVED: Final = 512
_MAX_OF_PART: Final = 64


class View:
    """A root seen through a layout."""

    __slots__ = (
        "_handle",
        "_moves",
        "derived",
        "layout",
        "real",
        "root",
        "shape",
    )

    def __init__(self, root: Root, layout: Layout) -> None:
        self.root = root
        self.layout = layout
        self.shape: Shape = layout.shape
        # by layout, or by the step that Legate had to apply
        self.derived: dict[Layout | tuple[Any, ...], View] = {}
        self.real: Any = None
        self._handle = 0
        # how often the root had moved when the real store was made
        self._moves = 0

    def materialize(self, *, reads_only: bool = False, maps: bool = False) -> Any:
        """Return the real ``LogicalStore`` seen through the same transforms.

        See ``Root.materialize``.
        """
        root = self.root
        real = None
        if root.small is not None:
            # which may move it
            real = root.materialize(reads_only=reads_only, maps=maps)
        if not self._is_made():
            moves = root.moves
            if real is None:
                real = root.materialize(reads_only=reads_only)
            for name, *arguments in self.layout.chain:
                real = getattr(real, name)(*arguments)
            self._keep(real, moves)
        return self.real

    def _is_made(self) -> bool:
        return self.real is not None and self._moves == self.root.moves

    def _keep(self, real: Any, moves: int) -> None:
        """Use a real store, unless somebody has made one meanwhile."""
        if self.real is None or self._moves != moves:
            self.real = real
            self._handle = 0
            self._moves = moves

    @property
    def handle(self) -> int:
        """Address of the C++ ``legate::LogicalStore`` of the real view."""
        if not self._handle or self._moves != self.root.moves:
            self._handle = int(self.materialize().raw_handle)
        return self._handle

    @property
    def volume(self) -> int:
        """The number of elements."""
        return self.layout.volume

    @property
    def affine(self) -> bool:
        """Whether the layout says which elements of the root the view shows."""
        return self.layout.affine

    def through(self, layout: Layout) -> View:
        """Return the view of the same root through a layout derived from this one's."""
        derived = self.derived
        found = derived.get(layout)
        if found is None:
            if layout is self.layout:
                return self
            found = self._remember(layout, View(self.root, layout))
        return found

    def promote(self, dim: int, size: int) -> View:
        """Add a dimension of extent ``size`` along which the view repeats."""
        return self._derive("promote", dim, size)

    def project(self, dim: int, index: int) -> View:
        """Fix one dimension at ``index`` and drop it."""
        return self._derive("project", dim, index)

    def slice(self, dim: int, start: int | None, stop: int | None) -> View | None:
        """Return the part [start, stop) of one dimension; None if it is empty.

        Legate makes a new store for an empty slice.
        """
        step = ("slice", dim, start, stop)
        layout = self.layout.derive(step)
        if layout is not None:
            return self.through(layout)
        if self.layout.affine and 0 <= dim < len(self.shape):
            extent = self.shape[dim]
            first, last = bounds(start, stop, extent)
            if first >= last:
                return self if extent == 0 else None
        return self._delegate(step, ("slice", dim, slice(start, stop)))

    def broadcast(self, dim: int, size: int) -> View:
        """Repeat a dimension of extent 1 ``size`` times."""
        return self._derive("broadcast", dim, size)

    def transpose(self, axes: tuple[int, ...]) -> View:
        """Permute the dimensions."""
        return self._derive("transpose", axes)

    def without_tiling(self) -> View:
        """Return the same elements, which Legate does not divide as it has before.

        An argument that is delinearized can be divided along its first dimension only,
        and into whole rows. Legate does not see that tiles of another argument, which
        it keeps and aligns with them, are wider than these rows if that is a slice, and
        raises ``NonInvertibleTransformation`` (26.06, also without legate_diffuse).
        """
        if not self.affine or 0 in self.shape or not self.shape:
            return self
        return self.delinearize(0, (self.shape[0], 1)).project(1, 0)

    def delinearize(self, dim: int, sizes: tuple[int, ...]) -> View:
        """Split one dimension into several."""
        return self._derive("delinearize", dim, sizes)

    def overlaps(self, other: View) -> bool:
        """Whether Legate says that the two views share elements."""
        if (answer := self._ask("overlaps", other)) is not None:
            return answer
        return self.root.scalar_storage or not self.layout.is_disjoint_from(
            other.layout
        )

    def equal_storage(self, other: View) -> bool:
        """Whether the two views cover the same (sub)storage, as Legate sees it."""
        if self is other:
            return True
        if (answer := self._ask("equal_storage", other)) is not None:
            return answer
        mine, others = self.layout, other.layout
        return self.root.scalar_storage or (
            mine.substorage == others.substorage
            and mine.low == others.low
            and mine.extents == others.extents
        )

    def _ask(self, question: str, other: View) -> bool | None:
        """Return what Legate answers, None if layouts of one root do."""
        root, other_root = self.root, other.root
        if root is other_root and self.layout.affine and other.layout.affine:
            return None
        if root is not other_root and not (root.escaped and other_root.escaped):
            return False
        return bool(getattr(self.materialize(), question)(other.materialize()))

    def _derive(self, *step: Any) -> View:
        layout = self.layout.derive(step)
        if layout is None:
            return self._delegate(step, step)
        return self.through(layout)

    def _delegate(self, key: tuple[Any, ...], step: tuple[Any, ...]) -> View:
        """Let Legate apply a step that is not affine, or wrong: then it raises."""
        found = self.derived.get(key)
        if found is not None:
            return found
        name, *arguments = step
        real = getattr(self.materialize(), name)(*arguments)
        mine = self.layout
        shape = tuple(real.shape)
        layout = Layout(
            shape,
            (-1,) * len(shape),
            mine.low,
            mine.extents,
            (*mine.chain, step),
            transformed=bool(real.transformed),
            substorage=mine.substorage,
            affine=False,
        )
        view = View(self.root, layout)
        view._keep(real, self.root.moves)
        return self._remember(key, view)

    def _remember(self, key: Layout | tuple[Any, ...], view: View) -> View:
        most = _MAX_OF_PART if self.layout.chain else _MAX_DERIVED
        return remember(self.derived, key, view, most)


def over(view: View, shape: Shape) -> View:
    """Return a view of a launch domain's shape; only one-element views differ."""
    if view.shape == shape:
        return view
    return view.through(view.layout.over(shape))
