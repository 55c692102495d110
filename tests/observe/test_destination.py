# SPDX-License-Identifier: Apache-2.0
"""Where an explanation goes, on each rank."""

from __future__ import annotations

import pytest

from legate_diffuse import settings


@pytest.mark.parametrize(
    "value, first, second, measured",
    [
        ("", "", "", False),
        ("0", "", "", False),
        ("1", "-", "", True),
        ("-", "-", "", True),
        ("all", "all", "", True),
        ("%%diffuse", "%%diffuse", "", True),
        ("a/b.html", "a/b.html", "a/b.2.html", True),
        ("b.json", "b.json", "b.2.json", True),
        ("./1", "./1", "./1.2", False),
        ("c.txt", "c.txt", "c.2.txt", False),
    ],
)
def test_each_rank_has_a_file_and_the_first_the_output(
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    first: str,
    second: str,
    measured: bool,
) -> None:
    monkeypatch.setenv("LEGATE_DIFFUSE_EXPLAIN", value)
    assert settings.explanation_path() == first
    assert settings.explanation_path(2) == second
    assert settings.explanation_is_measured() == measured
