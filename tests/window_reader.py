# SPDX-License-Identifier: Apache-2.0
"""Reads the text of windows, which ``ir/text.py`` writes."""

from __future__ import annotations

import re
from typing import TypeVar

from region_reader import parse_region, parse_zones

from legate_diffuse.ir.kind import OperationKind
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.region import Region
from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import Access, IndexTask
from legate_diffuse.ir.text import STORE_FLAGS
from legate_diffuse.ir.window import Window

_STORE = re.compile(
    r"store %(?P<id>\d+) (?P<dtype>\w+)"
    r"(?P<flags>( (" + "|".join(STORE_FLAGS) + r"))*)(?: where (?P<zones>.+))?"
)
_VIEW = re.compile(
    r"view %(?P<store>\d+)\.(?P<id>\d+) shape (?P<shape>\d+)"
    r" (?P<points>none|one|many|short)"
    r" (?:nonaffine|\[(?P<region>[^\]]*)\](?: as \((?P<dims>[^)]*)\))?)"
)
_TASK = re.compile(
    r"(?P<task>[\w:]+)(?:\.(?P<code>\w+))?\((?P<inputs>[^)]*)\)"
    r"(?:\[(?P<scalars>[^\]]*)\])? -> \((?P<outputs>[^)]*)\)"
    r" shape (?P<shape>\d+): (?P<accesses>.*)"
)
_CARRIED = re.compile(r"carried (\d+)")
_ACCESS = re.compile(
    r"(?P<privilege>read|write|reduce)(?:\((?P<operator>\w+)\))?"
    r" %(?P<store>\d+)\.(?P<view>\d+)"
)

_Declared = TypeVar("_Declared", Store, View)


def parse(text: str) -> Window:
    """Read a window from its text; ``#`` starts a comment.

    Raises:
        ValueError: a line is of another form, declares a number again, or names a
            store or view that no line before it declares.
    """
    stores: dict[int, Store] = {}
    views: dict[int, View] = {}
    tasks: list[IndexTask] = []
    carried = 0
    for raw_line in text.splitlines():
        line = raw_line.partition("#")[0].strip()
        try:
            if (store := parse_store(line)) is not None:
                _declare(stores, store.id, store, "store")
            elif match := _VIEW.fullmatch(line):
                view = _parse_view(match, stores)
                _declare(views, view.id, view, "view")
            elif match := _TASK.fullmatch(line):
                tasks.append(_parse_task(match, views))
            elif match := _CARRIED.fullmatch(line):
                carried = int(match[1])
            elif line:
                raise ValueError("it is neither a store, a view nor a task")
        except ValueError as error:
            message = f"cannot read this line of a window: {line!r}: {error}"
            raise ValueError(message) from None
    return Window(tuple(tasks), carried)


def parse_store(line: str) -> Store | None:
    """Read the line of a store, None if it is something else."""
    match = _STORE.fullmatch(line)
    if match is None:
        return None
    flags = match["flags"].split()
    return Store(
        int(match["id"]),
        match["dtype"],
        zones=parse_zones(match["zones"]) if match["zones"] else (),
        **{flag: flag in flags for flag in STORE_FLAGS},
    )


def _parse_view(match: re.Match[str], stores: dict[int, Store]) -> View:
    store = stores.get(int(match["store"]))
    if store is None:
        raise ValueError(f"store %{match['store']} is not declared")
    region: Region | None = None
    dims: tuple[int, ...] = ()
    if match["region"] is not None:
        region, dims = parse_region(match["region"], match["dims"])
    return View(
        int(match["id"]),
        store,
        int(match["shape"]),
        Points(match["points"]),
        region,
        dims,
    )


def _parse_task(match: re.Match[str], views: dict[int, View]) -> IndexTask:
    kind = OperationKind(
        match["task"],
        match["code"] or "",
        _names(match["inputs"]),
        _names(match["outputs"]),
        _names(match["scalars"] or ""),
    )
    accesses = tuple(
        _parse_access(text.strip(), views) for text in match["accesses"].split(",")
    )
    return IndexTask(kind, int(match["shape"]), accesses)


def _parse_access(text: str, views: dict[int, View]) -> Access:
    match = _ACCESS.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an access")
    view = views.get(int(match["view"]))
    if view is None or view.store.id != int(match["store"]):
        raise ValueError(f"view %{match['store']}.{match['view']} is not declared")
    privilege = Privilege[match["privilege"].upper()]
    return Access(privilege, view, match["operator"] or "")


def _declare(
    known: dict[int, _Declared], number: int, new: _Declared, what: str
) -> None:
    if number in known:
        raise ValueError(f"{what} number {number} is declared already")
    known[number] = new


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
