# SPDX-License-Identifier: Apache-2.0
"""``%%diffuse`` at the start of a notebook's cell shows the page of that cell."""

from __future__ import annotations

import importlib
import os
from html import escape
from typing import Any

from legate_diffuse import boot, settings


def load(shell: Any) -> None:
    """Turn fusion and its explanation on, and give IPython the magic.

    Raises:
        UsageError: Legate runs already; IPython shows the message alone.
    """
    from IPython.core.error import UsageError

    try:
        boot.enable()
    except settings.DiffuseError:
        raise UsageError(
            "legate_diffuse came too late: restart the kernel, and load it before "
            "cupynumeric or legate.core is imported"
        ) from None
    os.environ["LEGATE_DIFFUSE"] = "1"
    os.environ["LEGATE_DIFFUSE_EXPLAIN"] = settings.CELLS
    shell.register_magic_function(
        lambda _, cell: run_cell(shell, cell), "cell", "diffuse"
    )


def run_cell(shell: Any, cell: str) -> None:
    """Run a cell, and show what became of its lines."""
    from IPython.core.error import UsageError
    from IPython.display import HTML, display

    importlib.import_module("legate.core")
    window = importlib.import_module("legate_diffuse.interpose.window").window
    explanation = window.submitter.explanation
    if explanation is None:
        raise UsageError("this process does not explain: only the first rank does")
    window.flush("fence")
    explanation.begin()
    shell.run_cell(cell)
    window.flush("fence")
    page = escape("\n".join(explanation.page("the cell")))
    style = "width: 100%; height: 40rem; border: 1px solid #888"
    frame = f'<iframe title="legate_diffuse" srcdoc="{page}" style="{style}"></iframe>'
    # IPython advises against what begins with a frame, as it knows of addresses only
    display(HTML(f"<div>{frame}</div>"))
