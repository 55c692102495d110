# SPDX-License-Identifier: Apache-2.0
"""What nobody uses makes no difference to the rest of a plan."""

from __future__ import annotations

import pytest
from window_reader import parse

from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.pipeline import run_passes, verify_pass
from legate_diffuse.ir.program_text import render_program
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

# %0 is updated twice from copies of it. %6 and %7 are divided, %8 lies between them,
# and %9 is in one piece.
STORES = """
store %0 float64 live single
store %1 float64 single undefined
store %2 float64 single undefined
store %3 float64 single undefined
store %4 float64 single undefined
store %5 float64 replicated single
store %6 float64 live
store %7 float64 live
store %8 float64 single undefined
store %9 float64 live single
view %0.0 shape 0 many [:]
view %0.1 shape 1 many [1:-1]
view %0.2 shape 3 one [0]
view %1.10 shape 0 many [:]
view %1.11 shape 1 many [:-2]
view %1.12 shape 1 many [2:]
view %2.20 shape 1 many [:]
view %3.30 shape 0 many [:]
view %3.31 shape 1 many [:-2]
view %3.32 shape 1 many [2:]
view %4.40 shape 1 many [:]
view %5.50 shape 2 one []
view %6.60 shape 0 many [:]
view %7.70 shape 0 many [:]
view %8.80 shape 0 many [:]
view %9.90 shape 0 many [:]
"""
COPY = "UNARY_OP.COPY(float64) -> (float64) shape"
ADD = "BINARY_OP.ADD(float64, float64) -> (float64) shape"
UNUSED = (
    "FILL(float64) -> (float64) shape 2: write %5.50\n",
    "SCALAR_UNARY_RED.MAX(float64) -> (float64) shape 0:"
    " reduce(max) %5.50, read %0.0\n",
)
PRODUCT = (
    UNUSED[0],
    "DOT(float64, float64) -> (float64) shape 0:"
    " reduce(add) %5.50, read %8.80, read %9.90\n",
)
SWEEPS = (
    f"{COPY} 0: write %1.10, read %0.0\n",
    f"{ADD} 1: write %2.20, read %1.11, read %1.12\n",
    f"{COPY} 1: write %0.1, read %2.20\n",
    f"{COPY} 0: write %3.30, read %0.0\n",
    f"{ADD} 1: write %4.40, read %3.31, read %3.32\n",
    f"{COPY} 1: write %0.1, read %4.40\n",
)
BETWEEN = (
    f"{ADD} 0: write %8.80, read %6.60, read %6.60\n",
    f"{COPY} 0: write %7.70, read %8.80\n",
)


def drafted(*tasks: str) -> Draft:
    """Run the passes, and verify what each of them makes."""
    window = parse(STORES + "".join(tasks))
    return run_passes(window, MEANINGS, verify_pass)


@pytest.mark.parametrize("place", range(len(SWEEPS) + 1))
def test_no_copy_is_made_for_an_unused_reduction(place: int) -> None:
    # the fill alone gives all windows the same stores
    without = drafted(UNUSED[0], *SWEEPS)
    draft = drafted(*SWEEPS[:place], *UNUSED, *SWEEPS[place:])
    schedules = [
        [render_program(each.program) for each in one.launches]
        for one in (draft, without)
    ]
    assert schedules[0] == schedules[1]
    assert draft.window.dead == {place, place + 1}


def test_copies_for_a_reduction_that_is_used_are_made() -> None:
    used = [task.replace("%5.50", "%0.2") for task in UNUSED[1:]]
    assert not drafted(*SWEEPS, *used).window.dead


def test_what_nobody_uses_keeps_nothing_in_one_piece() -> None:
    """A temporary between divided arrays is divided, whatever else is read with it."""
    draft = drafted(BETWEEN[0], *PRODUCT, BETWEEN[1])
    assert not next(s for s in draft.window.stores if s.id == 8).single
    (launch,) = draft.planned
    assert launch.partitioned
    assert launch.tasks == (0, 3)


FILL = "FILL(float64) -> (float64) shape 0: write %0.0\n"
PART = f"{COPY} 1: write %0.1, read %2.20\n"
OVERWRITTEN = f"{COPY} 0: write %6.60, read %0.0\n"


@pytest.mark.parametrize(
    ("tasks", "dead"),
    [
        ((FILL, FILL, FILL), {0, 1}),
        # what is left of the first is seen
        ((FILL, PART), set()),
        ((FILL, PART, PART, FILL), {0, 1, 2}),
        # what comes between reads it
        ((FILL, OVERWRITTEN, FILL), set()),
        ((OVERWRITTEN, FILL, OVERWRITTEN, FILL), {0}),
        ((FILL, f"{ADD} 0: write %0.0, read %0.0, read %6.60\n", FILL), {0, 1}),
        ((FILL, f"{ADD} 0: write %0.0, read %0.0, read %6.60\n"), set()),
        # and what nobody knows may
        ((FILL, "OTHER(float64) -> (float64) shape 0: write %0.0\n"), set()),
    ],
)
def test_what_is_overwritten_does_not_run(
    tasks: tuple[str, ...], dead: set[int]
) -> None:
    assert drafted(*tasks).window.dead == dead
