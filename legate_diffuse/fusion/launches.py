# SPDX-License-Identifier: Apache-2.0
"""Which groups share a task.

Tasks over arrays that are not partitioned depend on each other within one process
only. So their groups become one task, whatever their shapes and views are: a program
of loop nests that run one after the other. Groups over partitioned arrays become one
task where its points can compute what each of them needs (``tiles.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from legate_diffuse.fusion.cluster import Cluster, reachable
from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.legality import is_late
from legate_diffuse.fusion.lowering import lower_nest
from legate_diffuse.fusion.memo import Memo
from legate_diffuse.fusion.tile_nests import NO_NESTS, Tiles
from legate_diffuse.ir import IndexTask, Window

# At most so many loop nests in one task; their kernels are compiled separately.
MAX_NESTS: Final = 256


@dataclass(frozen=True, slots=True)
class Launch:
    """Groups that run as one task, or the one task of a group that is not fused.

    Attributes:
        groups: the groups, in order.
        fused: whether they run as a program, and not as they were submitted.
        partitioned: whether the program runs on tiles, and not on whole arrays.
        gathers: whether points read elements that an argument tells.
    """

    groups: tuple[Grouping, ...]
    fused: bool = True
    partitioned: bool = False
    gathers: bool = False

    @property
    def tiled(self) -> bool:
        """Whether points have more than what is aligned with one nest."""
        return self.partitioned and (self.gathers or len(self.groups) > 1)

    @property
    def tasks(self) -> tuple[int, ...]:
        """The positions of all tasks, in program order."""
        return tuple(sorted({n for group in self.groups for n in group.tasks}))


def form_launches(
    window: Window,
    groups: Sequence[Grouping],
    traps: Callable[[IndexTask], bool] = lambda task: False,
    cuts: AbstractSet[int] = frozenset(),
    memo: Memo | None = None,
) -> tuple[Launch, ...]:
    """Return launches that run the groups, in an order that gives the same results.

    ``traps`` tells whether an original task must not run if a kernel can instead. Tasks
    in ``cuts``, by position, share no partitioned launch with groups before them.
    ``memo`` has what was made of the same groups before.
    """
    memo = Memo() if memo is None else memo
    launches: list[_Open] = []
    for group in groups:
        tasks = [window.tasks[position] for position in group.tasks]
        partitioned = group.fused and _is_partitioned(tasks)
        new = _Open(memo=memo, fused=group.fused, partitioned=partitioned)
        if partitioned and _only_fills(tasks):
            new.tiles = None
            launches.insert(_first_place(launches, tasks), new)
            new.add(group, tasks)
            continue
        joins = group.fused and not (partitioned and cuts & {*group.tasks})
        before = reachable(launches, tasks) if joins else ()
        takers = (
            one
            for one in before
            if one.partitioned == partitioned and one.takes(group, tasks)
        )
        launch = next(takers, None)
        if launch is None:
            launches.append(launch := new)
        launch.add(group, tasks)
    _take_fills(launches, cuts, memo)
    return tuple(
        Launch(one.groups, fused=False)
        if _not_worth_it(one) and not any(traps(task) for task in one.members)
        else Launch(
            one.groups,
            one.fused,
            one.partitioned,
            any([task.gathers for task in one.members]),
        )
        for one in launches
    )


def cut(window: Window, launch: Launch, cuts: AbstractSet[int]) -> int:
    """Return the task where a launch becomes two, as points cannot divide all of it.

    Its group is the one in the middle, or the nearest one that is not in ``cuts``; the
    first group only if that is a fill, which the others have taken.
    """
    middle = len(launch.groups) // 2
    numbers = sorted(range(len(launch.groups)), key=lambda n: (n == 0, abs(n - middle)))
    # scalar work may be in several groups
    loops = [
        [n for n in group.tasks if not window.tasks[n].scalar]
        for group in launch.groups
    ]
    return next(loops[n][0] for n in numbers if cuts.isdisjoint(loops[n]))


def _joined(
    memo: Memo, tiles: Tiles, group: Grouping, tasks: Sequence[IndexTask]
) -> Tiles | None:
    """Return nests with that of a group, None if no axis divides them all.

    Launches that begin alike share what was placed for their first groups.
    """

    def join() -> Tiles | None:
        nest = lower_nest(dict(zip(group.tasks, tasks, strict=True)), frozenset(), None)
        return tiles if nest is None else tiles.joined(nest)

    return memo.of((tiles, group.tasks), join)


@dataclass(slots=True)
class _Open(Cluster):
    """A launch that may still take in groups."""

    memo: Memo = field(default_factory=Memo)
    fused: bool = True
    partitioned: bool = False
    parts: list[tuple[Grouping, Sequence[IndexTask]]] = field(default_factory=list)
    # the nests of a partitioned launch, None if it takes in no more groups
    tiles: Tiles | None = NO_NESTS

    @property
    def groups(self) -> tuple[Grouping, ...]:
        """The groups, in order."""
        return tuple(group for group, _ in self.parts)

    def add(self, group: Grouping, tasks: Sequence[IndexTask]) -> None:
        """Take in a group and its tasks."""
        if self.tiles is not None and self.partitioned:
            # each nest is given what single elements were before the launch
            is_late = self._is_late(tasks)
            joined = _joined(self.memo, self.tiles, group, tasks)
            self.tiles = None if is_late else joined
        self.parts.append((group, tasks))
        for task in tasks:
            self.take(task)

    def takes(self, group: Grouping, tasks: Sequence[IndexTask]) -> bool:
        """Whether the launch may run the tasks of one group more."""
        if not (self.fused and self.has_room(tasks)):
            return False
        return not self.partitioned or self._can_tile(group, tasks)

    def _can_tile(self, group: Grouping, tasks: Sequence[IndexTask]) -> bool:
        """Whether points may run the tasks of one group more."""
        if self.tiles is None or not self._is_before(tasks):
            return False
        tiles = _joined(self.memo, self.tiles, group, tasks)
        return (
            tiles is not None
            and tiles.is_near(tiles.changed, None)
            and (tiles.divides_rows or not self._has_other_tiles(group, tasks))
        )

    def _has_other_tiles(self, group: Grouping, tasks: Sequence[IndexTask]) -> bool:
        """Whether to join would keep the launch from being split by rows.

        As other launches are, from where the rows would have to move.
        """
        alone = _joined(self.memo, NO_NESTS, group, tasks)
        assert self.tiles is not None, "the launch is tiled"
        if alone is None or self.tiles.has_few_rows == alone.has_few_rows:
            return False
        many = alone if self.tiles.has_few_rows else self.tiles
        return many.divides_rows

    def takes_beside(self, group: Grouping, tasks: Sequence[IndexTask]) -> bool:
        """Take in a group that shares a task with others already, if that may be."""
        if not (self.has_room(tasks) and self._is_before(tasks)):
            return False
        self.add(group, tasks)
        return True

    def _is_before(self, tasks: Sequence[IndexTask]) -> bool:
        """Whether what is computed of single elements may come before the launch.

        Nothing may use what it reduces to single elements, nor reduce to what it uses,
        nor change it.
        """
        reduced = {
            access.view.store.id
            for task in self.members
            for access in task.reductions
            if access.view.store.replicated
        }
        read = {view.store.id for task in self.members for view in task.reads}
        return not self._is_late(tasks) and not any(
            not reduced.isdisjoint(task.stores)
            or any(access.view.store.id in read for access in task.reductions)
            for task in tasks
        )

    def _is_late(self, tasks: Sequence[IndexTask]) -> bool:
        """Whether scalar work of a group, run by itself, must come after the launch."""
        touched = set(self.touched)
        for task in tasks:
            if task.scalar and is_late(task, touched, set()):
                return True
            touched |= task.stores
        return False

    def has_room(self, tasks: Sequence[IndexTask]) -> bool:
        """Whether the tasks of one group more would not be too many."""
        return len(self.parts) < MAX_NESTS and Cluster.has_room(self, tasks)


def _is_partitioned(tasks: Sequence[IndexTask]) -> bool:
    """Whether Legate would not run all tasks of a group on one processor."""
    return not all([task.single for task in tasks])


def _not_worth_it(launch: _Open) -> bool:
    """Whether the original tasks cost no more; a fill is no task in Legion."""
    tasks = launch.members
    is_scalar = not launch.partitioned and len(tasks) == 1 and tasks[0].scalar
    return is_scalar or _only_fills(tasks)


def _only_fills(tasks: Sequence[IndexTask]) -> bool:
    return all([task.kind.task == "FILL" for task in tasks])


def _fills_on_points(launches: Iterable[_Open]) -> list[_Open]:
    return [one for one in launches if one.partitioned and _only_fills(one.members)]


def _first_place(launches: Sequence[_Open], tasks: Sequence[IndexTask]) -> int:
    """Return where tasks that fill an array can run, as early as they can."""
    place = len(launches)
    while place and not any(map(launches[place - 1].conflicts, tasks)):
        place -= 1
    while _fills_on_points(launches[place : place + 1]):
        place += 1
    return place


def _take_fills(launches: list[_Open], cuts: AbstractSet[int], memo: Memo) -> None:
    """Move fills of what only one launch uses into it, where points may run them."""
    for fill in _fills_on_points(launches):
        ((group, tasks),) = fill.parts
        users = [
            one
            for one in launches
            if one is not fill and not one.touched.isdisjoint(fill.touched)
        ]
        if len(users) != 1 or cuts & {*group.tasks}:
            continue
        (user,) = users
        is_later = launches.index(user) > launches.index(fill)
        if not (user.partitioned and user.tiles and is_later):
            continue
        filled = _Open(memo=memo, partitioned=True)
        filled.add(group, tasks)
        if not all(filled.takes_beside(*part) for part in user.parts):
            continue
        # a sum of all points' shares is not in the task that adds to it
        if filled.tiles and len(filled.tiles.axes) == len(user.tiles.axes):
            launches[launches.index(user)] = filled
            launches.remove(fill)
