# SPDX-License-Identifier: Apache-2.0
"""An explanation goes to the file that had its name when the program began."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_alone

# Does something to the name of the explanation, given as the first argument.
PROGRAM = """
import os
import sys
import cupynumeric as cn
path = sys.argv[1]
x = cn.arange(24.0)
{}
print(float((x * 2.0 + 1.0).sum()))
"""
OWN = "576.0\n"


def explain(
    file: Path | str, statements: str = "", **environment: str
) -> tuple[str, str]:
    done = run_alone(
        PROGRAM.format(statements),
        str(file),
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=str(file),
        **environment,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("name", ["report", "report.html"])
def test_a_link_to_a_file_is_not_followed(tmp_path: Path, name: str) -> None:
    link, file = tmp_path / name, tmp_path / "file"
    link.symlink_to(file)
    told = (
        f"legate_diffuse: the explanation cannot be written to {link}: "
        "it is a symbolic link\n"
    )
    file.touch()
    assert explain(link) == ("", told)
    assert file.read_bytes() == b""


@pytest.mark.parametrize("name", ["report", "report.html"])
def test_what_takes_the_name_meanwhile_is_left_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    kept = "os.rename(path, f'{path}.kept')\n"
    printed = explain(file, kept + "open(path, 'w').write('results')")
    assert printed == (OWN, "")
    assert file.read_text() == "results"
    kept_file = tmp_path / f"{name}.kept"
    assert "What legate_diffuse makes of" in kept_file.read_text()
    # a page is written in the end, through what a name leads to then
    file.unlink()
    kept_file.unlink()
    (tmp_path / "victim").write_text("results")
    printed = explain(file, kept + "os.symlink(os.path.dirname(path)+'/victim', path)")
    assert printed == (OWN, "")
    assert (tmp_path / "victim").read_text() == "results"


@pytest.mark.parametrize("name", ["report", "report.html"])
def test_a_shorter_explanation_leaves_nothing_of_a_longer_one(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    longer = "for n in range(1, 9): print(float((x[n:] * 2.0).sum()))"
    explain(file, longer, LEGATE_DIFFUSE_SMALL_BYTES="0")
    before = len(file.read_text())
    explain(file, LEGATE_DIFFUSE_SMALL_BYTES="0")
    text = file.read_text()
    assert len(text) < before
    assert text.count("What legate_diffuse makes of") in (1, 2)
    assert "[8:]" not in text


def test_a_link_to_a_stream_is_followed() -> None:
    own, explanation = explain("/dev/stderr")
    assert own == OWN
    assert explanation.startswith("What legate_diffuse makes of")
