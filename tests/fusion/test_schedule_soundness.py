# SPDX-License-Identifier: Apache-2.0
"""Scheduled programs give the values of their nests one after the other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from mutants import mutate
from nest_execution import Executor, results
from noticed import is_noticed
from program_reader import parse_program
from random_nests import (
    SIZES,
    M,
    N,
    Number,
    Operand,
    Step,
    Steps,
    key_of,
    nests_of,
    random_steps,
)
from tiers import examples

from legate_diffuse.fusion import axis, in_place, schedule
from legate_diffuse.ir import Privilege, distance, landmarks, region
from legate_diffuse.ir.program_text import render_program
from legate_diffuse.ir.verify_program import verify_program
from legate_diffuse.stores import layout, outline

PROGRAMS: Final = examples(50, 150)

# Small numbers make small arrays have all that large ones have.
SMALL: Final = {
    "NEAR": 3,
    "NEAR_END": 2,
    "POINTS_NEAR_END": 2,
    "_STEP": 7,
    "_BEFORE": 4,
    "_BEHIND": 5,
}


@pytest.fixture(autouse=True)
def small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    # layouts remember what keys say of them
    monkeypatch.setattr(layout, "_whole", {})
    for module in (region, landmarks, outline):
        for name, value in SMALL.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


def check(steps: Steps) -> Counter[str]:
    """Assert that a program gives what its nests give in order; count what was run."""
    scheduled = schedule.schedule(nests_of(steps), steps.scratch)
    verify_program(scheduled, steps.scratch)
    text = render_program(scheduled)
    assert render_program(parse_program(text)) == text
    seen: Counter[str] = Counter()
    seen["bands"] += sum(len(band.turns) > 1 for band in scheduled.bands)
    seen["landmarks"] += len(scheduled.landmarks)
    circular = dict(each for band in scheduled.bands for each in band.circular)
    seen["circular"] += len(circular)
    places = in_place.written_in_place(scheduled, steps.scratch, circular)
    seen["in place"] += len(places)
    for sizes in SIZES:
        rng = random.Random(1)
        executor = Executor(steps, scheduled, sizes, rng, places)
        expected = executor.in_order()
        for name, found in results(executor):
            if found is not None:
                assert found == expected, name
                seen[name.split(maxsplit=1)[1]] += 1
    return seen


def fails(steps: Steps) -> bool:
    """Whether a program is scheduled wrongly."""
    try:
        check(steps)
    except (AssertionError, LookupError, TypeError, ValueError):
        return True
    return False


def smallest(steps: Steps) -> Steps:
    """Return a program that still fails, but not without any of its nests."""
    position = 0
    while position < len(steps.steps):
        smaller = steps.without(position)
        if smaller.steps and one_key(smaller) and fails(smaller):
            steps, position = smaller, 0
        else:
            position += 1
    return steps


def one_key(steps: Steps) -> bool:
    return len({key_of(steps, sizes) for sizes in SIZES}) == 1


def a_row_for_all() -> Steps:
    """What random programs do too seldom: a row at a distance is used by all rows."""
    whole, zero = (N, M), Number()
    less, two = (N - 1, M), (Number(one=2), M)

    def rows(array: int, low: int, extents: tuple[Number, ...]) -> Operand:
        return Operand(array, (zero + low, zero), extents, (0, 1))

    def row(array: int) -> Operand:
        return Operand(array, (zero + 1, zero), (zero + 1, M), (-1, 1))

    write, read = Privilege.WRITE, Privilege.READ
    steps = (
        Step(whole, (rows(1, 0, whole), rows(0, 0, whole)), (write, read)),
        Step(whole, (rows(2, 0, whole), rows(0, 0, whole)), (write, read)),
        Step(two, (rows(3, 0, two), row(2)), (write, read)),
        Step(
            less,
            (rows(1, 0, less), rows(2, 1, less), rows(0, 0, less)),
            (write, write, read),
        ),
        Step(
            less,
            (rows(1, 1, less), rows(2, 0, less), rows(0, 1, less)),
            (write, write, read),
        ),
        Step(whole, (rows(4, 0, whole), row(2)), (write, read)),
    )
    return Steps((whole,) * 5, steps, frozenset())


def arrays_made_anew(seed: int) -> Steps:
    """Each array is made of the one before, and mostly nothing else uses that.

    Many nests wait for the sum of an array, so that not all of them share a band.
    """
    rng = random.Random(seed)
    whole, less, zero = (N, M), (N - 2, M), Number()
    last = 8
    arrays: list[tuple[Number, ...]] = [whole] * (last + 1)
    write, read, reduce = Privilege.WRITE, Privilege.READ, Privilege.REDUCE
    steps: list[Step] = []
    has = dict.fromkeys(range(last + 1), whole)

    def luck(share: float) -> bool:
        return rng.random() < share

    def rows(array: int, extents: tuple[Number, ...], low: int = 0) -> Operand:
        return Operand(array, (zero + low, zero), extents, (0, 1))

    def add(targets: list[Operand], sources: list[Operand]) -> None:
        loops = targets[0].extents
        sums = [n for n, own in enumerate(arrays) if not own]
        if sums and luck(0.9):
            sources = [*sources, Operand(sums[-1], (), (), (-1, -1))]
        kinds = (*(write for _ in targets), *(read for _ in sources))
        steps.append(Step(loops, (*targets, *sources), kinds))

    def neighbours(array: int) -> None:
        arrays.append(less)
        low = rng.choice((1, 2)) if has[array] == whole else 0
        add([rows(len(arrays) - 1, less)], [rows(array, less, low), rows(array, less)])

    old = 0
    for _ in range(rng.randint(3, 6)):
        new = rng.choice([n for n in range(1, last) if n != old])
        others = [n for n in range(1, last) if n not in (old, new)]
        extents = has[old]
        low = 0
        if extents == whole and luck(0.15):
            extents, low = less, rng.choice((0, 2))
        sources = [rows(old, extents, low)]
        targets = [rows(new, extents)]
        written = {step.operands[0].array for step in steps}
        used = [n for n in others if n in written and has[n] in (whole, extents)]
        if used and luck(0.2):
            sources.append(rows(rng.choice(used), extents))
        elif luck(0.2):
            targets.append(rows(rng.choice(others), extents))
        if luck(0.3):
            sources.append(Operand(old, (zero + 1, zero), (zero + 1, M), (-1, 1)))
        if luck(0.15):
            neighbours(old)
        add(targets, sources)
        if luck(0.15):
            neighbours(old)
        has.update((target.array, extents) for target in targets)
        if luck(0.9):
            arrays.append(())
            total = Operand(len(arrays) - 1, (), (), (-1, -1))
            steps.append(Step(extents, (total, rows(new, extents)), (reduce, read)))
        old = new
    add([rows(last, has[old])], [rows(old, has[old])])
    first_of: dict[int, Privilege] = {}
    for step in steps:
        for operand, kind in reversed(
            list(zip(step.operands, step.privileges, strict=True))
        ):
            first_of.setdefault(operand.array, kind)
    scratch = {n for n in range(1, last) if first_of.get(n) is write}
    return Steps(tuple(arrays), tuple(steps), frozenset(scratch))


def programs(count: int) -> Iterator[tuple[int, Steps]]:
    for number in range(count):
        yield from ((number - 1, steps) for steps in programs_of(number))


def programs_of(number: int) -> Iterator[Steps]:
    """Yield the programs of a number, of which 0 is not random."""
    if number == 0:
        yield a_row_for_all()
        return
    steps = random_steps(number - 1)
    if steps is not None:
        yield steps
    yield arrays_made_anew(number - 1)


def test_scheduled_programs_give_what_their_nests_give_in_order() -> None:
    seen: Counter[str] = Counter()
    for seed, steps in programs(PROGRAMS):
        try:
            seen += check(steps)
        except Exception:
            culprit = render_program(
                schedule.schedule(nests_of(smallest(steps)), frozenset())
            )
            print(f"\nseed {seed} fails, and so does this part of it:\n{culprit}")
            raise
    print(seen)
    assert min(seen.values()) > PROGRAMS / 10, "all ways to run programs are tested"


# -- broken rules ----------------------------------------------------------------
BROKEN: Final[dict[str, tuple[Callable[..., Any], str, str]]] = {
    # shifts
    "shifts are one too small": (
        schedule._lag,
        "return later.distance - earlier.distance",
        "return later.distance - earlier.distance - 1",
    ),
    "shifts do not depend on distances": (
        schedule._lag,
        "return later.distance - earlier.distance",
        "return 0",
    ),
    "what is at no distance needs no shift": (
        schedule._lag,
        "default=None",
        "default=0",
    ),
    "the last row that is touched is one before": (
        schedule._lag,
        "end.moved(-1 - earlier.distance)",
        "end.moved(-2 - earlier.distance)",
    ),
    "the last row that is touched is at no distance": (
        schedule._lag,
        "end.moved(-1 - earlier.distance)",
        "end.moved(-1)",
    ),
    "the last row is one before": (
        schedule._lag,
        "earlier.located.end.moved(-1)",
        "earlier.located.end.moved(-2)",
    ),
    "the first row that is touched is at no distance": (
        schedule._lag,
        "first.moved(-later.distance)",
        "first",
    ),
    "the first row is one behind": (
        schedule._lag,
        "[later.located.first]",
        "[later.located.first.moved(1)]",
    ),
    "any shift will do": (
        schedule.BandBuilder._shift,
        "greatest(needed)",
        "least(needed)",
    ),
    "what is read may be overwritten before": (
        schedule.Uses.conflicts,
        "earlier.changes or later.changes",
        "earlier.changes",
    ),
    "what is written may be read before": (
        schedule.Uses.conflicts,
        "earlier.changes or later.changes",
        "later.changes",
    ),
    "what is written may be overwritten before": (
        schedule.Uses.conflicts,
        "earlier.changes or later.changes",
        "earlier.changes != later.changes",
    ),
    "views never overlap": (
        schedule.Uses.conflicts,
        "may_overlap(view, later.view)",
        "view == later.view",
    ),
    # bands
    "nothing comes before a nest": (
        schedule._bands_of,
        "builder.obstacles(nest)",
        "set()",
    ),
    "only the first obstacle comes before a nest": (
        schedule._bands_of,
        "builder.obstacles(nest)",
        "{*sorted(builder.obstacles(nest))[:1]} & {number - 1}",
    ),
    "nests without rows need nothing": (
        schedule.BandBuilder.obstacles,
        "far or _lag",
        "located is not None and _lag",
    ),
    # circular buffers
    "circular buffers are one row too small": (
        schedule.spreads,
        "greatest(found) - least(found)",
        "greatest((greatest(found) - least(found) - 1, 0))",
    ),
    "rows are in use wherever they are": (
        schedule.spreads,
        "append(turn.shift - distance)",
        "append(turn.shift)",
    ),
    "rows that do not move need no memory": (
        schedule.spreads,
        "if store not in fixed",
        "if True",
    ),
    "what is seen is in circular buffers": (
        schedule.fold_storage,
        "store in scratch and",
        "",
    ),
    "what other bands use is in circular buffers": (
        schedule.fold_storage,
        "and {band_of[use] for use in uses[store]} == {number}",
        "",
    ),
    # the axis
    "symbols do not matter": (
        axis.Place.__sub__,
        "if self.symbol == other.symbol else None",
        "",
    ),
    "landmarks of stores are one": (
        axis.Axis.place,
        "Place((store, at.landmark), begin.offset)",
        "Place(at.landmark, begin.offset)",
    ),
    "symbols are the same at no distance": (
        axis.Axis._learn,
        "place.moved(-known.offset)",
        "place",
    ),
    "known stores are at no distance": (
        axis.Axis._distance,
        "if not self._knows(row):",
        "if True:",
    ),
    "ends move the other way": (
        axis.Axis._distance,
        "self._learn(store, high, end.moved(distance))",
        "self._learn(store, high, end.moved(-distance))",
    ),
    "columns are rows": (axis._rows, "view.dims[loop] == 0", "view.dims[loop] >= 0"),
    "points move along": (
        axis._rows,
        "Touched(view.store.id, interval, view.dims[loop] == 0)",
        "Touched(view.store.id, interval, interval.point or view.dims[loop] == 0)",
    ),
    # landmarks
    "landmarks lie the other way": (
        axis.Place.behind,
        "((self, 1), (other, -1))",
        "((self, -1), (other, 1))",
    ),
    "views begin where they end": (
        axis.Axis._far,
        "row.interval.low",
        "row.interval.high",
    ),
    "landmarks have no offsets": (
        axis.Place.behind,
        "rows: Rows = self.offset - other.offset",
        "rows: Rows = 0",
    ),
    "of landmarks the least number counts": (
        distance._bound,
        "choose(own.get(mark, 0) for own in factors)",
        "min(own.get(mark, 0) for own in factors)",
    ),
    "numbers without a landmark do not count": (
        distance._bound,
        "choose(own.get(mark, 0) for own in factors)",
        "choose(own[mark] for own in factors if mark in own)",
    ),
    # what is written in place of others
    "what others of the band use is replaced": (
        in_place.written_in_place,
        "[use for use in uses[old.store.id] if use >= first] == [place]",
        "uses[old.store.id][-1] == place",
    ),
    "what later nests use is replaced": (
        in_place.written_in_place,
        "[use for use in uses[old.store.id] if use >= first] == [place]",
        "not [use for use in uses[old.store.id] if first <= use < place]",
    ),
    "what was there before replaces": (
        in_place.written_in_place,
        "uses[new.store.id][0] != place",
        "False",
    ),
    "two replace one": (in_place.written_in_place, "dead.remove(old)", "pass"),
    "parts are replaced": (
        in_place._seen_as_they_are,
        "and shows_store(own.view)",
        "",
    ),
    "what is read twice is replaced": (
        in_place._seen_as_they_are,
        "not others\n        and ",
        "",
    ),
    # margins
    "margins do not grow": (
        schedule.BandBuilder._margin,
        "margin.before - apart",
        "-apart",
    ),
    "margins have no distance": (
        schedule.BandBuilder._margin,
        "apart = later.distance - earlier.distance",
        "apart = 0",
    ),
    "margins do not mind what stands": (
        schedule.BandBuilder._margin,
        "return None",
        "continue",
    ),
    "ends are exchanged": (
        schedule.BandBuilder._margin,
        "apart = later.distance - earlier.distance",
        "apart = earlier.distance - later.distance",
    ),
    "only writes that overlap conflict in parts": (
        schedule.Uses.conflicts,
        "earlier.changes or later.changes",
        "earlier.changes and later.changes",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(*BROKEN[name], monkeypatch, (schedule, axis, in_place))
    assert is_noticed(lambda number: any(map(fails, programs_of(number))), 1_200)
