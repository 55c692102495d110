# SPDX-License-Identifier: Apache-2.0
"""The programs that ``bench.py`` measures: sizes, tolerances, known figures.

The paper's figures are those of 128 GPUs in section 7 of R. Yadav et al., "Composing
Distributed Computations Through Task and Kernel Fusion", ASPLOS 2025, arXiv
2406.18109.
"""

from __future__ import annotations

import importlib.util
import math
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import dataclass

# The geometric mean of the paper's speed-ups.
PAPER_MEAN = 1.86
SMALL_ITERATIONS = 100
QUICK_ITERATIONS = 2


@dataclass(frozen=True)
class Application:
    """A program under apps/, and how to measure it.

    A size counts items, or those along one of the ``dimensions`` of a square or a
    cube; an item has ``values`` elements. ``large`` arrays don't fit in any cache,
    ``small`` ones have some thousand elements. ``iterations`` of the large size take
    about a second unfused. Fused results may differ from unfused ones by
    ``roundings``, relative to the largest value: 0 where every element is computed
    by itself, more where sums are added up in another order, or the start is made of
    sines, of which the last bit may differ.

    ``moved`` counts the numbers per item that any implementation must read from
    memory or write to it in an iteration: each array that is kept from one to the
    next, once if it is read, once if it is changed. None where the arrays are small
    beside the work.
    """

    large: int
    small: int
    quick: int
    iterations: int
    roundings: int
    moved: int | None
    dimensions: int = 1
    values: int = 1
    options: tuple[str, ...] = ()
    paper: tuple[float, float] | None = None
    script: str | None = None

    def elements(self, size: int) -> int:
        """Return the number of elements of a problem."""
        return self.values * size**self.dimensions

    def items(self, size: int) -> int:
        """Return the number of items of a problem."""
        return int(size**self.dimensions)


# The seven of the paper.
PAPER = {
    "black_scholes": Application(
        10_000_000, 4_096, 100, 1, 0, moved=5, paper=(10.7, 10.7)
    ),
    "jacobi": Application(
        5_000, 64, 100, 50, 64, moved=1, dimensions=2, paper=(0.93, 1.08)
    ),
    # roundings grow with the iterations: unfused and NumPy's results differ as much
    "cg": Application(2_000, 64, 40, 10, 2**28, moved=6, dimensions=2),
    "bicgstab": Application(
        2_000, 64, 40, 5, 2**20, moved=7, dimensions=2, paper=(1.31, 1.31)
    ),
    "multigrid": Application(
        2_047, 63, 15, 1, 2**10, moved=6, dimensions=2, paper=(1.2, 1.2)
    ),
    "channel_flow": Application(
        large=2_000,
        small=64,
        quick=21,
        iterations=1,
        roundings=2**8,
        moved=6,
        dimensions=2,
        options=("--sweeps", "10"),
        paper=(1.8, 2.3),
    ),
    "shallow_water": Application(
        1_500, 64, 30, 1, 0, moved=6, dimensions=2, paper=(1.61, 1.61)
    ),
}
KERNELS = {
    "heat": Application(250, 16, 12, 3, 8, moved=2, dimensions=3),
    "softmax": Application(10_000, 4, 20, 4, 64, moved=2_000, values=1_000),
    "layer_norm": Application(10_000, 4, 20, 3, 64, moved=2_048, values=1_024),
    "kmeans": Application(1_000_000, 1_024, 1_000, 2, 2**10, moved=4, values=4),
    "logistic_regression": Application(
        1_000_000, 256, 1_000, 10, 2**10, moved=17, values=16
    ),
    "lstm": Application(20_000, 64, 20, 5, 64, moved=288, values=64),
    "nbody": Application(4_000, 64, 50, 1, 2**10, moved=None, dimensions=2),
    "mandelbrot": Application(1_500, 64, 50, 1, 0, moved=3, dimensions=2),
    "chain": Application(20_000_000, 4_096, 100, 5, 0, moved=2),
    "stencil": Application(4_000, 64, 50, 5, 0, moved=2, dimensions=2),
    "update": Application(20_000_000, 4_096, 100, 10, 2**12, moved=6),
}
# Their operator is a matrix of Legate Sparse, which has no wheel.
SPARSE = {
    f"{name}_sparse": Application(
        large=2_000,
        small=64,
        quick=40,
        iterations=5,
        roundings=2**28,
        moved=None,
        dimensions=2,
        options=("--operator", "sparse"),
        script=name,
    )
    for name in ("cg", "bicgstab")
}
APPLICATIONS = (
    PAPER
    | KERNELS
    | (SPARSE if importlib.util.find_spec("legate_sparse") is not None else {})
)
# What runs when no program is named: the others are parts of these, and are
# compared with peers.
ALL = [name for name in APPLICATIONS if name not in ("chain", "stencil", "update")]


def scaled(name: str, size: int, cpus: int) -> int:
    """Return the size at which each CPU has as many elements as one has at ``size``.

    Multigrid's is the next of m 2^k - 1 with an odd m up to 7, to halve it often.
    """
    exact = size * cpus ** (1.0 / APPLICATIONS[name].dimensions)
    if name != "multigrid":
        return round(exact)
    forms = [
        m * 2**k - 1
        for m in (1, 3, 5, 7)
        for k in range(1, math.ceil(math.log2(exact)) + 1)
    ]
    return min(forms, key=lambda one: abs(one - exact))


def add_programs(
    parser: ArgumentParser, known: Iterable[str], usual: Iterable[str]
) -> None:
    """Let a command line name programs that are known; without any, the usual ones."""
    parser.add_argument(
        "programs",
        nargs="*",
        metavar="program",
        help=f"any of {', '.join(known)} ({', '.join(usual)})",
    )


def chosen_programs(
    parser: ArgumentParser, names: Iterable[str], known: Iterable[str]
) -> list[str]:
    """Return the programs that a command line names; the parser refuses others."""
    names, known = list(names), list(known)
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no program {unknown[0]}; choose from {', '.join(known)}")
    return names
