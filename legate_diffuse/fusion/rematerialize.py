# SPDX-License-Identifier: Apache-2.0
"""Rematerialization: launches compute again the single elements that they use.

If a scalar operation is folded into one launch, and another launch uses its result,
the operation would have to run by itself as well. If its operands have not changed, it
is cheaper to fold it into the other launch, too: every point computes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.ir import Window
from legate_diffuse.ir.task import read_before_changed


def rematerialize_scalars(
    window: Window, launches: Sequence[Launch]
) -> tuple[Launch, ...]:
    """Return the launches, with scalar work added to those that use its results."""
    if not any(launch.partitioned for launch in launches):
        return tuple(launches)
    known = _Known(window)
    extended: list[Launch] = []
    for launch in launches:
        groups = []
        changing: dict[int, list[int]] = {}
        for position in launch.tasks:
            for store in window.tasks[position].changed:
                changing.setdefault(store, []).append(position)
        for group in launch.groups:
            if launch.partitioned:
                tasks = tuple(sorted(known.with_scalars(group.tasks, changing)))
                groups.append(replace(group, tasks=tasks))
            else:
                groups.append(group)
            known.run(group)
        extended.append(replace(launch, groups=tuple(groups)))
    return tuple(extended)


@dataclass(slots=True)
class _Known:
    """The scalar work so far, and whether it would give the same results now."""

    window: Window
    # store id -> how often it was changed
    versions: dict[int, int] = field(default_factory=dict)
    # store id -> the scalar task that computed it, and the versions of what it read
    makers: dict[int, tuple[int, dict[int, int]]] = field(default_factory=dict)

    def run(self, group: Grouping) -> None:
        """Take note of the tasks of a group; only fused ones can run in kernels."""
        for position in group.tasks:
            task = self.window.tasks[position]
            read = {v.store.id: self.versions.get(v.store.id, 0) for v in task.reads}
            for view in task.changes:
                store = view.store.id
                self.versions[store] = self.versions.get(store, 0) + 1
                self.makers.pop(store, None)
                if group.fused and task.scalar and not view.store.live:
                    self.makers[store] = position, read

    def with_scalars(
        self, positions: Sequence[int], changing: Mapping[int, Sequence[int]]
    ) -> set[int]:
        """Return the tasks of a group with the scalar work that they need.

        ``changing`` are the tasks of its launch that change each store.
        """
        chosen = set(positions)
        tasks = self.window.tasks
        wanted = read_before_changed([tasks[position] for position in positions])
        while wanted:
            maker = self._maker(wanted.pop(), changing)
            if maker is not None and maker not in chosen:
                chosen.add(maker)
                wanted |= self.window.tasks[maker].read
        return chosen

    def _maker(self, store: int, changing: Mapping[int, Sequence[int]]) -> int | None:
        """Return the task to run again for a store, if it gives the same result.

        It may not read before what the launch changes; but for what that has only
        computed from what others can compute it from, too.
        """
        if store not in self.makers:
            return None
        position, read = self.makers[store]
        task = self.window.tasks[position]
        for own in task.stores & changing.keys():
            if any(n != self.makers.get(own, (None,))[0] for n in changing[own]):
                return None
        same = all(self.versions.get(each, 0) == was for each, was in read.items())
        return position if same else None
