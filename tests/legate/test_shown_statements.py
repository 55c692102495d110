# SPDX-License-Identifier: Apache-2.0
"""What statements give does not depend on how arrays show their elements."""

from __future__ import annotations

import pytest
from shown_statements import TYPES
from test_small_arrays import run_here


@pytest.mark.parametrize("dtype", TYPES)
def test_results_are_those_of_numpy(dtype: str) -> None:
    run_here(
        f"""
import warnings
from shown_statements import CALLS, CHANGES, SHOWN, outcome, same
warnings.simplefilter("ignore")
wrong = []
for shown in SHOWN:
    for statement in CALLS + CHANGES:
        chosen = statement, {dtype!r}, shown
        wanted = outcome(np, *chosen)
        # from the second time on native code knows it
        for _ in range(2):
            found = outcome(cn, *chosen)
            if not same(found, wanted):
                wrong.append((shown, statement, found, wanted))
                break
assert not wrong, wrong
""",
        fuses=False,
    )
