# SPDX-License-Identifier: Apache-2.0
"""Makes the page of results from the data in its folder: ``bench.py page``.

applications.json is what ``bench.py --results`` wrote. Beside it may lie overhead.json
and peers.json (``bench.py overhead --json``, ``bench.py peers --json``), and
petsc.json with its plot (``compare_petsc.py --output``).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import results_others
import results_plots
from applications import PAPER, PAPER_MEAN
from measurement import BATCHES, Record
from results_plots import has_limit, limit_ms
from results_tables import even, even_warm, grid, number, spread, tasks, verdict

APPLICATIONS_DATA = "applications.json"
INTRODUCTION = """\
# Results

`scripts/bench.py` wrote this page, its tables and plots, from the data beside it;
`scripts/bench.py page scripts/results` makes it again. What the programs compute is in
`scripts/apps/`.

"""
METHOD = """\
Processes with fusion, without it and with NumPy take turns, {repeat} of each for a
program; after some iterations that warm it up each times {batches} batches of as many
as the tables say. Times are medians over all batches, with quartiles in brackets. All
run the same program; fused results are compared with unfused ones, and every program
checks its answer, with NumPy too. The locks of Legate's runtime yield with and without
fusion (`LEGATE_DIFFUSE_YIELD=1`), and all sides have huge pages. NumPy runs in one
process, with as many threads for matrix products as there are CPUs. Tasks are those
that Legate gets, fills apart. Programs that start from the same data in every iteration
have a fence between two of them; solvers and time steps have none, so that what is
fused may reach across iterations. The machine's load before a program was at most
{load:.1f}.

With N CPUs the large problems have N times as many elements. All was measured on CPUs:
no GPU has run fused tasks yet.

"""
PLOTS = {
    "speedup": "How many times faster fused programs are",
    "throughput": "Elements per second, unfused and fused",
    "memory_limit": "Times over the memory's limit",
}


def main(arguments: list[str]) -> int:
    """Make the page of the folder that the command line names."""
    parser = argparse.ArgumentParser(
        prog="bench.py page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    if not (folder / APPLICATIONS_DATA).is_file():
        parser.error(f"no {APPLICATIONS_DATA} in {folder}")
    if importlib.util.find_spec("matplotlib") is None:
        parser.error("the plots need matplotlib: pip install matplotlib")
    write(folder)
    return 0


def write(folder: Path) -> None:
    """Write README.md and the plots into the folder with the data."""
    document = json.loads((folder / APPLICATIONS_DATA).read_text())
    records = _records(document)
    drawn = results_plots.write(folder, records)
    plots = {name: f"![{PLOTS[name]}]({name}.svg)\n\n" for name in drawn}
    large = [r for r in records if r.kind == "large"]
    small = [r for r in records if r.kind == "small"]
    others = [r for r in records if r.kind not in ("large", "small")]
    page = INTRODUCTION + _machine(document)
    page += METHOD.format(
        repeat=max(r.repeat for r in records),
        batches=BATCHES,
        load=max(r.load_average for r in records),
    )
    page += "## Fused against unfused and NumPy\n\n" + plots.get("speedup", "")
    page += _means(large, small) + _slower_than_numpy(records)
    for title, chosen in (
        ("Large arrays", large),
        ("Some thousand elements", small),
        ("Other sizes", others),
    ):
        if chosen:
            page += f"### {title}\n\n{_times(chosen)}\n"
    page += "## Throughput and scaling\n\n" + plots.get("throughput", "")
    page += _scaling(large)
    page += "## The memory's limit\n\n" + plots.get("memory_limit", "") + _limits(large)
    page += "## The first iterations\n\n" + _beginnings(records)
    page += "## Memory\n\n" + _memory(records)
    page += results_others.sections(folder)
    (folder / "README.md").write_text(page.rstrip() + "\n")


def _records(document: dict[str, Any]) -> list[Record]:
    try:
        return [Record(**record) for record in document["records"]]
    except TypeError as error:
        raise SystemExit(
            f"bench.py page: {APPLICATIONS_DATA} was not written by this version of"
            f" bench.py, run it again with --results ({error})"
        ) from None


def _machine(document: dict[str, Any]) -> str:
    machine = document["machine"]
    versions = ", ".join(f"{k} {v}" for k, v in machine["versions"].items())
    rows = (
        ("processor", machine["processor"]),
        ("CPUs", str(machine["processors"])),
        ("last-level cache", f"{machine['last_level_cache_mb']:g} MiB"),
        ("memory", f"{machine['memory_gb']:g} GiB"),
        ("system", f"{machine['system']}, {machine['libc']}"),
        ("versions", versions),
        ("Legate's settings", f"`{document['legate']}`"),
        ("glibc's settings, for huge pages", f"`{document['tunables']}`"),
        ("element type", ", ".join(sorted({r["dtype"] for r in document["records"]}))),
        ("command", f"`{document['command']}`"),
    )
    return f"## Machine and method\n\n{grid(('', ''), rows)}\n"


def _means(large: list[Record], small: list[Record]) -> str:
    """Return the geometric means over the paper's seven programs, where all ran."""
    lines = ""
    for cpus in sorted({r.cpus for r in large}):
        chosen = [r for r in large if r.cpus == cpus]
        lines += _mean(chosen, f"large arrays, {results_plots.cpu_count(cpus)}")
    lines += _mean(small, "some thousand elements")
    if lines:
        lines = (
            "Geometric means over the paper's seven programs (the paper, on GPUs:"
            f" {PAPER_MEAN}), of how many times faster they are fused:\n\n{lines}\n"
        )
    return lines


