# SPDX-License-Identifier: Apache-2.0
"""Times the twenty functions, ours beside Numba's own, and prints JSON.

Both sides run in turns in this process. Ours are done when an element of the last
result was read. Numba's get fresh results, as ours do, or with ``out=`` the same again.
Calls get other elements than those before them, as in programs: a processor learns how
a thousand elements branch that come again and again.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import cupynumeric
import numpy
from numba_functions import FUNCTIONS, arguments, by_numba

import legate_diffuse

# Turns of each side, at most and at least, in about so many seconds; a turn takes
# about so long.
MOST, LEAST, SECONDS, TURN = 25, 3, 2.0, 2e-3

# Calls get arguments with so many elements in turns, at most so many arguments.
ELEMENTS, CALLS = 65536, 64


def main() -> None:
    """Measure what the command line names: the package, and numbers of elements."""
    numpy.seterr(all="ignore")
    records = []
    for elements in map(int, sys.argv[2:]):
        for function, types, bounds in FUNCTIONS:
            record = measured(function, types, bounds, elements)
            records.append({"function": function.__name__, **record})
    print(json.dumps({"records": records}))


def measured(
    function: Callable[..., Any], types: str, bounds: tuple[float, float], elements: int
) -> dict[str, Any]:
    """Return the times of one function, and whether both sides have the same bits."""
    count = min(CALLS, -(-ELEMENTS // elements))
    drawn = arguments(types, bounds, elements * count)
    sets = [
        [each[start : start + elements].copy() for each in drawn]
        for start in range(0, elements * count, elements)
    ]
    arrays = [[cupynumeric.array(each).copy() for each in given] for given in sets]
    ufuncs = by_numba(function, types)
    vectorized = legate_diffuse.vectorize(function)

    def ours(number: int) -> tuple[Any, ...]:
        made = vectorized(*arrays[number % count])
        return made if isinstance(made, tuple) else (made,)

    def finished() -> None:
        for each in last[:1]:
            each[-1].item()

    last: tuple[Any, ...] = ()
    for _ in range(4):
        last = ours(0)
        finished()
    wanted = [ufunc(*sets[0]) for ufunc in ufuncs]
    same = all(
        numpy.asarray(left.copy()).tobytes() == right.tobytes()
        for left, right in zip(last, wanted, strict=True)
    )
    before = legate_diffuse.stats()["tasks_submitted"]
    sides: dict[str, Callable[[int], Any]] = {
        "ours": ours,
        "numba": lambda number: [ufunc(*sets[number % count]) for ufunc in ufuncs],
        "numba_out": lambda number: [
            ufunc(*sets[number % count], out=out)
            for ufunc, out in zip(ufuncs, wanted, strict=True)
        ],
    }
    times: dict[str, list[float]] = {side: [] for side in sides}
    calls = max(count, int(TURN / timed(lambda: sides["numba_out"](0), 1)))
    turns = 0
    begun = time.perf_counter()
    while turns < LEAST or (turns < MOST and time.perf_counter() - begun < SECONDS):
        turns += 1
        for side, call in sides.items():
            start = time.perf_counter()
            for number in range(calls):
                last = call(number)
            if side == "ours":
                finished()
            times[side].append((time.perf_counter() - start) / calls)
    found = {side: statistics.median(own) * 1e6 for side, own in times.items()}
    ratios = [
        [own / other for own, other in zip(times["ours"], times[side], strict=True)]
        for side in ("numba", "numba_out")
    ]
    tasks = legate_diffuse.stats()["tasks_submitted"] - before
    return {
        "elements": elements,
        "same": same,
        "tasks": tasks / (turns * calls),
        "ratio": statistics.median(ratios[0]),
        "ratio_out": statistics.median(ratios[1]),
        **found,
    }


def timed(call: Callable[[], Any], count: int) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


main()
