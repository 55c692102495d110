# SPDX-License-Identifier: Apache-2.0
"""Loops of a GPU's thread over the points of a row: groups of vectors, and the rest."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PointLoops:
    """Emits the loops.

    Attributes:
        lanes: points of a vector; one without vectors.
        groups: vectors of a group, which are loaded before the first is computed.
        vectors: whether there may be vectors of several points.
        repeats: whether a thread has several groups; else the grid has a thread for all
            points of a row.
        computed: returns what is done with so many points from a name on, and with so
            many groups of them.
    """

    lanes: int
    groups: int
    vectors: bool
    repeats: bool
    computed: Callable[[int, str, int], list[str]]

    def row(self) -> list[str]:
        """Return the loops over the points of a row, from block `row.start` on.

        Ends before block `row.done`.
        """
        points = [
            "  %point.first = add i64 %group.first, 0",
            "  %point.apart = add i64 %group.apart, 0",
            *self._loops("point", 1, "along", "%extent", "row.done"),
        ]
        whole = "0"
        if self.vectors:
            whole = "%whole"
            points = [
                "  br i1 %in.vectors, label %vectors, label %points",
                "vectors:",
                f"  %vector.first = mul i64 %group.first, {self.lanes}",
                f"  %vector.apart = mul i64 %group.apart, {self.lanes}",
                *self._loops("vector", self.lanes, "vectors", "%whole", "steps"),
                "points:",
                *points[:2],
                *self._loops("point", 1, "points", "%extent", "row.done"),
            ]
        return [
            "row.start:",
            "  br i1 %in.steps, label %steps, label %along",
            "along:",
            *points,
            # what is in no vector, too
            "steps:",
            f"  %steps.first = add i64 %first.x, {whole}",
            *self._loop(
                "strided",
                1,
                ("%steps.first", "steps"),
                "row.done",
                "%extent",
                "%step.x",
            ),
        ]

    def _loops(
        self, name: str, lanes: int, before: str, end: str, after: str
    ) -> list[str]:
        """Return a loop over groups of vectors, and one over what is left of them."""
        text, first = [], f"%{name}.first"
        apart, several = f"%{name}.apart", f"%{name}.several"
        if self.repeats:
            text = [f"  {several} = mul i64 {apart}, %group.stride"]
        if self.groups == 1:
            return [
                *text,
                *self._loop(name, lanes, (first, before), after, end, several),
            ]
        group, left = f"{name}.group", f"{name}.left"
        return [
            *text,
            f"  %{name}.reach = mul i64 {apart}, {self.groups - 1}",
            *self._loop(group, lanes, (first, before), left, end, several, after),
            f"{left}:",
            # to the end of the block's last group
            *self._loop(name, lanes, (f"%{group}", left), after, end, apart),
        ]

    def _loop(
        self,
        name: str,
        lanes: int,
        start: tuple[str, str],
        after: str,
        end: str,
        step: str,
        after_group: str = "",
    ) -> list[str]:
        """Return a loop over vectors, or over groups of them.

        It starts at a point, after a block. Where there is a thread for all points, it
        runs once at most, and a group is followed by the block `after_group`.
        """
        stem = name.partition(".")[0]
        first, before = start
        last = f"%{name}"
        is_left = not after_group and self.groups > 2
        repeats = self.repeats or stem == "strided" or is_left
        text = [f"  br label %{name}.test", f"{name}.test:"]
        text.append(
            f"  %{name} = phi i64 [ {first}, %{before} ]"
            + (f", [ %{name}.next, %{name}.end ]" if repeats else "")
        )
        if after_group:
            last = f"%{name}.last"
            text.append(f"  {last} = add i64 %{name}, %{stem}.reach")
        text += [
            f"  %{name}.more = icmp slt i64 {last}, {end}",
            f"  br i1 %{name}.more, label %{name}.body, label %{after}",
            f"{name}.body:",
            *self.computed(lanes, name, self.groups if after_group else 1),
        ]
        if not repeats:
            return [*text, f"  br label %{after_group or after}"]
        return [
            *text,
            f"  br label %{name}.end",
            f"{name}.end:",
            f"  %{name}.next = add i64 %{name}, {step}",
            f"  br label %{name}.test, !llvm.loop !1",
        ]
