# SPDX-License-Identifier: Apache-2.0
"""How often a program passes over memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from legate_diffuse.fusion.few_rows import is_short, rows_of
from legate_diffuse.ir.distance import Distance, Rows
from legate_diffuse.ir.nest import Band, Program


def passes_over_memory(program: Program) -> int:
    """Return how many stores all bands of a program read from memory or write to it.

    What a band changes it reads as well. Few rows do not count, nor do circular
    buffers. Landmarks that keep nests of a band apart are taken to be far away.
    """
    return sum(
        2 if changes else 1
        for band in program.bands
        for touched in _touched(band)
        for changes in touched.values()
    )


def _touched(band: Band) -> Iterator[dict[int, bool]]:
    """Yield the stores that a band finds in memory, and whether it changes them.

    It does so anew after each turn that waits for other landmarks.
    """
    parts = [
        list(turns)
        for _, turns in groupby(band.turns, key=lambda turn: _factors(turn.shift))
    ]
    users = Counter(
        store
        for turns in parts
        for store in {view.store.id for turn in turns for view in turn.nest.views}
    )
    kept = {store for store, _ in band.circular if users[store] == 1}
    for turns in parts:
        touched: dict[int, bool] = {}
        for turn in turns:
            for access in turn.nest.accesses:
                store, rows = access.view.store.id, rows_of(access.view)
                if rows and not (is_short(rows) or store in kept or turn.nest.rows):
                    touched[store] = touched.get(store, False) or access.changes
        yield touched


def _factors(rows: Rows) -> object:
    return rows.factors if isinstance(rows, Distance) else ()
