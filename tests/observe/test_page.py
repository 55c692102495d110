# SPDX-License-Identifier: Apache-2.0
"""The page is whole HTML without scripts or network, and can be read by everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from legate_diffuse.fusion.legality import Refusal
from legate_diffuse.observe.advice import OF_REFUSALS
from legate_diffuse.observe.ledger import Wait
from legate_diffuse.observe.lines import costs_of_lines, find_walls
from legate_diffuse.observe.page import page_lines
from legate_diffuse.observe.report import Report

VOID = {"meta"}


class Page(HTMLParser):
    """Collects a page's text, ids and links, and checks that elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        assert not {name for name in given if name.startswith("on")} | (
            given.keys() & {"src", "srcset"}
        )
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if "href" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag not in ("a", "code", "strong"):
            self.text += " "

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def test_a_page_tells_how_processors_are_used(report: Report) -> None:
    text = " ".join(Page("\n".join(page_lines(report))).text.split())
    assert (
        "On 2 processors threads share the loops of fused tasks. After 3 windows "
        "points divide the large arrays of fused tasks: fused tasks used 4 kB of large "
        "arrays, of which 2 kB went to or came from tasks that are not fused, whose "
        "arrays Legate divides. Since then fused tasks used 10 B"
    ) in text


def test_a_page_is_whole_and_stands_alone(report: Report) -> None:
    text = "\n".join(page_lines(report))
    page = Page(text)
    assert not page.tags & {"script", "link", "img", "iframe"}
    assert "http" not in text and "url(" not in text and "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    assert set(page.links) <= {f"#{name}" for name in page.ids}
    assert 'x = <first> & "second"' in page.text
    assert "What legate_diffuse makes of app.py <a>" in page.text


def test_a_page_tells_totals_lines_and_walls(report: Report) -> None:
    text = " ".join(Page("\n".join(page_lines(report))).text.split())
    assert "21 → 11" in text
    # five times 10,000 and the window that was not analysed, whose bytes stay
    assert "51 kB → 28.5 kB" in text
    assert (
        "app.py:2: 3 s, 33% y = x + 1 app.py:3: 3 s, 33% z = y @ y "
        'app.py:1: 2.5 s, 28% x = <first> & "second"'
    ) in text
    assert "tasks in each of 5 iterations 4 → 2, with 2.5 loops" in text
    assert "y = x + 11.5 loops, 1 task 33%" in text
    assert "In each iteration: 2 operations in 1.5 loops of 1 task" in text
    assert "MatMul runs as it is (7 times), 3 s. z = y @ y Do <less>." in text
    assert "the program waits for its tasks (4 times), 2 s." in text
    assert "gather is no task that can be fused (2 times). z = y @ y Use" in text
    assert f"add begins a new task: {Refusal.ANTI_DEPENDENCE.value}." in text
    assert "Window 1, submitted 5 times: 2 operations in 2 loops of 1 task" in text
    assert "Loop 1 of 2 over 3 x 4, 4 s in all, with the lines app.py:1, app.py:2" in (
        text
    )
    assert "Arrays never stored: a1" in text
    assert "Arrays stored: a4" in text
    at_once = "On small arrays, at once in the program's thread: "
    assert at_once + "add 12,300 times, sqrt once, 500 ms" in text
    assert at_once + "add 123 times, 500 ms" in text
    assert "The analysis failed, so all operations run as submitted." in text


def test_the_time_of_a_loop_is_shared_by_its_operations(report: Report) -> None:
    costs = costs_of_lines(report.windows, report.measured)
    assert {line: cost.seconds for line, cost in costs.items()} == {
        ("app.py", 1): 2.5,
        ("app.py", 2): 3.0,
        ("app.py", 3): 3.0,
        ("app.py", 4): 0.5,
    }
    assert costs["app.py", 4].waited == Wait(2.0, 4)


def test_the_program_threads_times_add_up(report: Report) -> None:
    text = " ".join(Page("\n".join(page_lines(report))).text.split())
    # 10 s in all; 1 of the 1.5 for submission is compiling
    assert (
        "the program's Python, recording included 5 s 50% operations on small arrays, "
        "at once 1 s 10% planning 500 ms 5% compiling 1 s 10% submitting 500 ms 5% "
        "waiting for tasks 2 s 20%"
    ) in text
    assert (
        "loops of fused tasks 5 s 25% tasks that run as they are 3 s 15% "
        "idle, or at work for Legate 12 s 60%"
    ) in text


def test_walls_come_by_their_time(report: Report) -> None:
    walls = find_walls(report.windows, report.measured, report.advise)
    assert [wall.seconds for wall in walls] == [3.0, 2.0, 0.0, 0.0]
    assert [wall.line for wall in walls] == [
        ("app.py", 3),
        ("app.py", 4),
        ("app.py", 3),
        ("app.py", 1),
    ]


def test_there_is_a_decision_on_advice_for_each_refusal() -> None:
    assert set(OF_REFUSALS) == set(Refusal)


def test_a_source_that_cannot_be_read_is_left_out(report: Report) -> None:
    (Path(report.folder) / "app.py").unlink()
    page = Page("\n".join(page_lines(report)))
    assert "MatMul runs as it is" in page.text


# -- contrast (WCAG 2.1, 1.4.3) ---------------------------------------------------
Colour = tuple[float, float, float]


def themes() -> Iterator[tuple[str, dict[str, Colour]]]:
    """Yield the colours of the light and of the dark theme."""
    style = files("legate_diffuse.observe").joinpath("page.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    for name, block in zip(("light", "dark"), blocks, strict=True):
        colours: dict[str, Colour] = {}
        for key, digits in re.findall(r"--([\w-]+): #(\w{6});", block):
            r, g, b = bytes.fromhex(digits)
            colours[key] = (r, g, b)
        r, g, b = re.findall(r"--heat-color: (\d+) (\d+) (\d+);", block)[0]
        colours["heat"] = (float(r), float(g), float(b))
        yield name, colours


def luminance(colour: Colour) -> float:
    parts = [
        c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
        for c in colour
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: Colour, b: Colour) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name, colours", list(themes()))
def test_text_has_contrast(name: str, colours: dict[str, Colour]) -> None:
    paper = colours["paper"]
    hottest = tuple(
        0.6 * p + 0.4 * h for p, h in zip(paper, colours["heat"], strict=True)
    )
    assert len(hottest) == 3
    for ink in ("ink", "faint", "accent"):
        assert contrast(colours[ink], paper) >= 4.5, ink
    assert contrast(colours["ink"], hottest) >= 4.5
