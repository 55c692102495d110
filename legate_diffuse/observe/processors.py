# SPDX-License-Identifier: Apache-2.0
"""How fused tasks use several processors, and why, as data and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from legate_diffuse.observe.quantities import in_bytes
from legate_diffuse.observe.wording import plural


@dataclass(frozen=True, slots=True)
class Use:
    """What fused tasks have used for some time, in bytes of large arrays.

    ``exchanged`` went to or came from other tasks, whose arrays Legate divides.
    """

    used: int
    exchanged: int


@dataclass(frozen=True, slots=True)
class Change:
    """From then on points divide arrays for fused tasks, or threads share their loops.

    It came after so many ``windows``, and what was used before is why.
    """

    divides: bool
    windows: int
    why: Use


@dataclass(frozen=True, slots=True)
class ProcessorFacts:
    """How many processors there are, and how fused tasks use them.

    ``given`` says who has chosen, if nobody looks at the program's tasks. ``changes``
    are all that came after threads shared the loops, ``last`` is what came after them.
    """

    count: int
    divides: bool
    given: str
    changes: Sequence[Change]
    last: Use


def processor_lines(facts: ProcessorFacts) -> Iterator[str]:
    """Yield sentences about the processors; there is none about a single one."""
    if facts.count == 1:
        return
    first = bool(facts.given) and facts.divides
    reason = f", as {facts.given}" if facts.given else ""
    yield f"On {facts.count} processors {_how(first)}{reason}."
    for change in facts.changes:
        yield (
            f"After {plural(change.windows, 'window')} {_how(change.divides)}: "
            f"{_why(change.why)}."
        )
    if not facts.given:
        since = "Since then" if facts.changes else "In all"
        yield f"{since} {_why(facts.last)}."


def _how(divides: bool) -> str:
    if divides:
        return "points divide the large arrays of fused tasks"
    return "threads share the loops of fused tasks"


def _why(use: Use) -> str:
    return (
        f"fused tasks used {in_bytes(use.used)} of large arrays, of which "
        f"{in_bytes(use.exchanged)} went to or came from tasks that are not fused, "
        "whose arrays Legate divides"
    )
