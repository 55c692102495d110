# SPDX-License-Identifier: Apache-2.0
"""Tells of a window, once it was submitted."""

from __future__ import annotations

from dataclasses import dataclass

from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.pipeline import Pass, verify_pass
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.launch.queue import LaunchQueue, Step
from legate_diffuse.launch.state import ClosedWindow
from legate_diffuse.messages import note
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


def print_pass(step: Pass, draft: Draft) -> None:
    """Print what a pass has made of a window, and have it verified."""
    note(f"# {step.name}\n{step.render(draft)}")
    verify_pass(step, draft)
