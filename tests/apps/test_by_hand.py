# SPDX-License-Identifier: Apache-2.0
"""The programs written by hand in C compute what NumPy computes."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def by_hand() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        return importlib.import_module("by_hand")


@pytest.fixture(scope="module")
def programs(by_hand: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    try:
        return by_hand.build(tmp_path_factory.mktemp("compiled")).programs
    except by_hand.MissingError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("variant", ["exact", "plain"])
@pytest.mark.parametrize(
    ("app", "sweeps"), [("shallow_water", 0), ("channel_flow", 4), ("channel_flow", 5)]
)
def test_steps_are_numpys(
    by_hand: ModuleType,
    programs: Any,
    app: str,
    sweeps: int,
    variant: str,
    threads: int,
    tmp_path: Path,
) -> None:
    initial, expected, found = (tmp_path / f"{name}.npz" for name in ("a", "b", "c"))
    options = ["--sweeps", str(sweeps)] if sweeps else []
    options += ["--size", "30", "--iterations", "2", "--batches", "3"]
    options += ["--initial", str(initial), "--output", str(expected)]
    script = str(SCRIPTS / "apps" / f"{app}.py")
    subprocess.run([sys.executable, script, "--package", "numpy", *options], check=True)
    by_hand.write_arrays(initial, tmp_path / "initial")
    done = subprocess.run(
        # 4 steps before the batches, as apps/harness.py has
        [programs[app, variant], "initial", "final", "30", str(sweeps), "4", "2", "3"],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        check=True,
        capture_output=True,
    )
    assert len(json.loads(done.stdout)["iteration_ms"]) == 3
    by_hand.read_arrays(tmp_path / "final", found, expected)
    with np.load(expected) as old, np.load(found) as new:
        assert old.keys() == new.keys()
        for name, array in old.items():
            if variant == "exact":
                assert array.tobytes() == new[name].tobytes()
            else:
                scale = np.max(np.abs(array))
                assert 0 < np.max(np.abs(array - new[name])) < 1e-13 * scale


def test_a_missing_compiler_is_one_sentence(
    by_hand: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(by_hand.MissingError, match="no C compiler cc found"):
        by_hand.build(tmp_path)
    (tmp_path / "cc").write_text("#!/bin/sh\necho unknown option >&2\nexit 1\n")
    (tmp_path / "cc").chmod(0o755)
    with pytest.raises(by_hand.MissingError, match=r"does not compile.*unknown option"):
        by_hand.build(tmp_path)
