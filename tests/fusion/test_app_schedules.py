# SPDX-License-Identifier: Apache-2.0
"""How the nests of the applications are scheduled."""

from __future__ import annotations

import pytest
from recorded_windows import FOLDER, RECORDED, sections
from window_reader import parse

from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.pipeline import Pass, make_plan, verify_pass
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS


@pytest.mark.parametrize("application", RECORDED)
def test_nests_of_applications_are_scheduled(application: str) -> None:
    recorded = dict(sections((FOLDER / f"{application}.txt").read_text("utf-8")))
    made: dict[str, str] = {}

    def note(step: Pass, draft: Draft) -> None:
        verify_pass(step, draft)
        made[step.name] = step.render(draft).strip() + "\n"

    make_plan(parse(recorded["window"]), MEANINGS, note)
    assert made["schedule"] == recorded["schedule"]
    assert made["window"] == recorded["window"]


def test_every_application_is_recorded() -> None:
    apps = FOLDER.parents[2] / "scripts" / "apps"
    programs = {path.stem for path in apps.glob("*.py") if "run(" in path.read_text()}
    assert set(RECORDED) == programs - {"harness", "shallow_water"}
