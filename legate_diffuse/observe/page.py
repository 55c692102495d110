# SPDX-License-Identifier: Apache-2.0
"""The explanation as one page of HTML, which needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Final

from legate_diffuse.observe.line_details import anchor, line_details, link
from legate_diffuse.observe.lines import Line, LineCosts, Wall
from legate_diffuse.observe.quantities import average, in_bytes, in_seconds, percent
from legate_diffuse.observe.report import Report
from legate_diffuse.observe.source import Sources, quote, read_sources
from legate_diffuse.observe.summary import Summary, summarize
from legate_diffuse.observe.wording import PAGE_MARK, TITLE

MOST: Final = 5  # walls at the top
_MOST_WALLS: Final = 200


def page_lines(report: Report) -> Iterator[str]:
    """Yield the lines of the page."""
    summary = summarize(report)
    sources = read_sources(report.folder, summary.costs)
    style = files("legate_diffuse.observe").joinpath("page.css").read_text("utf-8")
    title = f"{TITLE}{report.program}"
    yield PAGE_MARK
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>"
    yield f"<header><h1>{escape(title)}</h1></header>\n<main>"
    yield from _totals(report, summary)
    yield from _times(summary)
    yield from _costliest_lines(summary, sources)
    yield from _walls(summary.walls, sources)
    for file in _by_cost(summary.costs):
        yield from _source(file, sources[file], summary, report)
    yield "</main>\n</body>\n</html>"


def _by_cost(costs: Mapping[Line, LineCosts]) -> list[str]:
    """Return the names of files, the costliest first."""
    seconds: dict[str, float] = {}
    for (file, _), cost in costs.items():
        seconds[file] = seconds.get(file, 0.0) + cost.seconds
    return sorted(seconds, key=lambda file: (-seconds[file], file))


def _totals(report: Report, summary: Summary) -> Iterator[str]:
    measured = report.measured
    unfused, fused = in_bytes(summary.moved_unfused), in_bytes(summary.moved_fused)
    yield '<section aria-label="Totals"><dl class="totals">'
    for name, before, after in (
        ("tasks", f"{measured.operations:,}", f"{measured.tasks:,}"),
        ("bytes of arrays read and written", unfused, fused),
    ):
        name += ", unfused and fused"
        yield f"<div><dt>{name}</dt><dd>{before} → {after}</dd></div>"
    if (one := report.iteration) is not None:
        yield (
            f"<div><dt>tasks in each of {one.seen:,} iterations</dt><dd>"
            f"{average(one.operations)} → {average(one.tasks)}, "
            f"with {average(one.loops, 'loop')}</dd></div>"
        )
    yield (
        "<div><dt>the program took</dt><dd>"
        f"{in_seconds(measured.elapsed)}</dd></div></dl></section>"
    )


def _times(summary: Summary) -> Iterator[str]:
    yield '<section aria-labelledby="times"><h2 id="times">Where the time went</h2>'
    for clock in summary.clocks:
        yield f"<table><caption>{clock.title}</caption><tbody>"
        for name, seconds in clock.parts:
            share = percent(seconds, clock.seconds)
            yield (
                f'<tr><th scope="row">{name}</th><td>{in_seconds(seconds)}</td>'
                f'<td>{share}</td><td class="bar"><span style="width:{share}"></span>'
                "</td></tr>"
            )
        yield "</tbody></table>"
    if sentences := " ".join(summary.notes):
        yield f"<p>{escape(sentences)}</p>"
    yield "</section>"


def _costliest_lines(summary: Summary, sources: Sources) -> Iterator[str]:
    yield '<section aria-labelledby="lines"><h2 id="lines">Lines that cost most</h2>'
    yield "<ol>"
    for line, seconds in summary.costliest:
        share = percent(seconds, summary.seconds)
        yield f"<li>{link(line)}: {in_seconds(seconds)}, {share}"
        yield f"{_quote(line, sources)}</li>"
    yield "</ol></section>"


def _quote(line: Line | None, sources: Sources) -> str:
    text = quote(line, sources)
    return f'<code class="quote">{escape(text)}</code>' if text else ""


def _walls(walls: Sequence[Wall], sources: Sources) -> Iterator[str]:
    yield '<section aria-labelledby="walls"><h2 id="walls">Walls that cost most</h2>'
    if not walls:
        yield "<p>Nothing keeps tasks apart.</p>"
    else:
        yield from _wall_list(walls[:MOST], sources)
    if len(walls) > MOST:
        rest = walls[MOST:_MOST_WALLS]
        yield f"<details><summary>{len(rest)} more</summary>"
        yield from _wall_list(rest, sources)
        yield "</details>"
    yield "</section>"


def _wall_list(walls: Sequence[Wall], sources: Sources) -> Iterator[str]:
    yield "<ol>"
    for wall in walls:
        seconds = f", {in_seconds(wall.seconds)}" if wall.seconds else ""
        yield f"<li>{link(wall.line)}: {escape(wall.what)}{seconds}."
        yield _quote(wall.line, sources)
        if wall.advice:
            yield f'<p class="advice">{escape(wall.advice)}</p>'
        yield "</li>"
    yield "</ol>"


def _source(
    file: str, source: Sequence[str], summary: Summary, report: Report
) -> Iterator[str]:
    """Yield a file's source, each line with what became of it."""
    heading = escape(file)
    yield f'<section aria-label="{heading}"><h2>{heading}</h2><div class="source">'
    most = max(cost.seconds for cost in summary.costs.values())
    for number, text in enumerate(source, 1):
        line = file, number
        cost = summary.costs.get(line)
        shown = f'<span class="number">{number}</span><code>{escape(text)}</code>'
        if cost is None:
            yield f'<div class="line">{shown}</div>'
            continue
        heat = cost.seconds / most if most else 0.0
        yield (
            f'<details class="line" id="{anchor(line)}" '
            f'style="--heat:{heat:.2f}"><summary>{shown}'
            f'<span class="counts">{_counts(line, report)}</span>'
            f'<span class="cost">{percent(cost.seconds, summary.seconds)}</span>'
            "</summary>"
        )
        own = [wall for wall in summary.walls if wall.line == line]
        yield from line_details(line, cost, own, report)
        yield "</details>"
    yield "</div></section>"


def _counts(line: Line, report: Report) -> str:
    """Return in how many loops and tasks of an iteration a line takes part."""
    if (found := report.in_iteration(line)) is None:
        return ""
    return f"{average(found.loops, 'loop')}, {average(found.tasks, 'task')}"
