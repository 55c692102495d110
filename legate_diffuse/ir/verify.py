# SPDX-License-Identifier: Apache-2.0
"""The rules that every window keeps."""

from __future__ import annotations

from typing import Final

from legate_diffuse.ir.privilege import OPERATORS, Privilege
from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import ALL, Access, IndexTask
from legate_diffuse.ir.window import Window

_OTHER_DIMENSIONS: Final = "view {} has other dimensions than its store"


class InvalidWindowError(ValueError):
    """A window breaks a rule of the IR; the message says which and where."""


def verify_window(window: Window) -> None:
    """Check a window against the rules of the IR.

    Raises:
        InvalidWindowError: one number stands for two stores or views, or two numbers
            for what is one view; a view has other dimensions than its store's others,
            or no ranges along its own; a constant is changed; a view that repeats
            elements, or a replicated store at several points, is written; an access
            reads and writes; a task changes nothing or has other numbers of inputs and
            outputs than its kind; an access has a reduction operator without being a
            reduction, or none although it is one.
    """
    stores: dict[int, Store] = {}
    views: dict[int, View] = {}
    ranks: dict[int, int] = {}
    shown: dict[object, View] = {}
    for number, task in enumerate(window.tasks):
        where = f"task {number}"
        for access in task.accesses:
            view = access.view
            store = view.store
            known_store = stores.setdefault(store.id, store)
            if known_store is not store:
                same = known_store == store
                _require(same, where, "store number {} has two meanings", store.id)
            known = views.get(view.id)
            if known is None:
                views[view.id] = view
                verify_region(view, where)
                _verify_view(view, ranks, shown, where)
            elif known is not view:
                same = known == view
                _require(same, where, "view number {} has two meanings", view.id)
            verify_access(access, where)
        _verify_task(task, where)


def verify_region(view: View, where: str) -> None:
    """Check that a view has ranges along its dimensions, and as many as its store."""
    region = view.region
    if region is None:
        return
    along = [dim for dim in view.dims if dim >= 0]
    ranges = {dim for dim, interval in enumerate(region) if not interval.point}
    _require(
        len(along) == len(set(along)) and ranges.issuperset(along),
        where,
        "view {} does not have ranges along its dimensions",
        view.id,
    )
    _require(
        len(view.store.zones) in (0, len(region)),
        where,
        _OTHER_DIMENSIONS,
        view.id,
    )


def _verify_view(
    view: View, ranks: dict[int, int], shown: dict[object, View], where: str
) -> None:
    """Check a view that comes for the first time, and add it to the others.

    These are known by what aligned ones have in common (``relations.aligned``).
    """
    if view.region is None:
        return
    rank = ranks.setdefault(view.store.id, len(view.region))
    _require(rank == len(view.region), where, _OTHER_DIMENSIONS, view.id)
    lows = tuple([interval.low for interval in view.region])
    other = shown.setdefault((view.store.id, view.shape, view.dims, lows), view)
    _require(other is view, where, "views {} and {} are one", other.id, view.id)


def verify_access(access: Access, where: str) -> None:
    """Check what an access does with its view."""
    view, store = access.view, access.view.store
    reduces = access.privilege is Privilege.REDUCE
    operators = tuple(OPERATORS) if reduces else ("", ALL)[: 2 - access.changes]
    if access.operator not in operators:
        message = f"{access.privilege.text} has the operator {access.operator!r}"
        raise InvalidWindowError(f"{where}: {message}")
    if access.changes:
        _require(not store.constant, where, "constant {} is changed", store.id)
    if access.privilege & Privilege.WRITE:
        repeats = view.broadcast and view.affine and view.points is not Points.NONE
        _require(not repeats, where, "view {} repeats and is written", view.id)
        fits = not store.replicated or not view.points.several
        _require(fits, where, "replicated store {} is written at many points", store.id)


def _verify_task(task: IndexTask, where: str) -> None:
    both = any(access.privilege is Privilege.READ_WRITE for access in task.accesses)
    _require(not both, where, "an access reads and writes")
    _require(bool(task.changes), where, "it changes nothing")
    inputs, outputs = len(task.reads), len(task.changes)
    # the value that a fill writes is its input, and may be a scalar argument
    _require(
        inputs <= len(task.kind.inputs) and outputs == len(task.kind.outputs),
        where,
        "it has {} inputs and {} outputs, unlike its kind",
        inputs,
        outputs,
    )


def _require(condition: bool, where: str, message: str, *values: object) -> None:
    if not condition:
        raise InvalidWindowError(f"{where}: {message.format(*values)}")
