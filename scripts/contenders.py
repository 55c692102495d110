# SPDX-License-Identifier: Apache-2.0
"""What ``bench.py peers`` compares: programs, and the ways to run them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# Settings of glibc: its default; all blocks from one heap that never shrinks (a high
# mmap_threshold does that only where no other thread allocates); the same in huge
# pages; only these.
KEEP = (
    "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=68719476736"
    ":glibc.malloc.arena_max=1"
)
MALLOC: dict[str, dict[str, str]] = {
    "default": {},
    "keep": {"GLIBC_TUNABLES": KEEP},
    "keep, huge pages": {"GLIBC_TUNABLES": f"{KEEP}:glibc.malloc.hugetlb=1"},
    "huge pages": {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
}
MARKS = {"keep": "*", "keep, huge pages": "**", "huge pages": "***"}
# Legate's pools keep their memory by themselves.
FOR_PEERS = ("default", "keep", "keep, huge pages")
FOR_LEGATE = ("default", "huge pages")
# Programs by hand make their arrays once.
HUGE_PAGES = ("huge pages",)


@dataclass(frozen=True)
class Program:
    """A program: its sizes, and what it must move through memory.

    ``arrays`` counts arrays of ``size ** dimensions`` float64 that are read or
    written, each once. ``script`` is in apps/, None where it has the program's name,
    and takes the ``options``.

    What was written ``by_hand`` too, in peers/by_hand, takes ``sweeps`` as an argument
    there. With the same arithmetic it has the fused program's bits.
    """

    size: int
    quick_size: int
    arrays: int
    dimensions: int = 1
    script: str | None = None
    options: tuple[str, ...] = ()
    by_hand: bool = False
    sweeps: int = 0


def _channel_flow(sweeps: int) -> Program:
    return Program(
        2_000,
        30,
        arrays=6,
        dimensions=2,
        script="channel_flow",
        options=("--sweeps", str(sweeps)),
        by_hand=True,
        sweeps=sweeps,
    )


PROGRAMS = {
    "black_scholes": Program(10_000_000, 1_000, arrays=5),
    "chain": Program(20_000_000, 1_000, arrays=2),
    "stencil": Program(4_000, 50, arrays=2, dimensions=2),
    "update": Program(20_000_000, 1_000, arrays=6),
    "shallow_water": Program(1_500, 30, arrays=6, dimensions=2, by_hand=True),
    "channel_flow": _channel_flow(10),
    "channel_flow_50": _channel_flow(50),
}


@dataclass(frozen=True)
class Contender:
    """One way to run the programs.

    ``package`` is a peer's, and names its script; ``variant`` is one of the programs
    written by hand.
    """

    label: str
    package: str | None = None
    variant: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    malloc: tuple[str, ...] = FOR_PEERS


NUMPY = Contender("NumPy")
UNFUSED, FUSED = (
    Contender(label, environment=(("LEGATE_DIFFUSE", switch),), malloc=FOR_LEGATE)
    for label, switch in (
        ("cuPyNumeric, unfused", "0"),
        ("cuPyNumeric, fused", "1"),
    )
)
REWRITTEN = (
    Contender("numexpr", "numexpr"),
    Contender("Numba, fused by hand", "numba"),
    Contender("JAX jit", "jax"),
    Contender("torch.compile", "torch"),
)
PLAIN, EXACT = "plain", "exact"
BESIDE_C = Contender(FUSED.label, environment=FUSED.environment, malloc=HUGE_PAGES)
EXACT_C, PLAIN_C = C = (
    Contender("C by hand, same arithmetic", variant=EXACT, malloc=HUGE_PAGES),
    Contender("C by hand", variant=PLAIN, malloc=HUGE_PAGES),
)
LIMITS = {
    "normal": "limit: triad",
    "nontemporal": "limit: triad, non-temporal stores",
}


def groups(apps: Iterable[str]) -> list[list[str]]:
    """Return programs apart that have other contenders, in tables of their own."""
    apps = list(dict.fromkeys(apps))
    by_hand = [app for app in apps if PROGRAMS[app].by_hand]
    rewritten = [app for app in apps if app not in by_hand]
    return [group for group in (rewritten, by_hand) if group]


def over_c(ms: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return how many times longer fused programs take than those written by hand.

    ``ms`` has the times by contender and program; the result is by row and program.
    """
    return {
        f"fused over {one.label}": {
            app: ms[BESIDE_C.label][app] / time for app, time in ms[one.label].items()
        }
        for one in C
        if one.label in ms
    }
