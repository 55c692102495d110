# SPDX-License-Identifier: Apache-2.0
"""What a cache folder holds of the user's own is left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from legate_diffuse.codegen.cache import ObjectCache

# Names that others give, and names like the cache's.
OTHERS = (
    "poetry.lock",
    "download.tmp",
    "secret.txt",
    "old.kernel",
    f"{1:015x}.tmp",
    f"{1:016x}.tmp.kept",
)


def put(folder: Path, *names: str) -> dict[str, bytes]:
    """Make old files, and return what is in the folder."""
    for name in names:
        (folder / name).write_bytes(name.encode())
        os.utime(folder / name, (1000, 1000))
    return content(folder)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def told(folder: Path, why: str) -> str:
    return (
        f"legate_diffuse: compiled kernels are not kept in {folder}, because {why}; "
        "set LEGATE_DIFFUSE_CACHE_DIR to a folder of your own\n"
    )


@pytest.mark.parametrize("name", [*OTHERS, ".git"])
def test_a_folder_with_other_files_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    before = put(tmp_path, name, "secret")
    cache = ObjectCache(tmp_path)
    cache.store("a", b"object")
    cache.store("b", b"object")
    assert cache.load("a") is None
    assert content(tmp_path) == before
    why = f"there are other files in it, such as {name}"
    assert capsys.readouterr().err == told(tmp_path, why)


def test_other_files_that_come_later_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ObjectCache(tmp_path).store("a", b"object")
    before = put(tmp_path, *OTHERS)
    full = ObjectCache(tmp_path, size_limit=0)
    full.store("b", b"object")
    del before["a.kernel"]
    assert content(tmp_path) == before
    assert capsys.readouterr().err == ""


def test_an_earlier_cache_without_a_tag_gets_one(tmp_path: Path) -> None:
    ObjectCache(tmp_path).store("a", b"object")
    (tmp_path / "CACHEDIR.TAG").unlink()
    cache = ObjectCache(tmp_path)
    cache.store("b", b"object")
    assert cache.load("a") == cache.load("b") == b"object"
    # the words that tools for backups look for
    tag = (tmp_path / "CACHEDIR.TAG").read_text()
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_a_tag_that_is_a_link_is_none(tmp_path: Path) -> None:
    cache, other = tmp_path / "cache", tmp_path / "other"
    other.mkdir()
    ObjectCache(cache).store("a", b"object")
    (other / "CACHEDIR.TAG").symlink_to(cache / "CACHEDIR.TAG")
    before = put(other, "poetry.lock")
    ObjectCache(other).store("b", b"object")
    assert content(other) == before


@pytest.mark.parametrize("target", ["folder", "missing"])
def test_a_link_to_a_folder_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / target)
    cache = ObjectCache(link)
    cache.store("a", b"object")
    assert cache.load("a") is None
    assert not list((tmp_path / "folder").iterdir())
    assert capsys.readouterr().err == told(link, "it is a symbolic link")
