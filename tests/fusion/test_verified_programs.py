# SPDX-License-Identifier: Apache-2.0
"""What the verifier of programs lets pass gives the right results."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from nest_execution import Executor, results
from random_nests import SIZES, Steps, nests_of
from test_schedule_soundness import programs, small_numbers
from tiers import examples

from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.ir.distance import Distance, Rows
from legate_diffuse.ir.nest import Band, Margin, Program, Turn
from legate_diffuse.ir.program_text import render_program
from legate_diffuse.ir.verify_program import verify_program

__all__ = ["small_numbers"]

PROGRAMS = examples(20, 250)
# Each program is changed in so many ways.
CHANGES = 12
# Of what is refused one in so many is run, to see whether it is wrong.
ONE_IN = examples(4, 1)


def _shift(turn: Turn, rng: random.Random) -> Turn:
    return replace(turn, shift=turn.shift + rng.choice((-2, -1, 1)))


def _distance(turn: Turn, rng: random.Random) -> Turn:
    distances = list(turn.distances)
    number = rng.randrange(len(distances))
    distance = distances[number]
    distances[number] = None if distance is None else distance + rng.choice((-1, 1))
    return replace(turn, distances=tuple(distances))


def _less(rows: Rows) -> Rows:
    return rows - 1 if isinstance(rows, Distance) else max(rows - 1, 0)


def _margin(turn: Turn, rng: random.Random) -> Turn:
    if turn.margin is None:
        return turn
    before, after = turn.margin.before, turn.margin.after
    if rng.random() < 0.5:
        return replace(turn, margin=Margin(_less(before), after))
    return replace(turn, margin=Margin(before, _less(after)))


def _change_turn(
    change: Callable[[Turn, random.Random], Turn],
) -> Callable[[Program, random.Random], Program]:
    def changed(program: Program, rng: random.Random) -> Program:
        bands = list(program.bands)
        number = rng.randrange(len(bands))
        turns = list(bands[number].turns)
        place = rng.randrange(len(turns))
        turns[place] = change(turns[place], rng)
        bands[number] = replace(bands[number], turns=tuple(turns))
        return Program(tuple(bands))

    return changed


def _swap_turns(program: Program, rng: random.Random) -> Program:
    bands = list(program.bands)
    number = rng.randrange(len(bands))
    turns = list(bands[number].turns)
    place = rng.randrange(len(turns))
    turns.insert(rng.randrange(len(turns)), turns.pop(place))
    bands[number] = replace(bands[number], turns=tuple(turns))
    return Program(tuple(bands))


def _swap_bands(program: Program, rng: random.Random) -> Program:
    bands = list(program.bands)
    bands.insert(rng.randrange(len(bands)), bands.pop(rng.randrange(len(bands))))
    return Program(tuple(bands))


def _join_bands(program: Program, rng: random.Random) -> Program:
    if len(program.bands) < 2:
        return program
    number = rng.randrange(len(program.bands) - 1)
    one, other = program.bands[number : number + 2]
    both = Band((*one.turns, *other.turns), (*one.circular, *other.circular))
    bands = program.bands
    return Program((*bands[:number], both, *bands[number + 2 :]))


def _shrink_buffer(program: Program, rng: random.Random) -> Program:
    return Program(
        tuple(
            replace(
                band,
                circular=tuple((s, _less(rows)) for s, rows in band.circular),
            )
            for band in program.bands
        )
    )


CHANGE = (
    *map(_change_turn, (_shift, _shift, _distance, _margin)),
    _swap_turns,
    _swap_bands,
    _join_bands,
    _shrink_buffer,
)


def is_right(steps: Steps, program: Program) -> bool:
    """Whether a program gives what its nests give in the order of their numbers."""
    for sizes in SIZES:
        executor = Executor(steps, program, sizes, random.Random(1))
        expected = executor.in_order()
        try:
            found = list(results(executor))
        except (AssertionError, LookupError, ValueError):
            return False
        if any(result not in (None, expected) for _, result in found):
            return False
    return True


def is_accepted(steps: Steps, program: Program) -> bool:
    try:
        verify_program(program, steps.scratch)
    except ValueError:
        return False
    return True


def changed_programs() -> Iterator[tuple[str, Steps, Program]]:
    """Yield programs of which something was changed after they had been scheduled."""
    for seed, steps in programs(PROGRAMS):
        rng = random.Random(seed)
        made = schedule(nests_of(steps), steps.scratch)
        for change in rng.choices(CHANGE, k=CHANGES):
            program = change(made, rng)
            if program != made:
                yield change.__name__, steps, program


def test_what_is_accepted_is_right() -> None:
    seen: Counter[tuple[bool, bool]] = Counter()
    for number, (_, steps, program) in enumerate(changed_programs()):
        accepted = is_accepted(steps, program)
        if not accepted and number % ONE_IN:
            continue
        right = is_right(steps, program)
        assert right or not accepted, render_program(program)
        seen[accepted, right] += 1
    print(seen)
    assert seen[True, True] > PROGRAMS
    assert ONE_IN * seen[False, False] > PROGRAMS
