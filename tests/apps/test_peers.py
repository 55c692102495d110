# SPDX-License-Identifier: Apache-2.0
"""The comparison with peers at small sizes: results agree, a missing peer is a note."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
OURS = {"NumPy", "cuPyNumeric, unfused", "cuPyNumeric, fused"}
PEERS = {
    "numexpr": "numexpr",
    "Numba, fused by hand": "numba",
    "JAX jit": "jax",
    "torch.compile": "torch",
}
LIMITS = {"limit: triad", "limit: triad, non-temporal stores"}


def compare(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "bench.py"), "peers", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.report
@pytest.mark.parametrize("app", ["black_scholes", "chain", "stencil", "update"])
def test_contenders_agree(app: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = compare(
        *(app, "--quick", "--cpus", "1", "--repeat", "1", "--sysmem", "500"),
        *("--json", str(report)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = {one["contender"]: one for one in json.loads(report.read_text())}

    installed = {label for label in PEERS if importlib.util.find_spec(PEERS[label])}
    assert figures.keys() == OURS | installed | LIMITS
    for label in PEERS.keys() - installed:
        assert f"{label} is left out: " in done.stdout
    for one in figures.values():
        low, high = one["ms_quartiles"]
        assert 0.0 < low <= one["ms"] <= high
    for label in OURS | installed:
        assert figures[label]["difference"] <= 1e-11
    # the sum of update's dot product has another order
    differing = figures["cuPyNumeric, fused"]["elements_differing_from_unfused"]
    assert differing <= (1 if app == "update" else 0)


@pytest.mark.report
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_programs_by_hand_agree(tmp_path: Path) -> None:
    apps = ("shallow_water", "channel_flow")
    report = tmp_path / "report.json"
    done = compare(
        *(*apps, "--quick", "--cpus", "2", "--repeat", "1", "--sysmem", "500"),
        *("--json", str(report)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = {
        (one["app"], one["contender"]): one for one in json.loads(report.read_text())
    }
    by_hand = {"C by hand", "C by hand, same arithmetic"}
    contenders = {"cuPyNumeric, fused"} | by_hand | LIMITS
    assert figures.keys() == {(app, one) for app in apps for one in contenders}
    for app in apps:
        assert 0.0 < figures[app, "C by hand"]["difference"] <= 1e-11
        assert figures[app, "C by hand, same arithmetic"]["elements_differing"] == 0
    for label in by_hand:
        assert f"fused over {label} " in done.stdout


def test_an_unknown_program_is_one_line() -> None:
    done = compare("nothing")
    assert done.returncode == 2
    assert "no program nothing" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interpreter_that_does_not_exist_is_one_line() -> None:
    done = compare("--peers-python", "/nonexistent/python")
    assert done.returncode == 2
    assert "/nonexistent/python" in done.stderr
    assert "Traceback" not in done.stderr
