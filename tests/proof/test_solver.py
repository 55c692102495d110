# SPDX-License-Identifier: Apache-2.0
"""Small integers are found for which relations hold, if there are some."""

from __future__ import annotations

import random
from itertools import product

from legate_diffuse.proof.solver import Relations, Sum, variable

X, Y, Z = variable("x"), variable("y"), variable("z")


def test_equations_and_inequalities_hold() -> None:
    relations = Relations()
    relations.equal(X - 2, Y - 4)
    relations.at_least(Z - X, 17)
    relations.differ(Y, Sum(6))
    found = relations.solve({"x": 3, "y": 0, "z": 0}, 50)
    assert found == {"x": 3, "y": 5, "z": 20}


def test_what_is_wanted_is_given_up_where_it_cannot_be() -> None:
    relations = Relations()
    relations.differ(X, Y)
    relations.differ(Y, Z)
    relations.differ(X, Z)
    found = relations.solve({"x": 1, "y": 1, "z": 1}, 2)
    assert found is not None
    assert sorted(found.values()) == [0, 1, 2]


def test_contradictions_have_no_solution() -> None:
    relations = Relations()
    relations.equal(X, Y + 1)
    relations.equal(Y, X + 1)
    assert relations.solve({"x": 0, "y": 0}, 50) is None
    relations = Relations()
    relations.at_least(X, 10)
    assert relations.solve({"x": 0}, 9) is None


def test_random_relations_hold_where_any_numbers_are_right() -> None:
    rng = random.Random(1)
    solved = 0
    for _ in range(300):
        relations = Relations()
        sums = []
        for _ in range(rng.randint(1, 4)):
            total = Sum(rng.randint(-4, 4))
            for each in rng.sample((X, Y, Z), rng.randint(1, 3)):
                total = total + each if rng.random() < 0.5 else total - each
            kind = rng.choice(("zero", "positive", "different"))
            sums.append((kind, total))
            getattr(relations, kind)[total] = None
        found = relations.solve({"x": 1, "y": 2, "z": 0}, 4)
        right = [
            values
            for numbers in product(range(5), repeat=3)
            if _holds(sums, values := dict(zip("xyz", numbers, strict=True)))
        ]
        assert (found is None) == (not right)
        assert found is None or found in right
        solved += found is not None
    assert 50 < solved < 290


def _holds(sums: list[tuple[str, Sum]], values: dict[str, int]) -> bool:
    return all(
        {"zero": n == 0, "positive": n >= 0, "different": n != 0}[kind]
        for kind, total in sums
        for n in (total.at(values),)
    )
