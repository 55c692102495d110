# SPDX-License-Identifier: Apache-2.0
"""Where full windows are cut, and that the cuts follow the program's loop."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.launch.policy import CAPACITY, WindowPolicy, kinds_of, sums_up


@dataclass(eq=False)
class Root:
    """What the policy needs of a root."""

    alive: bool = True
    scalar_storage: bool = False


@dataclass
class Operation:
    """What the policy needs of an operation."""

    number: int
    roots: list[Root] = field(default_factory=list)
    privilege: int = READ

    @property
    def kind(self) -> Any:
        """Its kind, by which the place in the program is recognized."""
        return SimpleNamespace(id=self.number)

    @property
    def privileges(self) -> list[int]:
        """What it does with them."""
        return [self.privilege] * len(self.roots)

    @property
    def views(self) -> list[Any]:
        """Its arguments."""
        return [SimpleNamespace(root=root) for root in self.roots]


def chains(count: int, length: int) -> list[Operation]:
    """Return statements that pass temporaries along, of so many operations each."""
    operations = []
    for statement in range(count):
        before = Root()
        for step in range(length):
            after = Root(alive=step == length - 1)
            operations.append(Operation(100 * statement + step, [after, before]))
            before = after
    return operations


def loop(length: int, iterations: int) -> list[Operation]:
    """Return a loop whose body has so many operations, with new arrays every time."""
    return [
        operation
        for _ in range(iterations)
        for operation in chains(count=(length + 6) // 7, length=7)[:length]
    ]


def run(policy: WindowPolicy, stream: list[Operation]) -> list[list[Operation]]:
    """Return the windows into which the policy cuts a stream, as the window does."""
    windows = []
    pending: list[Operation] = []
    ended = False
    for operation in stream:
        if ended:
            known = policy.ends_at(pending)
            count = len(pending) if known else policy.cut(pending)
            policy.ended(kinds_of(pending[:count]))
            windows.append(pending[:count])
            rest, pending = pending[count:], []
            for each in rest:
                pending.append(each)
                if policy.ends_at(pending):
                    policy.ended(kinds_of(pending))
                    windows.append(pending)
                    pending = []
        pending.append(operation)
        ended = policy.ends_at(pending) or policy.is_full(pending)
    return windows


def test_a_full_window_is_cut_between_two_statements() -> None:
    operations = chains(count=20, length=7)[:CAPACITY]
    count = WindowPolicy().cut(operations)
    assert count % 7 == 0
    assert CAPACITY // 3 <= count <= CAPACITY


def test_what_is_alive_may_cross_a_cut() -> None:
    operations = [Operation(n, [Root()]) for n in range(CAPACITY)]
    expected = WindowPolicy().cut(operations)
    for one, other in itertools.pairwise(operations):
        other.roots += one.roots[:1]
    assert WindowPolicy().cut(operations) == expected


def test_so_may_futures() -> None:
    operations = [
        Operation(number, [Root(alive=False, scalar_storage=True)])
        for number in range(CAPACITY)
    ]
    expected = WindowPolicy().cut(operations)
    for one, other in itertools.pairwise(operations):
        other.roots += one.roots[:1]
    assert WindowPolicy().cut(operations) == expected


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("crossing", [1, 2])
def test_points_end_windows_where_sums_end_tasks(
    crossing: int, partitioned: bool
) -> None:
    # of statements that pass arrays along, one sums up
    operations = chains(count=20, length=7)
    total = Operation(9, [Root(scalar_storage=True)], REDUCE)
    operations.insert(73, total)
    for _ in range(crossing - 1):
        root = Root(alive=False)
        operations[72].roots.append(root)
        operations[74].roots.append(root)
    count = WindowPolicy().cut(operations, partitioned=partitioned)
    # arrays cross the cut there, and none one between two statements
    assert (count == 74) == (partitioned and crossing == 1)
    assert count == 74 or operations[count].number % 100 == 0


def test_a_place_where_a_window_was_cut_ends_it_from_then_on() -> None:
    policy = WindowPolicy()
    operations = chains(count=20, length=7)[:CAPACITY]
    count = policy.cut(operations)
    assert policy.ends_at(operations[:count])
    assert not policy.ends_at(operations[: count - 1])
    assert not policy.ends_at([Operation(-1), *operations[1:count]])


def test_short_windows_go_on() -> None:
    policy = WindowPolicy()
    operations = chains(count=20, length=7)[:CAPACITY]
    count = policy.cut(operations)
    assert not policy.ends_at(operations[count - 20 : count])


@pytest.mark.parametrize("length", [30, 37, 67, 100, 127, 128, 129, 200, 301])
def test_windows_come_again_although_the_loop_does_not_divide_them(length: int) -> None:
    """From some iteration on, only windows that were seen before."""
    windows = run(WindowPolicy(), loop(length, iterations=60))
    seen: Counter[tuple[int, ...]] = Counter()
    new_at = []
    for window in windows:
        key = tuple(operation.number for operation in window)
        new_at += [sum(seen.values())] if key not in seen else []
        seen[key] += 1
    assert len(seen) <= 16
    assert new_at[-1] < len(windows) / 2, "the last new window comes early"


def test_windows_fall_into_step_after_a_change() -> None:
    """A program that does something else in between is cut as it was before."""
    policy = WindowPolicy()
    other = [Operation(5000 + n, [Root()]) for n in range(41)]
    first = run(policy, loop(77, iterations=30))
    again = run(policy, [*other, *loop(77, iterations=30)])

    def keys(windows: list[list[Operation]]) -> set[tuple[int, ...]]:
        return {tuple(o.number for o in window) for window in windows}

    assert len(keys(again) - keys(first)) <= 3


def step(length: int) -> list[Operation]:
    """Return a loop's body whose operations all read what the first one has made."""
    source = Root(alive=False)
    return [
        Operation(number, [Root(alive=number == length - 1), source])
        for number in range(length)
    ]


