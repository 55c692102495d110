# SPDX-License-Identifier: Apache-2.0
"""What the IR claims of views holds in every array that has the same key.

Landmarks are made with small numbers here, so that small arrays have all of them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

import pytest
from key_windows import array, read, view_of
from tiers import examples

from legate_diffuse.ir import View, landmarks, region, relations
from legate_diffuse.ir.landmarks import Landmarks
from legate_diffuse.ir.region import BEGIN, END, Endpoint, Interval, Zones
from legate_diffuse.stores import layout, outline

SMALL: Final = {
    "NEAR": 2,
    "NEAR_END": 1,
    "POINTS_NEAR_END": 1,
    "_STEP": 5,
    "_BEFORE": 3,
    "_BEHIND": 4,
}


def set_numbers(monkeypatch: pytest.MonkeyPatch, numbers: dict[str, int]) -> None:
    # layouts remember what keys say of them
    monkeypatch.setattr(layout, "_whole", {})
    for module in (region, landmarks, outline):
        for name, value in numbers.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


@pytest.fixture
def small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    set_numbers(monkeypatch, SMALL)


@pytest.fixture
def small_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave it at two positions that are near an end."""
    set_numbers(monkeypatch, SMALL | {"NEAR_END": 2, "POINTS_NEAR_END": 2})


class Part(NamedTuple):
    """Positions of one dimension; a point is one of them, without a dimension."""

    low: int
    high: int
    point: bool

    @property
    def index(self) -> slice | int:
        return self.low if self.point else slice(self.low, self.high)


class Case(NamedTuple):
    """Parts of a dimension of an array that has ``extent`` positions."""

    extent: int
    dim: int
    parts: tuple[Part, ...]


@cache
def parts_of(extent: int) -> tuple[Part, ...]:
    ranges = itertools.combinations(range(extent + 1), 2)
    points = range(extent if extent > 1 else 0)
    return (
        *(Part(low, high, False) for low, high in ranges),
        *(Part(at, at + 1, True) for at in points),
    )


def cases(largest: int, samples: int) -> Iterator[Case]:
    """Yield all pairs of parts of small arrays, and some longer windows."""
    for extent in range(1, largest + 1):
        for pair in itertools.product(parts_of(extent), repeat=2):
            yield Case(extent, 0, pair)
    rng = random.Random(1)
    for _ in range(samples):
        extent = rng.randint(largest - 2, largest + 5)
        count = rng.choice((2, 3, 4))
        chosen = tuple(rng.choice(parts_of(extent)) for _ in range(count))
        yield Case(extent, rng.choice((0, 1)), chosen)


WindowsOf = Callable[[int, int], list[tuple[list[View], list[Case]]]]


def windows(found: Iterator[Case]) -> Iterator[tuple[list[View], list[Case]]]:
    """Yield the views that each key describes, with all cases that have this key."""
    by_key: dict[Any, tuple[list[View], list[Case]]] = {}
    for case in found:
        root = array(*((2, case.extent) if case.dim else (case.extent,)))
        other = (slice(None),) if case.dim else ()
        key, views = read(
            [
                # the same part may come through other transforms
                view_of(view_of(root, *other, slice(part.low, None)), *other, 0)
                if part.point and number
                else view_of(root, *other, part.index)
                for number, part in enumerate(case.parts)
            ]
        )
        by_key.setdefault(key, (views, []))[1].append(case)
    yield from by_key.values()


@cache
def windows_of_cases(largest: int, samples: int) -> list[tuple[list[View], list[Case]]]:
    """Return the windows of cases, which no relation decides."""
    return list(windows(cases(largest, samples)))


def wrong_claims(
    largest: int, samples: int, windows_of: WindowsOf = windows_of_cases
) -> Iterator[str]:
    """Yield what the IR claims of views although it does not hold in all arrays."""
    for views, members in windows_of(largest, samples):
        dim = members[0].dim
        for (i, a), (j, b) in itertools.permutations(enumerate(views), 2):
            pairs = [(case.parts[i], case.parts[j]) for case in members]
            text = f"{a.region} {b.region} {a.store.zones} as in {members[0]}"
            if not relations.may_overlap(a, b) and any(
                one.low < other.high and other.low < one.high for one, other in pairs
            ):
                yield f"disjoint: {text}"
            if relations.are_covered((b,), {a.id: a}) and any(
                other.low < one.low or one.high < other.high for one, other in pairs
            ):
                yield f"covers: {text}"
            if relations.covers_store(a) and any(
                (case.parts[i].low, case.parts[i].high) != (0, case.extent)
                for case in members
            ):
                yield f"covers the store: {text}"
            apart = relations.distance(a, b)
            if apart is not None and any(
                other.low - one.low != apart[dim] for one, other in pairs
            ):
                yield f"distance {apart}: {text}"
            if relations.aligned(a, b) and any(one != other for one, other in pairs):
                yield f"aligned: {text}"


