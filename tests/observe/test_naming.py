# SPDX-License-Identifier: Apache-2.0
"""Names of fused tasks are their operations and lines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from legate_diffuse.observe.naming import file_and_line, place, places, task_name


def operation(verb: str, provenance: str = "") -> Any:
    kind = SimpleNamespace(task="BINARY_OP", code=verb.upper(), outputs=())
    return SimpleNamespace(provenance_=provenance, kind=SimpleNamespace(operation=kind))


def test_a_name_has_each_operation_once_and_its_lines() -> None:
    operations = [
        operation("add", "code/step.py:12"),
        operation("multiply", "code/step.py:13"),
        operation("add", "code/step.py:14"),
        operation("sqrt", "code/step.py:40"),
        operation("sqrt", "other.py:7"),
    ]
    assert task_name(operations) == "add multiply sqrt step.py:12-14,40 other.py:7"


def test_without_lines_a_name_has_operations_only() -> None:
    assert task_name([operation("add"), operation("sqrt")]) == "add sqrt"


def test_long_names_are_cut() -> None:
    many = [operation(f"verb{n}", f"a.py:{10 * n + 1}") for n in range(8)]
    assert task_name(many) == (
        "verb0 verb1 verb2 verb3 verb4 verb5 and 2 more a.py:1-71"
    )


@pytest.mark.parametrize(
    "provenance, shown",
    [
        ("a.py:3", "a.py:3"),
        ('["a.py:3", {"file": "a.py", "line": 3}]', "a.py:3"),
        ('["a.py:3", ', '["a.py:3", '),
        ("", ""),
    ],
)
def test_a_provenance_is_shown_as_people_read_it(provenance: str, shown: str) -> None:
    assert place(provenance) == shown


def test_places_are_listed_once() -> None:
    listed = ["a.py:3", '["a.py:3", {}]', "", "b.py:1"]
    assert places(tuple(listed)) == "a.py:3; b.py:1"


def test_only_lines_of_files_are_lines() -> None:
    assert file_and_line("a.py:3") == ("a.py", 3)
    assert file_and_line("setting up") is None
    assert file_and_line("") is None
