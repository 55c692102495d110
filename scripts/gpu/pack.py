# SPDX-License-Identifier: Apache-2.0
"""Packs this Python with Legate and the installed package, and unpacks it elsewhere.

A machine with a GPU may reach no package registry, and take little at a time. ``pack``
writes files of a size that can be carried, ``unpack`` joins them there. Libraries keep
the machine code of one kind of GPU only; those of CUDA itself are taken from a Python
of that machine, which has them from PyTorch, JAX or CuPy.

Unpacking needs Python's standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import io
import os
import re
import struct
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

ROOTS: Final = (
    *("legate-diffuse", "pytest", "pytest-timeout", "hypothesis", "scipy"),
    # which pytest's options in pyproject.toml are for
    "pytest-xdist",
    # which Legate imports without saying so
    "typing_extensions",
)
# From the machine itself.
LEFT_OUT: Final = re.compile(r"nvidia-(?!cupynumeric)")
DEAD_WEIGHT: Final = re.compile(
    r"\.(a|la|h|hpp|cuh|inl|cmake|pyi|pyc)$|(^|/)(tests?|include|__pycache__)/"
)
STANDARD_LIBRARY: Final = re.compile(
    r"^(site-packages|test|idlelib|tkinter|turtledemo|ensurepip|lib2to3|config-.*)(/|$)"
)
NAME: Final = "packed"
MEBIBYTE: Final = 1 << 20

# Fat binaries, as CUDA's compiler embeds them: a header of 16 bytes (magic number,
# version, its size, bytes that follow), then entries with their size and architecture.
FAT: Final = struct.Struct("<IHHQ")
FAT_MAGIC: Final = struct.pack("<IHH", 0xBA55ED50, 1, FAT.size)
ENTRY: Final = struct.Struct("<HHIQIIHHI")


def trim(data: bytearray, architecture: int) -> None:
    """Blank the machine code of other architectures, where there is some of this one.

    Sizes and places stay, so the driver finds what is left.
    """
    at = data.find(FAT_MAGIC)
    while at >= 0:
        end = at + FAT.size + FAT.unpack_from(data, at)[3]
        entries = []
        place = at + FAT.size
        while place < end:
            *_, header, size, _, _, _, _, found = ENTRY.unpack_from(data, place)
            entries.append((found, place + header, size))
            place += header + size
        if any(found == architecture for found, *_ in entries):
            for found, start, size in entries:
                if found != architecture:
                    data[start : start + size] = bytes(size)
        at = data.find(FAT_MAGIC, end)


def distributions() -> Iterator[importlib.metadata.Distribution]:
    """Yield what the package and its tests need, once each."""
    seen = set()
    left = list(ROOTS)
    while left:
        name = left.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in seen or LEFT_OUT.match(key):
            continue
        seen.add(key)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        yield found
        for line in found.requires or ():
            if "extra ==" not in line:
                left += re.findall(r"^[A-Za-z0-9._-]+", line)


def files() -> Iterator[tuple[str, Path]]:
    """Yield names in the archive, and the files that have their content."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    executable = Path(sys.executable).resolve()
    yield f"bin/{version}", executable
    shared = sysconfig.get_config_var("INSTSONAME")
    library = Path(sysconfig.get_config_var("LIBDIR")) / shared
    if library.exists():
        yield f"lib/{shared}", library
    standard = Path(sysconfig.get_path("stdlib"))
    for path in standard.rglob("*"):
        inside = path.relative_to(standard).as_posix()
        if path.is_file() and not STANDARD_LIBRARY.match(inside):
            yield f"lib/{version}/{inside}", path
    site = f"lib/{version}/site-packages"
    for distribution in distributions():
        for file in distribution.files or ():
            path = Path(str(distribution.locate_file(file)))
            if ".." not in file.parts and path.is_file():
                yield f"{site}/{file.as_posix()}", path


