# SPDX-License-Identifier: Apache-2.0
"""Programs of NumPy as text, which run on cuPyNumeric as they are.

A program is written line by line, and every line is run on NumPy at once. So the
next line can be chosen by the shapes and values that there are, and NumPy's results
are known when the program is complete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Elements of an array at most: sums of so many small integers are exact in float16.
MAX_SIZE = 512
# Comes before why a program failed, in what its process prints.
FAILED = "that program failed:"


class Agreement(IntEnum):
    """How closely a variable must agree with NumPy; with the unfused run it is bits.

    NEAR is for the results of functions that round as the maths library pleases. What
    is computed from them may be anything: a comparison turns one bit into all.
    """

    BITS = 0
    NEAR = 1
    NONE = 2


@dataclass(slots=True, eq=False)
class Memory:
    """What a base array and its views share.

    Attributes:
        agreement: how closely all of them agree with NumPy.
        ties: memory that NumPy shares with this, or copies, where cuPyNumeric may do
            the other thing: once one changes, they do not agree any more.
    """

    agreement: Agreement
    ties: list[Memory] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rounded:
    """A result whose terms may be combined in any order.

    ``scale`` names a variable: the tolerance is ``terms`` roundings of it.
    """

    name: str
    scale: str
    terms: int


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and what NumPy makes of it.

    Results of ``numpys`` have NumPy's bits, which the unfused run may not give.
    """

    lines: tuple[str, ...]
    results: dict[str, Array]
    agreements: dict[str, Agreement]
    rounded: tuple[Rounded, ...]
    numpys: frozenset[str]

    def run(self, package: Any) -> dict[str, Array]:
        """Return the variables that are left at the end."""
        space = {"n": package, **NUMBERS}
        with np.errstate(all="ignore"):
            exec("\n".join(self.lines), space)
            return {name: np.asarray(space[name]) for name in self.results}

    def __repr__(self) -> str:
        head = (
            "import cupynumeric as n",
            "import numpy as np",
            "from numpy_programs import any_size, kept, sample",
        )
        return "\n".join(("", *head, "", *self.lines, ""))


class NoChoiceError(Exception):
    """A statement has nothing to work on."""


