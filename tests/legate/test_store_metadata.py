# SPDX-License-Identifier: Apache-2.0
"""A stand-in store must say of itself what the real store would say."""

from __future__ import annotations

import legate.core as lc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.store import LogicalStore


def draw_step(data: st.DataObject, shape: tuple[int, ...]) -> tuple[object, ...]:
    names = ["promote"]
    if shape:
        names += ["project", "slice", "transpose"]
    if 1 in shape:
        names.append("broadcast")
    name = data.draw(st.sampled_from(names))
    dims = st.integers(0, max(0, len(shape) - 1))
    if name == "promote":
        if len(shape) >= 4:
            name = "project"
        else:
            return (
                name,
                data.draw(st.integers(0, len(shape))),
                data.draw(st.integers(1, 3)),
            )
    if name == "transpose":
        return name, tuple(data.draw(st.permutations(range(len(shape)))))
    if name == "broadcast":
        return name, shape.index(1), data.draw(st.integers(1, 4))
    dim = data.draw(dims)
    if name == "project":
        return name, dim, data.draw(st.integers(0, shape[dim] - 1))
    start = data.draw(st.integers(0, shape[dim] - 1))
    return name, dim, slice(start, data.draw(st.integers(start + 1, shape[dim])))


def draw_view(
    data: st.DataObject, stand_in: LogicalStore, real_store: object
) -> tuple[LogicalStore, object]:
    for _ in range(data.draw(st.integers(0, 4))):
        name, *arguments = draw_step(data, tuple(stand_in.shape))
        stand_in = getattr(stand_in, name)(*arguments)
        real_store = getattr(real_store, name)(*arguments)
    return stand_in, real_store


@settings(max_examples=examples(70, 200), deadline=None)
@given(st.data())
def test_views_describe_themselves_like_legate(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    optimize = data.draw(st.booleans())
    runtime = lc.get_legate_runtime()
    first = runtime.create_store(lc.float64, shape, optimize)
    original = real.runtime.create_store(lc.float64, shape, optimize)
    pairs = [draw_view(data, first, original) for _ in range(2)]
    for stand_in, store in pairs:
        assert isinstance(stand_in, lc.LogicalStore)
        assert tuple(stand_in.shape) == tuple(store.shape)
        assert stand_in.ndim == store.ndim
        assert stand_in.volume == store.volume
        assert stand_in.type == store.type
        assert stand_in.transformed == store.transformed
        assert stand_in.has_scalar_storage == store.has_scalar_storage
        assert stand_in.unbound == store.unbound
    (left, real_left), (right, real_right) = pairs
    assert left.overlaps(right) == real_left.overlaps(real_right)
    assert left.equal_storage(right) == real_left.equal_storage(real_right)
    # the real view behind a stand-in is the same view
    assert tuple(left._view.materialize().shape) == tuple(left.shape)


@pytest.mark.parametrize(
    "step",
    [
        ("project", 0, 9),
        ("project", 5, 0),
        ("slice", 0, slice(2, 9)),
        ("slice", 0, slice(0, 4, 2)),
        ("promote", 7, 2),
        ("broadcast", 0, 3),
        ("transpose", (0, 0)),
        ("transpose", (0,)),
        ("delinearize", 0, (3, 3)),
    ],
)
def test_wrong_transforms_raise_what_legate_raises(step: tuple[object, ...]) -> None:
    name, *arguments = step
    original = real.runtime.create_store(lc.float64, (4, 2))
    with pytest.raises(Exception) as expected:
        getattr(original, name)(*arguments)
    stand_in = lc.get_legate_runtime().create_store(lc.float64, (4, 2))
    with pytest.raises(expected.type):
        getattr(stand_in, name)(*arguments)


def test_empty_slice_is_a_store_of_its_own() -> None:
    store = lc.get_legate_runtime().create_store(lc.float64, (4,))
    empty = store.slice(0, slice(2, 2))
    assert tuple(empty.shape) == (0,)
    assert not empty.overlaps(store)


def test_delinearized_views_work() -> None:
    store = lc.get_legate_runtime().create_store(lc.float64, (6,))
    view = store.delinearize(0, (2, 3))
    assert tuple(view.shape) == (2, 3)
    assert view.overlaps(store)
