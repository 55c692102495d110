# SPDX-License-Identifier: Apache-2.0
"""Windows as text, with the groups that are expected of them in comments."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from window_reader import parse

from legate_diffuse.fusion import pipeline
from legate_diffuse.fusion.grouping import Grouping, group_window, with_refusals
from legate_diffuse.fusion.launches import Launch, form_launches
from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.fusion.liveness import Liveness, analyse_liveness
from legate_diffuse.fusion.lowering import lower_nest
from legate_diffuse.ir import Window
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.verify import verify_window
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

covered: Final = partial(pipeline.covered, MEANINGS)
"""Whether a kernel can express a task."""
copied: Final = partial(pipeline.copies, MEANINGS)
"""Whether a task copies its input to its output."""

# The stores and views that the golden windows share. Views n, 10 + n and 20 + n
# are store n whole, shifted, and in another shape.
STORES: Final = """
store %0 int8 live
store %1 int8 live
store %2 int8 live
store %3 int8 live
view %0.0 shape 0 many [:]
view %1.1 shape 0 many [:]
view %2.2 shape 0 many [:]
view %3.3 shape 0 many [:]
view %0.10 shape 0 many [1:]
view %1.11 shape 0 many [1:]
view %2.12 shape 0 many [1:]
view %3.13 shape 0 many [1:]
view %0.20 shape 1 many [:-1]
view %1.21 shape 1 many [:-1]
view %2.22 shape 1 many [:-1]
view %3.23 shape 1 many [:-1]
view %0.30 shape 0 many nonaffine
view %0.40 shape 0 many [2] as (*)
# two halves
view %0.41 shape 0 many [2:a]
view %0.42 shape 0 many [a:]
# dead: the application cannot read them any more
store %4 int8
store %5 int8
view %4.4 shape 0 many [:]
view %5.5 shape 0 many [:]
view %4.14 shape 0 many [1:]
view %4.24 shape 1 many [:-1]
view %4.43 shape 0 many [2:a]
view %4.44 shape 0 many [a:]
# one-element stores that every point sees, as themselves and repeated
store %6 int8 live replicated
store %7 int8 replicated
store %8 int8 replicated
store %9 int8 replicated constant
view %6.6 shape 2 one []
view %7.7 shape 2 one []
view %8.8 shape 2 one []
view %9.9 shape 2 one []
view %6.16 shape 0 many [] as (*)
view %7.17 shape 0 many [] as (*)
view %8.18 shape 0 many [] as (*)
view %9.19 shape 0 many [] as (*)
view %6.26 shape 2 one nonaffine
# arrays of one element and of none, which are regions
store %50 int8 live
view %50.50 shape 3 one [:]
view %50.51 shape 4 none [:]
view %50.52 shape 0 many [:] as (*)
# wide stores, for what is added up
store %60 int64 live replicated
store %61 int64 replicated
store %62 int64 replicated constant
store %63 int64 live
store %64 int64
view %60.60 shape 2 one []
view %61.61 shape 2 one []
view %62.62 shape 2 one []
view %60.70 shape 0 many [] as (*)
view %61.71 shape 0 many [] as (*)
view %63.63 shape 0 many [:]
view %64.64 shape 0 many [:]
# matrices; and vectors that repeat over their columns and over their rows
view %0.80 shape 5 many [1:] as (*, 0)
view %2.82 shape 5 many [1:] as (*, 0)
view %63.83 shape 5 many [:] as (*, 0)
view %63.84 shape 5 many [:] as (0, *)
view %64.85 shape 5 many [:] as (*, 0)
view %64.86 shape 5 many [:] as (0, *)
# stores that Legate does not partition: live, dead, and dead and never written
store %90 int8 live single
store %91 int8 live single
store %92 int8 single
store %93 int8 single undefined
store %94 int64 single
store %95 int8 replicated single
view %90.90 shape 0 many [:]
view %91.91 shape 0 many [:]
view %92.92 shape 0 many [:]
view %93.93 shape 0 many [:]
view %90.190 shape 0 many [1:]
view %91.191 shape 0 many [1:]
view %92.192 shape 0 many [1:]
view %93.193 shape 0 many [1:]
view %90.290 shape 1 many [:-1]
view %91.291 shape 1 many [:-1]
view %92.292 shape 1 many [:-1]
view %93.293 shape 1 many [:-1]
view %92.294 shape 0 many [:a]
view %92.295 shape 0 many [a:]
view %90.390 shape 3 one [1:2]
view %91.391 shape 3 one [1:2]
view %93.393 shape 3 one [1:2]
view %94.94 shape 1 many [:]
view %95.95 shape 2 one []
view %94.194 shape 5 many [:] as (*, 0)
view %90.590 shape 5 many [:] as (*, 0)
view %91.591 shape 5 many [:] as (*, 0)
view %94.394 shape 3 one [1:2]
"""

_HEADER: Final = re.compile(r"# groups: (.*)")
_GROUP: Final = re.compile(r"(\d+) (fused|unfused)(?: (\w+))?")
_TASK: Final = re.compile(r".* -> .*# (\d+)")


def window_of(text: str) -> Window:
    """Parse tasks over the stores above."""
    window = parse(STORES + text)
    verify_window(window)
    return window


def groups_of(text: str) -> tuple[Grouping, ...]:
    """Group the tasks of a text."""
    return grouped(window_of(text))


def grouped(window: Window) -> tuple[Grouping, ...]:
    """Group the tasks of a window, and say what keeps the groups apart."""
    return with_refusals(group_window(window, covered), covered)


def launches_of(text: str) -> tuple[Launch, ...]:
    """Return the launches of a text."""
    return form_launches(window_of(text), groups_of(text))


def liveness_of(text: str) -> tuple[Liveness, ...]:
    """Return the liveness of each launch of a text."""
    return analyse_liveness(window_of(text), launches_of(text))


def lowered(text: str) -> Nest | None:
    """Lower the tasks of a text, which must be one aligned nest."""
    (group,) = groups_of(text)
    assert group.fused
    (liveness,) = liveness_of(text)
    (nest,) = liveness.nests
    tasks = dict(enumerate(window_of(text).tasks))
    return lower_nest(tasks, nest.dropped, MEANINGS.lower)


def check_groups(text: str) -> None:
    """Assert that the tasks form the groups that the comments announce.

    ``# groups: 0 fused; 1 unfused NOT_COVERED`` lists them, with what keeps each apart
    from the one before. Each task ends with the number of its
    group.
    """
    (header,) = filter(None, map(_HEADER.search, text.splitlines()))
    found = [_GROUP.fullmatch(group.strip()) for group in header[1].split(";")]
    numbers = [int(match[1]) for match in map(_TASK.search, text.splitlines()) if match]
    expected = [
        Grouping(
            tuple(n for n, group in enumerate(numbers) if group == int(match[1])),
            fused=match[2] == "fused",
            refusal=None if match[3] is None else Refusal[match[3]],
        )
        for match in found
        if match is not None
    ]
    assert len(numbers) == len(window_of(text).tasks), "each task names its group"
    assert groups_of(text) == tuple(expected)
