# SPDX-License-Identifier: Apache-2.0
"""Functions with one rule broken."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest


def mutate(
    function: Callable[..., Any],
    old: str,
    new: str,
    monkeypatch: pytest.MonkeyPatch,
    users: Sequence[ModuleType] = (),
) -> None:
    """Replace a part of a function's source, in its module and in those that use it."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} is not once in {function.__qualname__}"
    made: dict[str, Any] = {}
    exec(  # in the function's own module
        compile(source.replace(old, new), "<mutant>", "exec"),
        function.__globals__,
        made,
    )
    owner: Any = sys.modules[function.__module__]
    *path, name = function.__qualname__.split(".")
    for part in path:
        owner = getattr(owner, part)
    monkeypatch.setattr(owner, name, made[name])
    for module in users:
        if owner is not module and getattr(module, name, None) is function:
            monkeypatch.setattr(module, name, made[name])
