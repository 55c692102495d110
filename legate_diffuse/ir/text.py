# SPDX-License-Identifier: Apache-2.0
"""The text form of a window.

One line for each store, view and task; ``parse(render(window)) == window``::

    store %0 float64 live
    store %1 float64 replicated constant
    view %0.0 shape 0 many
    view %1.1 shape 0 many broadcast
    BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %0.0, read %0.0, read %1.1
"""

from __future__ import annotations

import re

from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import Access, IndexTask, Privilege
from legate_diffuse.ir.window import Window
from legate_diffuse.ops.registry import OperationKind

_TASK = re.compile(
    r"(?P<task>\w+)(?:\.(?P<code>\w+))?\((?P<inputs>[^)]*)\)"
    r"(?:\[(?P<scalars>[^\]]*)\])? -> \((?P<outputs>[^)]*)\)"
    r" shape (?P<shape>\d+): (?P<accesses>.*)"
)
_ACCESS = re.compile(r"(read|write) %(\d+)\.(\d+)")


def render(window: Window) -> str:
    """Return the text of a window."""
    lines = []
    for store in window.stores:
        flags = (
            flag for flag in ("live", "replicated", "constant") if getattr(store, flag)
        )
        lines.append(" ".join((f"store %{store.id} {store.dtype}", *flags)))
    for view in window.views:
        line = f"view {_name(view)} shape {view.shape} {view.points.value}"
        line += " broadcast" if view.broadcast else ""
        line += "" if view.affine else " nonaffine"
        lines.append(line)
    for task in window.tasks:
        accesses = ", ".join(f"{a.privilege.value} {_name(a.view)}" for a in task.accesses)
        lines.append(f"{render_kind(task.kind)} shape {task.shape}: {accesses}")
    return "\n".join(lines) + "\n"


def render_kind(kind: OperationKind) -> str:
    """Return the text of an operation kind."""
    name = f"{kind.task}.{kind.code}" if kind.code else kind.task
    scalars = f"[{', '.join(kind.scalars)}]" if kind.scalars else ""
    return f"{name}({', '.join(kind.inputs)}){scalars} -> ({', '.join(kind.outputs)})"


def parse(text: str) -> Window:
    """Read a window from its text; ``#`` starts a comment.

    Raises:
        ValueError: a line is not of the form above, or names an unknown view.
    """
    stores: dict[int, Store] = {}
    views: dict[tuple[int, int], View] = {}
    tasks: list[IndexTask] = []
    for raw_line in text.splitlines():
        line = raw_line.partition("#")[0].strip()
        if not line:
            continue
        word, *rest = line.split()
        try:
            if word == "store":
                flags = {flag: flag in rest[2:] for flag in ("live", "replicated", "constant")}
                number = int(rest[0].removeprefix("%"))
                stores[number] = Store(number, rest[1], **flags)
            elif word == "view":
                store, number = map(int, rest[0].removeprefix("%").split("."))
                views[store, number] = View(
                    number,
                    stores[store],
                    int(rest[2]),
                    Points(rest[3]),
                    broadcast="broadcast" in rest[4:],
                    affine="nonaffine" not in rest[4:],
                )
            else:
                tasks.append(_parse_task(line, views))
        except (IndexError, KeyError, ValueError) as error:
            raise ValueError(f"cannot read this line of a window: {line!r}") from error
    return Window(tuple(tasks))


def _parse_task(line: str, views: dict[tuple[int, int], View]) -> IndexTask:
    match = _TASK.fullmatch(line)
    if match is None:
        raise ValueError(line)
    kind = OperationKind(
        match["task"],
        match["code"] or "",
        _names(match["inputs"]),
        _names(match["outputs"]),
        _names(match["scalars"] or ""),
    )
    accesses = tuple(
        Access(Privilege(privilege), views[int(store), int(number)])
        for privilege, store, number in _ACCESS.findall(match["accesses"])
    )
    return IndexTask(kind, int(match["shape"]), accesses)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _name(view: View) -> str:
    return f"%{view.store.id}.{view.id}"
