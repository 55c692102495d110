# SPDX-License-Identifier: Apache-2.0
"""Tells of a window, once it was submitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from legate_diffuse import settings
from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.pipeline import Pass, verify_pass
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.launch.queue import LaunchQueue, Step
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.messages import note, rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from legate_diffuse.observe.explain import Explanation


@dataclass(slots=True, eq=False)
class Tell(Step):
    """A window is explained, once it was submitted."""

    explanation: Explanation
    plan: Plan
    window: ClosedWindow

    def run(self, queue: LaunchQueue, launch: int) -> None:
        """Explain it."""
        self.explanation.add(self.window, self.plan)


def open_explanation(*arguments: Any) -> Explanation | None:
    """Return the explanation that the user asks for, if one does.

    Only then its code is imported (`observe/explain.py`, which says what it takes).
    """
    if not settings.explanation_path(rank()):
        return None
    from legate_diffuse.observe import explain

    return explain.open_explanation(*arguments)


def print_pass(step: Pass, draft: Draft) -> None:
    """Print what a pass has made of a window, and have it verified."""
    note(f"# {step.name}\n{step.render(draft)}")
    verify_pass(step, draft)
