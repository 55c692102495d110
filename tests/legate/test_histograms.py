# SPDX-License-Identifier: Apache-2.0
"""Histograms of many elements have NumPy's counts and sums, in one step over them."""

from __future__ import annotations

from test_small_arrays import run_fresh, run_here

PROGRAM = """
rng = np.random.default_rng(1)

def check(a, weights, *arguments, **named):
    try:
        wanted = np.histogram(a, *arguments, weights=weights, **named)
    except ValueError:  # so many intervals have no width
        return
    given = None if weights is None else cn.array(weights)
    made = cn.histogram(cn.array(a), *arguments, weights=given, **named)
    for one, other in zip(made, wanted, strict=True):
        one = np.asarray(one)
        assert one.dtype == other.dtype and (one == other).all(), (arguments, named)
"""


def test_intervals_of_all_widths() -> None:
    run_here(
        PROGRAM
        + """
SCALES = [
    (1, 0), (1e-3, 5), (1e-12, 1), (1e-14, 1), (100, -50), (1e300, 0), (1e-310, 0)
]
for n in (40000, 65537, 200001):
    for scale, first in SCALES:
        a = rng.random(n) * scale + first
        for weights in (None, rng.random(n)):
            for bins in (1, 2, 7, 1000, 16384, 20000):
                check(a, weights, bins)
            check(a, weights, 10, range=(first, first + scale / 2))
""",
        fuses=False,
    )


def test_elements_on_edges_and_outside() -> None:
    run_here(
        PROGRAM
        + """
for n in (40000, 140000):
    a = rng.integers(0, 50, n).astype(float)
    for weights in (None, rng.random(n)):
        for bins in (1, 3, 49, 50, 51, 100):
            check(a, weights, bins)
        for bounds in ((10.0, 30.0), (10, 30), (-10, 300), (60.0, 70.0)):
            check(a, weights, 20, range=bounds)
    check(a.reshape(10, -1), weights.reshape(10, -1))
    a[5] = np.inf
    check(a, None, 10, range=(0.0, 10.0))
""",
        fuses=False,
    )


def test_they_are_those_of_the_original() -> None:
    run_fresh(
        """
values = np.random.default_rng(1).integers(0, 999, 100000) / 8.0
def program(n):
    a = n.array(values)
    counts, edges = n.histogram(a, 13)
    sums, _ = n.histogram(a, 40, range=(3.0, 90.0), weights=a * 8.0)
    return [counts, edges, sums]
agree(program)
""",
        fuses=False,
    )