@pytest.mark.usefixtures("small_numbers")
def test_claims_hold_in_every_array() -> None:
    samples = examples(12_000, 60_000)
    assert list(wrong_claims(largest=examples(9, 10), samples=samples)) == []


@pytest.mark.usefixtures("small_numbers")
def test_most_of_what_holds_is_known() -> None:
    holds = known = 0
    for views, members in windows_of_cases(largest=10, samples=0):
        if len(members) < 3:
            continue  # nearly anything holds in a single array
        a, b = views
        one, other = zip(*(case.parts for case in members), strict=True)
        pairs = list(zip(one, other, strict=True))
        if all(o.high <= t.low or t.high <= o.low for o, t in pairs):
            holds += 1
            known += not relations.may_overlap(a, b)
        if all(o.low <= t.low and t.high <= o.high for o, t in pairs):
            holds += 1
            known += relations.are_covered((b,), {a.id: a})
    assert known > 0.96 * holds, (known, holds)


# -- broken rules ----------------------------------------------------------------
AT_MOST = relations._at_most


def at_most_where(
    broken: Callable[[Endpoint, Endpoint, Zones], bool | None],
) -> Callable[..., bool]:
    """Return the comparison with a rule that comes before the others."""

    def at_most(x: Endpoint, y: Endpoint, a: Interval, b: Interval, z: Zones) -> bool:
        found = broken(x, y, z)
        return AT_MOST(x, y, a, b, z) if found is None else found

    return at_most


def _free(x: Endpoint, y: Endpoint) -> bool:
    return x.landmark >= 0 and y.landmark >= 0 and x.landmark != y.landmark


def _encode_point_without_memory(
    self: Landmarks, value: int, extent: int, ranged: bool
) -> tuple[int, ...]:
    self._points.pop(value, None)
    return ENCODE_POINT(self, value, extent, ranged)


ENCODE_POINT = Landmarks.encode_point
INSERT_RANGE = Landmarks._insert_range


def _insert_range_off(self: Landmarks, rank: int, places: list[int]) -> None:
    INSERT_RANGE(self, rank, [place + 1 if place < 2 else place for place in places])


def _insert_range_in_front(self: Landmarks, rank: int, places: list[int]) -> None:
    INSERT_RANGE(self, 0, places)


BROKEN: Final[dict[str, tuple[Any, str, Any]]] = {
    "landmarks are in the order of their numbers": (
        relations,
        "_rank",
        lambda landmark, zones: landmark,
    ),
    "points of one zone are in order": (
        relations,
        "_at_most",
        at_most_where(
            lambda x, y, z: (
                x.landmark < y.landmark and x.offset <= y.offset
                if _free(x, y)
                else None
            )
        ),
    ),
    "free points are far from the beginning": (
        relations,
        "_at_most",
        at_most_where(lambda x, y, z: True if x[0] == BEGIN != y[0] else None),
    ),
    "free points are far from the end": (
        relations,
        "_at_most",
        at_most_where(lambda x, y, z: True if x[0] >= 0 and y[0] == END else None),
    ),
    "offsets do not matter": (
        relations,
        "_at_most",
        at_most_where(lambda x, y, z: True if x[0] == y[0] else None),
    ),
    "regions that are written differently are disjoint": (
        relations,
        "_are_apart",
        lambda a, b, zones: a != b,
    ),
    "distances do not need one landmark": (
        relations,
        "distance",
        lambda one, other: tuple(
            b.low.offset - a.low.offset
            for a, b in zip(one.region, other.region, strict=True)
        ),
    ),
    "aligned views begin at the same landmark, however far from it": (
        relations,
        "aligned",
        lambda one, other: (
            one.shape == other.shape and relations.distance(one, other) is not None
        ),
    ),
    "a view that begins with its store covers it": (
        relations,
        "covers_store",
        lambda view: view.region[-1].low == (BEGIN, 0),
    ),
    "a point is forgotten": (
        Landmarks,
        "encode_point",
        _encode_point_without_memory,
    ),
    "points move to the wrong place": (Landmarks, "_insert_range", _insert_range_off),
    "new landmarks come first": (Landmarks, "_insert_range", _insert_range_in_front),
    "a position is near a landmark that is not": (
        Landmarks,
        "_near",
        lambda self, value: next(
            (landmarks._token(Endpoint(n, 0)) for n in self._values), None
        ),
    ),
}


