# SPDX-License-Identifier: Apache-2.0
"""Gives new names to stores, so that nothing is copied or filled to be overwritten.

    for _ in range(4):                        read          written
        old = p.copy()                        -             -
        p[1:-1] = old[:-2] + old[2:]          p, q, p, q    q, p, q, p
        p[0] = p[1]; p[-1] = p[-2]            q, p, q, p    q, p, q, p

A copy's reads become reads of its source, whose later writes go to another store
from then on, if they overwrite all of it that is read afterwards: compilers call that
renaming. The last of the names is the source's own again where the source is needed
after the window, so that one copy alone stays as it is; three need two names more. In
the same way what is filled and then overwritten, as far as it is read at all, is not
filled.

Whoever replays the tasks of a window as they were submitted must find the values under
their own names. So all tasks that touch what is renamed belong to one launch.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from legate_diffuse.ir import Access, IndexTask, Privilege, Store, View, Window
from legate_diffuse.ir.region import BEGIN, END
from legate_diffuse.ir.relations import (
    Uncovered,
    are_covered,
    covers_store,
    shows_store,
)


@dataclass(frozen=True, slots=True)
class Renaming:
    """A window with new names.

    Attributes:
        window: its tasks are those of the original, in their places.
        families: for each store that is renamed, the stores whose users must run in one
            launch; it is one of these.
    """

    window: Window
    families: dict[int, set[int]] = field(default_factory=dict)


def rename(
    window: Window,
    copies: Callable[[IndexTask], bool],
    kept: frozenset[int] = frozenset(),
) -> Renaming:
    """Return a window without copies and fills that are overwritten.

    Args:
        window: what to change.
        copies: whether a task copies its input to its output.
        kept: ids of stores whose names stay.
    """
    if len(window.running) < 2:
        return Renaming(window)
    history = _History(window, kept)
    chosen = _choose(history, copies)
    unread = _dead_writes(history)
    if not chosen and not unread:
        return Renaming(window)
    names = _Names(window)
    for copy in chosen:
        names.replace_copy(copy)
    for source in {copy.source.id: copy.source for copy in chosen}.values():
        names.split(source, [copy for copy in chosen if copy.source is source])
    for position, store in unread:
        names.drop(position, store)
    return names.renaming()


def _of(store: Store, views: Iterable[View]) -> list[View]:
    """Return those of the views that show a store."""
    return [view for view in views if view.store.id == store.id]


def _reduces(task: IndexTask, store: Store) -> bool:
    return any(access.view.store.id == store.id for access in task.reductions)


def _overwrites(task: IndexTask, store: Store) -> bool:
    """Whether a task leaves nothing of a store, which it may have read before."""
    written = _of(store, task.writes)
    return any(map(covers_store, written)) and not _reduces(task, store)


class _History:
    """Which tasks of a window use the stores that may be renamed, in order.

    Dead ones use none.
    """

    def __init__(self, window: Window, kept: frozenset[int]) -> None:
        self.window: Final = window
        self.tasks: Final = window.tasks
        self.running: Final = window.running
        # by the store: positions of tasks
        self.users: Final[dict[int, list[int]]] = {}
        # a view of all of a store, by its id
        self.plain: Final[dict[int, View]] = {}
        excluded = set(kept)
        for position, task in self.running:
            for view in [access.view for access in task.accesses]:
                store = view.store
                if store.replicated or not view.affine:
                    excluded.add(store.id)
                if store.id not in self.plain and shows_store(view):
                    self.plain[store.id] = view
            for store_id in task.stores:
                self.users.setdefault(store_id, []).append(position)
        for store_id in excluded:
            self.users.pop(store_id, None)

    def after(self, store: Store, position: int) -> list[int]:
        """Return the tasks that use a store after a task."""
        users = self.users[store.id]
        return users[bisect_right(users, position) :]

    def is_overwritten(self, store: Store, users: Iterable[int]) -> bool:
        """Whether tasks leave nothing of a store, the first of which writes it.

        Neither they, after the first one has written, nor the application then reads
        anything that was there before.
        """
        plain = self.plain.get(store.id)
        left = plain and Uncovered(plain)
        written: dict[int, View] = {}
        for number, position in enumerate(users):
            task = self.tasks[position]
            if _reduces(task, store) or (
                number and not are_covered(_of(store, task.reads), written)
            ):
                return False
            for view in _of(store, task.writes):
                written[view.id] = view
                if left:
                    left.take(view)
            if _overwrites(task, store) or (left and left.nothing):
                return True
        return not store.live


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy that can be done without.

    Attributes:
        position: its task.
        source: what it copies.
        target: the copy.
        end: the task that overwrites the copy, or the number of tasks.
        last_use: the last task that reads the copy; ``position`` if none does.
        split: the task from which on the source needs another name, None if it is not
            changed while the copy is in use.
    """

    position: int
    source: Store
    target: Store
    end: int
    last_use: int
    split: int | None


