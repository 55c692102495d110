# SPDX-License-Identifier: Apache-2.0
"""Random programs of temporaries that follow on one another.

Each is made of the last ones, and reductions and parts between them let no nest join
those around them: so one temporary may lie where another one was.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from concrete_programs import OPERATIONS, POISON, Program
from random_programs import Extents, Generator, Pool

from legate_diffuse.stores.view import View

# the shapes of arrays; all but the last have parts that are two rows shorter
_SHAPES: Final[tuple[Extents, ...]] = ((8,), (6,), (3, 3))
_OPERATORS: Final = ("BINARY_OP.ADD", "BINARY_OP.MULTIPLY", "BINARY_OP.SUBTRACT")


class _ChainGenerator(Generator):
    def __init__(self, seed: int) -> None:
        self.shape = _SHAPES[seed % len(_SHAPES)]
        super().__init__(seed)
        # the sum of what came before, repeated over the shape
        self.sum: View | None = None
        self.recent = [v for v in self.pools[0].writable if v.shape == self.shape]

    def _shapes(self) -> Sequence[Extents]:
        return (self.shape, self.shape)

    def _arrays(self) -> list[View]:
        kinds = ("live", "live", "dead")
        return [
            self._array(number, self.shape, self.rng.choice(kinds), scalar=False)
            for number in range(3)
        ]

    def _pool(self, shape: Extents, arrays: Sequence[View]) -> Pool:
        """Show arrays as they are."""
        pool = super()._pool(shape, ())
        pool.readable += arrays
        pool.writable += arrays
        return pool

    def _temporary(self) -> View:
        made = self.recorder.array(*self.shape, dtype="int64", live=False, made=False)
        self.contents[made.root] = [POISON] * prod(self.shape)
        return made

    def _pick(self) -> View:
        """Choose an array, most often one that was written just before."""
        rng = self.rng
        return rng.choice(self.recent[-2:] if rng.random() < 0.9 else self.recent)

    def _turned(self, view: View) -> View:
        is_turned = len(self.shape) == 2 and self.rng.random() < 0.1
        return view.transpose((1, 0)) if is_turned else view

    def _add_tasks(self) -> None:
        kind = self.rng.random()
        if kind < 0.45:
            self._compute()
        elif kind < 0.8:
            self._sum()
        else:
            self._copy_part()

    def _compute(self) -> None:
        rng = self.rng
        name = rng.choice(_OPERATORS)
        target = self._temporary() if rng.random() < 0.85 else self._pick()
        futures = self.pools[0].readable[: len(self.futures)]
        other = rng.choice(futures) if self.sum is None else self.sum
        if rng.random() < 0.4:
            other = self._turned(self._pick())
        operands = [self._turned(self._pick()), other]
        self._append(name, OPERATIONS[name], [self._turned(target)], operands)
        self.recent.append(target)

    def _sum(self) -> None:
        reducible = self.of_futures.reducible
        if not reducible:
            return
        result = self.rng.choice(reducible)
        self._initialise(result, "add")
        name = "SCALAR_UNARY_RED.SUM"
        self._append(name, OPERATIONS[name], [result], [self._pick()])
        repeated = [v for v in self.pools[0].readable if v.root is result.root]
        self.sum = repeated[0]

    def _copy_part(self) -> None:
        """Write a part of an array, or all of it turned."""
        rng = self.rng
        source = self._pick()
        target = self._temporary() if rng.random() < 0.5 else self._pick()
        if source.root is target.root:
            return
        if len(self.shape) == 2:
            turned = source.transpose((1, 0))
            self._append("COPY", OPERATIONS["COPY"], [target], [turned])
        else:
            if rng.random() < 0.5:
                self._append("FILL", OPERATIONS["FILL"], [target], [])
            parts = [self._part(view) for view in (target, source, source)]
            name = "BINARY_OP.ADD"
            self._append(name, OPERATIONS[name], parts[:1], parts[1:])
        self.recent.append(target)

    def _part(self, view: View) -> View:
        start = self.rng.randint(0, 2)
        part = view.slice(0, start, start + self.shape[0] - 2)
        assert part is not None
        return part


def random_chain(seed: int) -> Program:
    """Return a program of temporaries that follow on one another."""
    return _ChainGenerator(seed).program(seed)
