# SPDX-License-Identifier: Apache-2.0
"""Few rows that lie far away are computed again, and hold what they would have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, Final

import pytest
from concrete_programs import OPERATIONS, Extents, Program
from mutants import mutate
from noticed import is_noticed
from plan_checks import check, fails
from random_programs import Generator
from tiers import examples

from legate_diffuse.fusion import wrapping
from legate_diffuse.fusion.pipeline import verify_pass
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.view import View

PROGRAMS: Final = examples(100, 400)
# A broken rule is noticed in one of so many programs.
MUTANT_PROGRAMS: Final = 2_000

# Rows and columns of arrays, of their inner part, and of what wraps around.
ARRAY: Final = (20, 4)
ROWS: Final = {20: (0,), 16: (2, 1, 3, 0, 4), 2: (0, 18, 2, 16, 1, 17)}
COLUMNS: Final = {4: (0,), 2: (1, 0, 2), 1: (0, 3, 1, 2)}


class _WrappingGenerator(Generator):
    """Arrays whose inner part is computed, and whose edges are copied from there."""

    def _shapes(self) -> Sequence[Extents]:
        return ((20, 4), (16, 4), (16, 2), (2, 4), (2, 2), (20, 1))

    def _arrays(self) -> list[View]:
        kinds = ("live", "live", "dead", "undefined", "undefined")
        self.arrays = [
            self._array(number, ARRAY, self.rng.choice(kinds), scalar=False)
            for number in range(self.rng.randint(3, 4))
        ]
        return []

    def _futures(self) -> list[View]:
        return [self._array(10, (), "live", scalar=True)]

    def _add_tasks(self) -> None:
        rng = self.rng
        kind = rng.choices((self._compute, self._wrap, self._sum), (9, 9, 1))[0]
        kind(rng.choice(self.arrays))

    def _compute(self, array: View) -> None:
        """Change most rows of an array."""
        rng = self.rng
        shape = rng.choice(((20, 4), (16, 4), (16, 4), (16, 2)))
        target = self._view(array, shape, any_place=False)
        names = ("COPY", "BINARY_OP.ADD", "BINARY_OP.SUBTRACT", "FILL", "UNARY_RED.SUM")
        name = rng.choices(names, (6, 6, 6, 6, 1))[0]
        others = [each for each in self.arrays if each is not array]
        sources = [
            target
            if rng.random() < 0.15
            else self._view(rng.choice(others), shape, any_place=rng.random() < 0.5)
            for _ in range(OPERATIONS[name].reads)
        ]
        self._append(name, OPERATIONS[name], [target], sources)

    def _wrap(self, array: View) -> None:
        """Change few rows or columns, mostly as what they wrap around to."""
        rng = self.rng
        shape = rng.choice(((2, 4), (2, 4), (2, 2), (20, 1)))
        other = array if rng.random() < 0.7 else rng.choice(self.arrays)
        starts = [(0, 16), (18, 2), (1, 17)] if shape[0] == 2 else [(0, 0)]
        begin, source = rng.choice(starts)
        if rng.random() < 0.2:
            source = rng.choice(ROWS[shape[0]])
        column = rng.choice(COLUMNS[shape[1]])
        other_column = rng.choice(COLUMNS[shape[1]])
        if rng.random() < 0.5:
            other_column = column
        target = _part(array, shape, (begin, column))
        sources = [_part(other, shape, (source, other_column))]
        name = rng.choice(("COPY", "COPY", "UNARY_OP.NEGATIVE", "BINARY_OP.ADD"))
        if OPERATIONS[name].reads == 2:
            third = self._view(rng.choice(self.arrays), shape, any_place=True)
            sources.append(rng.choice((target, third)))
        self._append(name, OPERATIONS[name], [target], sources)

    def _sum(self, array: View) -> None:
        shape = self.rng.choice(((20, 4), (16, 2), (2, 4)))
        future = self.pools[self._shapes().index(shape)].reducible[-1]
        source = self._view(array, shape, any_place=True)
        name = "SCALAR_UNARY_RED.SUM"
        self._append(name, OPERATIONS[name], [future], [source])

    def _view(self, array: View, shape: Extents, *, any_place: bool) -> View:
        """Return a part of an array, in the middle of it or anywhere."""
        places = (ROWS[shape[0]], COLUMNS[shape[1]])
        low = [self.rng.choice(each) if any_place else each[0] for each in places]
        return _part(array, shape, low)


def _part(array: View, shape: Extents, low: Sequence[int]) -> View:
    layout = whole(array.root.shape)
    for dim, (begin, extent) in enumerate(zip(low, shape, strict=True)):
        found = layout.derive(("slice", dim, begin, begin + extent))
        assert found is not None
        layout = found
    return array.through(layout)


def programs(number: int) -> Iterator[Program]:
    """Yield programs whose rows wrap around."""
    return map(program_of, range(number))


def program_of(seed: int) -> Program:
    """Return a program whose rows wrap around."""
    return _WrappingGenerator(seed).program(seed)


def always_compute_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rows be computed again wherever they may be, whether that pays or not."""
    numbers = count(0, -1)
    monkeypatch.setattr(wrapping, "_cost", lambda *_: next(numbers))


