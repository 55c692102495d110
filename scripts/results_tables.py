# SPDX-License-Identifier: Apache-2.0
"""The tables of what ``bench.py`` measured, for the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from measurement import Record
from rich import box
from rich.table import Table

HEADINGS = (
    "program",
    "size",
    "CPUs",
    "tasks",
    "ms per iteration",
    "quartiles",
    "NumPy",
    "faster",
    "agree",
    "even",
    "removed MB",
    "peak MB",
)
CAPTION = (
    "Unfused → fused, medians per iteration, quartiles of the fused time; NumPy in"
    " ms per iteration; faster: times, than unfused / than NumPy; even: ahead of"
    " unfused in total after so many iterations, with kernels on disk / without"
)


def terminal(records: list[Record]) -> Table:
    """Return the records as a table for a person."""
    made = Table(caption=CAPTION, box=box.SIMPLE)
    for heading in HEADINGS:
        made.add_column(heading, justify="right", no_wrap=True)
    for row in _rows(records):
        made.add_row(*row)
    return made


def markdown(records: list[Record]) -> str:
    """Return the same as Markdown."""
    return f"{CAPTION}\n\n{grid(HEADINGS, _rows(records))}"


def grid(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown, its first column to the left."""
    lines = [list(headings), *map(list, rows)]
    ruler = ["---", *["---:"] * (len(lines[0]) - 1)]
    return "".join(
        f"| {' | '.join(line)} |\n" for line in (lines[0], ruler, *lines[1:])
    )


def _rows(records: list[Record]) -> list[list[str]]:
    return [
        [
            r.app,
            f"{r.size:,}",
            str(r.cpus),
            tasks(r),
            f"{number(r.unfused_ms)} → {number(r.fused_ms)}",
            spread(r.fused_quartiles),
            number(r.numpy_ms),
            f"{number(r.ratio)} / {number(r.numpy_ratio)}",
            verdict(r),
            f"{even_warm(r)} / {even(r.break_even_iterations)}",
            number(r.temporaries_removed_bytes / 1e6),
            f"{r.peak_rss_unfused_mb:.0f} → {r.peak_rss_fused_mb:.0f}",
        ]
        for r in records
    ]


def tasks(r: Record) -> str:
    """Return the tasks per iteration of both sides."""
    return f"{r.tasks_unfused:g} → {r.tasks_fused:g}"


def verdict(r: Record) -> str:
    """Return whether the results agree, and how much not."""
    if r.right:
        return "yes"
    if r.agree:
        return f"WRONG BY {r.error:.0e}"
    return f"NO ({r.largest_difference:.0e})"


def even(iterations: int | None) -> str:
    """Return the iterations until both sides are level."""
    return "never" if iterations is None else f"{iterations:,}"


def even_warm(r: Record) -> str:
    """Return the same for kernels that are on disk; a single process measures none."""
    if r.first_iteration_warm_ms is None:
        return "-"
    return even(r.break_even_warm_iterations)


def spread(quartiles: tuple[float, float]) -> str:
    """Return the lower and the upper quartile."""
    return " - ".join(number(value) for value in quartiles)


def number(value: float) -> str:
    """Return three digits of a number, all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
