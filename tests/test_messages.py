# SPDX-License-Identifier: Apache-2.0
"""What all ranks know is said once, and what one knows, by that one."""

from __future__ import annotations

import pytest

from legate_diffuse.messages import rank, say, say_once


def test_the_first_rank_says_both(capsys: pytest.CaptureFixture[str]) -> None:
    say("one")
    say_once("two")
    assert capsys.readouterr().err == "legate_diffuse: one\nlegate_diffuse: two\n"


def test_another_rank_says_which_one_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    say("one")
    say_once("two")
    assert capsys.readouterr().err == "legate_diffuse on rank 3: one\n"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, 0),
        ({"SLURM_PROCID": "2"}, 2),
        ({"PMI_RANK": "1", "SLURM_PROCID": "2"}, 1),
        ({"PMI_RANK": "unknown"}, 0),
    ],
)
def test_the_launcher_tells_the_rank(
    environment: dict[str, str], expected: int
) -> None:
    assert rank(environment) == expected
