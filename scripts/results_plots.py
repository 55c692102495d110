# SPDX-License-Identifier: Apache-2.0
"""The plots of what ``bench.py`` measured, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from applications import APPLICATIONS
from measurement import Record

UNFUSED, FUSED, PAPER = "#8a8984", "#2a78d6", "#eda100"


@dataclass(frozen=True)
class Bars:
    """One kind of bars: its label in the legend, its color, and their lengths."""

    label: str
    color: str
    length: Callable[[Record], float]


@dataclass(frozen=True)
class Panel:
    """One part of a plot: a bar for each record and kind of bars.

    ``paper`` marks the paper's speed-ups too.
    """

    title: str
    records: Sequence[Record]
    bars: Sequence[Bars]
    paper: bool = False


@dataclass(frozen=True)
class Plot:
    """Panels side by side with a row for each program, on one logarithmic axis.

    ``start`` is where bars begin; None: at the axis's end.
    """

    name: str
    axis: str
    panels: Sequence[Panel]
    base: int = 10
    start: float | None = None


def write(folder: Path, records: list[Record]) -> list[str]:
    """Draw all plots, and return their names."""
    large = [record for record in records if record.kind == "large"]
    small = [record for record in records if record.kind == "small"]
    counts = sorted({record.cpus for record in large})
    by_cpus = {
        cpu_count(n): [record for record in large if record.cpus == n] for n in counts
    }
    speed_up = (Bars("legate_diffuse", FUSED, lambda r: r.ratio),)
    ratios = [
        Panel(f"large arrays, {title}", chosen, speed_up, paper=True)
        for title, chosen in by_cpus.items()
    ]
    if small:
        ratios.append(Panel("some thousand elements", small, speed_up))
    throughput = (
        Bars("unfused", UNFUSED, lambda r: r.elements / r.unfused_ms / 1e3),
        Bars("fused", FUSED, lambda r: r.elements / r.fused_ms / 1e3),
    )
    over_limit = (
        Bars("unfused", UNFUSED, lambda r: r.unfused_ms / limit_ms(r)),
        Bars("fused", FUSED, lambda r: r.fused_ms / limit_ms(r)),
    )
    limited = {
        title: [record for record in chosen if has_limit(record)]
        for title, chosen in by_cpus.items()
    }
    plots = (
        Plot("speedup", "times faster than unfused", ratios, base=2, start=1.0),
        Plot(
            "throughput",
            "million elements per second and iteration",
            [Panel(title, chosen, throughput) for title, chosen in by_cpus.items()],
        ),
        Plot(
            "memory_limit",
            "time, as a multiple of the memory's limit",
            [
                Panel(title, chosen, over_limit)
                for title, chosen in limited.items()
                if chosen
            ],
            start=1.0,
        ),
    )
    drawn = [plot for plot in plots if plot.panels]
    for plot in drawn:
        _draw(folder, plot)
    return [plot.name for plot in drawn]


def has_limit(r: Record) -> bool:
    """Whether memory limits the program, and its bandwidth was measured."""
    return r.bandwidth_gbs is not None and APPLICATIONS[r.app].moved is not None


def limit_ms(r: Record) -> float:
    """Return the time for an iteration's unavoidable traffic at STREAM's bandwidth."""
    known = APPLICATIONS[r.app]
    assert known.moved is not None and r.bandwidth_gbs is not None
    width = 4 if r.dtype == "float32" else 8
    return known.moved * known.items(r.size) * width / r.bandwidth_gbs / 1e6


def cpu_count(number: int) -> str:
    """Return a number of CPUs in words."""
    return "one CPU" if number == 1 else f"{number} CPUs"


def _draw(folder: Path, plot: Plot) -> None:
    import matplotlib

    matplotlib.use("Agg")
    # the same data make the same file
    matplotlib.rcParams["svg.hashsalt"] = plot.name
    from matplotlib import pyplot, ticker

    measured = {record.app for panel in plot.panels for record in panel.records}
    apps = [app for app in APPLICATIONS if app in measured]
    figure, axes = pyplot.subplots(
        1,
        len(plot.panels),
        figsize=(2.2 + 3.1 * len(plot.panels), 1.3 + 0.36 * len(apps)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    handles: dict[str, Any] = {}
    for axis, panel in zip(axes[0], plot.panels, strict=True):
        axis.set_xscale("log", base=plot.base)
        for i, bars in enumerate(panel.bars):
            drawn = _draw_bars(axis, plot, panel, i, apps)
            handles.setdefault(bars.label, drawn)
        if panel.paper:
            _mark_paper(axis, apps, handles)
        if plot.start is not None:
            axis.axvline(plot.start, color="#444", linewidth=0.6)
        axis.margins(x=0.18)
        axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,g}"))
        axis.set_title(panel.title, fontsize=9)
        axis.tick_params(axis="x", labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_yticks(range(len(apps)), apps, fontsize=8)
    axes[0][0].set_ylim(len(apps) - 0.4, -0.6)
    figure.supxlabel(plot.axis, fontsize=8)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper center",
        ncols=len(handles),
        fontsize=8,
        frameon=False,
    )
    figure.set_layout_engine("constrained")
    figure.savefig(folder / f"{plot.name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{plot.name}.png", dpi=150)
    pyplot.close(figure)


def _draw_bars(axis: Any, plot: Plot, panel: Panel, i: int, apps: list[str]) -> Any:
    """Draw one kind of bars with their lengths beside them."""
    bars = panel.bars[i]
    # the paper's figure goes below the bar
    room = 0.5 if panel.paper else 0.78
    height = room / len(panel.bars)
    offset = (i - (len(panel.bars) - 1) / 2) * height - (0.14 if panel.paper else 0.0)
    lengths = [bars.length(record) for record in panel.records]
    drawn = axis.barh(
        [apps.index(record.app) + offset for record in panel.records],
        [length - (plot.start or 0.0) for length in lengths],
        height * 0.9,
        left=plot.start,
        color=bars.color,
    )
    texts = [
        f"{length:,.0f}" if length >= 100 else f"{length:.3g}" for length in lengths
    ]
    axis.bar_label(drawn, texts, fontsize=6, padding=2)
    return drawn


def _mark_paper(axis: Any, apps: list[str], handles: dict[str, Any]) -> None:
    """Mark the paper's speed-up of each program, a range as a line."""
    for place, app in enumerate(apps):
        figures = APPLICATIONS[app].paper
        if figures is not None:
            (drawn,) = axis.plot(
                figures,
                (place + 0.27, place + 0.27),
                color=PAPER,
                marker="D",
                markersize=3.5,
                linewidth=2,
            )
            handles.setdefault("the paper, 128 GPUs", drawn)
