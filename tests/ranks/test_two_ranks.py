# SPDX-License-Identifier: Apache-2.0
"""Two real ranks submit the same tasks, whatever happens on one of them alone.

Legate's own check of that is on: it ends the program where ranks differ.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from perturbed_ranks import (
    AGREED,
    NOTHING,
    UNNOTICED,
    decisions_in,
    numpy_output,
    text_of,
)
from two_ranks import missing, run

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

# Runs a program of its own on each rank.
PROGRAM = """
import os
from pathlib import Path
rank = os.environ["OMPI_COMM_WORLD_RANK"]
folder = Path({folder!r})
os.environ["LEGATE_DIFFUSE_CACHE_DIR"] = str(folder / f"kernels{{rank}}")
{before}
path = folder / f"rank{{rank}}.py"
exec(compile(path.read_text(), str(path), "exec"))
"""


def prepare(folder: Path, *programs: str, before: str = "") -> Path:
    """Write the programs of two ranks, and return the one that runs them."""
    for rank, text in enumerate(programs):
        (folder / f"rank{rank}.py").write_text(text)
    program = folder / "program.py"
    program.write_text(PROGRAM.format(folder=str(folder), before=before))
    return program


@pytest.mark.parametrize("name", UNNOTICED | AGREED)
def test_ranks_decide_alike(name: str, tmp_path: Path) -> None:
    perturbation = (UNNOTICED | AGREED)[name]
    program = prepare(tmp_path, text_of(NOTHING), text_of(perturbation))
    ranks = run(
        program,
        tmp_path,
        CUPYNUMERIC_TEST="1",
        LEGATE_DIFFUSE_DUMP="decisions",
        LEGATE_TEST="1",
        LEGION_DEFAULT_ARGS="-lg:safe_ctrlrepl 1",
    )
    first, second = [decisions_in(errors) for _, errors in ranks]
    assert first == second
    assert any("fused" in line for line in first)
    for output, _ in ranks:
        assert output.endswith(numpy_output())


DIFFERENCES = {
    "settings": (
        "os.environ['LEGATE_DIFFUSE_MATH'] = 'libm' if rank == '1' else 'vector'",
        "the ranks have other settings LEGATE_DIFFUSE_*, let the launcher pass the "
        "same ones to all nodes",
    ),
    "versions": (
        "import legate_diffuse; legate_diffuse.__version__ += rank",
        "the ranks have other versions of legate-diffuse or of Legate, install the "
        "same ones on all nodes",
    ),
    "native part": (
        "import sys; sys.modules.update({'legate_diffuse._native': None} "
        "if rank == '1' else {})",
        "fusion cannot start on one of the ranks, see what that one has said",
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_ranks_that_differ_run_unfused(name: str, tmp_path: Path) -> None:
    before, sentence = DIFFERENCES[name]
    text = "import legate_diffuse; legate_diffuse.enable()\nimport cupynumeric as cn\n"
    text += "x = cn.arange(1e5) * 2.0 + 1.0\nprint(x.max(), legate_diffuse.stats())\n"
    program = prepare(tmp_path, text, text, before=before)
    (first, errors), (second, _) = run(program, tmp_path, CUPYNUMERIC_TEST="1")
    for output in first, second:
        assert "199999.0 " in output
        assert "'groups': 0" in output
    assert f"legate_diffuse: all ranks run unfused: {sentence}" in errors
