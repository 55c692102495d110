# SPDX-License-Identifier: Apache-2.0
"""Reads the text of programs, which ``ir/program_text.py`` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from region_reader import landmark_number, parse_region
from window_reader import parse_store

from legate_diffuse.ir.distance import Distance, Rows
from legate_diffuse.ir.nest import (
    Band,
    Margin,
    Nest,
    Program,
    RowsOf,
    Turn,
)
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import Access

_NEST: Final = re.compile(
    r"nest (?P<number>\d+) shape (?P<shape>\d+) (?P<points>none|one|many)"
    r"(?: rows (?P<rows>\d+))?(?: shift (?P<shift>[^ :]+))?"
    r"(?: margin (?P<before>[^ :]+) (?P<after>[^ :]+))?"
    r"(?P<part> part)?: (?P<accesses>.*)"
)
_ACCESS: Final = re.compile(
    r"(?P<privilege>read(?: write)?|write|reduce)(?:\((?P<operator>\w+)\))?"
    r" %(?P<store>\d+)"
    r"\[(?P<region>[^\]]*)\](?: as \((?P<dims>[^)]*)\))?"
    r"(?: @(?P<distance>[^ ,]+))?(?:, |$)"
)
_CIRCULAR: Final = re.compile(r"circular %(?P<store>\d+) (?P<rows>[^ ]+)")
_TERM: Final = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<factor>\d+)\*)?%(?P<store>\d+)\.(?P<name>[a-z]\d*)"
    r"|(?P<rows>[+-]?\d+)"
)


def parse_program(text: str) -> Program:
    """Read a program from its text; ``#`` starts a comment.

    Raises:
        ValueError: a line is of another form, declares a store again, or names one
            that no line before it declares.
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
    return Turn(
        Nest(
            int(match["number"]),
            shape,
            points,
            tuple(accesses),
            RowsOf(None, None, 0) if match["part"] else None,
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
        privilege = Privilege[match["privilege"].upper().replace(" ", "_")]
        distance = match["distance"]
        yield (
            Access(privilege, view, match["operator"] or ""),
            None if distance is None else parse_rows(distance),
        )


def parse_rows(text: str) -> Rows:
    """Read what ``str`` has written.

    Raises:
        ValueError: the text is of another form.
    """
    terms = list(_TERM.finditer(text))
    if not terms or "".join(term[0] for term in terms) != text:
        raise ValueError(f"{text!r} is no number of rows")
    found: Rows = 0
    for term in terms:
        if term["rows"]:
            found += int(term["rows"])
            continue
        mark = int(term["store"]), landmark_number(term["name"])
        found += Distance(0, ((mark, int(f"{term['sign']}{term['factor'] or 1}")),))
    return found
