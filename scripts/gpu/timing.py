# SPDX-License-Identifier: Apache-2.0
"""Times of recorded programs, as shares of what a copy on the device moves."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from driver import driver
from recordings import Recorded, bytes_of, parse
from replay import Player, arrays_of

from legate_diffuse.kernel.ir import Kernel, RowProgram

COPY_BYTES: Final = 1 << 30
SETS_BYTES: Final = 400 << 20
"""What the sets of arguments have together at least, which caches do not hold."""
MILLISECONDS: Final = 20
WARM_SECONDS: Final = 0.15
OFTEN: Final = 2
"""How often a program was submitted if it is one of an iteration."""
LEAST_BYTES: Final = 16 << 20
"""That a program moves; less is the setting up."""


def copy_rate(size: int = COPY_BYTES) -> float:
    """Return GB/s of a copy, read and written."""
    device = driver()
    places = [device.allocate(size) for _ in range(2)]
    for place in places:
        device.fill(place, 1, size)

    def work() -> None:
        device.copy(places[1], places[0], size)

    device.milliseconds(work, 3)
    found = min(device.milliseconds(work, 10) for _ in range(3))
    for place in places:
        device.free(place)
    return 2 * size / found / 1e6


def iteration_programs(
    programs: Mapping[Recorded, int], least: int
) -> list[tuple[Recorded, int]]:
    """Return the programs of an iteration: those that came most often.

    Programs that differ in numbers alone are one.
    """
    kinds: dict[Any, tuple[Recorded, int]] = {}
    for recorded, count in programs.items():
        program = parse(recorded.program)
        kind = (
            recorded.arguments,
            tuple((nest.kernel, nest.extents, nest.operands) for nest in program.nests),
        )
        one, before = kinds.get(kind, (recorded, 0))
        kinds[kind] = one, before + count
    return [each for each in kinds.values() if each[1] >= least]


def describe(recorded: Recorded, kernels: Mapping[int, Kernel | RowProgram]) -> str:
    """Return what a program is made of."""
    program = parse(recorded.program)
    extents = "+".join("x".join(map(str, nest.extents)) for nest in program.nests[:6])
    more = "..." if len(program.nests) > 6 else ""
    return (
        f"{len(program.nests)} nests ({extents}{more}), {len(program.runs)} runs, "
        f"{len(program.buffers)} scratch, {len(recorded.arguments)} arguments"
    )


def time_program(
    player: Player, recorded: Recorded, repeats: int | None = None
) -> float:
    """Return the milliseconds of a program on arguments that caches do not hold."""
    device = driver()
    arrays = arrays_of(recorded)
    one = sum(array.nbytes for array in arrays)
    count = max(1, min(4, -(-SETS_BYTES // max(1, one))))
    launches, places = [], []
    for _ in range(count):
        roots = [device.allocate(array.nbytes) for array in arrays]
        for place, (root, array) in enumerate(zip(roots, arrays, strict=True)):
            if launches:
                device.copy(root, places[place], array.nbytes)
            else:
                device.upload(root, array)
        launches.append(player.prepare(recorded, roots))
        places += [*roots, launches[-1].memory]
    turn = 0

    def work() -> None:
        nonlocal turn
        launches[turn % count]()
        turn += 1

    device.milliseconds(work, count + 1)
    # an idle device has a low clock, which it raises in a while
    begun = time.monotonic()
    while not repeats and time.monotonic() - begun < WARM_SECONDS:
        device.milliseconds(work, 20)
    first = device.milliseconds(work, count + 1)
    calls = repeats or max(5, min(200, int(MILLISECONDS / max(first, 1e-3))))
    times = sorted(device.milliseconds(work, calls) for _ in range(1 if repeats else 3))
    for place in places:
        device.free(place)
    return times[len(times) // 2]


def time_all(
    player: Player,
    cases: Mapping[str, Mapping[Recorded, int]],
    kernels: Any,
    least: int,
    once: bool = False,
) -> dict[str, Any]:
    """Time the programs of all cases that move so many bytes; `once` each, if asked."""
    copy = copy_rate(1 << 20 if once else COPY_BYTES)
    rows = []
    print(f"copy: {copy:.0f} GB/s")
    for case, programs in cases.items():
        for recorded, count in iteration_programs(programs, OFTEN):
            size = bytes_of(recorded, kernels)
            if size < least:
                continue
            taken = time_program(player, recorded, 1 if once else None)
            rate = size / taken / 1e6
            row = {
                "case": case,
                "program": describe(recorded, kernels),
                "count": count,
                "ms": round(taken, 4),
                "bytes": size,
                "gb_s": round(rate, 1),
                "of_copy": round(rate / copy, 3),
            }
            rows.append(row)
            print(
                f"{case:24} {taken:9.4f} ms {rate:7.0f} GB/s {rate / copy:6.1%}  "
                f"x{count} {row['program']}",
                flush=True,
            )
    after = copy_rate(1 << 20 if once else COPY_BYTES)
    return {"copy_gb_s": round(copy, 1), "copy_after": round(after, 1), "rows": rows}
