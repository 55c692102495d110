# SPDX-License-Identifier: Apache-2.0
"""Symbols: 64-bit hashes that stand for the values of elements.

Two elements have one symbol if they are the same operations on the same operands. An
array of symbols is a NumPy array of uint64, so that a loop nest is a few calls.
"""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import blake2b
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Symbols = NDArray[np.uint64]

_U64: Final = np.uint64


def _operand(number: int) -> Symbols:
    """Return a number as NumPy combines it fastest with a few elements: an array."""
    return np.array(number, dtype=_U64)


# The multipliers of SplitMix64 (Steele, Lea, Flood 2014) and of its finalizer.
_STEP: Final = _operand(0x9E3779B97F4A7C15)
_FIRST: Final = _operand(0xBF58476D1CE4E5B9)
_SECOND: Final = _operand(0x94D049BB133111EB)
_BY_27, _BY_29, _BY_30, _BY_31, _BY_32 = map(_operand, (27, 29, 30, 31, 32))


def mixed(values: Symbols) -> Symbols:
    """Return hashes of 64-bit numbers; different numbers have different ones."""
    values = (values ^ (values >> _BY_30)) * _FIRST
    values = (values ^ (values >> _BY_27)) * _SECOND
    return values ^ (values >> _BY_31)


@cache
def tag(*parts: object) -> np.uint64:
    """Return the symbol of something that is given by name."""
    digest = blake2b(repr(parts).encode(), digest_size=8).digest()
    return _U64(int.from_bytes(digest, "little"))


@cache
def _factors(count: int) -> tuple[Symbols, ...]:
    return tuple(_operand(int(tag("operand", n)) | 1) for n in range(count))


def applied(operation: np.uint64 | Symbols, operands: Sequence[Symbols]) -> Symbols:
    """Return the symbols of an operation over operands, whose order matters."""
    found = np.asarray(operation)
    for operand, factor in zip(operands, _factors(len(operands)), strict=True):
        found = found + operand * factor
    # one round is enough: equal symbols must not come from sums of others
    found = (found ^ (found >> _BY_32)) * _FIRST
    return found ^ (found >> _BY_29)


def spread(values: Symbols, shape: Sequence[int]) -> Symbols:
    """Return symbols that repeat over a box, with an element for each of its points."""
    extents = tuple(shape)
    return values if values.shape == extents else np.broadcast_to(values, extents)


def numbered(name: np.uint64, first: int, shape: Sequence[int]) -> Symbols:
    """Return different symbols for all elements of an array, not to be changed."""
    if not first and prod(shape) <= _REMEMBERED:
        return _numbered(name, tuple(shape))
    return _made(name, first, shape)


# How many elements the arrays have at most that are remembered.
_REMEMBERED: Final = 1 << 10


@lru_cache(1 << 11)
def _numbered(name: np.uint64, shape: tuple[int, ...]) -> Symbols:
    found = _made(name, 0, shape)
    found.flags.writeable = False
    return found


def _made(name: np.uint64, first: int, shape: Sequence[int]) -> Symbols:
    count = prod(shape)
    numbers = np.arange(first, first + count, dtype=_U64).reshape(tuple(shape))
    return np.asarray(mixed(numbers * _STEP + name))


def digest(values: Symbols) -> Symbols:
    """Return one symbol for an array, whose order matters."""
    places = numbered(tag("place"), 0, values.shape)
    return mixed(np.asarray((places * mixed(values)).sum(dtype=_U64)))


class Poison:
    """Symbols of what nobody has written, each of them once."""

    def __init__(self, name: str) -> None:
        self._name = tag("poison", name)
        self._used = 0

    def fresh(self, shape: Sequence[int]) -> Symbols:
        """Return an array of symbols that stand nowhere else."""
        begin = self._used
        self._used += prod(shape)
        if self._used <= _MADE_AT_ONCE:
            return _poison(self._name)[begin : self._used].reshape(tuple(shape)).copy()
        return numbered(self._name, begin, shape)


# How many symbols of poison are made together, as most is for a few elements.
_MADE_AT_ONCE: Final = 1 << 16


@cache
def _poison(name: np.uint64) -> Symbols:
    return numbered(name, 0, (_MADE_AT_ONCE,))
