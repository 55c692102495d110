# SPDX-License-Identifier: Apache-2.0
"""A page names a program's walls at their lines, with advice, and measured times."""

from __future__ import annotations

import re
import sys
from html import unescape
from pathlib import Path

import pytest
from process import LEGATE_OPTIONS, run, run_python

PROGRAM = """\
import colorsys
import cupynumeric as cn
n = 64
x = cn.arange(n * n, dtype="float64").reshape(n, n)
a = cn.ones((n, n))
for step in range(4):
    y = 2.0 * x - 1.0
    picked = y[y > 3.0].shape
    z = a @ y
    w = cn.sort(y)
    mixed = colorsys.rgb_to_yiq(y, w, z)
    x = z * 1e-9 + y + w + mixed[0]
    print(float(x.sum()), picked)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    return path


def explain(program: Path, *options: str) -> str:
    """Return the text of a program's page."""
    target = program.parent / "report.html"
    arguments = ["--html", str(target), *options, str(program)]
    done = run(sys.executable, "-m", "legate_diffuse", "explain", *arguments)
    assert done.returncode == 0, done.stderr
    assert "What legate_diffuse makes of" not in done.stdout
    text = target.read_text()
    assert len(text) < 5_000_000
    return text


def walls(page: str) -> str:
    section = page.split('<h2 id="walls">')[1].split("</section>")[0]
    return " ".join(unescape(re.sub("<[^>]*>", " ", section)).split())


def test_walls_are_named_at_their_lines_with_advice(program: Path) -> None:
    found = walls(explain(program, *LEGATE_OPTIONS))
    mask = r"app\.py:8 : AdvancedIndexing runs as it is \(4 times\), [\d.]+ [mµ]?s\. "
    assert re.search(mask + r"A mask as an index .* Write where\(mask, a, b\)", found)
    product = r"app\.py:9 : MatMul runs as it is \(4 times\), [\d.]+ [mµ]?s\. "
    assert re.search(product + "A large matrix product runs", found)
    assert re.search(r"app\.py:10 : Sort runs as it is .* Sorting moves", found)
    assert "app.py:13 : the program waits for its tasks (4 times)" in found


def test_loops_have_times_and_a_librarys_lines_are_the_callers(program: Path) -> None:
    page = explain(program, *LEGATE_OPTIONS)
    assert "colorsys.py" not in page
    costs = re.findall(r'id="L(\d+)-[^"]*" style="--heat:([\d.]+)"', page)
    shown = {int(line): float(heat) for line, heat in costs}
    assert {4, 5, 7, 8, 9, 10, 11, 12, 13} == set(shown)
    assert max(shown.values()) == 1.0
    assert shown[9] > 0.0
    assert re.search(r"<p>Loop 1 of \d over 64 x 64, [1-9][\d.]* [mµ]s in all", page)


def test_the_variable_asks_for_a_page_too(program: Path) -> None:
    target = program.parent / "other.html"
    done = run(
        sys.executable,
        str(program),
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=str(target),
        LEGATE_CONFIG=" ".join(LEGATE_OPTIONS),
    )
    assert done.returncode == 0, done.stderr
    assert "MatMul runs as it is" in walls(target.read_text())


@pytest.mark.parametrize("explained", ["", "-"])
def test_without_a_page_nothing_is_measured(explained: str) -> None:
    done = run_python(
        """
        import legate_diffuse
        import cupynumeric as cn
        print(float((cn.arange(10.0) * 3.0).sum()))
        from legate_diffuse import _native
        assert legate_diffuse.stats()["groups"] > 0
        print(_native.task_times(), set(_native.kernel_nanoseconds()))
        """,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_EXPLAIN=explained,
    )
    assert done.stdout.startswith("135.0\n[] {0}\n"), done.stderr


def test_a_page_has_a_name_that_ends_in_html(program: Path) -> None:
    for arguments, message in (
        (("--html",), "--html needs the name of a file that ends in .html"),
        (
            ("--html", "report.txt", str(program)),
            "--html needs the name of a file that ends in .html",
        ),
    ):
        done = run(sys.executable, "-m", "legate_diffuse", "explain", *arguments)
        assert done.returncode == 2
        assert done.stderr.splitlines()[0] == f"legate_diffuse: {message}"
