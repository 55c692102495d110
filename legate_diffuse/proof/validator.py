# SPDX-License-Identifier: Apache-2.0
"""Compares what a plan does with what its window says.

This is translation validation (Pnueli, Siegel and Singerman, TACAS 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from legate_diffuse.proof.buffers import RefutedError
from legate_diffuse.proof.launches import PlanRunner, Write, numbered_launch
from legate_diffuse.proof.reference import Memory, Reference, Tasks
from legate_diffuse.proof.schedule import Way
from legate_diffuse.proof.symbols import Poison

if TYPE_CHECKING:
    from collections.abc import Iterable

    from legate_diffuse.proof.instance import Instance
    from legate_diffuse.proof.reference import Meanings


@dataclass(frozen=True)
class Refutation:
    """What a plan does wrong.

    Attributes:
        instance: at which extents.
        way: how it was run.
        reason: what happens then.
        expected: what a store should hold, and what it does; nothing if the plan does
            what no plan may do.
    """

    instance: Instance
    way: Way
    reason: str
    store: int | None = None
    expected: Any = None
    found: Any = None


Case = tuple["Instance", Sequence[Way]]
"""A window with some extents, and in which ways its programs are run then."""


def refute(
    cases: Iterable[Case],
    launches: Sequence[Any],
    meanings: Meanings,
    write: Write,
) -> Refutation | None:
    """Return what is wrong with a plan, None if nothing is.

    Args:
        cases: of the window of the plan, which is one for all of them.
        launches: of the plan.
        meanings: of the window's operations.
        write: writes the program of a launch.
    """
    numbered = [numbered_launch(launch) for launch in launches]
    tasks: Tasks | None = None
    # hashes wrap around
    with np.errstate(over="ignore"):
        for instance, ways in cases:
            tasks = tasks or Tasks(instance.window, meanings)
            reference = Reference(instance, tasks)
            expected = reference.memory(Poison("reference"), knows=True)
            for number in range(len(instance.window.tasks)):
                reference.run(expected, number)
            try:
                runner = PlanRunner(reference, numbered, write, Poison("plan"))
            except (RefutedError, ValueError) as error:
                return Refutation(instance, ways[0], f"its words are wrong: {error}")
            # the others do the same
            for way in {runner.essence(way): way for way in reversed(ways)}.values():
                try:
                    found = runner.run(way)
                except RefutedError as error:
                    return Refutation(instance, way, str(error))
                refutation = _compare(instance, way, expected, found)
                if refutation is not None:
                    return refutation
    return None


def _compare(
    instance: Instance, way: Way, expected: Memory, found: Memory
) -> Refutation | None:
    """Compare what can be read after the window, where anybody knows what that is."""
    for store in instance.window.stores:
        if not store.live:
            continue
        want, have = expected.elements[store.id], found.elements[store.id]
        wrong = want != have
        if expected.known and store.id in expected.known:
            wrong &= expected.known[store.id]
        if wrong.any():
            place = tuple(int(each) for each in np.argwhere(wrong)[0])
            count = int(wrong.sum())
            return Refutation(
                instance,
                way,
                f"store %{store.id} has {count} wrong elements of {wrong.size}, the "
                f"first at {place}",
                store.id,
                want,
                have,
            )
    return None
