# SPDX-License-Identifier: Apache-2.0
"""The text form of programs.

``parse_program(render_program(program)) == program``, but for numbers of views. Stores
are written as in windows (``ir/text.py``). The nests of a band follow the line
``band``, each with its number, the loop along its rows, its shift, and its margin, if
it has them. An access tells the region of its view; ``@1`` after it is its distance
from the row of the nest, and ``circular %1 2`` tells that of store 1 two rows more than
those of a block are in use at a time. ``@-%0.a`` is a distance that depends on where
landmark a of store 0 is (``distance.py``). A nest that is ``told by %2 %1`` runs on
each of several points for what the elements of store 2 tell that the rows of store 1
tell::

    store %0 float64 live
    store %1 float64
    band
    nest 0 shape 0 many rows 0 margin 0 0: write %1[:] @0, read %0[:] @0
    nest 1 shape 1 many rows 0 shift 1 margin 1 1: write %0[1:-1] @0, read %1[:-2] @-1
    circular %1 2
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from legate_diffuse.ir.distance import Rows, parse_rows
from legate_diffuse.ir.nest import Band, Margin, Nest, Program, Turn
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.region_text import parse_region, render_region
from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import Access
from legate_diffuse.ir.text import parse_store, render_store

_NEST: Final = re.compile(
    r"nest (?P<number>\d+) shape (?P<shape>\d+) (?P<points>none|one|many)"
    r"(?: rows (?P<rows>\d+))?(?: shift (?P<shift>[^ :]+))?"
    r"(?: margin (?P<before>[^ :]+) (?P<after>[^ :]+))?"
    r"(?: told by (?P<told>%[^:]+))?: (?P<accesses>.*)"
)
_ACCESS: Final = re.compile(
    r"(?P<privilege>read|write|reduce)(?:\((?P<operator>\w+)\))? %(?P<store>\d+)"
    r"\[(?P<region>[^\]]*)\](?: as \((?P<dims>[^)]*)\))?"
    r"(?: @(?P<distance>[^ ,]+))?(?:, |$)"
)
_CIRCULAR: Final = re.compile(r"circular %(?P<store>\d+) (?P<rows>[^ ]+)")


def render_program(program: Program) -> str:
    """Return the text of a program."""
    lines = [render_store(store) for store in program.stores]
    for band in program.bands:
        lines.append("band")
        lines += map(_turn, band.turns)
        lines += (f"circular %{store} {rows}" for store, rows in band.circular)
    return "\n".join(lines) + "\n"


def _turn(turn: Turn) -> str:
    nest, margin = turn.nest, turn.margin
    text = f"nest {nest.number} shape {nest.shape} {nest.points.value}"
    text += "" if turn.row_loop is None else f" rows {turn.row_loop}"
    text += f" shift {turn.shift}" if turn.shift else ""
    text += f" margin {margin.before} {margin.after}" if margin else ""
    text += told_by(nest.told)
    accesses = zip(nest.accesses, turn.distances, strict=True)
    return f"{text}: {', '.join(_access(*each) for each in accesses)}"


def told_by(stores: tuple[int, ...]) -> str:
    """Return what is said of a nest of whose loop stores tell what is needed."""
    return f" told by {' '.join(f'%{store}' for store in stores)}" if stores else ""


def _access(access: Access, distance: Rows | None) -> str:
    view = access.view
    text = access.privilege.name.lower()
    text += f"({access.operator})" if access.operator else ""
    text += f" %{view.store.id}{render_region(view.region or (), view.dims)}"
    return text if distance is None else f"{text} @{distance}"


def parse_program(text: str) -> Program:
    """Read a program from its text; ``#`` starts a comment.

    Raises:
        ValueError: a line is not of the form above, declares a store again, or names
            one that no line before it declares.
    """
    stores: dict[int, Store] = {}
    views: dict[View, int] = {}
    bands: list[Band] = []
    for raw_line in text.splitlines():
        line = raw_line.partition("#")[0].strip()
        try:
            if match := _NEST.fullmatch(line):
                band = _last(bands)
                turn = _parse_turn(match, stores, views)
                bands[-1] = replace(band, turns=(*band.turns, turn))
            elif match := _CIRCULAR.fullmatch(line):
                band = _last(bands)
                buffer = int(match["store"]), parse_rows(match["rows"])
                bands[-1] = replace(band, circular=(*band.circular, buffer))
            elif line == "band":
                bands.append(Band(()))
            elif (store := parse_store(line)) is not None:
                if stores.setdefault(store.id, store) is not store:
                    raise ValueError(f"store number {store.id} is declared already")
            elif line:
                raise ValueError("it is no part of a program")
        except ValueError as error:
            message = f"cannot read this line of a program: {line!r}: {error}"
            raise ValueError(message) from None
    return Program(tuple(bands))


def _last(bands: list[Band]) -> Band:
    if not bands:
        raise ValueError("no band has begun")
    return bands[-1]


def _parse_turn(
    match: re.Match[str], stores: dict[int, Store], views: dict[View, int]
) -> Turn:
    shape, points = int(match["shape"]), Points(match["points"])
    accesses, distances = [], []
    for found, distance in _parse_accesses(match["accesses"], stores):
        view = replace(found.view, shape=shape, points=points)
        view = replace(view, id=views.setdefault(view, len(views)))
        accesses.append(replace(found, view=view))
        distances.append(distance)
    margin = None
    if match["before"]:
        margin = Margin(parse_rows(match["before"]), parse_rows(match["after"]))
    told = (match["told"] or "").replace("%", "").split()
    return Turn(
        Nest(
            int(match["number"]),
            shape,
            points,
            tuple(accesses),
            tuple(map(int, told)),
        ),
        int(match["rows"]) if match["rows"] else None,
        parse_rows(match["shift"] or "0"),
        tuple(distances),
        margin,
    )


def _parse_accesses(
    text: str, stores: dict[int, Store]
) -> Iterator[tuple[Access, Rows | None]]:
    end = 0
    while end < len(text):
        match = _ACCESS.match(text, end)
        if match is None:
            raise ValueError(f"{text[end:]!r} does not begin with an access")
        end = match.end()
        store = stores.get(int(match["store"]))
        if store is None:
            raise ValueError(f"store %{match['store']} is not declared")
        region, dims = parse_region(match["region"], match["dims"])
        view = View(0, store, 0, Points.MANY, region, dims)
        privilege = Privilege[match["privilege"].upper()]
        distance = match["distance"]
        yield (
            Access(privilege, view, match["operator"] or ""),
            None if distance is None else parse_rows(distance),
        )
