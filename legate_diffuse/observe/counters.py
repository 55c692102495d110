# SPDX-License-Identifier: Apache-2.0
"""What fusion did, in numbers that do not depend on the machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Counters:
    """Counts since the start of the program.

    Operations are tasks, fills and copies, as the libraries submit them.
    """

    tasks_seen: int = 0
    tasks_submitted: int = 0
    # of these, fills: Legion runs no task for them
    fills_seen: int = 0
    fills_submitted: int = 0
    groups: int = 0
    # of these, those that ran in the program's thread, on small arrays
    ran_in_process: int = 0
    plans_made: int = 0
    plan_hits: int = 0
    # of these, windows that ran again in one native call
    windows_repeated: int = 0
    # of the former, those that were proven, and those that were found to be wrong
    plans_proven: int = 0
    plans_refuted: int = 0
    kernels_compiled: int = 0
    kernel_disk_hits: int = 0
    compile_seconds: float = 0.0
    temporaries_removed: int = 0
    temporaries_removed_bytes: int = 0
    failures: int = 0
    launches_checked: int = 0
    # as they would have taken far more memory than the original tasks
    launches_split: int = 0
    # what several ranks have agreed on, and how often they had to wait for it
    matches: int = 0
    matches_awaited: int = 0
    flushes: Counter[str] = field(default_factory=Counter)

    def add_runs(self, runs: int, operations: int, fills: int) -> None:
        """Add how often something ran at once, of how many operations and fills."""
        self.tasks_seen += operations
        self.fills_seen += fills
        self.groups += runs
        self.ran_in_process += runs

    def count_removed(self, *roots: Any) -> None:
        """Count arrays that were to be made, unless they were."""
        for root in roots:
            if root.undefined:
                self.temporaries_removed += 1
                self.temporaries_removed_bytes += root.nbytes

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as a plain dictionary; ``flushes`` by cause."""
        counts = {name: getattr(self, name) for name in self.__slots__}
        counts["flushes"] = dict(sorted(self.flushes.items()))
        return counts


def render(counts: dict[str, Any], of_rank: int | None = None) -> str:
    """Return the counts as lines for a person, of one of several ranks or of all."""
    where = "" if of_rank is None else f" of rank {of_rank}"
    lines = [f"legate_diffuse statistics{where}:"]
    for name, value in counts.items():
        label = name.replace("_", " ")
        if isinstance(value, dict):
            text = ", ".join(f"{key} {count}" for key, count in value.items()) or "none"
        elif isinstance(value, float):
            text = f"{value:.3f}"
        else:
            text = f"{value:,}"
        lines.append(f"  {label:<26} {text}")
    return "\n".join(lines)
