# SPDX-License-Identifier: Apache-2.0
"""Results in given arrays, and of given types, are those of cuPyNumeric's own tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_hosted import DTYPES, run_both
from tiers import some


@pytest.mark.parametrize("dtype", some(DTYPES, 2))
def test_results_are_written_as_by_tasks(dtype: str, tmp_path: Path) -> None:
    run_both("__import__('written_statements').WRITTEN", dtype, tmp_path / "unfused")
