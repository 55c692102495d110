# SPDX-License-Identifier: Apache-2.0
"""Plans are proven before they are used; a window whose plan is wrong runs unfused."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cupynumeric as np
import forked
import numpy
import pytest

from legate_diffuse import settings
from legate_diffuse.interpose.window import window
from legate_diffuse.launch import refuting
from legate_diffuse.proof.validator import Refutation, refute


def _changes(start: int) -> Any:
    a = np.arange(start, start + 40.0)
    window.flush("test")
    b = a * 2.0 + 1.0
    b[3:-3] = b[6:] - b[:-6] * a[3:-3]
    found = b - a
    window.flush("test")
    return found


def _right(start: int) -> Any:
    a = numpy.arange(start, start + 40.0)
    b = a * 2.0 + 1.0
    b[3:-3] = b[6:] - b[:-6] * a[3:-3]
    return b - a


def _as_if_nothing_were_read(
    cases: Any, launches: Sequence[Any], *rest: Any
) -> Refutation | None:
    wrong = [
        replace(launch, privileges=bytes(2 for _ in launch.privileges))
        if launch.fused
        else launch
        for launch in launches
    ]
    return refute(cases, wrong, *rest)


def test_what_is_refuted_runs_unfused_and_leaves_a_report(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    window.submitter.planner.clear()
    prover = window.submitter.planner._prover
    monkeypatch.setattr(prover, "_how", settings.ALWAYS)
    monkeypatch.setattr(prover, "_warned", False)
    monkeypatch.setattr(refuting, "refute", _as_if_nothing_were_read)
    # what is refuted here fails no test
    counters = window.counters
    monkeypatch.setattr(counters, "plans_refuted", counters.plans_refuted)
    before = window.counters.as_dict()
    assert numpy.array_equal(_changes(1), _right(1))
    assert numpy.array_equal(_changes(5), _right(5))
    after = window.counters.as_dict()
    assert after["plans_refuted"] > before["plans_refuted"]
    # what makes the arrays is fused: tasks write them, and read nothing
    assert after["groups"] == before["groups"] + 2
    assert after["plans_proven"] == before["plans_proven"] + 1
    said = capfd.readouterr().err
    (path,) = map(Path, re.findall(r"please report (\S+)", said))
    report = path.read_text("utf-8")
    path.unlink()
    for part in ("# the window", "# the extents", "# the plan", "BINARY_OP.MULTIPLY"):
        assert part in report
    window.submitter.planner.clear()


def test_without_small_extents_a_plan_is_run_with_its_own(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    window.submitter.planner.clear()
    prover = window.submitter.planner._prover
    monkeypatch.setattr(prover, "_how", settings.AGAIN)
    monkeypatch.setattr(prover, "_is_chosen", lambda _: True)
    monkeypatch.setattr(prover, "_warned", False)
    monkeypatch.setattr(refuting, "small_cases", lambda *_: iter(()))
    monkeypatch.setattr(refuting, "refute", _as_if_nothing_were_read)
    counters = window.counters
    monkeypatch.setattr(counters, "plans_refuted", counters.plans_refuted)
    refuted = counters.plans_refuted
    for start in (1, 5, 7):
        assert numpy.array_equal(_changes(start), _right(start))
    assert counters.plans_refuted > refuted
    (path,) = map(Path, re.findall(r"please report (\S+)", capfd.readouterr().err))
    assert "the program's own extents" in path.read_text("utf-8")
    path.unlink()
    window.submitter.planner.clear()


PROGRAM = """
import cupynumeric as np
import legate_diffuse

def step(k, products):
    a = np.arange(k, k + 50.0)
    b = a * 2.0
    for _ in range(products):
        b = b * a + b
    return float((b - a).sum())

for k in range({times}):
    for products in range(8):
        step(k, products)
counts = legate_diffuse.stats()
print("made", counts["plans_made"], "proven", counts["plans_proven"])
"""


def _counts(times: int, proof: str) -> tuple[int, int]:
    settings = {
        "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500",
        "LEGATE_DIFFUSE": "1",
        "LEGATE_DIFFUSE_PROOF": proof,
    }
    done = forked.run(
        ["-c", PROGRAM.format(times=times)], os.environ | settings, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"made (\d+) proven (\d+)", done.stdout)
    assert found is not None
    return int(found[1]), int(found[2])


@pytest.mark.parametrize(
    ("times", "proof", "proven"),
    [(3, "0", False), (1, "1", False), (3, "1", True), (1, "all", True)],
)
def test_which_plans_are_proven(times: int, proof: str, proven: bool) -> None:
    made, found = _counts(times, proof)
    assert made > 0
    assert (found > 0) == proven
