# SPDX-License-Identifier: Apache-2.0
"""What an object file defines.

LLVM ends the process on bytes that are no object, so they are looked at before.
Source: the System V ABI, "Object Files", and its supplement for x86-64.
"""

import struct
from typing import Final

# e_ident to e_version of a 64-bit little-endian relocatable object for x86-64.
_HEADER: Final = struct.Struct("<4sBBBB8xHHI")
_EXPECTED: Final = (b"\x7fELF", 2, 1, 1)
_RELOCATABLE: Final = 1
_X86_64: Final = 62
# e_shoff, then e_shentsize, e_shnum
_TABLE_AT: Final = 40
_COUNT_AT: Final = 58
# sh_type, sh_offset, sh_size, sh_link
_SECTION: Final = struct.Struct("<4xI16xQQI20x")
_SYMBOLS: Final = 2
_NO_BITS: Final = 8
# st_name, st_shndx
_SYMBOL: Final = struct.Struct("<IxxH16x")


def symbols_of(content: bytes) -> frozenset[str]:
    """Return what an object file defines, nothing if it is none for this machine."""
    try:
        return _read(content)
    except (struct.error, ValueError, IndexError, OverflowError):
        return frozenset()


def _read(content: bytes) -> frozenset[str]:
    magic, width, order, version, _, kind, machine, _ = _HEADER.unpack_from(content)
    if (magic, width, order, version) != _EXPECTED:
        return frozenset()
    if (kind, machine) != (_RELOCATABLE, _X86_64):
        return frozenset()
    (table,) = struct.unpack_from("<Q", content, _TABLE_AT)
    size, count = struct.unpack_from("<HH", content, _COUNT_AT)
    if size != _SECTION.size:
        return frozenset()
    sections = [
        _SECTION.unpack_from(content, table + size * number) for number in range(count)
    ]
    if any(
        kind != _NO_BITS and at + extent > len(content)
        for kind, at, extent, _ in sections
    ):
        return frozenset()
    defined: set[str] = set()
    for kind, at, extent, link in sections:
        if kind == _SYMBOLS:
            names_at = sections[link][1]
            for position in range(at, at + extent, _SYMBOL.size):
                name_at, section = _SYMBOL.unpack_from(content, position)
                start = names_at + name_at
                name = content[start : content.index(b"\0", start)].decode()
                if section:
                    defined.add(name)
    return frozenset(defined)