def body(length: int) -> list[Operation]:
    """Return operations of so many kinds."""
    return [Operation(1000 * length + number) for number in range(length)]


def numbers(windows: list[list[Operation]]) -> list[list[int]]:
    """Return which operations the windows hold."""
    return [[operation.number for operation in window] for window in windows]


@pytest.mark.parametrize(
    "body", [lambda: step(400), lambda: chains(50, 8)], ids=["in use", "not in use"]
)
def test_windows_of_a_long_loop_hold_whole_steps(
    body: Callable[[], list[Operation]],
) -> None:
    windows = run(WindowPolicy(), [each for _ in range(8) for each in body()])
    assert numbers(windows)[:5] == numbers([body()]) * 5


def test_so_do_those_of_a_long_loop_with_a_short_one_in_it() -> None:
    def body() -> list[Operation]:
        operations = step(100)
        for _ in range(10):
            sweep = step(30)
            for operation in sweep:
                operation.number += 200
                operation.roots += operations[0].roots[1:]
            operations += sweep
        return operations

    windows = run(WindowPolicy(), [each for _ in range(12) for each in body()])
    assert len(windows[0]) < CAPACITY
    assert numbers(windows[-3:]) == numbers([body()]) * 3


def test_steps_of_a_long_loop_are_not_cut_although_nothing_is_in_use() -> None:
    windows = run(WindowPolicy(), loop(301, iterations=20))
    assert [len(window) for window in windows[-5:]] == [301] * 5


def test_windows_of_a_short_loop_hold_a_few_steps() -> None:
    policy = WindowPolicy()
    windows = run(policy, [operation for _ in range(60) for operation in step(37)])
    assert {len(window) for window in windows} == {2 * 37}
    assert policy.capacity == CAPACITY


@pytest.mark.parametrize(
    ("windows", "capacity"),
    [
        ([100, 90, 80, 100, 90, 80], 4 * 270 // 3 + 16),
        # sweeps in the middle of a step
        ([100, 90, 90, 80, 100, 90, 90, 80], 4 * 360 // 3 + 16),
        ([100, 90, 80, 100, 90, 81], CAPACITY),
        ([90, 90, 90, 90], CAPACITY),
        # a short loop whose result is read after every hundred iterations
        ([90, 90, 90, 90, 5, 90, 90, 90, 90, 5], CAPACITY),
        # a step that is too long, and one that waits anyway
        ([600, 500, 600, 500], CAPACITY),
        ([50, 40, 50, 40], CAPACITY),
    ],
)
def test_what_waits_depends_on_the_windows_that_come_again(
    windows: list[int], capacity: int
) -> None:
    policy = WindowPolicy()
    for length in windows:
        policy.ended(kinds_of(body(length)))
    assert policy.capacity == capacity


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("summing", [2, 3])
def test_windows_with_sums_of_partitioned_arrays_do_not_grow(
    summing: int, partitioned: bool
) -> None:
    policy = WindowPolicy()
    windows = [body(length) for length in (100, 90, 80)]
    for window in windows[:summing]:
        window[40] = Operation(-len(window), [Root(scalar_storage=True)], REDUCE)
    for window in windows + windows:
        sums = partitioned and any(map(sums_up, window))
        policy.ended(kinds_of(window), sums)
    # one task less for each of them would be all that is gained
    grows = summing < len(windows) or not partitioned
    assert policy.capacity == (4 * 270 // 3 + 16 if grows else CAPACITY)


@pytest.mark.parametrize("place", range(7))
def test_windows_whose_launches_were_split_do_not_grow(place: int) -> None:
    policy = WindowPolicy()
    for position, length in enumerate([100, 90, 80] * 2):
        policy.ended(kinds_of(body(length)), split=position == place)
    assert policy.capacity == (CAPACITY if place < 6 else 4 * 270 // 3 + 16)


def test_all_ranks_cut_alike() -> None:
    stream = loop(77, iterations=20)
    lengths = [[len(w) for w in run(WindowPolicy(), stream)] for _ in range(2)]
    assert lengths[0] == lengths[1]
