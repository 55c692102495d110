# SPDX-License-Identifier: Apache-2.0
"""What scripts/compare_petsc.py measured: a table, JSON and a plot."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from petsc_cases import FUSED, METHODS, Record
from petsc_side import Petsc
from rich import box
from rich.table import Table

COLORS = {FUSED: "#2a78d6", "stencil": "#eda100", "aij": "#8a8984", "dense": "#8a8984"}
LABELS = {
    FUSED: "legate_diffuse",
    "stencil": "PETSc, matrix-free",
    "aij": "PETSc, assembled",
    "dense": "PETSc, assembled",
}


def table(records: list[Record]) -> Table:
    """Return the records as a table for a person."""
    made = Table(
        title="Fused and PETSc, medians in ms per iteration",
        caption="x: how many times faster fused is; load: of the machine, at most",
        box=box.SIMPLE,
    )
    headings = ("method", "size", "ranks", "fused", "assembled", "x", "matrix-free")
    for heading in (*headings, "x", "residual", "PETSc's", "agree", "load"):
        made.add_column(heading, justify="right", no_wrap=True)
    for r in records:
        fused = r.sides[FUSED]
        assembled = r.sides.get("aij") or r.sides["dense"]
        free = r.sides.get("stencil")
        made.add_row(
            r.method,
            f"{r.size:,}",
            str(r.ranks),
            f"{fused.median_ms:.3g}",
            f"{assembled.median_ms:.3g}",
            f"{assembled.median_ms / fused.median_ms:.2f}",
            f"{free.median_ms:.3g}" if free else "-",
            f"{free.median_ms / fused.median_ms:.2f}" if free else "-",
            f"{fused.residual:.4g}",
            f"{assembled.residual:.4g}",
            "yes" if r.agree else f"NO ({r.largest_difference:.1e})",
            f"{r.load_average:.1f}",
        )
    return made


def write(folder: Path, records: list[Record], petsc: Petsc) -> None:
    """Write the records as JSON, and as a plot in SVG and PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {"machine": _machine(petsc), "records": [asdict(r) for r in records]}
    (folder / "petsc.json").write_text(json.dumps(made, indent=2) + "\n")
    plot(folder, records)


def plot(folder: Path, records: list[Record]) -> None:
    """Draw the times of each method, by size and ranks."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    methods = [name for name in METHODS if any(r.method == name for r in records)]
    figure, axes = pyplot.subplots(
        1, len(methods), figsize=(1.5 + 2.9 * len(methods), 3.6), squeeze=False
    )
    handles: dict[str, Any] = {}
    for axis, name in zip(axes[0], methods, strict=True):
        chosen = [r for r in records if r.method == name]
        sides = list(chosen[0].sides)
        width = 0.8 / len(sides)
        for i, side in enumerate(sides):
            values = [r.sides[side] for r in chosen]
            places = [
                k + (i - (len(sides) - 1) / 2) * width for k in range(len(chosen))
            ]
            bars = axis.bar(
                places,
                [value.median_ms for value in values],
                width * 0.92,
                color=COLORS[side],
            )
            axis.bar_label(
                bars, [f"{value.median_ms:.3g}" for value in values], fontsize=6
            )
            handles.setdefault(LABELS[side], bars)
        axis.set_title(name, fontsize=10)
        axis.set_xticks(
            range(len(chosen)),
            [f"{r.size:,}²\n{_count(r.ranks, 'rank')}" for r in chosen],
            fontsize=7,
        )
        axis.tick_params(axis="y", labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("ms per iteration", fontsize=8)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper center",
        ncols=3 if len(methods) > 1 else 1,
        fontsize=9,
        frameon=False,
    )
    figure.set_layout_engine("constrained")
    for suffix in ("svg", "png"):
        figure.savefig(folder / f"petsc.{suffix}", dpi=150)
    pyplot.close(figure)


def _machine(petsc: Petsc) -> dict[str, object]:
    """Return what the times depend on."""
    models = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "processor": models[0] if models else platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_mb": memory("MemTotal") // 2**20,
        "python": platform.python_version(),
        "petsc": petsc.version,
        "mpi": petsc.mpi,
        "compiler": petsc.compiler,
    } | {
        name: importlib.metadata.version(name)
        for name in ("legate", "nvidia-cupynumeric")
    }


def memory(name: str) -> int:
    """Return one of Linux's figures of memory, in bytes."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(name)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
