# SPDX-License-Identifier: Apache-2.0
"""GPUs that cannot be used, kernels that are not loaded, and launches that fail."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Final

import pytest
from fake_gpus import environment, run
from tiers import some

PROGRAM: Final = """
import cupynumeric

x = cupynumeric.arange(1000.0).reshape(20, 50) + 1.0
y = cupynumeric.sqrt(x) * x
z = y[1:] - y[:-1]
print(float(z.sum()), float(y[-1, -1]))
"""


def values(output: str) -> list[float]:
    return [float(word) for word in output.split()]


@functools.cache
def expected() -> list[float]:
    return values(run(PROGRAM).output)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"FAKE_CUDA_VERSION": "11080"},
            "the driver of CUDA is too old, install one for CUDA 12 or newer, so the "
            "program runs unfused; --gpus 0 lets it run fused",
        ),
        (
            {"FAKE_CUDA_LACKS": "cuLibraryLoadData"},
            "the driver of CUDA lacks cuLibraryLoadData, install a newer one, so the "
            "program runs unfused; --gpus 0 lets it run fused",
        ),
    ],
)
def test_what_is_missing_is_one_sentence(
    settings: dict[str, str], sentence: str
) -> None:
    done = run(PROGRAM, **settings)
    assert done.status == 0
    assert values(done.output) == pytest.approx(expected(), rel=1e-12)
    assert done.errors == f"legate_diffuse: {sentence}\n"
    assert done.counters["groups"] == done.counters["launches"] == 0


def test_several_gpus_wait_to_be_asked_for() -> None:
    done = run(PROGRAM, gpus=2, LEGATE_DIFFUSE_GPU="")
    assert done.status == 0
    assert done.errors == (
        "legate_diffuse: several GPUs have not run fused tasks yet, so the program "
        "runs unfused; LEGATE_DIFFUSE_GPU=1 lets it run fused, or use --gpus 1\n"
    )
    assert done.counters["groups"] == done.counters["launches"] == 0


@pytest.mark.parametrize(("asked", "fused"), [("", True), ("0", False)])
def test_one_gpu_runs_fused_tasks_unless_told_not_to(asked: str, fused: bool) -> None:
    done = run(PROGRAM, LEGATE_DIFFUSE_GPU=asked)
    assert values(done.output) == pytest.approx(expected(), rel=1e-12)
    assert done.errors == ""
    assert bool(done.counters["launches"]) == fused


def test_two_architectures_are_one_sentence() -> None:
    done = run(PROGRAM, gpus=2, FAKE_CUDA_SECOND="8")
    assert done.status == 0
    assert "the GPUs are of different architectures" in done.errors
    assert "Traceback" not in done.errors


@pytest.mark.parametrize("number", some(["1", "2", "3"], 2))
def test_an_image_that_fails_once_is_loaded_again(number: str) -> None:
    done = run(PROGRAM, FAKE_CUDA_FAIL=f"load:{number}")
    assert values(done.output) == expected()
    assert done.errors == ""
    assert done.counters["failures"] == 0 < done.counters["launches"]


@pytest.mark.parametrize("number", some(["1", "2", "3"], 2))
def test_if_images_are_not_loaded_the_original_tasks_run(number: str) -> None:
    done = run(PROGRAM, FAKE_CUDA_FAIL=f"load:{number}-")
    assert done.status == 0
    assert values(done.output) == pytest.approx(expected(), rel=1e-12)
    assert "so they run unfused" in done.errors
    assert done.errors.count("\n") == 1
    assert done.counters["failures"] > 0


@pytest.mark.parametrize("number", some(["1", "2", "3"], 2))
def test_a_launch_that_fails_ends_the_program(number: str) -> None:
    done = run(PROGRAM, FAKE_CUDA_FAIL=f"launch:{number}")
    assert done.status == 1
    assert done.errors == (
        "legate_diffuse: a GPU does not run what it is given, so the program ends "
        "(cuLaunchKernel: an error that a test asked for)\n"
    )


@pytest.mark.parametrize("missing", ["libnvrtc", "libnvJitLink"])
def test_a_missing_library_is_one_sentence(missing: str, tmp_path: Path) -> None:
    folders = environment()["LD_LIBRARY_PATH"].split(os.pathsep)
    for library in (file for folder in folders for file in Path(folder).iterdir()):
        if not library.name.startswith(missing):
            (tmp_path / library.name).symlink_to(library)
    # hides the package of the wheels that has it
    (tmp_path / "nvidia").mkdir()
    (tmp_path / "nvidia" / "__init__.py").touch()
    done = run(PROGRAM, PYTHONPATH=str(tmp_path), LD_LIBRARY_PATH=str(tmp_path))
    assert done.status == 0
    assert values(done.output) == pytest.approx(expected(), rel=1e-12)
    assert done.errors.startswith(f"legate_diffuse: GPU kernels need {missing}")
    assert "so the program runs unfused; --gpus 0 lets it run fused" in done.errors
    assert done.errors.count("\n") == 1
    assert done.counters["groups"] == done.counters["launches"] == 0
