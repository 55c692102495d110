# SPDX-License-Identifier: Apache-2.0
"""`NOTICE` names all code that files follow, and these files."""

import re
import subprocess
import tomllib
from pathlib import Path

from every import every

ROOT = Path(__file__).parent.parent
FOLDERS = ("legate_diffuse", "mappers", "scripts")
SUFFIXES = (".py", ".pyi", ".c", ".cc", ".h", ".txt", ".map")

FOLLOWS = re.compile(r"^(?://|#|\*)? *Follows: ([^(\n]+?) \(", re.MULTILINE)
FOREIGN = re.compile(r"\b[\w/]+\.(?:c|cc|cpp|cu|cuh|h|inl)\b")
"""A file in C or C++."""
WORDS = re.compile(r"copyright|licen[cs]e|\bL?GPL", re.IGNORECASE)


def sources():
    """Return the files of the tree that are code."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *FOLDERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.splitlines() if name.endswith(SUFFIXES)]
    return sorted(name for name in names if (ROOT / name).exists())


def followed(text):
    return set(FOLLOWS.findall(text))


def noticed():
    """Return the files of each section of `NOTICE`, by name."""
    _, *sections = re.split(
        r"\n\n(?=[^\n]+\n  https://)", (ROOT / "NOTICE").read_text()
    )
    found = {}
    for section in sections:
        head, _, files = section.partition("\n  Files:\n")
        found[head.splitlines()[0]] = files.split()
        assert re.search(r"^  .*Copyright", head, re.MULTILINE), head
        assert re.search(r"Apache-2\.0|Permission to use", head), head
    return found


def test_what_is_read():
    read = sources()
    for folder in ("maths", "codegen", "shortcuts", "libraries", "kernel", "stores"):
        assert any(name.startswith(f"legate_diffuse/{folder}/") for name in read)
    assert "mappers/interposition/locks.cc" in read
    assert names_foreign_code("see e_asin.c")
    assert not names_foreign_code("see program/program.h")


def test_files_and_notice_name_the_same_sources():
    follows = {name: followed((ROOT / name).read_text()) for name in sources()}
    expected = {(source, name) for name, found in follows.items() for source in found}
    notice = noticed()
    assert {(source, name) for source, names in notice.items() for name in names} == (
        expected
    )
    assert len(notice) >= 6


def names_foreign_code(text):
    """Whether a text names a file in C or C++ that is not one of the project's."""
    lines = [line for line in text.splitlines() if not line.startswith("#include")]
    own = {path.name for path in (ROOT / "mappers").rglob("*")}
    own |= {path.name for path in (ROOT / "scripts").rglob("*")}
    named = (match.group() for match in FOREIGN.finditer("\n".join(lines)))
    return any(Path(name).name not in own for name in named)


@every("name", [n for n in sources() if n.startswith("legate_")])
def test_a_file_that_names_foreign_code_says_what_it_follows(name):
    text = (ROOT / name).read_text()
    assert followed(text) or not names_foreign_code(text)


@every("name", sources())
def test_licences_are_named_in_one_place(name):
    text = (ROOT / name).read_text()
    first = "SPDX-License-Identifier: Apache-2.0"
    assert not WORDS.search(text.replace(first, ""))


def test_the_notice_is_part_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license-files"] == ["LICENSE", "NOTICE"]
