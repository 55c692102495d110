# SPDX-License-Identifier: Apache-2.0
"""Temporaries that lie where others were are as if each had its own memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutate
from noticed import is_noticed
from plan_checks import check, fails
from random_chains import random_chain
from tiers import examples

from legate_diffuse.fusion import arguments, in_place

# A broken rule is noticed in one of so many programs.
PROGRAMS = 4_000


def is_wrong(number: int) -> bool:
    """Whether the analyses get a random program wrong."""
    return fails(random_chain(number))


def test_chains_are_as_if_each_temporary_had_memory_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[dict[int, int]] = []

    def kept(*given: Any) -> dict[int, int]:
        found.append(in_place.written_in_place(*given))
        return found[-1]

    monkeypatch.setattr(arguments, "written_in_place", kept)
    for number in range(examples(300, 3_000)):
        check(random_chain(number))
    assert sum(map(bool, found)) > 3


_BROKEN: dict[str, tuple[Callable[..., Any], str, str]] = {
    "others read what is written over": (
        in_place.written_in_place,
        "if [use for use in uses[old.store.id] if use >= first] == [place]",
        "if True",
    ),
    "what is written was there before": (
        in_place.written_in_place,
        "if uses[new.store.id][0] != place:",
        "if False:",
    ),
    "two are written over one": (
        in_place.written_in_place,
        "dead.remove(old)",
        "pass",
    ),
    "one point reads what another one writes": (
        in_place._seen_as_they_are,
        "if not others\n        and",
        "if",
    ),
}


@pytest.mark.parametrize("broken", _BROKEN.values(), ids=_BROKEN)
def test_a_broken_rule_is_noticed(
    broken: tuple[Callable[..., Any], str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(*broken, monkeypatch, [arguments])
    assert is_noticed(is_wrong, PROGRAMS)
