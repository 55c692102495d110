# SPDX-License-Identifier: Apache-2.0
"""The text form of regions, which is that of NumPy's slices.

``[1:-1, a+2:]`` shows all rows of a store but the first and the last, and its columns
from two after landmark ``a`` on. Without more the view's dimensions are those along
which it has ranges. Where they are not, ``as`` tells for each of them the store's:
``[:, :] as (1, 0)`` is transposed, ``[:] as (*, 0)`` repeats along its first dimension,
and ``[:] as (0, new)`` has one element along the second.
"""

from __future__ import annotations

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
)

_NAMES: Final = {REPEATED: "*", SINGLE: "new"}


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


def _plain(region: Region) -> tuple[int, ...]:
    return tuple(n for n, interval in enumerate(region) if not interval.point)


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


def landmark_name(landmark: int) -> str:
    """Return the name of a free landmark: a, b, ... z, a1, ..."""
    more, letter = divmod(landmark, 26)
    return chr(ord("a") + letter) + (str(more) if more else "")