class Parts(io.RawIOBase):
    """A file that is written as several, none larger than a limit."""

    def __init__(self, folder: Path, limit: int) -> None:
        super().__init__()
        self._folder = folder
        self._limit = limit
        self._file: IO[bytes] | None = None
        self.count = 0

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def write(self, data: object) -> int:
        """Write bytes, into further files as needed."""
        left = memoryview(data).cast("B")  # type: ignore[arg-type]
        size = len(left)
        while left:
            if self._file is None or self._file.tell() == self._limit:
                self.close_part()
                name = self._folder / f"{NAME}.{self.count:02}"
                self._file = name.open("wb")
                self.count += 1
            left = left[self._file.write(left[: self._limit - self._file.tell()]) :]
        return size

    def close_part(self) -> None:
        """End the file of the moment."""
        if self._file is not None:
            self._file.close()


def pack(folder: Path, architecture: int, limit: int) -> None:
    """Write the files that are to be carried."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{NAME}.*"):
        old.unlink()
    parts = Parts(folder, limit)
    first: dict[bytes, str] = {}
    with tarfile.open(fileobj=parts, mode="w|xz") as archive:
        for name, path in sorted(files()):
            if DEAD_WEIGHT.search(name):
                continue
            data = bytearray(path.read_bytes())
            entry = archive.gettarinfo(str(path.resolve()), name)
            same = first.setdefault(hashlib.sha256(data).digest(), name)
            if same != name and data:
                entry.type, entry.linkname, entry.size = tarfile.LNKTYPE, same, 0
                archive.addfile(entry)
                continue
            entry.type, entry.size = tarfile.REGTYPE, len(data)
            if ".so" in path.name:
                trim(data, architecture)
            archive.addfile(entry, io.BytesIO(data))
    parts.close_part()
    sizes = [each.stat().st_size for each in sorted(folder.glob(f"{NAME}.*"))]
    print(*(f"{size / MEBIBYTE:.1f}" for size in sizes), "MiB")


class Joined(io.RawIOBase):
    """Files that are read as one."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._left = sorted(folder.glob(f"{NAME}.*"))
        self._file: IO[bytes] = io.BytesIO()

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to so many bytes, none at the end."""
        data = self._file.read(size)
        while not data and self._left:
            self._file.close()
            self._file = self._left.pop(0).open("rb")
            data = self._file.read(size)
        return data


def unpack(folder: Path, target: Path, cuda: str | None) -> None:
    """Join the files of a folder, and make what runs a program with them."""
    with tarfile.open(fileobj=Joined(folder), mode="r|xz") as archive:
        archive.extractall(target, filter="fully_trusted")
    (python,) = (target / "bin").glob("python3.*")
    site = target / "lib" / python.name / "site-packages"
    if cuda is None:
        found = importlib.util.find_spec("nvidia")
        if found is None or not found.submodule_search_locations:
            message = "this Python has no package 'nvidia' with CUDA's libraries"
            raise SystemExit(f"{message}; say where one is with --cuda")
        cuda = next(iter(found.submodule_search_locations))
    if not (site / "nvidia").exists():
        (site / "nvidia").symlink_to(cuda)
    run = target / "run"
    run.write_text(
        "#!/bin/sh\n"
        f"export PYTHONHOME={target} PATH={target}/bin:$PATH\n"
        f"export LD_LIBRARY_PATH={target}/lib:{cuda}/cu13/lib:{cuda}/nccl/lib"
        "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n"
        f'exec {python} "$@"\n'
    )
    for each in (run, python):
        os.chmod(each, 0o755)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of the files that are carried")
    parser.add_argument("--sm", type=int, default=90, help="the GPU's architecture")
    parser.add_argument("--mib", type=int, default=55, help="a file's size at most")
    parser.add_argument("--unpack", type=Path, help="join the files into this folder")
    parser.add_argument("--cuda", help="the package 'nvidia' of the machine's Python")
    options = parser.parse_args()
    if options.unpack:
        unpack(options.folder, options.unpack.resolve(), options.cuda)
    else:
        pack(options.folder, options.sm, options.mib * MEBIBYTE)


if __name__ == "__main__":
    main()
