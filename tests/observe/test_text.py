# SPDX-License-Identifier: Apache-2.0
"""Text begins with what a person asks first, and tells what repeats itself once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.observe.counters import Counters, render
from legate_diffuse.observe.data import as_data
from legate_diffuse.observe.facts import LaunchFacts, LoopFacts, OperationFacts
from legate_diffuse.observe.page import page_lines
from legate_diffuse.observe.repeats import Part, parts
from legate_diffuse.observe.report import Report
from legate_diffuse.observe.summary import summarize
from legate_diffuse.observe.text import summary_lines, window_lines
from legate_diffuse.observe.wording import DATA_MARK


def summary(report: Report) -> str:
    return "\n".join(summary_lines(report, summarize(report, {})))


def test_the_first_lines_are_what_a_person_asks(report: Report) -> None:
    lines = summary(report).splitlines()
    assert lines[:2] == [
        "An iteration: 4 operations became 2 tasks, with 2.5 loops (seen 5 times)",
        "In all: 21 operations became 11 tasks in 10 s",
    ]
    assert "    waiting for tasks                                 2 s   20%" in lines
    assert "    tasks that run as they are                        3 s   15%" in lines
    assert "  app.py:2  3 s, 33%  y = x + 1" in lines
    assert lines[-1] == "  app.py:2  2 operations, 1.5 loops, 1 task  y = x + 1"


def test_the_three_dearest_reasons_come_with_what_to_write(report: Report) -> None:
    lines = summary(report).splitlines()
    start = lines.index("Why there are not fewer tasks, the dearest reasons first")
    assert lines[start + 1 : start + 3] == [
        "  1. app.py:3: MatMul runs as it is (7 times), 3 s",
        "       Do <less>.",
    ]
    reasons = [line for line in lines if line[2:4] in ("1.", "2.", "3.", "4.")]
    assert [line[2:4] for line in reasons] == ["1.", "2.", "3."]
    assert "  and 1 more" in lines


def test_no_line_is_long(report: Report) -> None:
    assert max(map(len, summary(report).splitlines())) <= 88


def test_much_less_than_a_task_is_no_task(report: Report) -> None:
    assert report.iteration is not None
    few = replace(report, iteration=replace(report.iteration, tasks=0.083))
    assert "became 0.083 tasks, with" in summary(few)
    none = replace(report, iteration=None)
    assert summary(none).startswith("No iteration came again and again.\n")


def test_text_page_and_data_tell_the_same(report: Report) -> None:
    data = as_data(report, summarize(report, {}))
    text, page = summary(report), "\n".join(page_lines(report))
    assert (data["operations"], data["tasks"]) == (21, 11)
    assert data["iteration"] == {
        "operations": 4,
        "tasks": 2,
        "loops": 2.5,
        "seen": 5,
    }
    assert data["times"]["The program's own thread"]["planning"] == 0.5
    for wall in data["walls"][:3]:
        assert wall["what"] in " ".join(text.split())
        assert wall["what"] in page
    (line,) = [each for each in data["lines"] if each["line"] == "app.py:2"]
    assert line["seconds"] == 3.0
    assert line["iteration"] == {"operations": 2, "loops": 1.5, "tasks": 1}
    first, failed = data["windows"]
    assert first["submitted"] == 5
    assert first["launches"][0]["loops"][1] == {
        "extents": "2 x 4",
        "operations": [2],
        "why_not_before": Refusal.LAUNCH_DOMAIN.value,
    }
    assert failed["launches"] is None
    # files are known by how they begin
    assert json.dumps(data, indent=1).startswith(DATA_MARK)


@pytest.mark.parametrize("value, told", [("1", True), ("0", False), ("", False)])
def test_advice_that_is_obsolete_is_named(
    report: Report, value: str, told: bool
) -> None:
    notes = summarize(report, {"CUPYNUMERIC_DOCTOR": value}).notes
    assert any("Doctor" in note and "obsolete" in note for note in notes) == told


# -- what repeats itself ----------------------------------------------------------
@pytest.mark.parametrize(
    "items, expected",
    [
        ("", []),
        ("a", [(0, 1, 1)]),
        ("abc", [(0, 1, 1), (1, 1, 1), (2, 1, 1)]),
        ("xabababy", [(0, 1, 1), (1, 2, 3), (7, 1, 1)]),
        ("aaaa", [(0, 1, 4)]),
        ("aabaab", [(0, 3, 2)]),
        ("ababa", [(0, 2, 2), (4, 1, 1)]),
    ],
)
def test_parts_are_the_longest_that_repeat_themselves(
    items: str, expected: list[tuple[int, int, int]]
) -> None:
    assert [*parts(items)] == [Part(*each) for each in expected]


def test_one_iteration_of_a_window_is_told_with_a_count(report: Report) -> None:
    window, _ = report.windows[0]
    steps = [
        OperationFacts(f"app.py:{n % 2 + 1}", "BINARY_OP", f"verb{n % 2}", f"a{n}", 0)
        for n in range(40)
    ]
    loops = tuple(
        LoopFacts(f"{n % 2 + 5} x 4", (2 * n, 2 * n + 1), Refusal.LAUNCH_DOMAIN, ())
        for n in range(20)
    )
    launch = LaunchFacts(
        True, False, tuple(range(40)), (), "", (), loops, None, "", (), 0
    )
    again = replace(window, operations=tuple(steps), launches=(launch,))
    lines = [*window_lines(3, again)]
    assert lines[0] == "Window 3: 40 operations became 1 task"
    operations = lines[lines.index("  Operations") + 1 :][:3]
    assert operations == [
        "      1  app.py:1  a0",
        "      2  app.py:2  a1",
        "    1-40  the same 2 operations, 20 times in all",
    ]
    assert sum("    loop " in line for line in lines) == 2
    assert "    loops 1-20: the same 2 loops, 10 times in all" in lines


def test_what_would_not_be_shorter_is_not_folded(report: Report) -> None:
    window, _ = report.windows[0]
    twice = replace(window, operations=(window.operations[0],) * 2, launches=())
    lines = [*window_lines(1, twice)]
    assert sum(line.endswith("a1 = add(a2, 1)") for line in lines) == 2


# -- ranks ------------------------------------------------------------------------
def test_statistics_of_several_ranks_name_the_rank() -> None:
    counts = Counters().as_dict()
    assert render(counts).startswith("legate_diffuse statistics:\n")
    assert render(counts, 3).startswith("legate_diffuse statistics of rank 3:\n")
