# SPDX-License-Identifier: Apache-2.0
"""The text form of a window.

One line for each store, view and task. ``%2.5`` is view number 5, a view of store
number 2. View numbers are the window's, not the store's::

    store %0 bool live single
    store %1 bool replicated constant
    store %2 bool replicated undefined
    view %0.0 shape 0 many [:]
    view %1.1 shape 0 many [] as (*)
    view %2.2 shape 1 one []
    BINARY_OP.EQUAL(bool, bool) -> (bool) shape 0: write %0.0, read %0.0, read %1.1
    SCALAR_UNARY_RED.ALL(bool) -> (bool) shape 0: reduce(and) %2.2, read %0.0

``ir/README.md`` describes the language, which tests read as well.
"""

from __future__ import annotations

from legate_diffuse.ir.kind import OperationKind
from legate_diffuse.ir.region_text import render_region, render_zones
from legate_diffuse.ir.store import Store, View
from legate_diffuse.ir.task import Access
from legate_diffuse.ir.window import Window

STORE_FLAGS = ("live", "replicated", "constant", "single", "undefined", "fixed")


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
            f"view {view_name(view)} shape {view.shape} {view.points.value} {shown}"
        )
    for task in window.tasks:
        accesses = ", ".join(render_access(access) for access in task.accesses)
        lines.append(f"{render_kind(task.kind)} shape {task.shape}: {accesses}")
    if window.carried:
        lines.append(f"carried {window.carried}")
    return "\n".join(lines) + "\n"


def render_store(store: Store) -> str:
    """Return the line of a store."""
    flags = (flag for flag in STORE_FLAGS if getattr(store, flag))
    line = " ".join((f"store %{store.id} {store.dtype}", *flags))
    return line + render_zones(store.zones)


def render_kind(kind: OperationKind) -> str:
    """Return the text of an operation kind."""
    name = f"{kind.task}.{kind.code}" if kind.code else kind.task
    scalars = f"[{', '.join(kind.scalars)}]" if kind.scalars else ""
    return f"{name}({', '.join(kind.inputs)}){scalars} -> ({', '.join(kind.outputs)})"


def render_access(access: Access) -> str:
    """Return the text of an access."""
    text = access.privilege.text
    text += f"({access.operator})" if access.operator else ""
    return f"{text} {view_name(access.view)}"


def view_name(view: View) -> str:
    """Return the name of a view, ``%2.5``."""
    return f"%{view.store.id}.{view.id}"
