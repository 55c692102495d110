# SPDX-License-Identifier: Apache-2.0
"""The text form of a window.

One line for each store, view and task; ``parse(render(window)) == window``.
``%2.5`` is view number 5, a view of store number 2. View numbers are the
window's, not the store's::

    store %0 bool live single
    store %1 bool replicated constant
    store %2 bool replicated undefined
    view %0.0 shape 0 many [:]
    view %1.1 shape 0 many [] as (*)
    view %2.2 shape 1 one []
    BINARY_OP.EQUAL(bool, bool) -> (bool) shape 0: write %0.0, read %0.0, read %1.1
    SCALAR_UNARY_RED.ALL(bool) -> (bool) shape 0: reduce(and) %2.2, read %0.0

``ir/README.md`` describes the language.
"""

from __future__ import annotations

import re
from typing import TypeVar

from legate_diffuse.ir.kind import OperationKind
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.region import Region
from legate_diffuse.ir.region_text import (
    parse_region,
    parse_zones,
    render_region,
    render_zones,
)
from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import Access, IndexTask
from legate_diffuse.ir.window import Window

_STORE_FLAGS = ("live", "replicated", "constant", "single", "undefined", "fixed")
_STORE = re.compile(
    r"store %(?P<id>\d+) (?P<dtype>\w+)"
    r"(?P<flags>( (" + "|".join(_STORE_FLAGS) + r"))*)(?: where (?P<zones>.+))?"
)
_VIEW = re.compile(
    r"view %(?P<store>\d+)\.(?P<id>\d+) shape (?P<shape>\d+)"
    r" (?P<points>none|one|many)"
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


def render(window: Window) -> str:
    """Return the text of a window."""
    lines = []
    for store in window.stores:
        lines.append(render_store(store))
    for view in window.views:
        shown = (
            "nonaffine"
            if view.region is None
            else render_region(view.region, view.dims)
        )
        lines.append(
            f"view {_name(view)} shape {view.shape} {view.points.value} {shown}"
        )
    for task in window.tasks:
        accesses = ", ".join(render_access(access) for access in task.accesses)
        lines.append(f"{render_kind(task.kind)} shape {task.shape}: {accesses}")
    if window.carried:
        lines.append(f"carried {window.carried}")
    return "\n".join(lines) + "\n"


def render_store(store: Store) -> str:
    """Return the line of a store."""
    flags = (flag for flag in _STORE_FLAGS if getattr(store, flag))
    line = " ".join((f"store %{store.id} {store.dtype}", *flags))
    return line + render_zones(store.zones)


def render_kind(kind: OperationKind) -> str:
    """Return the text of an operation kind."""
    name = f"{kind.task}.{kind.code}" if kind.code else kind.task
    scalars = f"[{', '.join(kind.scalars)}]" if kind.scalars else ""
    return f"{name}({', '.join(kind.inputs)}){scalars} -> ({', '.join(kind.outputs)})"


def render_access(access: Access) -> str:
    """Return the text of an access."""
    text = access.privilege.name.lower()
    text += f"({access.operator})" if access.operator else ""
    return f"{text} {_name(access.view)}"


def parse(text: str) -> Window:
    """Read a window from its text; ``#`` starts a comment.

    Raises:
        ValueError: a line is not of the form above, declares a number again, or
            names a store or view that no line before it declares.
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
        **{flag: flag in flags for flag in _STORE_FLAGS},
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


def _name(view: View) -> str:
    return f"%{view.store.id}.{view.id}"
