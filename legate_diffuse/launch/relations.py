# SPDX-License-Identifier: Apache-2.0
"""Which views of a window lie within the parts of their root that it changes.

What is copied or filled and then overwritten part by part need not be written
(``fusion.renaming``). That the parts cover it is a relation between views, such as
that two of them are disjoint, and part of the window's key.
"""

from __future__ import annotations

from typing import Any, Final

from legate_diffuse.stores.layout import Layout
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# Parts of a root that are looked at; an array and its edges are fewer.
_MAX_PARTS: Final = 8
# Pieces to which the rest of a view may fall while parts are taken away from it.
_MAX_PIECES: Final = 64
_MAX_REMEMBERED: Final = 4096

Box = tuple[tuple[int, int], ...]  # first and last + 1 along each dimension of a root

_covers: dict[tuple[Layout, ...], tuple[int, ...]] = {}


def find_covers(state: Any) -> dict[View, tuple[int, ...]]:
    """Return for views of a ``WindowState`` the parts that together contain them.

    Only roots of which a whole copy may have been made are looked at: those that the
    window uses as they are. Parts are given by the numbers of their views.
    """
    parts: dict[Root, list[View]] = {}
    for part in state.parts:
        parts.setdefault(part.root, []).append(part)
    if not parts:
        return {}
    views: dict[Root, list[View]] = {}
    for view in state.views:
        if view.root in parts:
            views.setdefault(view.root, []).append(view)
    found = {}
    for root, own in views.items():
        changed = parts[root]
        if len(changed) > _MAX_PARTS or not any(v.layout.untransformed for v in own):
            continue
        layouts = tuple([part.layout for part in changed])
        for view in own:
            if view not in changed and (cover := _cover(view.layout, layouts)):
                found[view] = tuple([state.views[changed[n]] for n in cover])
    return found


def _cover(layout: Layout, parts: tuple[Layout, ...]) -> tuple[int, ...]:
    key = (layout, *parts)
    found = _covers.get(key)
    if found is None:
        if len(_covers) >= _MAX_REMEMBERED:
            _covers.clear()
        found = _covers[key] = cover(layout, parts)
    return found


def cover(layout: Layout, parts: tuple[Layout, ...]) -> tuple[int, ...]:
    """Return by position the first of the parts that together contain a layout.

    Each of them has a part in it. Empty if they do not contain it, as far as is known.
    """
    if not layout.affine:
        return ()
    rest = [_box(layout)]
    used = []
    for position, part in enumerate(parts):
        if not part.affine:
            continue
        box = _box(part)
        pieces = [piece for each in rest for piece in _without(each, box)]
        if pieces != rest:
            used.append(position)
        if not pieces:
            return tuple(used)
        if len(pieces) > _MAX_PIECES:
            return ()
        rest = pieces
    return ()


def _box(layout: Layout) -> Box:
    return tuple(
        [
            (low, low + extent)
            for low, extent in zip(layout.low, layout.extents, strict=True)
        ]
    )


def _without(box: Box, other: Box) -> list[Box]:
    """Return boxes that hold what a box does not share with another one."""
    for (first, last), (other_first, other_last) in zip(box, other, strict=True):
        if first >= other_last or other_first >= last:
            return [box]
    found = []
    for dim, (other_first, other_last) in enumerate(other):
        first, last = box[dim]
        if first < other_first:
            found.append((*box[:dim], (first, other_first), *box[dim + 1 :]))
        if other_last < last:
            found.append((*box[:dim], (other_last, last), *box[dim + 1 :]))
        middle = (max(first, other_first), min(last, other_last))
        box = (*box[:dim], middle, *box[dim + 1 :])
    return found
