# SPDX-License-Identifier: Apache-2.0
"""Reads what Legion's profiler has written.

The file begins with a text that says which records there are, their fields and how many
bytes each has: ``tools/profiler.inl`` and ``legion_profiling_serializer.cc`` of Legion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

_RECORD: Final = re.compile(r"(\w+) \{id:(\d+), (.*)\}")
_STRING: Final = -1
_REDUCES: Final = 4
"""Legion's ``LEGION_REDUCE_PRIV``: usages of other modes name no operator."""


class _Field(NamedTuple):
    """A field, its type, and its bytes, of which some types have several times."""

    name: str
    type: str
    size: int


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each record of a file, and its fields: integers and texts.

    Raises:
        ValueError: the file has a record that its beginning does not tell of.
    """
    data = path.read_bytes()
    end = data.index(b"\n\n")
    kinds = {
        int(number): (name, [_field(each) for each in fields.split(", ")])
        for name, number, fields in _RECORD.findall(data[:end].decode())
    }
    at, largest_dim = end + 2, 0
    while at < len(data):
        number = int.from_bytes(data[at : at + 4], "little")
        at += 4
        if number not in kinds:
            raise ValueError(f"{path} has an unknown record {number}")
        name, fields = kinds[number]
        found: dict[str, Any] = {}
        for field in fields:
            if field.size == _STRING:
                stop = data.index(b"\0", at)
                found[field.name] = data[at:stop].decode()
                at = stop + 1
                continue
            if field.name == "redop" and found["mode"] != _REDUCES:
                continue
            size = field.size
            if field.type in ("point", "array"):
                size *= largest_dim * (1 + (field.type == "array"))
            elif field.type == "uuid":
                size *= found["uuid_size"]
            found[field.name] = int.from_bytes(data[at : at + size], "little")
            at += size
        largest_dim = found.get("max_dim", largest_dim)
        yield name, found


def _field(text: str) -> _Field:
    name, kind, size = text.split(":")
    return _Field(name, kind, int(size))
