# SPDX-License-Identifier: Apache-2.0
"""What is packed for a machine with a GPU comes out again, but for other code."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

GPU_SCRIPTS = Path(__file__).parents[3] / "scripts" / "gpu"
sys.path.insert(0, str(GPU_SCRIPTS))

import pack  # noqa: E402


def fat_binary(codes: dict[int, bytes]) -> bytes:
    """Return a fat binary with code of so many architectures."""
    entries = b""
    for architecture, code in codes.items():
        entries += struct.pack("<HHIQIIHHI", 2, 1, 64, len(code), 0, 0, 0, 0, 0)[:28]
        entries += struct.pack("<I", architecture).ljust(36, b"\1") + code
    return pack.FAT_MAGIC + struct.pack("<Q", len(entries)) + entries


def test_code_of_other_gpus_is_blanked_in_its_place() -> None:
    first = fat_binary({80: b"a" * 24, 90: b"b" * 40, 120: b"c" * 8})
    other = fat_binary({75: b"d" * 16})
    data = bytearray(b"ELF" + first + b"between" + other + b"end")
    before = bytes(data)
    pack.trim(data, 90)
    assert len(data) == len(before)
    assert b"b" * 40 in data
    assert b"a" not in data
    assert b"c" * 8 not in data
    # what is for no such GPU at all stays
    assert data.endswith(b"between" + other + b"end")


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_parts_are_read_as_they_were_written(tmp_path: Path, limit: int) -> None:
    parts = pack.Parts(tmp_path, limit)
    content = bytes(range(50))
    for piece in (content[:3], b"", content[3:20], content[20:]):
        assert parts.write(piece) == len(piece)
    parts.close_part()
    sizes = [each.stat().st_size for each in sorted(tmp_path.iterdir())]
    assert sum(sizes) == len(content)
    assert max(sizes) <= limit
    read = pack.Joined(tmp_path)
    found = b"".join(iter(lambda: read.read(4), b""))
    assert found == content


@pytest.mark.thorough
def test_a_python_that_was_packed_runs(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "library.py"
    source.write_text("")
    site = "lib/python{}.{}/site-packages".format(*sys.version_info)
    own = [each for each in pack.files() if "site-packages" not in each[0]]
    monkeypatch.setattr(
        pack, "files", lambda: [*own, *((f"{site}/{n}.py", source) for n in "ab")]
    )
    pack.pack(tmp_path / "parts", 90, 3 << 20)
    assert len(list((tmp_path / "parts").iterdir())) > 1
    target = tmp_path / "target"
    script = [sys.executable, str(GPU_SCRIPTS / "pack.py"), str(tmp_path / "parts")]
    cuda = str(tmp_path)
    subprocess.run([*script, "--unpack", str(target), "--cuda", cuda], check=True)
    done = subprocess.run(
        [target / "run", "-c", "import a, b, sys, hashlib; print(sys.prefix)"],
        env={"PATH": os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(target)
    assert (target / site / "nvidia").is_symlink()
