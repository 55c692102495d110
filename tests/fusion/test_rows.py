# SPDX-License-Identifier: Apache-2.0
"""Which nests of a program may run as a whole on one row after the other."""

from __future__ import annotations

import pytest
from program_reader import parse_program
from recorded_windows import FOLDER, sections
from window_reader import parse

from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.fusion.rows import row_runs
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

STORES = """
store %0 float64 live single
store %1 float64 single
store %2 float64 single
store %3 float64 live single
band
"""
FILL = "nest {} shape 1 many rows 0 margin 0 0: write %1[:] @0"
LARGEST = (
    "nest {} shape 0 many rows 0 margin 0 0: "
    "reduce(max) %1[:] as (0, *) @0, read %0[:, :] @0"
)
MINUS = (
    "nest {} shape 0 many rows 0 margin 0 0: "
    "write %2[:, :] @0, read %0[:, :] @0, read %1[:] as (0, *) @0"
)
COLUMNS = (
    "nest {} shape 0 many rows 0 margin 0 0: "
    "reduce(add) %3[:] as (*, 0), read %2[:, :] @0"
)
BESIDE = (
    "nest {} shape 2 many rows 0 shift 1 margin 1 1: "
    "write %3[1:-1, :] @0, read %2[2:, :] @1, read %2[:-2, :] @-1"
)


def runs(*nests: str) -> list[range]:
    text = "\n".join(nest.format(number) for number, nest in enumerate(nests))
    return list(row_runs(parse_program(STORES.lstrip() + text + "\n")))


def test_what_conflicts_on_a_row_keeps_to_it() -> None:
    assert runs(FILL, LARGEST, MINUS) == [range(3)]


@pytest.mark.parametrize("other", [COLUMNS, BESIDE])
def test_what_reaches_other_rows_ends_a_run(other: str) -> None:
    assert runs(FILL, LARGEST, MINUS, other) == [range(3)]


def test_one_nest_is_no_run() -> None:
    assert runs(FILL) == []
    assert runs(MINUS, BESIDE) == []


def test_runs_are_not_longer_than_a_kernel_may_be() -> None:
    assert runs(*[MINUS] * 40) == [range(16), range(16, 32), range(32, 40)]


@pytest.mark.parametrize(("app", "longest"), [("layer_norm", 7), ("heat", 0)])
def test_runs_of_applications(app: str, longest: int) -> None:
    found = []
    for part in (FOLDER / f"{app}.txt").read_text().split("# schedule\n")[1:]:
        for text in part.split("# window")[0].strip().split("\n\n"):
            found += [len(run) for run in row_runs(parse_program(text + "\n"))]
    assert max(found, default=0) == longest


@pytest.mark.parametrize("runs_rows", [False, True])
def test_runs_are_planned_where_there_may_be_code_for_them(runs_rows: bool) -> None:
    recorded = dict(sections((FOLDER / "layer_norm.txt").read_text()))
    plan = make_plan(parse(recorded["window"]), MEANINGS, runs_rows=runs_rows)
    lengths = [len(run.code.kernels) for one in plan.launches for run in one.runs]
    assert lengths == ([7] if runs_rows else [])