def _choose(history: _History, copies: Callable[[IndexTask], bool]) -> list[_Copy]:
    """Return the copies to do without, in program order."""
    by_source: dict[int, list[_Copy]] = {}
    targets: set[int] = set()
    for position, task in history.running:
        if copies(task) and (copy := _examine(history, position)) is not None:
            source, target = copy.source.id, copy.target.id
            # what is copied on keeps its name
            if source not in targets and target not in by_source:
                by_source.setdefault(source, []).append(copy)
                targets.add(target)
    return [copy for own in by_source.values() for copy in _with_own_name_last(own)]


def _examine(history: _History, position: int) -> _Copy | None:
    """Return a copy if its reads can be reads of its source."""
    task = history.tasks[position]
    (read,), (written,) = task.reads, task.writes
    source, target = read.store, written.store
    if (
        not (shows_store(read) and shows_store(written))
        or source.id == target.id
        # points have parts of one, and not of the other
        or source.single != target.single
        or source.id not in history.users
        or target.id not in history.users
    ):
        return None
    end = len(history.tasks)
    last_use = position
    for user in history.after(target, position):
        task = history.tasks[user]
        reads = _of(target, task.reads)
        if reads:
            last_use = user
        if not all(map(_has_no_landmarks, reads)):
            return None
        if _overwrites(task, target):
            end = user
            break
        if target.id in task.changed:
            return None
    else:
        if target.live:
            return None
    after = history.after(source, position)
    changing = [source.id in history.tasks[user].changed for user in after]
    if True not in changing:
        return _Copy(position, source, target, end, last_use, None)
    split = changing.index(True)
    if last_use < after[split]:
        return _Copy(position, source, target, end, last_use, None)
    if not history.is_overwritten(source, after[split:]):
        return None
    return _Copy(position, source, target, end, last_use, after[split])


def _has_no_landmarks(view: View) -> bool:
    """Whether a view's region means the same in another store of one shape."""
    return all(
        end.landmark in (BEGIN, END)
        for interval in view.region or ()
        for end in (interval.low, interval.high)
    )


def _with_own_name_last(copies: list[_Copy]) -> list[_Copy]:
    """Return as many copies of a source as leave it under its own name at the end.

    It must not be written while what it held at first is still read under that name.
    """
    while True:
        splits = sorted({copy.split for copy in copies if copy.split is not None})
        if not splits or not copies[0].source.live:
            return copies
        uses = [copy.last_use for copy in copies if copy.position < splits[0]]
        if len(splits) > 1 and max(uses) < splits[-1]:
            return copies
        copies = [copy for copy in copies if copy.split != splits[-1]]


def _last_uses(splits: list[int], copies: list[_Copy]) -> list[int]:
    """Return the last task that may use what a source holds until each of its splits.

    What it holds after the last split is used until the end.
    """
    ends = [*splits, sys.maxsize]
    for copy in copies:
        number = bisect_left(splits, copy.position)
        ends[number] = max(ends[number], copy.last_use)
    return ends


