# SPDX-License-Identifier: Apache-2.0
"""Finds small integers for which linear equations and inequalities hold.

Bounds are propagated, and numbers tried in the order in which they are wanted; what is
left of a window's relations is so simple that this hardly ever goes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

# Numbers that are tried at most beside those that are right at once.
_MOST_TRIES: Final = 400


@dataclass(frozen=True, slots=True)
class Sum:
    """A number, and variables, each so many times; none is there 0 times."""

    number: int
    terms: tuple[tuple[Hashable, int], ...] = ()

    def __add__(self, other: Sum | int) -> Sum:
        """Return the sum of both."""
        if isinstance(other, int):
            return Sum(self.number + other, self.terms)
        found = dict(self.terms)
        for variable, factor in other.terms:
            found[variable] = found.get(variable, 0) + factor
        terms = tuple(each for each in found.items() if each[1])
        return Sum(self.number + other.number, terms)

    def __neg__(self) -> Sum:
        """Return the same with the other sign."""
        return Sum(-self.number, tuple((v, -factor) for v, factor in self.terms))

    def __sub__(self, other: Sum | int) -> Sum:
        """Return the difference."""
        return self + (-other)

    def at(self, values: Mapping[Hashable, int]) -> int:
        """Return the number for these variables."""
        found = self.number
        for name, factor in self.terms:
            found += factor * values[name]
        return found


def variable(name: Hashable) -> Sum:
    """Return a variable."""
    return Sum(0, ((name, 1),))


_Bounds = dict["Hashable", tuple[int, int]]


class _NoneError(Exception):
    """No numbers are left."""


@dataclass
class Relations:
    """What is to hold: sums that are 0, that are not negative, and that are not 0."""

    zero: dict[Sum, None] = field(default_factory=dict)
    positive: dict[Sum, None] = field(default_factory=dict)
    different: dict[Sum, None] = field(default_factory=dict)
    # what is left of bounds before anything is chosen, by variables and what is most
    _left: dict[object, _Bounds | None] = field(default_factory=dict)

    def equal(self, one: Sum, other: Sum | int) -> None:
        """Let two sums be equal."""
        self.zero[one - other] = None

    def at_least(self, one: Sum, other: Sum | int) -> None:
        """Let a sum be at least another one."""
        self.positive[one - other] = None

    def differ(self, one: Sum, other: Sum) -> None:
        """Let two sums be different."""
        self.different[one - other] = None

    def solve(
        self, wanted: Mapping[Hashable, int], most: int
    ) -> dict[Hashable, int] | None:
        """Return numbers for which all holds, none of them negative.

        Args:
            wanted: what each variable should be if it can, in the order in which they
                are chosen.
            most: what none exceeds.
        """
        search = _Search(self, dict(wanted))
        key = (*wanted, most, len(self.zero), len(self.positive), len(self.different))
        if key not in self._left:
            self._left[key] = search.first({name: (0, most) for name in wanted})
        bounds = self._left[key]
        return None if bounds is None else search.find(bounds)


class _Search:
    def __init__(self, relations: Relations, wanted: dict[Hashable, int]) -> None:
        self.relations = relations
        self.wanted = wanted
        self.left = _MOST_TRIES + len(wanted)
        self.sums = [(each, True) for each in relations.zero]
        self.sums += [(each, False) for each in relations.positive]
        # the places of the sums that have a variable
        self.by_variable: dict[Hashable, list[int]] = {}
        for place, (total, _) in enumerate(self.sums):
            for name, _ in total.terms:
                self.by_variable.setdefault(name, []).append(place)
        self.different: dict[Hashable, list[Sum]] = {}
        for apart in relations.different:
            for name, _ in apart.terms:
                self.different.setdefault(name, []).append(apart)

    def first(self, bounds: _Bounds) -> _Bounds | None:
        """Return what is left of bounds before anything is chosen."""
        try:
            self.propagate(bounds)
        except _NoneError:
            return None
        return bounds

    def find(self, bounds: _Bounds) -> dict[Hashable, int] | None:
        """Choose one variable after the other, and go back where nothing is left."""
        names = list(bounds)
        first = self._next(names, 0, bounds)
        if first == len(names):
            return {name: low for name, (low, _) in bounds.items()}
        pending = [(first, bounds, self._values(names, first, bounds))]
        while pending:
            place, bounds, values = pending[-1]
            value = next(values, None)
            if value is None:
                pending.pop()
                continue
            self.left -= 1
            if self.left < 0:
                return None
            tried = dict(bounds)
            name = names[place]
            tried[name] = value, value
            try:
                self.propagate(tried, name)
            except _NoneError:
                continue
            following = self._next(names, place, tried)
            if following == len(names):
                return {name: low for name, (low, _) in tried.items()}
            choices = self._values(names, following, tried)
            pending.append((following, tried, choices))
        return None

    def _next(self, names: Sequence[Hashable], place: int, bounds: _Bounds) -> int:
        """Return the place of the first variable from a place on that is free."""
        for following in range(place, len(names)):
            low, high = bounds[names[following]]
            if low < high:
                return following
        return len(names)

    def _values(
        self, names: Sequence[Hashable], place: int, bounds: _Bounds
    ) -> Iterator[int]:
        """Yield what a variable may be, from what is wanted on, and then downwards."""
        low, high = bounds[names[place]]
        first = min(max(low, self.wanted[names[place]]), high)
        yield from range(first, high + 1)
        yield from range(first - 1, low - 1, -1)

    def propagate(self, bounds: _Bounds, changed: Hashable = None) -> None:
        """Narrow bounds as far as each sum alone tells.

        Raises:
            _NoneError: nothing is left of them.
        """
        every = range(len(self.sums))
        pending = dict.fromkeys(
            every if changed is None else self.by_variable.get(changed, ())
        )
        narrowed = dict.fromkeys(bounds if changed is None else (changed,))
        rounds = 0
        while pending:
            place = next(iter(pending))
            del pending[place]
            total, is_zero = self.sums[place]
            rounds += 1
            if rounds > 20 * len(self.sums) + 1000:
                raise _NoneError
            for name in self._narrow(bounds, total, is_zero):
                narrowed[name] = None
                pending.update(dict.fromkeys(self.by_variable[name]))
        for name in narrowed:
            low, high = bounds[name]
            if low == high and any(
                self._is_zero(bounds, apart) for apart in self.different.get(name, ())
            ):
                raise _NoneError

    def _is_zero(self, bounds: _Bounds, total: Sum) -> bool:
        """Whether a sum of chosen numbers is 0."""
        found = total.number
        for name, factor in total.terms:
            low, high = bounds[name]
            if low != high:
                return False
            found += factor * low
        return not found

    def _narrow(self, bounds: _Bounds, total: Sum, is_zero: bool) -> list[Hashable]:
        least = most = total.number
        for name, factor in total.terms:
            low, high = bounds[name]
            least += factor * (low if factor > 0 else high)
            most += factor * (high if factor > 0 else low)
        if most < 0 or (is_zero and least > 0):
            raise _NoneError
        found = []
        for name, factor in total.terms:
            low, high = old = bounds[name]
            # what the others can be at most, and at least
            others_most = most - factor * (high if factor > 0 else low)
            others_least = least - factor * (low if factor > 0 else high)
            if factor > 0:
                low = max(low, -(others_most // factor))
                if is_zero:
                    high = min(high, -others_least // factor)
            else:
                high = min(high, others_most // -factor)
                if is_zero:
                    low = max(low, -(-others_least // -factor))
            if low > high:
                raise _NoneError
            if (low, high) != old:
                bounds[name] = low, high
                found.append(name)
                least = least - factor * (old[0] if factor > 0 else old[1])
                least += factor * (low if factor > 0 else high)
                most = most - factor * (old[1] if factor > 0 else old[0])
                most += factor * (high if factor > 0 else low)
        return found
