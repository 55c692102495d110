# SPDX-License-Identifier: Apache-2.0
"""Threads of ranks that poll the network do so by a function that yields."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from two_ranks import missing, run

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

PROGRAM = """
import cupynumeric as cn
x = cn.arange(1000000) * 0.5
print((x[1:] - x[:-1]).sum())
"""


@pytest.mark.parametrize(("switch", "library"), [("1", "locks"), ("0", "libucp")])
def test_polls_yield_where_they_are_asked_to(
    switch: str, library: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ranks = run(
        program,
        tmp_path,
        CUPYNUMERIC_TEST="1",
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_YIELD=switch,
        # the dynamic linker writes down where it finds each symbol
        LD_DEBUG="bindings",
        LD_DEBUG_OUTPUT=str(tmp_path / "bindings"),
    )
    assert all(output.endswith("499999.5\n") for output, _ in ranks)
    line = re.compile(
        r"binding file \S*librealm\S* \[0\] to (\S+) \[0\]: .* `ucp_worker_progress'"
    )
    found = [
        path
        for file in tmp_path.glob("bindings*")
        for path in line.findall(file.read_text(errors="replace"))
    ]
    assert len(found) >= len(ranks)
    assert all(library in Path(path).name for path in found)
