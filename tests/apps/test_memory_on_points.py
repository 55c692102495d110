# SPDX-License-Identifier: Apache-2.0
"""Partitioned programs make no more memory than the unfused ones."""

from __future__ import annotations

import os
import re
from math import prod
from pathlib import Path

import forked
import pytest
from application_runs import SCRIPTS
from tiers import some

# Many more elements than points have beyond their tiles.
SIZES = {
    "stencil": ("--size", "200"),
    "cg": ("--size", "100"),
    "bicgstab": ("--size", "100"),
    "heat": ("--size", "40"),
    "shallow_water": ("--size", "100"),
    "channel_flow": ("--size", "100", "--sweeps", "10"),
}
# Legate's mapper names the instances that it chooses.
INSTANCE = re.compile(
    r"Instance\[(\w+)\]\(region=\((\d+),\*,(\d+)\).*"
    r"domain=<([-\d,]+)>\.\.<([-\d,]+)>,fields=(\d+)"
)
# Of an array, and not of a border.
LARGE = 1_000


def _instances(app: str, fused: bool, folder: Path) -> tuple[int, int]:
    """Return the elements of all instances of a run, and how many arrays they hold."""
    folder.mkdir()
    logging = f"--logging legate.mapper=2 --logdir {folder} --log-to-file"
    done = forked.run(
        [
            str(SCRIPTS / "apps" / f"{app}.py"),
            *SIZES[app],
            # no more instances are made later
            *("--iterations", "4", "--batches", "1"),
        ],
        os.environ
        | {
            "LEGATE_CONFIG": f"--cpus 2 --gpus 0 --sysmem 500 {logging}",
            "LEGATE_TEST": "1",
            "LEGATE_DIFFUSE": str(int(fused)),
            "LEGATE_DIFFUSE_THREADS": "1",
            "LEGATE_DIFFUSE_SMALL_BYTES": "0",
            "LEGATE_DIFFUSE_DRIVER_STUB": "1",
            "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
        },
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    elements: dict[str, int] = {}
    arrays = set()
    for found in INSTANCE.finditer((folder / "legate_0.log").read_text()):
        name, tree, field_space, low, high, field = found.groups()
        ends = zip(low.split(","), high.split(","), strict=True)
        elements[name] = prod(int(end) - int(begin) + 1 for begin, end in ends)
        if elements[name] > LARGE:
            arrays.add((tree, field_space, field))
    return sum(elements.values()), len(arrays)


@pytest.mark.parametrize("app", some(SIZES, 2))
def test_points_make_no_more_memory_than_unfused(app: str, tmp_path: Path) -> None:
    fused, unfused = (
        _instances(app, one, tmp_path / name)
        for name, one in (("fused", True), ("unfused", False))
    )
    assert 0 < fused[0] < unfused[0]
    assert 0 < fused[1] < unfused[1]
