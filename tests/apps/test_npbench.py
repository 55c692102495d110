# SPDX-License-Identifier: Apache-2.0
"""``bench.py npbench`` runs programs of a checkout; this one has two, written here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from application_runs import SCRIPTS

SCALE = """
import numpy as np
def kernel(alpha, a, b):
    b[1:-1] = alpha * (a[2:] + a[:-2])
"""
NORM = """
import numpy as np
def norm(a):
    return np.sqrt(np.sum(a * a)), a + 1.0
"""
START = """
import numpy as np
def initialize(N):
    return np.arange(N, dtype=np.float64) % 7.0, np.zeros(N)
"""


def _checkout(folder: Path) -> Path:
    """Make a folder that looks as NPBench does."""
    kernels = folder / "npbench" / "benchmarks" / "small"
    kernels.mkdir(parents=True)
    (folder / "bench_info").mkdir()
    for name, text in (("scale", SCALE), ("norm", NORM)):
        (kernels / f"{name}_numpy.py").write_text(text)
        (kernels / f"{name}.py").write_text(START)
    common = {
        "relative_path": "small",
        "parameters": {"S": {"N": 500, "alpha": 0.5}},
        "init": {
            "func_name": "initialize",
            "input_args": ["N"],
            "output_args": ["a", "b"],
        },
    }
    programs = {
        "scale": ("kernel", ["alpha", "a", "b"], ["b"]),
        "norm": ("norm", ["a"], []),
    }
    for name, (function, arguments, outputs) in programs.items():
        program = common | {
            "module_name": name,
            "func_name": function,
            "input_args": arguments,
            "output_args": outputs,
        }
        text = json.dumps({"benchmark": program})
        (folder / "bench_info" / f"{name}.json").write_text(text)
    return folder


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "bench.py"), "npbench"]
    command += [str(each) for each in arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_programs_run_as_they_are_on_all_sides(tmp_path: Path) -> None:
    checkout = _checkout(tmp_path / "checkout")
    results = tmp_path / "results"
    options = ["--repeat", 1, "--seconds", 0.01, "--sysmem", 500, "--results", results]
    done = _run(checkout, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((results / "npbench.json").read_text())["results"]
    assert [one["name"] for one in found] == ["norm", "scale"]
    for one in found:
        assert set(one["times"]) == {"numpy", "unfused", "fused"}, one
        assert not one["wrong"] and not one["failures"], one
    page = (results / "npbench.md").read_text()
    assert "numpy over fused" in page and "| scale |" in page


def test_what_is_no_checkout_is_refused(tmp_path: Path) -> None:
    done = _run(tmp_path)
    assert done.returncode == 2
    assert "has no bench_info/*.json; give the folder of a checkout" in done.stderr
    done = _run(_checkout(tmp_path / "checkout"), "weather")
    assert done.returncode == 2
    assert "no program is called weather; there are norm, scale" in done.stderr
