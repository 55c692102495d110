# SPDX-License-Identifier: Apache-2.0
"""``bench.py counts`` finds in the profile of Legion what a program launches."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from partition_counts import per_iteration


# two tasks with a sum each, and one where a batch of ten ends
@pytest.mark.thorough
def test_launches_and_reductions_of_an_iteration_are_counted() -> None:
    found = per_iteration("cg", 400, 2, "fused")
    assert found["launches"] == 2.1
    assert found["extracted"] == found["reductions"] == 2.0
    # each of them runs on two points
    assert found["points"] == 2 * (2.1 + 2.0)
    assert found["partitions"] == 0.0