class Choices:
    """Small integers that stand for choices; when they run out, for the first one."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def below(self, limit: int) -> int:
        return next(self._numbers, 0) % limit

    def of(self, items: Sequence[Any]) -> Any:
        if not items:
            raise NoChoiceError
        return items[self.below(len(items))]


class Writer:
    """Writes a program, and runs it on NumPy."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._space: dict[str, Any] = {"n": np, **NUMBERS}
        self._memory: dict[str, Memory] = {}
        self._rounded: list[Rounded] = []
        self._hidden: set[str] = set()
        self._numpys: set[str] = set()
        self._count = 0

    def program(self) -> Program:
        return Program(
            tuple(self._lines),
            {name: np.asarray(self._space[name]) for name in self._memory},
            {name: memory.agreement for name, memory in self._memory.items()},
            tuple(self._rounded),
            frozenset(self._numpys & self._memory.keys()),
        )

    # -- what there is ----------------------------------------------------------
    def names(self, accept: Callable[[Array], bool] = lambda _: True) -> list[str]:
        """Return the variables that may be used, the newest first."""
        return [
            name
            for name in reversed(self._memory)
            if name not in self._hidden and accept(self._space[name])
        ]

    def value(self, name: str) -> Array:
        value: Array = self._space[name]
        return value

    def evaluate(self, expression: str) -> Array:
        """Return what NumPy makes of an expression."""
        with np.errstate(all="ignore"):
            return np.asarray(eval(expression, self._space))

    def agreement_of(self, name: str) -> Agreement:
        """Return how closely a variable agrees."""
        return self._memory[name].agreement

    def agreement(self, *names: str) -> Agreement:
        """Return how closely agrees what is computed from variables."""
        exact = all(self._memory[name].agreement is Agreement.BITS for name in names)
        return Agreement.BITS if exact else Agreement.NONE

    def may_share(self, one: str, other: str) -> bool:
        """Whether two variables may be views of one array."""
        return self._memory[other] in _tied(self._memory[one])

    # -- statements -------------------------------------------------------------
    def assign(
        self,
        expression: str,
        agreement: Agreement,
        *,
        view_of: str = "",
        may_view: str = "",
    ) -> str:
        """Make a new variable, unless it would be too large.

        ``view_of`` names the variable whose memory it shares, ``may_view`` one whose
        memory it shares in NumPy or in cuPyNumeric only.
        """
        value = self.evaluate(expression)
        if value.size > MAX_SIZE or value.ndim > 3:
            return ""
        name = f"x{self._count}"
        self._count += 1
        memory = Memory(agreement)
        if view_of:
            memory = self._memory[view_of]
        elif may_view:
            other = self._memory[may_view]
            # a view of what is near is near as well
            memory.agreement = other.agreement
            memory.ties.append(other)
            other.ties.append(memory)
        self._lines.append(f"{name} = {expression}")
        self._space[name] = value
        self._memory[name] = memory
        return name

    def change(self, statement: str, target: str, agreement: Agreement) -> None:
        """Change a variable in place."""
        self._lines.append(statement)
        with np.errstate(all="ignore"):
            exec(statement, self._space)
        memory = self._memory[target]
        tied = _tied(memory)
        if len(tied) > 1 or {agreement, memory.agreement} != {Agreement.BITS}:
            for one in tied:
                one.agreement = Agreement.NONE

    def read(self, expression: str, agreement: Agreement) -> str:
        """Make a number of Python of an array of one element, and return its name."""
        name = f"t{self._count}"
        self._count += 1
        self._lines.append(f"{name} = {expression}")
        with np.errstate(all="ignore"):
            self._space[name] = eval(expression, self._space)
        self._memory[name] = Memory(agreement)
        self._hidden.add(name)
        return name

    def numbers(self) -> list[str]:
        """Return the numbers of Python that were read."""
        return [name for name in self._memory if name.startswith("t")]

    def compute_as_numpy(self, expression: str) -> None:
        """Make a result of NumPy's bits that nothing else is computed from."""
        result = self.assign(expression, Agreement.BITS)
        self._hidden.add(result)
        self._numpys.add(result)

    def reduce_with_rounding(self, expression: str, scale: str, terms: int) -> None:
        """Make a result that nothing else is computed from, and its scale."""
        result = self.assign(expression, Agreement.NONE)
        scale_name = self.assign(scale, Agreement.NONE)
        self._hidden |= {result, scale_name}
        self._rounded.append(Rounded(result, scale_name, terms))

    def delete(self, name: str) -> None:
        self._lines.append(f"del {name}")
        del self._space[name], self._memory[name]


def _tied(memory: Memory) -> list[Memory]:
    found = [memory]
    for one in found:
        found += [other for other in one.ties if other not in found]
    return found


def sample(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Return numbers of a type: small, fractions, of any size, or special ones."""
    random = np.random.default_rng(seed)
    numbers = random.integers(-4, 5, shape)
    kind, family = np.dtype(dtype).kind, seed % 4
    if kind == "c":
        parts = "float32" if dtype == "complex64" else "float64"
        real, imaginary = sample(shape, parts, seed), sample(shape, parts, seed + 4)
        result = np.empty(shape, dtype)
        result.real, result.imag = real, imaginary
        return result
    if kind == "f":
        values = np.asarray(numbers / 2)
        if family == 2:
            values = random.standard_normal(shape) * 3
        elif family == 3:
            special = [np.nan, np.inf, -np.inf, -0.0, 1e-7, 3e4]
            chosen = random.choice(special, shape)
            values = np.where(random.random(shape) < 0.25, chosen, values)
        return np.asarray(values).astype(dtype)
    if kind == "b":
        return np.asarray(numbers > 0)
    limits = np.iinfo(dtype)
    if family == 3:
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return np.asarray(abs(numbers) if kind == "u" else numbers).astype(dtype)


def any_size(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Return floats of every exponent: subnormal ones, zeros, and infinities too."""
    random = np.random.default_rng(seed)
    limits = np.finfo(dtype)
    exponents = random.integers(limits.minexp - limits.nmant - 1, limits.maxexp, shape)
    with np.errstate(all="ignore"):
        values = np.ldexp(random.uniform(-2, 2, shape), exponents)
        return np.asarray(values * random.choice([1.0, 1.5], shape)).astype(dtype)


# The last arrays that programs share the memory of.
_KEPT: deque[Array] = deque(maxlen=64)


def kept(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Return a ``sample`` that is used elsewhere, too."""
    _KEPT.append(sample(shape, dtype, seed))
    return _KEPT[-1]


NUMBERS = {"np": np, "sample": sample, "kept": kept, "any_size": any_size}
"""What programs make arrays of."""
