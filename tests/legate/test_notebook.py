# SPDX-License-Identifier: Apache-2.0
"""In a notebook, ``%%diffuse`` shows what became of the lines of one cell."""

from __future__ import annotations

import re
from html import unescape

from process import run_alone

SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance()

def cell(*lines):
    with capture_output() as captured:
        shell.run_cell("\\n".join(lines))
    for output in captured.outputs:
        print("PAGE", output.data["text/html"].replace("\\n", "&#10;"))
    print(captured.stdout, captured.stderr)
"""
CELLS = """
cell("%load_ext legate_diffuse")
cell("import cupynumeric as cn", "x = cn.ones((64, 64))", "y = cn.sort(x)")
cell("%%diffuse",
     "for step in range(6):",
     "    y = x * 2.0 + 1.0",
     "    print(float(y.sum()))",
     "z = x @ y")
cell("%%diffuse", "print(float(cn.sqrt(x).sum()))")
cell("%%diffuse", "1 / 0")
"""


def pages(output: str) -> list[str]:
    """Return the pages in the output, as a browser has them in frames."""
    frames = re.findall(r'PAGE <div><iframe title="\w+" srcdoc="([^"]*)"', output)
    return [unescape(frame) for frame in frames]


def test_a_page_for_each_cell() -> None:
    done = run_alone(SHELL + CELLS, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert done.returncode == 0, done.stderr
    assert "12288.0" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    found = pages(done.stdout)
    assert all("What legate_diffuse makes of the cell" in page for page in found)
    loop, root, failed = found
    # six times a product, a sum, a fill and a reduction; a fill and a matrix product
    assert "<dd>26 → 8</dd>" in loop
    assert "<code>    y = x * 2.0 + 1.0</code>" in loop
    assert "iterations</dt><dd>4 → 1, with 1 loop</dd>" in loop
    assert "MatMul runs as it is (once)" in loop
    assert "Sort" not in loop
    assert "sqrt" in root and "MatMul" not in root
    assert "<code>print(float(cn.sqrt(x).sum()))</code>" in root
    assert "<dd>0 → 0</dd>" in failed


def test_it_cannot_be_loaded_too_late() -> None:
    done = run_alone(
        SHELL + 'cell("import cupynumeric")\ncell("%load_ext legate_diffuse")',
        LEGATE_DIFFUSE="0",
    )
    assert (
        "UsageError: legate_diffuse came too late: restart the kernel, and load it "
        "before cupynumeric or legate.core is imported"
    ) in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
