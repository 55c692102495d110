# SPDX-License-Identifier: Apache-2.0
"""Applications at small sizes, fused on GPUs, agree with the unfused ones on CPUs.

Only fused tasks run on GPUs, which are the CPU: see ``fake_gpus.py``.
"""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from application_runs import AGREEING, Run, difference, every_second
from fake_gpus import HERE, run
from tiers import all_is_run, some

# An emulated thread takes its time.
SMALLER = {
    "kmeans": "--size 300",
    "logistic_regression": "--size 60",
    "multigrid": "--size 15",
    "multigrid with injection": "--size 15 --restriction injection",
}
CASES = AGREEING | SMALLER
COMPARED = every_second(CASES)
# Without sums, and without functions whose last bits are the maths library's affair.
POINT_WISE = ("channel_flow", "shallow_water", "mandelbrot", "chain", "stencil")
CHECKED = ("black_scholes", "cg", "heat", "softmax", "layer_norm", "nbody", "update")
UNFUSED = {
    "LEGATE_DIFFUSE": "0",
    "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500 --auto-config 0",
}


@functools.cache
def runs(gpus: int, check: bool = False) -> dict[str, Run]:
    """Return the runs of all cases on so many GPUs; without one, unfused on a CPU."""
    folder = Path(tempfile.mkdtemp(prefix="gpu_applications_"))
    common = [
        "--package",
        "cupynumeric",
        "--batches",
        "1",
        "--iterations",
        "2",
        "--output",
    ]
    outputs = {case: folder / f"{case}.npz" for case in CHECKED if check} or {
        case: folder / f"{case}.npz" for case in COMPARED
    }
    commands = {
        case: [case.split()[0], *CASES[case].split(), *common, str(output)]
        for case, output in outputs.items()
    }
    file = folder / "commands.json"
    file.write_text(json.dumps(commands))
    settings = {"LEGATE_DIFFUSE_CHECK": str(int(check))} if gpus else UNFUSED
    if check and not all_is_run():
        # the same plans are proven where nothing is checked
        settings |= {"LEGATE_DIFFUSE_PROOF": "1"}
    program = HERE / "applications_in_turn.py"
    done = run(program, str(file), gpus=gpus or 1, **settings)
    lines = [line for line in done.output.splitlines() if line.startswith("{")]
    records = {record["case"]: record for record in map(json.loads, lines)}
    assert done.status == 0, f"after {list(records)}\n{done.errors[-4000:]}"
    return {case: Run(records[case], outputs[case]) for case in records}


def growth(found: Run) -> dict[str, Any]:
    """Return how counters grew, of a run that found its results right."""
    assert found.record["error"] < 1e-12
    grown: dict[str, Any] = found.record["growth"]
    assert grown["failures"] == grown["plans_refuted"] == 0
    return grown


@pytest.mark.parametrize("gpus", some([2, 1], 2))
@pytest.mark.parametrize("case", COMPARED)
def test_applications_agree_with_unfused_ones(case: str, gpus: int) -> None:
    unfused, fused = runs(0)[case], runs(gpus)[case]
    grown = growth(fused)
    assert grown["launches"] >= grown["groups"] > 0
    assert difference(unfused, fused) < 1e-10
    if case in POINT_WISE:
        for name, array in unfused.results.items():
            assert np.array_equal(array, fused.results[name])


@pytest.mark.parametrize("gpus", some([2, 1], 2))
@pytest.mark.parametrize("case", CHECKED)
def test_applications_pass_the_check(case: str, gpus: int) -> None:
    assert growth(runs(gpus, check=True)[case])["launches_checked"] > 0
