# SPDX-License-Identifier: Apache-2.0
"""A report of a small program, which text, page and data are written from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.fusion.plan import PlannedNest
from legate_diffuse.ir import Points
from legate_diffuse.ir.nest import Nest, Turn
from legate_diffuse.observe.facts import (
    LaunchFacts,
    LoopFacts,
    OperationFacts,
    WindowFacts,
)
from legate_diffuse.observe.iterations import Iteration, LineCounts
from legate_diffuse.observe.ledger import Ledger, Measured, TaskTime, Wait
from legate_diffuse.observe.processors import Change, ProcessorFacts, Use
from legate_diffuse.observe.report import Report

SOURCE = """\
x = <first> & "second"
y = x + 1
z = y @ y
print(float(z))
"""


def nest(kernel: int | None, *tasks: int) -> PlannedNest:
    return PlannedNest(Turn(Nest(0, 0, Points.MANY, (), tasks=tasks)), kernel)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    (tmp_path / "app.py").write_text(SOURCE)
    operations = (
        OperationFacts("app.py:1", "BINARY_OP", "add", "a1 = add(a2, 1)", 1_000),
        OperationFacts("app.py:2", "BINARY_OP", "less", "a3 = less(a1, 1)", 2_000),
        OperationFacts("app.py:2", "UNARY_OP", "copy", "a4[1:, :] = copy(a3)", 3_000),
        OperationFacts("", "FILL", "fill", "a5 = fill(1)", 4_000),
    )
    launches = (
        LaunchFacts(
            True,
            False,
            (0, 1, 2),
            alone=(),
            why_alone="",
            waiting=(),
            loops=(
                # the copy for it belongs to no operation
                LoopFacts("3 x 4", (0, 1), None, (nest(2), nest(0, 0, 1))),
                LoopFacts("2 x 4", (2,), Refusal.LAUNCH_DOMAIN, (nest(1, 2),)),
            ),
            refusal=Refusal.ANTI_DEPENDENCE,
            stored="a4",
            fates=(("never stored", "a1"),),
            moved=1_500,
        ),
        LaunchFacts(False, False, (3,), (3,), ", because", (), (), None, "", (), 0),
    )
    legend = (("a1-a5", "3 x 4 float64"),)
    window = WindowFacts(operations, "read", "app.py:4", legend, launches)
    failed = WindowFacts(operations[:1], "read", "app.py:4", legend, None)
    ledger = Ledger(
        started=0.0,
        spent={"planning": 0.5, "submission": 1.5},
        waits={"app.py:4": Wait(2.0, 4)},
        passed=Counter({("app.py:3", "issue_gather"): 2}),
    )
    measured = Measured(
        elapsed=10.0,
        processors=2,
        operations=21,
        tasks=11,
        kernels=[3.0, 1.0, 1.0],
        other_tasks=[TaskTime("lib::MatMulTask", "app.py:3", 3.0, 7)],
        compiling=1.0,
        ledger=ledger,
        runs=[
            TaskTime("add", "app.py:1", 0.25, 12345),
            TaskTime("sqrt", "app.py:1", 0.25, 1),
            TaskTime("add", "app.py:4", 0.5, 123),
        ],
    )

    def advise(task: str) -> str:
        return {"lib::MatMulTask": "Do <less>.", "issue_gather": "Use slices."}[task]

    windows = [(window, 5), (failed, 1)]
    lines = {("app.py", 2): LineCounts(operations=2, loops=1.5, tasks=1)}
    iteration = Iteration(4, 2.5, 2, 5, lines)
    change = Change(divides=True, windows=3, why=Use(used=4000, exchanged=2000))
    processors = ProcessorFacts(2, True, "", [change], Use(used=10, exchanged=0))
    return Report(
        "app.py <a>", str(tmp_path), windows, iteration, measured, processors, advise
    )
