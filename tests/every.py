# SPDX-License-Identifier: Apache-2.0
"""Many cases in one item, for checks that take less time than an item takes."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

Test = Callable[..., None]
Loop = Sequence[tuple[str, Mapping[str, Any]]]
"""The name and the arguments of each case."""
MOST_TOLD: Final = 10
"""Failures of an item that are shown in full."""
_GROUP: Final = "group"


@dataclass
class _Loops:
    """The cases of a test: one of each loop, within a group if there are any."""

    test: Test
    loops: list[Loop]
    groups: Mapping[str, Loop] | None = None


def every(
    names: str | Sequence[str],
    values: Iterable[Any],
    ids: Callable[[Any], str] | None = None,
    by: Callable[[Any], str] | None = None,
) -> Callable[[Test], Test]:
    """Run a test with each of several values, as ``pytest.mark.parametrize`` does.

    All cases run in one item, also if one of them fails; the failure names each case
    that failed. With ``by`` there is an item for each group of values of which it says
    the same. Fixtures are those of the item, so they are not made for each case.
    """
    arguments = [names] if isinstance(names, str) else [*names]
    given = [*values]
    assert given, f"there is no case of {', '.join(arguments)}"
    cases = [
        dict(zip(arguments, (each,) if isinstance(names, str) else each, strict=True))
        for each in given
    ]
    told = [*map(ids, given)] if ids else [*map(_told, cases)]
    loop = [*zip(told, cases, strict=True)]
    groups: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for value, case in zip(given, loop, strict=True):
        groups.setdefault(by(value) if by else "", []).append(case)

    def decorate(test: Test) -> Test:
        found = getattr(test, "loops", None) or _Loops(test, [])
        if by is None:
            made = _Loops(found.test, [loop, *found.loops], found.groups)
        else:
            assert found.groups is None, "cases are grouped already"
            made = _Loops(found.test, found.loops, groups)
        return _with_loops(test, made, arguments, list(groups) if by else None)

    return decorate


def _with_loops(
    test: Test, made: _Loops, arguments: Sequence[str], groups: list[str] | None
) -> Test:
    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        loops = made.loops
        if made.groups is not None:
            loops = [made.groups[fixtures.pop(_GROUP)], *loops]
        _run_all(made.test, loops, fixtures)

    signature = inspect.signature(test)
    parameters = dict(signature.parameters)
    for name in arguments:
        del parameters[name]
    if groups is not None:
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters[_GROUP] = inspect.Parameter(_GROUP, kind)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*parameters.values()]
    )
    run.loops = made  # type: ignore[attr-defined]
    return pytest.mark.parametrize(_GROUP, groups)(run) if groups else run


def _told(case: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in case.items())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 100 else f"{text[:100]}..."


def _run_all(test: Test, loops: Sequence[Loop], fixtures: Mapping[str, Any]) -> None:
    failures: list[Exception] = []
    names: list[str] = []
    skipped: list[str] = []
    count = 0
    for chosen in itertools.product(*loops):
        count += 1
        case = " and ".join(name for name, _ in chosen)
        values = {name: value for _, each in chosen for name, value in each.items()}
        try:
            test(**fixtures, **values)
        except pytest.skip.Exception as reason:
            skipped.append(str(reason))
        except Exception as error:
            error.add_note(f"The case is {case}.")
            failures.append(error)
            names.append(case)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        told = f"{len(failures)} of {count} cases fail: {'; '.join(names)}"
        raise ExceptionGroup(told, failures[:MOST_TOLD])
    if len(skipped) == count:
        pytest.skip(skipped[0])
