# SPDX-License-Identifier: Apache-2.0
"""The text form of regions, which is that of NumPy's slices.

``[1:-1, a+2:]`` shows all rows of a store but the first and the last, and its columns
from two after landmark ``a`` on. Without more the view's dimensions are those along
which it has ranges. Where they are not, ``as`` tells for each of them the store's:
``[:, :] as (1, 0)`` is transposed, ``[:] as (*, 0)`` repeats along its first dimension,
and ``[:] as (0, new)`` has one element along the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
_NAMES: Final = {value: name for name, value in _DIMS.items()}


def render_region(region: Region, dims: tuple[int, ...]) -> str:
    """Return the text of an affine view's region and dimensions."""
    text = f"[{', '.join(_interval(each) for each in region)}]"
    if dims != _plain(region):
        text += f" as ({', '.join(_NAMES.get(dim, str(dim)) for dim in dims)})"
    return text


def render_zones(zones: Sequence[Zones]) -> str:
    """Return `` where a < b c, -``: what is known of the order of landmarks, if it is.

    For each dimension of a store; ``b c`` are in no known order.
    """
    if not any(zones):
        return ""
    return " where " + ", ".join(
        " < ".join(" ".join(map(landmark_name, zone)) for zone in of_dimension) or "-"
        for of_dimension in zones
    )


def parse_region(text: str, dims: str | None) -> tuple[Region, tuple[int, ...]]:
    """Read what stands in a view's brackets, and after ``as`` if that is there.

    Raises:
        ValueError: the text is not of the form above.
    """
    region = tuple(_parse_interval(part.strip()) for part in _split(text))
    if dims is None:
        return region, _plain(region)
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
        ()
        if part.strip() == "-"
        else tuple(
            tuple(landmark_number(name) for name in zone.split())
            for zone in part.split("<")
        )
        for part in text.split(",")
    )


def _plain(region: Region) -> tuple[int, ...]:
    return tuple(n for n, interval in enumerate(region) if not interval.point)


def _split(text: str) -> list[str]:
    return text.split(",") if text.strip() else []


def _interval(interval: Interval) -> str:
    if interval.point:
        return _endpoint(interval.low)
    low = "" if interval.low == WHOLE.low else _endpoint(interval.low)
    high = "" if interval.high == WHOLE.high else _endpoint(interval.high)
    return f"{low}:{high}"


def _endpoint(at: Endpoint) -> str:
    if at.landmark == BEGIN:
        return str(at.offset)
    if at.landmark == END:
        return f"-{-at.offset}"
    return landmark_name(at.landmark) + (f"{at.offset:+}" if at.offset else "")


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


def landmark_name(landmark: int) -> str:
    """Return the name of a free landmark: a, b, ... z, a1, ..."""
    more, letter = divmod(landmark, 26)
    return chr(ord("a") + letter) + (str(more) if more else "")


def landmark_number(name: str) -> int:
    """Return the number of a free landmark.

    Raises:
        ValueError: it is no name of one.
    """
    if not re.fullmatch(r"[a-z]\d*", name):
        raise ValueError(f"{name!r} is not a landmark")
    return ord(name[0]) - ord("a") + 26 * int(name[1:] or 0)
