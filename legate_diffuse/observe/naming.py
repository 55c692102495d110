# SPDX-License-Identifier: Apache-2.0
"""Names of fused tasks, for Legate's profiler and messages of Legion."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from legate_diffuse.observe.quantities import runs
from legate_diffuse.observe.wording import verb

# Names stay short enough for one line of a profile.
MAX_VERBS: Final = 6
MAX_RANGES: Final = 4
_PLACE: Final = re.compile(r"(.+):(\d+)")


def place(provenance: str) -> str:
    """Return what a person reads of a provenance.

    Legate's ``--provenance`` writes a JSON list, whose first entry is for people.
    """
    if provenance.startswith('["'):
        try:
            return str(json.loads(provenance)[0])
        except ValueError:
            return provenance
    return provenance


@lru_cache(4096)
def places(provenances: tuple[str, ...]) -> str:
    """Return what a person reads of the provenances of a task, each once."""
    return "; ".join(filter(None, dict.fromkeys(map(place, provenances))))


def file_and_line(provenance: str) -> tuple[str, int] | None:
    """Return where a provenance points, None if it is no line of a file."""
    found = _PLACE.fullmatch(place(provenance))
    return None if found is None else (found[1], int(found[2]))


def task_name(operations: Sequence[Any]) -> str:
    """Return a name such as ``add multiply sqrt step.py:12-18``.

    Without lines if they were not recorded.
    """
    verbs = list(dict.fromkeys(verb(operation) for operation in operations))
    words = verbs[:MAX_VERBS]
    if len(verbs) > MAX_VERBS:
        words.append(f"and {len(verbs) - MAX_VERBS} more")
    lines: dict[str, set[int]] = {}
    for operation in operations:
        found = file_and_line(operation.provenance_)
        if found is not None:
            lines.setdefault(os.path.basename(found[0]), set()).add(found[1])
    words += [f"{file}:{_ranges(numbers)}" for file, numbers in lines.items()]
    return " ".join(words)


def _ranges(numbers: set[int]) -> str:
    """Return numbers as in ``3,12-18``; from the first to the last if these are many.

    Lines between which nothing but blank or continued lines can lie are one range.
    """
    found = runs(numbers, gap=2)
    if len(found) > MAX_RANGES:
        return f"{min(numbers)}-{max(numbers)}"
    return ",".join(found)