@pytest.mark.usefixtures("small_numbers")
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_noticed(
    broken: tuple[Any, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*broken)
    try:
        # most are noticed in small arrays
        how = windows_of_cases
        if broken[0] is Landmarks:
            # what makes keys is broken
            how = windows_of_cases.__wrapped__
        claims = chain(wrong_claims(6, 2_000, how), wrong_claims(9, 20_000, how))
        found = next(claims, None)
    except (LookupError, RuntimeError, AssertionError) as error:
        found = repr(error)  # a key that cannot be read is noticed as well
    assert found is not None


# -- parts that cover a view together ----------------------------------------------
def triples(largest: int) -> Iterator[Case]:
    """Yield all views of small arrays with two parts."""
    for extent in range(1, largest + 1):
        for parts in itertools.product(parts_of(extent), repeat=3):
            yield Case(extent, 0, parts)


@cache
def windows_of_triples(largest: int) -> list[tuple[list[View], list[Case]]]:
    """Return the windows of triples, which no relation decides."""
    return list(windows(triples(largest)))


def shown_by_parts(case: Case) -> bool:
    """Whether the parts of a case show all positions that its first one shows."""
    view, *parts = case.parts
    return all(
        any(part.low <= position < part.high for part in parts)
        for position in range(view.low, view.high)
    )


def is_covered(views: list[View]) -> bool:
    """Whether the first view is known to be covered by the others."""
    return relations.are_covered(views[:1], {part.id: part for part in views[1:]})


def wrong_covers(largest: int) -> Iterator[str]:
    """Yield what the IR claims to be covered although it is not in all arrays."""
    for views, members in windows_of_triples(largest):
        if is_covered(views) and not all(map(shown_by_parts, members)):
            yield f"{[view.region for view in views]} as in {members[0]}"


@pytest.mark.usefixtures("small_offsets")
def test_what_is_covered_is_covered_in_every_array() -> None:
    assert list(wrong_covers(largest=6)) == []


@pytest.mark.usefixtures("small_offsets")
def test_most_of_what_is_covered_is_known() -> None:
    holds = known = 0
    for views, members in windows_of_triples(6):
        # a single small array tells nothing of larger ones
        if members[-1].extent == 6 and all(map(shown_by_parts, members)):
            holds += 1
            known += is_covered(views)
    assert known > 0.85 * holds > 100, (known, holds)


def precedes_where(broken: Callable[[Any, Any, Any], bool | None]) -> Any:
    """Return the comparison of any ends with a rule that comes before the others."""

    def precedes(x: Any, y: Any, zones: Any) -> bool:
        found = broken(x, y, zones)
        return PRECEDES(x, y, zones) if found is None else found

    return precedes


PRECEDES = relations._precedes

BROKEN_COVERS: Final[dict[str, tuple[str, Any]]] = {
    "parts are far from the beginning": (
        "_precedes",
        precedes_where(lambda x, y, zones: True if x.at[0] == BEGIN else None),
    ),
    "whatever is near the end lies after a part's first position": (
        "_precedes",
        precedes_where(
            lambda x, y, zones: (
                True
                if x.at == x.of.low and x.of.high.landmark == y.at.landmark
                else None
            )
        ),
    ),
    "what is taken away was all of it": (
        "_without",
        lambda piece, taken, of_store: [],
    ),
    "parts leave nothing before them": (
        "_precedes",
        precedes_where(
            lambda x, y, zones: True if x.at[0] >= 0 and y.at == (BEGIN, 0) else None
        ),
    ),
}


@pytest.mark.usefixtures("small_offsets")
@pytest.mark.parametrize("broken", BROKEN_COVERS.values(), ids=BROKEN_COVERS)
def test_a_broken_rule_of_covers_is_noticed(
    broken: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relations, *broken)
    # most are noticed in small arrays
    assert next(chain(wrong_covers(4), wrong_covers(6)), None) is not None