def _dead_writes(history: _History) -> list[tuple[int, Store]]:
    """Return the tasks that write all of a store for nobody, and the store."""
    unread = []
    for store in history.window.stores:
        users = history.users.get(store.id, [])
        for number, position in enumerate(users[:-1]):
            task, following = (history.tasks[users[n]] for n in (number, number + 1))
            if (
                _overwrites(task, store)
                and store.id not in following.read
                and not _reduces(following, store)
                and history.is_overwritten(store, users[number + 1 :])
            ):
                unread.append((position, store))
    return unread


class _Names:
    """The names of stores in each task, and the views that follow from them."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._next_store = 1 + max(store.id for store in window.stores)
        self._next_view = 1 + max(view.id for view in window.views)
        # by store: the tasks that write under a new name first, and the names
        self._splits: dict[int, tuple[list[int], list[Store]]] = {}
        # by the store that is a copy: the copies
        self._copies: dict[int, list[_Copy]] = {}
        # by position and store: what is written for nobody
        self._dropped: dict[tuple[int, int], Store] = {}
        # by what they show
        self._views = {_shown(view.store, view): view for view in window.views}
        self._families: dict[int, set[int]] = {}

    def replace_copy(self, copy: _Copy) -> None:
        """Let what reads a copy read its source."""
        self._copies.setdefault(copy.target.id, []).append(copy)
        self.drop(copy.position, copy.target)
        self._keep_together(copy.source, copy.target)

    def split(self, store: Store, copies: list[_Copy]) -> None:
        """Write a store under another name from each of its copies' splits on.

        Names that are no longer in use are taken again.
        """
        splits = sorted({copy.split for copy in copies if copy.split is not None})
        ends = _last_uses(splits, copies)
        names = [store]
        for number, first in enumerate(splits, 1):
            last = number == len(splits)
            if last and store.live:
                names.append(store)
                continue
            in_use = {
                name.id for name, end in zip(names, ends, strict=False) if end >= first
            }
            if store.live and ends[number] >= splits[-1]:
                in_use.add(store.id)
            free = [name for name in names if name.id not in in_use]
            names.append(free[0] if free else self._new_store(store))
        self._splits[store.id] = splits, names

    def drop(self, position: int, store: Store) -> None:
        """Let a task write a store that nobody reads."""
        if (position, store.id) not in self._dropped:
            self._dropped[position, store.id] = self._new_store(store)
            self._keep_together(store)

    def renaming(self) -> Renaming:
        """Return the window with its new names."""
        tasks = tuple(
            [
                task
                if position in self._window.dead
                or task.stores.isdisjoint(self._families)
                else replace(
                    task,
                    accesses=tuple(
                        [
                            Access(a.privilege, self._view(position, a), a.operator)
                            for a in task.accesses
                        ]
                    ),
                )
                for position, task in enumerate(self._window.tasks)
            ]
        )
        return Renaming(replace(self._window, tasks=tasks), self._families)

    def _new_store(self, store: Store) -> Store:
        self._next_store += 1
        return replace(store, id=self._next_store - 1, live=False, undefined=True)

    def _keep_together(self, *stores: Store) -> None:
        together = {store.id for store in stores}
        for store in together:
            self._families.setdefault(store, set()).update(together)

    def _view(self, position: int, access: Access) -> View:
        view = access.view
        store = view.store
        if access.privilege is Privilege.READ:
            for copy in self._copies.get(store.id, ()):
                if copy.position < position <= copy.end:
                    return self._through(self._name(copy.source, copy.position), view)
            return self._through(self._name(store, position), view)
        name = self._dropped.get((position, store.id))
        return self._through(name or self._name(store, position + 1), view)

    def _name(self, store: Store, position: int) -> Store:
        """Return the name under which a store is read by a task."""
        if store.id not in self._splits:
            return store
        splits, names = self._splits[store.id]
        return names[bisect_left(splits, position)]

    def _through(self, store: Store, view: View) -> View:
        """Return a view of a store with the layout of another one."""
        shown = _shown(store, view)
        known = self._views.get(shown)
        if known is None:
            known = replace(view, id=self._next_view, store=store)
            self._next_view += 1
            self._views[shown] = known
        return known


def _shown(store: Store, view: View) -> tuple[object, ...]:
    return store.id, view.shape, view.region, view.dims
