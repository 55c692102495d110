# SPDX-License-Identifier: Apache-2.0
"""The sections of the page of results about other ways to run the same programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contenders import MALLOC, MARKS, groups, over_c
from overhead import KINDS, ROWS
from petsc_cases import FUSED
from results_tables import grid, number

OVERHEAD, PEERS, PETSC = "overhead.json", "peers.json", "petsc.json"


def sections(folder: Path) -> str:
    """Return the sections whose data lie in the folder."""
    text = ""
    for name, section in ((OVERHEAD, _overhead), (PEERS, _peers), (PETSC, _petsc)):
        if (folder / name).is_file():
            text += section(json.loads((folder / name).read_text()), folder)
    return text


def _overhead(rows: list[dict[str, Any]], folder: Path) -> str:
    text = (
        "## What an operation costs\n\n"
        f"A chain of ten operations on {rows[0]['size']:,} elements, µs per operation,"
        " medians and quartiles (`scripts/bench.py overhead`).\n\n"
    )
    lines = []
    for label, key in ROWS:
        cells = [label.strip()]
        for one in rows:
            low, high = one[f"{key}_quartiles"]
            cells.append(f"{one[key]:.1f} ({low:.1f} - {high:.1f})")
        lines.append(cells)
    return text + grid(("", *(KINDS[one["kind"]] for one in rows)), lines) + "\n"


def _peers(figures: list[dict[str, Any]], folder: Path) -> str:
    text = (
        "## Other ways to run NumPy programs\n\n"
        "ms per iteration, medians (`scripts/bench.py peers`). Programs are the same"
        " for NumPy and cuPyNumeric, and rewritten for the others, as functions for one"
        " iteration; those of stencil and update follow one another without a fence, so"
        " that fused cuPyNumeric takes several at a time. Each contender runs"
        " with glibc's default allocator and with ones that keep large blocks, and the"
        " best median counts: "
        + "; ".join(f"{_escaped(mark)} {malloc}" for malloc, mark in MARKS.items())
        + " (`GLIBC_TUNABLES`: "
        + "; ".join(f"`{MALLOC[malloc]['GLIBC_TUNABLES']}`" for malloc in MARKS)
        + ").\n\n"
    )
    text += (
        "C by hand (`scripts/peers/by_hand`, OpenMP) has one loop for each stage of a"
        " step, with the arithmetic of the NumPy program or with reciprocals instead of"
        " quotients; all start from the same arrays, and all have huge pages.\n\n"
    )
    for cpus in sorted({one["cpus"] for one in figures}):
        chosen = [one for one in figures if one["cpus"] == cpus]
        for apps in groups(one["app"] for one in chosen):
            text += _compared([one for one in chosen if one["app"] in apps]) + "\n"
    return text


def _compared(figures: list[dict[str, Any]]) -> str:
    """Return the table of programs with the same contenders and number of CPUs."""
    sizes = {one["app"]: one["size"] for one in figures}
    rows: dict[str, dict[str, str]] = {}
    ms: dict[str, dict[str, float]] = {}
    for one in figures:
        version = one["version"]
        label = one["contender"] + (f" ({version})" if version else "")
        cell = number(one["ms"]) + _escaped(MARKS.get(one["malloc"] or "", ""))
        rows.setdefault(label, {})[one["app"]] = cell
        ms.setdefault(one["contender"], {})[one["app"]] = one["ms"]
    for label, ratios in over_c(ms).items():
        rows[label] = {app: f"**{ratio:.2f}**" for app, ratio in ratios.items()}
    headings = [f"{app} {size:,}" for app, size in sizes.items()]
    cpus = figures[0]["cpus"]
    return grid(
        (f"{cpus} CPUs" if cpus > 1 else "1 CPU", *headings),
        (
            (label, *(cells.get(app, "-") for app in sizes))
            for label, cells in rows.items()
        ),
    )


def _escaped(mark: str) -> str:
    return mark.replace("*", "\\*")


def _petsc(document: dict[str, Any], folder: Path) -> str:
    machine = document["machine"]
    text = (
        "## PETSc\n\n"
        f"PETSc {machine['petsc']}, {machine['mpi']}, {machine['compiler']}"
        " (`scripts/compare_petsc.py`). ms per iteration, medians; the same systems,"
        " methods and numbers of iterations, both sides with huge pages; with an"
        " assembled matrix and with the matrix as a loop over the grid; N ranks against"
        " N CPUs. Residuals are 2-norms relative to the right-hand side's.\n\n"
    )
    if (folder / "petsc.svg").is_file():
        text += "![Fused programs and PETSc](petsc.svg)\n\n"
    rows = []
    for one in document["records"]:
        fused = one["sides"][FUSED]
        assembled = one["sides"].get("aij") or one["sides"]["dense"]
        free = one["sides"].get("stencil")
        rows.append(
            (
                one["method"],
                f"{one['size']:,}",
                str(one["ranks"]),
                number(fused["median_ms"]),
                *_against(assembled, fused),
                *(_against(free, fused) if free else ("-", "-")),
                f"{fused['residual']:.4g}",
                f"{assembled['residual']:.4g}",
                "yes" if one["agree"] else f"NO ({one['largest_difference']:.0e})",
            )
        )
    headings = ("method", "size", "ranks", "fused", "assembled", "over fused")
    headings += ("matrix-free", "over fused", "residual", "PETSc's", "agree")
    return text + grid(headings, rows) + "\n"


def _against(side: dict[str, Any], fused: dict[str, Any]) -> tuple[str, str]:
    """Return a side's time, and how many times longer than fused that is."""
    times = side["median_ms"] / fused["median_ms"]
    return number(side["median_ms"]), f"{times:.2f}"
