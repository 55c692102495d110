# SPDX-License-Identifier: Apache-2.0
"""Whether broken rules are noticed, by what is known to notice them first.

``noticed.json`` has a number for each test, of a random program or the like that fails
where the test's rule is broken. If it no longer does, all others are tried, and
``TESTS_NOTICED=1 scripts/test -n 0 tests/fusion tests/proof`` writes the file anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("noticed.json")
WRITE: Final = "TESTS_NOTICED"


def is_noticed(fails: Callable[[int], bool], count: int) -> bool:
    """Whether something fails for one of so many numbers, in the test that runs."""
    test = _running_test()
    known: dict[str, int] = json.loads(FILE.read_text("utf-8"))
    if test in known and known[test] < count and fails(known[test]):
        return True
    found = next(filter(fails, range(count)), None)
    if found is not None and os.environ.get(WRITE):
        known[test] = found
        text = json.dumps(dict(sorted(known.items())), indent=0)
        FILE.write_text(f"{text}\n", "utf-8")
    return found is not None


def _running_test() -> str:
    """Return the name of the test that pytest runs, within its folder."""
    name, _, _ = os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")
    file, _, test = name.partition("::")
    return f"{Path(file).name}::{test}"