def _mean(records: list[Record], what: str) -> str:
    chosen = [r for r in records if r.app in PAPER]
    if len(chosen) < len(PAPER):
        return ""
    unfused = _mean_and_least([r.ratio for r in chosen])
    numpy = _mean_and_least([r.numpy_ratio for r in chosen])
    return f"- {what}: {unfused} than unfused, {numpy} than NumPy\n"


def _mean_and_least(ratios: list[float]) -> str:
    return f"{number(statistics.geometric_mean(ratios))} (least {number(min(ratios))})"


def _slower_than_numpy(records: list[Record]) -> str:
    """Return where fused programs are slower than NumPy, the slowest first."""
    slower = sorted(
        (r for r in records if r.numpy_ratio < 1), key=lambda r: r.numpy_ratio
    )
    if not slower:
        return "No fused program is slower than NumPy.\n\n"
    text = "Slower than NumPy, and by how much, are these fused programs:\n\n"
    return text + _table(
        slower,
        NumPy_ms=lambda r: number(r.numpy_ms),
        fused_ms=lambda r: number(r.fused_ms),
        times_slower=lambda r: f"**{number(1 / r.numpy_ratio)}**",
    )


def _table(records: list[Record], **columns: Callable[[Record], str]) -> str:
    """Return a table with the program, its size and CPUs, and some columns."""
    headings = ("program", "size", "CPUs", *(k.replace("_", " ") for k in columns))
    rows = [
        (r.app, f"{r.size:,}", str(r.cpus), *(cell(r) for cell in columns.values()))
        for r in records
    ]
    return grid(headings, rows) + "\n"


def _times(records: list[Record]) -> str:
    return _table(
        records,
        iterations=lambda r: str(r.iterations),
        tasks=tasks,
        unfused_ms=lambda r: f"{number(r.unfused_ms)} ({spread(r.unfused_quartiles)})",
        fused_ms=lambda r: f"{number(r.fused_ms)} ({spread(r.fused_quartiles)})",
        NumPy_ms=lambda r: f"{number(r.numpy_ms)} ({spread(r.numpy_quartiles)})",
        faster=lambda r: f"**{r.ratio:.2f}**",
        than_NumPy=lambda r: f"**{number(r.numpy_ratio)}**",
        results_agree=verdict,
        largest_difference=lambda r: f"{r.largest_difference:.1g}",
        options=lambda r: f"`{' '.join(r.options)}`" if r.options else "",
    )


def _scaling(large: list[Record]) -> str:
    """Return how throughput grows with the CPUs, where the problem grows too."""
    alone = {r.app: r for r in large if r.cpus == 1}
    several = [r for r in large if r.cpus > 1 and r.app in alone]
    if not several:
        return ""
    text = (
        "Weak scaling: throughput, as a multiple of that on one CPU. The memory's"
        " bandwidth (STREAM's triad) is what programs share that are limited by it.\n\n"
    )

    def times(r: Record, side: str) -> str:
        one = alone[r.app]
        speed, before = (x.elements / getattr(x, side) for x in (r, one))
        return f"{speed / before:.2f}"

    return text + _table(
        several,
        unfused=lambda r: times(r, "unfused_ms"),
        fused=lambda r: times(r, "fused_ms"),
        bandwidth=lambda r: (
            f"{r.bandwidth_gbs / alone[r.app].bandwidth_gbs:.2f}"
            if r.bandwidth_gbs and alone[r.app].bandwidth_gbs
            else ""
        ),
    )


def _limits(large: list[Record]) -> str:
    limited = [r for r in large if has_limit(r)]
    if not limited:
        return ""
    text = (
        "The limit is the time to read every array once that an iteration needs, and to"
        " write every one once that it changes, at the bandwidth of STREAM's triad (the"
        " better of normal and non-temporal stores), measured right after each program."
        " On arrays beyond the cache only what takes several iterations at a time could"
        " beat it; reductions whose result the same iteration needs, and arithmetic,"
        " take longer.\n\n"
    )
    return text + _table(
        limited,
        GB_per_second=lambda r: number(r.bandwidth_gbs or math.nan),
        limit_ms=lambda r: number(limit_ms(r)),
        unfused_ms=lambda r: number(r.unfused_ms),
        fused_ms=lambda r: number(r.fused_ms),
        NumPy_ms=lambda r: number(r.numpy_ms),
        fused_over_limit=lambda r: f"{r.fused_ms / limit_ms(r):.2f}",
    )


def _beginnings(records: list[Record]) -> str:
    text = (
        "Milliseconds of the first iteration: unfused, fused with the kernels on disk"
        " (warm), and fused with nothing there (cold, one process). Then the iterations"
        " until the fused program is ahead in total; the paper's take 25 to 119. The"
        " first iterations are waited for one by one, and so not fused with each"
        " other.\n\n"
    )
    return text + _table(
        records,
        unfused=lambda r: number(r.first_iteration_unfused_ms),
        warm=lambda r: (
            "-"
            if r.first_iteration_warm_ms is None
            else number(r.first_iteration_warm_ms)
        ),
        cold=lambda r: number(r.first_iteration_ms),
        ahead_after_warm=even_warm,
        ahead_after_cold=lambda r: even(r.break_even_iterations),
        compiler_ms=lambda r: number(r.compile_seconds * 1e3),
    )


def _memory(records: list[Record]) -> str:
    text = (
        "MB of temporary arrays that fusion removes in each iteration, and the largest"
        " resident sizes of the processes.\n\n"
    )
    return text + _table(
        records,
        removed=lambda r: number(r.temporaries_removed_bytes / 1e6),
        peak_unfused=lambda r: number(r.peak_rss_unfused_mb),
        peak_fused=lambda r: number(r.peak_rss_fused_mb),
        peak_NumPy=lambda r: number(r.peak_rss_numpy_mb),
    )
