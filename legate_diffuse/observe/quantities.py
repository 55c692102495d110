# SPDX-License-Identifier: Apache-2.0
"""Times, sizes and numbers for people."""

from __future__ import annotations

from collections.abc import Iterable


def in_seconds(seconds: float) -> str:
    """Return a time, as in '1.2 ms'."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return "0 s" if seconds <= 0 else f"{seconds * 1e6:.1g} µs"


def in_bytes(count: int) -> str:
    """Return a size, as in '1.2 GB'."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} B"


def percent(part: float, whole: float) -> str:
    """Return a share in whole percent."""
    return f"{100 * part / whole:.0f}%" if whole > 0 else "0%"


def average(count: float, noun: str = "") -> str:
    """Return a number of things that need not be whole, as in '1.5 tasks'.

    Much less than one is not nothing.
    """
    number = f"{count:.2g}" if 0 < count < 0.95 else f"{count:,.1f}".removesuffix(".0")
    return f"{number} {noun}{'' if number == '1' else 's'}" if noun else number


def about(count: int) -> str:
    """Return how often something was done that is counted in part, in three digits."""
    rounded = int(float(f"{count:.2e}"))
    return "once" if count == 1 else f"{rounded:,} times"


def runs(numbers: Iterable[int], *, gap: int = 1, prefix: str = "") -> list[str]:
    """Return numbers as '3' and '12-18': runs of such as are at most a gap apart."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number - found[-1][1] <= gap:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return [
        f"{prefix}{first}" if first == last else f"{prefix}{first}-{prefix}{last}"
        for first, last in found
    ]
