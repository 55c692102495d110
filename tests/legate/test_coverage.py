# SPDX-License-Identifier: Apache-2.0
"""The page of what is fused, against the installed cuPyNumeric."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from covered_operations import PAGE, page, pairs


def test_every_operation_of_the_package_is_listed():
    """An operation code that is not known here raises LookupError."""
    found = pairs()
    assert len({(pair.task, pair.code, pair.dtype) for pair in found}) == len(found)
    covered = sum(pair.unsupported is None for pair in found)
    assert covered > 0.8 * len(found)


def test_the_page_is_up_to_date():
    assert page(pairs()) == PAGE.read_text()
