# SPDX-License-Identifier: Apache-2.0
"""What ``scripts/test`` runs, and what ``scripts/test --all`` runs beside it."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, Final

import pytest

VARIABLE: Final = "TESTS_ALL"
"""Tells processes of tests that all is run."""


def all_is_run() -> bool:
    return os.environ.get(VARIABLE) == "1"


def examples(some: int, every: int) -> int:
    """Return a number of random programs or of examples."""
    return every if all_is_run() else some


def some(values: Collection[Any], step: int) -> list[Any]:
    """Return parameters; but for each ``step``-th one they are of the second tier."""
    return [
        pytest.param(*_arguments(value), marks=pytest.mark.thorough)
        if number % step
        else value
        for number, value in enumerate(values)
    ]


def _arguments(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)
