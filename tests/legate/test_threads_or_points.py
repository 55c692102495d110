# SPDX-License-Identifier: Apache-2.0
"""Threads share the loops of fused tasks, or points divide their arrays.

Each program runs in a process of its own, on two processors.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from process import run_alone
from tiers import some

SETTINGS = {
    "LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 500",
    "LEGATE_DIFFUSE": "1",
    "LEGATE_DIFFUSE_SMALL_BYTES": "0",
}

# Each step changes x, of 200 x 200 elements.
STEPS = {
    "fused": "x = chain(x)",
    "products": "x = chain(x @ w)",
    "sorts": "x = n.sort(chain(x), axis=1)",
    "scans": "x = chain(n.cumsum(x, axis=1) / 200.0)",
    "solutions": "x = chain(n.linalg.solve(w, x))",
    "seldom": "x = n.sort(x, axis=1) if k % 30 == 29 else chain(x)",
}
# Those that go between fused tasks and tasks whose arrays Legate divides.
ALTERNATING = ("products", "sorts", "scans")

PROGRAM = """
import json
import sys
import numpy as np
import cupynumeric as cn
import legate_diffuse
from legate.core import get_legate_runtime
from legate_diffuse.interpose.window import window

ITERATIONS = 60

def program(n, record=lambda: None):
    def chain(x):
        x = n.sqrt(x * x + 0.25) * 0.5 + x
        return n.minimum(x, 2.0) * 0.5
    index = n.arange(40000).reshape(200, 200)
    x, w = (index * 7 % 31) / 31.0, (index * 11 % 37) / 10000.0 + n.eye(200)
    for k in range(ITERATIONS):
        STEP
        record()
    return x

def record():
    # a window ends with each step
    get_legate_runtime().issue_execution_fence(block=False)
    found.append(legate_diffuse.stats()["tasks_submitted"])
    divides.append(window.submitter.choice.facts().divides)

found, divides = [], []
x = program(cn, record)
np.testing.assert_allclose(np.asarray(x), program(np), rtol=1e-12)
assert legate_diffuse.stats()["failures"] == 0
tasks = [after - before for before, after in zip(found, found[1:])]
print(json.dumps([*zip(tasks, divides[1:])]))
"""

Steps = list[tuple[int, bool]]


def steps_of(step: str, explanation: Path, **settings: str) -> Steps:
    """Return what each step of a program is, but for the first one.

    How many tasks it has, and whether points divide the arrays of the next one.
    """
    done = run_alone(
        PROGRAM.replace("STEP", STEPS[step]),
        LEGATE_DIFFUSE_EXPLAIN=str(explanation),
        **SETTINGS | settings,
    )
    assert done.returncode == 0, done.stderr
    *_, last = done.stdout.splitlines()
    return [(tasks, divides) for tasks, divides in json.loads(last)]


Chosen = Callable[..., tuple[Steps, Path]]


@pytest.fixture(scope="module")
def chosen(
    tmp_path_factory: pytest.TempPathFactory,
) -> Chosen:
    """Return what runs steps once: what they are, and an explanation.

    As they come, or in so many threads.
    """

    def run(step: str, threads: str = "") -> tuple[Steps, Path]:
        explanation = tmp_path_factory.mktemp("chosen") / "explained.txt"
        settings = {"LEGATE_DIFFUSE_THREADS": threads} if threads else {}
        return steps_of(step, explanation, **settings), explanation

    return functools.cache(run)


def choices(explanation: Path) -> str:
    """Return what an explanation tells about the processors, in one line."""
    totals = explanation.read_text().split("Totals")[1]
    return " ".join(totals[totals.index("On 2 processors") :].split())


@pytest.mark.parametrize("step", STEPS)
def test_what_is_chosen(step: str, chosen: Chosen) -> None:
    text = choices(chosen(step)[1])
    assert text.startswith("On 2 processors threads share the loops of fused tasks. ")
    assert text.count("points divide the large arrays") == (step in ALTERNATING)
    assert text.count("threads share the loops") == 1
    assert "went to or came from tasks that are not fused" in text


@pytest.mark.parametrize("step", some(ALTERNATING, 3))
def test_tasks_become_those_of_points(step: str, chosen: Chosen) -> None:
    """The choice changes once, early, and then all steps are as with that setting."""
    found, _ = chosen(step)
    threads, points = (chosen(step, number)[0][-1] for number in ("2", "1"))
    assert (threads[1], points[1]) == (False, True)
    assert found[0][0] == threads[0]
    assert set(found[10:]) == {points}


@pytest.mark.parametrize(
    ("threads", "how"),
    [
        ("1", "points divide the large arrays of fused tasks"),
        ("2", "threads share the loops of fused tasks"),
    ],
)
def test_the_users_setting_wins(threads: str, how: str, chosen: Chosen) -> None:
    found, explanation = chosen("sorts", threads)
    text = choices(explanation)
    said = f"On 2 processors {how}, as LEGATE_DIFFUSE_THREADS says. "
    assert text.startswith(said)
    assert "After" not in text
    assert len(set(found[5:])) == 1


def test_a_page_tells_as_well(tmp_path: Path) -> None:
    page = tmp_path / "explained.html"
    steps_of("sorts", page)
    text = page.read_text()
    assert "On 2 processors threads share the loops of fused tasks." in text
    assert "points divide the large arrays of fused tasks: " in text
