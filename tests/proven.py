# SPDX-License-Identifier: Apache-2.0
"""Whether plans of windows are right, as the validator says that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.ir import Window
from legate_diffuse.launch.program import write_program
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS
from legate_diffuse.proof.cases import all_ways, small_cases
from legate_diffuse.proof.launches import Write
from legate_diffuse.proof.validator import Refutation, refute


class ContradictionError(Exception):
    """The relations of a window hold for no extents."""


def refuted(
    window: Window,
    launches: Sequence[Any],
    meanings: Meanings = MEANINGS,
    write: Write = write_program,
) -> Refutation | None:
    """Return what is wrong with a plan at small extents, None if nothing is.

    Raises:
        ContradictionError: there are no such extents.
    """
    num_views = 1 + max(view.id for view in window.views)
    shapes = [view.shape for view in window.views]
    num_shapes = 1 + max([*shapes, *(task.shape for task in window.tasks)])
    cases = list(small_cases(window, num_views, num_shapes, all_ways(launches)))
    if not cases:
        raise ContradictionError
    return refute(cases, launches, meanings, write)
