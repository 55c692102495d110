# SPDX-License-Identifier: Apache-2.0
"""The page of results is made from the data alone, and figures on it are right."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

pytestmark = pytest.mark.report
needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="plots need matplotlib"
)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("bench")


def measured(bench: ModuleType, app: str, cpus: int = 1, **changes: Any) -> Any:
    """Return a record with round figures: fused is four times faster."""
    known = bench.APPLICATIONS[app]
    record = bench.Record(
        app=app,
        kind="large",
        size=100,
        elements=known.elements(100),
        cpus=cpus,
        dtype="float64",
        iterations=10,
        repeat=3,
        options=known.options,
        unfused_ms=40.0,
        unfused_quartiles=(39.0, 41.0),
        fused_ms=10.0,
        fused_quartiles=(9.0, 11.0),
        numpy_ms=20.0,
        numpy_quartiles=(19.0, 21.0),
        ratio=4.0,
        numpy_ratio=2.0,
        tasks_unfused=20.0,
        tasks_fused=1.0,
        agree=True,
        largest_difference=0.0,
        error=0.0,
        first_iteration_unfused_ms=50.0,
        first_iteration_ms=100.0,
        first_iteration_warm_ms=20.0,
        break_even_iterations=3,
        break_even_warm_iterations=1,
        compile_seconds=0.25,
        plans_made=0.0,
        kernels_compiled=0.0,
        temporaries_removed_bytes=1e9,
        peak_rss_unfused_mb=1500.0,
        peak_rss_fused_mb=1000.0,
        peak_rss_numpy_mb=500.0,
        bandwidth_gbs=40.0,
        load_average=0.25,
    )
    return dataclasses.replace(record, **changes)


def interrupted(bench: ModuleType, *finished: Any) -> Any:
    """Return what stands for ``measure``: some records, then Ctrl-C."""
    left = list(finished)

    def measure(*_: Any) -> Any:
        if not left:
            raise KeyboardInterrupt
        return left.pop(0)

    return measure


@needs_matplotlib
def test_the_page_is_made_from_the_data(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    records = [
        measured(bench, app, cpus, elements=100 * cpus)
        for app in bench.ALL
        for cpus in (1, 2)
    ]
    records[0] = dataclasses.replace(records[0], ratio=4.0 * 2.0**7)
    records[1] = dataclasses.replace(records[1], numpy_ratio=0.8)
    records += [measured(bench, app, kind="small") for app in bench.ALL]
    monkeypatch.setattr(bench, "measure", interrupted(bench, *records))
    folder = tmp_path / "results"
    command = ["bench.py", "--size", "large,small", "--cpus", "1,2"]
    monkeypatch.setattr(sys, "argv", [*command, "--results", str(folder)])
    assert bench.main() == 0

    page = (folder / "README.md").read_text()
    # the seventh root of 2^7 times 4
    mean = "8 (least 4) than unfused, 2 (least 2) than NumPy"
    assert f"- large arrays, one CPU: {mean}\n" in page
    assert "- large arrays, 2 CPUs: 4 (least 4) than unfused" in page
    # only the one that is slower than NumPy
    slower = page.split("Slower than NumPy")[1].split("###")[0]
    assert "| black_scholes | 100 | 2 | 20 | 10 | **1.25** |\n" in slower
    assert slower.count("**") == 2
    # twice the elements in the same time
    assert "| cg | 100 | 2 | 2.00 | 2.00 | 1.00 |\n" in page
    # 6 arrays of 100 x 100 float64 at 40 GB/s
    assert "| cg | 100 | 1 | 40 | 0.012 | 40 | 10 | 20 | 833.33 |\n" in page
    assert "`--sweeps 10`" in page
    names = {"speedup", "throughput", "memory_limit"}
    files = {f"{name}.{suffix}" for name in names for suffix in ("svg", "png")}
    files |= {"README.md", "applications.json"}
    assert {path.name for path in folder.iterdir()} == files
    for name in names:
        assert f"]({name}.svg)" in page

    svgs = {name: (folder / f"{name}.svg").read_bytes() for name in names}
    monkeypatch.setattr(sys, "argv", ["bench.py", "page", str(folder)])
    assert bench.main() == 0
    assert (folder / "README.md").read_text() == page
    assert svgs == {name: (folder / f"{name}.svg").read_bytes() for name in names}


@needs_matplotlib
def test_the_page_takes_in_the_comparisons(bench: ModuleType, tmp_path: Path) -> None:
    record = dataclasses.asdict(measured(bench, "cg"))
    machine = bench.machine.describe()
    settings = {"command": "", "legate": "", "tunables": ""}
    document = {**settings, "machine": machine, "records": [record]}
    (tmp_path / "applications.json").write_text(json.dumps(document))
    peer = {
        **{"app": "chain", "size": 1000, "cpus": 2, "contender": "JAX jit"},
        **{"version": "1.2.3", "malloc": "keep", "ms": 2.5},
    }
    times = {"cuPyNumeric, fused": 3.0, "C by hand, same arithmetic": 2.0}
    on_one = {**peer, "app": "shallow_water", "cpus": 1, "version": None}
    by_hand = [{**on_one, "contender": one, "ms": ms} for one, ms in times.items()]
    (tmp_path / "peers.json").write_text(json.dumps([peer, *by_hand]))
    sides = {
        "fused": {"median_ms": 2.0, "residual": 0.5},
        "aij": {"median_ms": 6.0, "residual": 0.5},
        "stencil": {"median_ms": 3.0, "residual": 0.5},
    }
    solved = {"method": "cg", "size": 1000, "ranks": 1, "sides": sides, "agree": True}
    versions = {"petsc": "3.18.5", "mpi": "Open MPI", "compiler": "gcc"}
    petsc = {"machine": versions, "records": [solved]}
    (tmp_path / "petsc.json").write_text(json.dumps(petsc))
    bench.results_page.write(tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert "| JAX jit (1.2.3) | 2.5\\* |\n" in page
    assert "| fused over C by hand, same arithmetic | **1.50** |\n" in page
    assert "| cg | 1,000 | 1 | 2 | 6 | 3.00 | 3 | 1.50 | 0.5 | 0.5 | yes |\n" in page


def test_an_interrupt_keeps_what_is_finished(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "measure", interrupted(bench, measured(bench, "chain")))
    report, page = tmp_path / "report.json", tmp_path / "table.md"
    command = ["bench.py", "chain", "update", "--json", str(report)]
    monkeypatch.setattr(sys, "argv", [*command, "--markdown", str(page)])
    assert bench.main() == 130
    (record,) = json.loads(report.read_text())["records"]
    assert record["app"] == "chain"
    assert "| chain | 100 | 1 | 20 → 1 | 40 → 10 |" in page.read_text()


def test_a_wrong_result_is_a_failure(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    wrong = measured(bench, "chain", agree=False, largest_difference=0.5)
    monkeypatch.setattr(bench, "measure", interrupted(bench, wrong))
    monkeypatch.setattr(sys, "argv", ["bench.py", "chain"])
    assert bench.main() == 1
    assert "NO (5e-01)" in capsys.readouterr().out


def test_break_even_counts_the_first_iterations(bench: ModuleType) -> None:
    break_even = importlib.import_module("measurement").break_even
    assert break_even([5.0, 4.0], [5.0, 1.0], 4.0, 1.0) == 1
    # 12 behind after the second iteration, then 3 less in each
    assert break_even([5.0, 4.0], [20.0, 1.0], 4.0, 1.0) == 6
    assert break_even([5.0, 4.0], [20.0, 4.0], 4.0, 4.0) is None


def test_large_sizes_grow_with_the_cpus(bench: ModuleType) -> None:
    scaled = importlib.import_module("applications").scaled
    assert scaled("chain", 1000, 2) == 2000
    assert scaled("cg", 1000, 4) == 2000
    assert scaled("heat", 100, 8) == 200
    # 3 * 2^9 - 1: as deep as 1,023 but for one level
    assert scaled("multigrid", 1_023, 2) == 1_535


def test_data_of_another_version_are_one_sentence(
    bench: ModuleType, tmp_path: Path
) -> None:
    record = dataclasses.asdict(measured(bench, "cg"))
    del record["numpy_ms"]
    (tmp_path / "applications.json").write_text(json.dumps({"records": [record]}))
    with pytest.raises(SystemExit, match="was not written by this version"):
        bench.results_page.write(tmp_path)
