# SPDX-License-Identifier: Apache-2.0
"""Windows as text, with the groups that are expected of them in comments."""

from __future__ import annotations

import re

from legate_diffuse.fusion.grouping import Grouping, group_window
from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.fusion.liveness import Liveness, analyse_liveness
from legate_diffuse.fusion.lowering import LoweredGroup, lower_group
from legate_diffuse.ir import IndexTask, Window
from legate_diffuse.ir.text import parse
from legate_diffuse.ops import cupynumeric

# The stores and views that the golden windows share. Views n, 10 + n and 20 + n
# are store n whole, shifted, and in another shape.
STORES = """
store %0 int8 live
store %1 int8 live
store %2 int8 live
store %3 int8 live
view %0.0 shape 0 many
view %1.1 shape 0 many
view %2.2 shape 0 many
view %3.3 shape 0 many
view %0.10 shape 0 many
view %1.11 shape 0 many
view %2.12 shape 0 many
view %3.13 shape 0 many
view %0.20 shape 1 many
view %1.21 shape 1 many
view %2.22 shape 1 many
view %3.23 shape 1 many
view %0.30 shape 0 many nonaffine
view %0.40 shape 0 many broadcast
# dead: the application cannot read them any more
store %4 int8
store %5 int8
view %4.4 shape 0 many
view %5.5 shape 0 many
view %4.14 shape 0 many
view %4.24 shape 1 many
# one-element stores that every point sees, as themselves and repeated
store %6 int8 live replicated
store %7 int8 replicated
store %8 int8 replicated
store %9 int8 replicated constant
view %6.6 shape 2 one
view %7.7 shape 2 one
view %8.8 shape 2 one
view %9.9 shape 2 one
view %6.16 shape 0 many broadcast
view %7.17 shape 0 many broadcast
view %8.18 shape 0 many broadcast
view %9.19 shape 0 many broadcast
view %6.26 shape 2 one nonaffine
# arrays of one element and of none, which are regions
store %50 int8 live
view %50.50 shape 3 one
view %50.51 shape 4 none
view %50.52 shape 0 many broadcast
"""

_EXPECTED = re.compile(r"# (fused|unfused)(?:, ended by (\w+))?")


def covered(task: IndexTask) -> bool:
    """Return whether cuPyNumeric's table covers a task."""
    return cupynumeric.supported(task.kind) is None


def window_of(text: str) -> Window:
    """Parse tasks over the stores above."""
    return parse(STORES + text)


def groups_of(text: str) -> tuple[Grouping, ...]:
    """Group the tasks of a text."""
    return group_window(window_of(text), covered)


def liveness_of(text: str) -> tuple[Liveness, ...]:
    """Return the liveness of each group of a text."""
    return analyse_liveness(window_of(text), groups_of(text))


def lowered(text: str) -> LoweredGroup | None:
    """Lower the tasks of a text, which must be one fused group."""
    (group,) = groups_of(text)
    assert group.fused
    (liveness,) = liveness_of(text)
    tasks = window_of(text).tasks
    return lower_group(tasks, liveness.temporaries, cupynumeric.lower)


def check_groups(text: str) -> None:
    """Assert that the tasks form the groups that the comments announce.

    A comment ``# fused, ended by TRUE_DEPENDENCE`` starts a group; what ends the
    last group at the window's end is not named.
    """
    expected: list[Grouping] = []
    position = 0
    for line in text.splitlines():
        match = _EXPECTED.fullmatch(line.strip())
        if match is not None:
            reason = None if match[2] is None else Refusal[match[2]]
            fused = match[1] == "fused"
            expected.append(Grouping(position, position, fused, reason))
        elif line.strip():
            position += 1
            last = expected[-1]
            expected[-1] = Grouping(last.start, position, last.fused, last.ended_by)
    assert groups_of(text) == tuple(expected)
