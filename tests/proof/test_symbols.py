# SPDX-License-Identifier: Apache-2.0
"""Symbols tell apart what elements are made of, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from legate_diffuse.proof.symbols import Poison, applied, digest, numbered, tag


@pytest.fixture(autouse=True)
def wrapping() -> object:
    with np.errstate(over="ignore"):
        yield


def test_the_order_of_operands_matters() -> None:
    one, other = numbered(tag("one"), 0, (5,)), numbered(tag("other"), 0, (5,))
    there = applied(tag("op"), [one, other])
    assert not np.any(there == applied(tag("op"), [other, one]))
    assert not np.any(there == applied(tag("another op"), [one, other]))
    assert np.array_equal(there, applied(tag("op"), [one, other]))


def test_operations_within_others_change_no_places() -> None:
    a, b, c, d = (numbered(tag(name), 0, (5,)) for name in "abcd")
    op = tag("op")
    left = applied(op, [applied(op, [a, b]), applied(op, [c, d])])
    assert not np.any(left == applied(op, [applied(op, [a, c]), applied(op, [b, d])]))


def test_the_order_of_elements_matters() -> None:
    symbols = numbered(tag("one"), 0, (6,))
    assert digest(symbols) != digest(symbols[::-1])
    assert digest(symbols) == digest(symbols.copy())


def test_poison_stands_nowhere_else() -> None:
    poison = Poison("one")
    found = [poison.fresh((3, 4)), poison.fresh(()), poison.fresh((7,))]
    found += [Poison("other").fresh((3, 4)), numbered(tag("store", 0), 0, (3, 4))]
    every = np.concatenate([each.reshape(-1) for each in found])
    assert len(set(every.tolist())) == len(every)
