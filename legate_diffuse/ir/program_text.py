# SPDX-License-Identifier: Apache-2.0
"""The text form of programs.

Tests read it; it has all of a program but the numbers of its views. Stores are written
as in windows (``ir/text.py``). The nests of a band follow the line ``band``, each with
its number, the loop along its rows, its shift, and its margin, if it has them. An
access is ``read write`` if a nest does both, and tells the region of its view; ``@1``
after it is its distance from the row of the nest, and ``circular %1 2`` tells that of
store 1 two rows more than those of a block are in use at a time. ``@-%0.a`` is a
distance that depends on where landmark a of store 0 is (``distance.py``). A nest that
is ``part`` runs over some rows of its shape::

    store %0 float64 live
    store %1 float64
    band
    nest 0 shape 0 many rows 0 margin 0 0: write %1[:] @0, read %0[:] @0
    nest 1 shape 1 many rows 0 shift 1 margin 1 1: write %0[1:-1] @0, read %1[:-2] @-1
    circular %1 2
"""

from __future__ import annotations

from legate_diffuse.ir.distance import Rows
from legate_diffuse.ir.nest import Program, Turn
from legate_diffuse.ir.region_text import render_region
from legate_diffuse.ir.task import Access
from legate_diffuse.ir.text import render_store


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
    text += " part" if nest.rows else ""
    accesses = zip(nest.accesses, turn.distances, strict=True)
    return f"{text}: {', '.join(_access(*each) for each in accesses)}"


def _access(access: Access, distance: Rows | None) -> str:
    view = access.view
    text = access.privilege.text
    text += f"({access.operator})" if access.operator else ""
    text += f" %{view.store.id}{render_region(view.region or (), view.dims)}"
    return text if distance is None else f"{text} @{distance}"
