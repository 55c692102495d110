# SPDX-License-Identifier: Apache-2.0
"""Runs of applications, made when a test first asks for them."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from application_runs import Mode, Runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mode], Runs]:
    """Return what runs all cases in a mode, once."""
    return functools.cache(lambda mode: Runs(mode, tmp_path_factory.mktemp("runs")))