@pytest.mark.parametrize("always", [False, True])
def test_programs_give_what_their_tasks_give(
    always: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if always:
        always_compute_again(monkeypatch)
    parts = copies = 0
    for program in programs(PROGRAMS):
        _, made = check(program, verify_pass)
        nests = [nest.nest for launch in made.launches for nest in launch.nests]
        parts += sum(nest.rows is not None for nest in nests)
        copies += sum(nest.rows is not None and nest.whole for nest in nests)
    print(parts, copies)
    assert parts > PROGRAMS / 10
    assert copies > PROGRAMS / 100


FIND = wrapping._FarReads
BROKEN: Final[dict[str, tuple[Callable[..., Any], str, str]]] = {
    "what makers read may change before": (
        FIND._place,
        "where = max(where, 1 + next(changing, -1))",
        "where = 0",
    ),
    "what makers read may change after": (
        FIND._place,
        "any(self._alters(n, view) for n in range(place, where))",
        "False",
    ),
    "only the last maker is run again": (
        FIND._computed_again,
        "if len(foreign) == len(read) and _has_all_columns(result):",
        "if True:",
    ),
    "makers of some columns write all": (
        FIND._computed_again,
        "and _has_all_columns(result)",
        "",
    ),
    "makers do not read what they change": (
        FIND._computed_again,
        "len(foreign) == len(read) and",
        "",
    ),
    "what was there before is never needed": (
        FIND._computed_again,
        "copies = view.store.id not in self._fresh",
        "copies = False",
    ),
    "what was there before may change": (
        FIND._computed_again,
        "copies and where > makers[0].nest",
        "False",
    ),
    "other rows are read": (
        wrapping._read_by,
        "not _same_rows(each, access.view)",
        "False",
    ),
    "makers have not all rows": (
        wrapping._read_by,
        "not shows_rows_of(access.view, view)",
        "False",
    ),
    "what is reduced to is written": (
        wrapping._read_by,
        "access.privilege is Privilege.REDUCE\n",
        "False\n",
    ),
    "makers in between are forgotten": (
        FIND._computed_again,
        "and not rows_are_apart(changed, view)",
        "and shows_rows_of(changed, view)",
    ),
    "rows are made once": (
        wrapping._Writer._made,
        "key = rows_of(rows), read.makers",
        "key = rows_of(rows), rows.store.id",
    ),
    "all rows are alike": (
        wrapping._Writer._made,
        "key = rows_of(rows), read.makers",
        "key = read.makers",
    ),
    "nothing is copied": (wrapping._Writer._made, "if read.copies:", "if False:"),
    "makers are run again in another order": (
        FIND._computed_again,
        "makers.insert(0, _Maker(place, number))",
        "makers.append(_Maker(place, number))",
    ),
    "rows are made at the end": (
        wrapping._Writer._made,
        "self._insert(read.place, made)",
        "self._insert(read.reader, made)",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    always_compute_again(monkeypatch)
    mutate(*BROKEN[name], monkeypatch)
    assert is_noticed(lambda number: fails(program_of(number)), MUTANT_PROGRAMS)
