# SPDX-License-Identifier: Apache-2.0
"""The comparison with PETSc: it says what it lacks, and both sides agree."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_what_is_missing_is_one_sentence(tmp_path: Path) -> None:
    done = _run(PATH=str(tmp_path))
    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("compare_petsc: ")
    assert "PETSc not found: `apt-get install petsc-dev" in sentence


def test_an_unknown_method_is_refused() -> None:
    done = _run("gmres")
    assert done.returncode == 2
    assert "no method gmres" in done.stderr


@pytest.mark.report
def test_both_sides_agree(tmp_path: Path) -> None:
    draws = importlib.util.find_spec("matplotlib") is not None
    done = _run("--quick", *(["--output", str(tmp_path)] if draws else []))
    if done.returncode == 2 and "not found" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes ") == 8
    if draws:
        records = json.loads((tmp_path / "petsc.json").read_text())["records"]
        assert len(records) == 8
        for record in records:
            fused = record["sides"].pop("fused")
            for side in record["sides"].values():
                assert side["residual"] == pytest.approx(fused["residual"], rel=1e-6)
        assert (tmp_path / "petsc.svg").exists()
        assert (tmp_path / "petsc.png").exists()


def _run(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS / "compare_petsc.py"), *options],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
