# SPDX-License-Identifier: Apache-2.0
"""The pages for users say what the package does, and lead to one another."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

from every import every

from legate_diffuse import settings

ROOT: Final = Path(__file__).parent.parent
LINK: Final = re.compile(r"\]\(([^)#\s]+)(?:#([\w-]+))?\)")


def pages() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(name for name in listed.stdout.split() if (ROOT / name).exists())


def anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@every("name", pages())
def test_links_lead_somewhere(name: str) -> None:
    page = (ROOT / name).read_text("utf-8")
    for target, anchor in LINK.findall(page):
        if "://" in target:
            continue
        path = (ROOT / name).parent / target
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path.read_text("utf-8")), anchor


def test_the_first_page_is_short() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    assert len(page.splitlines()) <= 150
    # the two commands that set up an environment
    assert re.findall(r"^    (scripts/\w+)$", page, re.MULTILINE) == [
        "scripts/quickstart",
        "scripts/test",
    ]


def test_all_variables_are_described() -> None:
    page = (ROOT / "legate_diffuse/guide/variables.md").read_text("utf-8")
    described = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(described) == sorted(settings.VARIABLES)


def test_limits_are_tables() -> None:
    page = (ROOT / "legate_diffuse/guide/limits.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) > 30
    assert {row.count("|") for row in rows} == {4}
