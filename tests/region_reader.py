# SPDX-License-Identifier: Apache-2.0
"""Reads the text of regions, which ``ir/region_text.py`` writes."""

from __future__ import annotations

import re
from typing import Final

from legate_diffuse.ir.region import (
    BEGIN,
    END,
    REPEATED,
    SINGLE,
    WHOLE,
    Endpoint,
    Interval,
    Region,
    Zones,
    point,
)

_ENDPOINT: Final = re.compile(r"(?P<name>[a-z]\d*)?(?P<offset>[+-]?\d+)?")
_DIMS: Final = {"*": REPEATED, "new": SINGLE}


def parse_region(text: str, dims: str | None) -> tuple[Region, tuple[int, ...]]:
    """Read what stands in a view's brackets, and after ``as`` if that is there.

    Raises:
        ValueError: the text is not of the form above.
    """
    region = tuple(_parse_interval(part.strip()) for part in _split(text))
    if dims is None:
        return region, tuple(n for n, each in enumerate(region) if not each.point)
    names = [name.strip() for name in _split(dims)]
    along = [name for name in names if name not in _DIMS]
    of_store = {str(dim) for dim in range(len(region))}
    if len(set(along)) < len(along) or not of_store.issuperset(along):
        raise ValueError(f"({dims}) are not dimensions of [{text}]")
    return region, tuple(_DIMS[name] if name in _DIMS else int(name) for name in names)


def parse_zones(text: str) -> tuple[Zones, ...]:
    """Read the order of a store's landmarks, what stands after ``where``.

    Raises:
        ValueError: a name is not that of a landmark.
    """
    return tuple(
        Zones()
        if part.strip() == "-"
        else Zones(
            tuple(landmark_number(name) for name in zone.split())
            for zone in part.split("<")
        )
        for part in text.split(",")
    )


def _split(text: str) -> list[str]:
    return text.split(",") if text.strip() else []


def _parse_interval(text: str) -> Interval:
    if ":" not in text:
        return point(_parse_endpoint(text, WHOLE.low))
    low, _, high = text.partition(":")
    return Interval(
        _parse_endpoint(low.strip(), WHOLE.low),
        _parse_endpoint(high.strip(), WHOLE.high),
    )


def _parse_endpoint(text: str, default: Endpoint) -> Endpoint:
    match = _ENDPOINT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a position")
    name, offset = match["name"], match["offset"]
    if name:
        return Endpoint(landmark_number(name), int(offset or 0))
    if not offset:
        return default
    return Endpoint(END if offset.startswith("-") else BEGIN, int(offset))


def landmark_number(name: str) -> int:
    """Return the number of a free landmark.

    Raises:
        ValueError: it is no name of one.
    """
    if not re.fullmatch(r"[a-z]\d*", name):
        raise ValueError(f"{name!r} is not a landmark")
    return ord(name[0]) - ord("a") + 26 * int(name[1:] or 0)
