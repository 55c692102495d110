# SPDX-License-Identifier: Apache-2.0
"""What the IR claims of views of arrays holds for their elements."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from key_windows import array, read
from recorder import elements_of
from tiers import examples

from legate_diffuse.ir import relations
from legate_diffuse.stores.layout import Layout, whole
from legate_diffuse.stores.view import View

EXTENTS = st.integers(1, 9) | st.integers(40, 60)


@st.composite
def windows(draw: st.DrawFn) -> list[View]:
    """Draw views of one array."""
    root = array(*draw(st.lists(EXTENTS, min_size=1, max_size=2)))
    layouts = draw(st.lists(transformed(root.root.shape), min_size=2, max_size=5))
    return [root.through(layout) for layout in layouts]


@st.composite
def transformed(draw: st.DrawFn, shape: tuple[int, ...]) -> Layout:
    """Draw a layout of an array."""
    layout: Layout = whole(shape)
    for _ in range(draw(st.integers(0, 4))):
        size = len(layout.shape)
        dims = st.integers(0, size - 1)
        name = draw(st.sampled_from(("slice", "slice", "project", "transpose", "add")))
        step: tuple[object, ...] | None = None
        if name == "add" and size < 3:
            step = "promote", draw(st.integers(0, size)), draw(st.integers(1, 3))
        elif size and name == "transpose":
            step = "transpose", tuple(draw(st.permutations(range(size))))
        elif size and name in ("slice", "project"):
            dim = draw(dims)
            start = draw(st.integers(0, layout.shape[dim] - 1))
            step = "project", dim, start
            if name == "slice":
                stop = draw(st.integers(start + 1, layout.shape[dim]))
                step = "slice", dim, start, stop
        if step is not None:
            found = layout.derive(step)
            assert found is not None
            layout = found
    return layout


@settings(
    max_examples=examples(200, 600),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(windows())
def test_claims_hold_for_the_elements(views: list[View]) -> None:
    _, described = read(views)
    shown = [elements_of(view.layout, view.root.shape) for view in views]
    for one, a in zip(described, shown, strict=True):
        size = views[0].root.volume
        assert not relations.covers_store(one) or len(set(a)) == size
        for other, b in zip(described, shown, strict=True):
            common = set(a) & set(b)
            assert relations.may_overlap(one, other) or not common
            covered = relations.are_covered((other,), {one.id: one})
            assert not covered or common == set(b)
            same = one.shape == other.shape and a == b
            assert not relations.aligned(one, other) or same
            assert same or one.id != other.id, "one number, two patterns"


@settings(
    max_examples=examples(100, 300),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(windows())
def test_distances_hold_at_every_point(views: list[View]) -> None:
    _, described = read(views)
    for one, view in zip(described, views, strict=True):
        for other, behind in zip(described, views, strict=True):
            found = relations.distance(one, other)
            if found is None:
                continue
            for index in indices_of(view, behind):
                a, b = position(view.layout, index), position(behind.layout, index)
                difference = tuple(q - p for p, q in zip(a, b, strict=True))
                assert difference == found


def indices_of(one: View, other: View) -> list[tuple[int, ...]]:
    """Return the first and the last point that two views have in common."""
    last = tuple(min(p, q) - 1 for p, q in zip(one.shape, other.shape, strict=True))
    return [(0,) * len(last), last]


def position(layout: Layout, index: tuple[int, ...]) -> tuple[int, ...]:
    """Return the place in the root of a point of a layout."""
    place = list(layout.low)
    for at, dim in zip(index, layout.dims, strict=True):
        if dim >= 0:
            place[dim] += at
    return tuple(place)
