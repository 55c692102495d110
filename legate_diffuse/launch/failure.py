# SPDX-License-Identifier: Apache-2.0
"""Tells a failure of ours from an exception that came from outside.

Ctrl-C, a signal handler or another thread may raise any exception between any two
calls. What fails by itself fails again, in the same place.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Final, TypeVar

T = TypeVar("T")

# What may succeed with less on the stack or in memory: never a reason to give up.
TRANSIENT: Final = (MemoryError, RecursionError)

# Attempts at what cannot wait.
_MAX_CALLS: Final = 3

Place = tuple[object, ...]


class FailureError(Exception):
    """Something fails whenever it is tried; ``__cause__`` is how."""


class ElsewhereError(Exception):
    """Another rank has failed, and says why."""

    def __str__(self) -> str:
        return "on another rank, which says why"


def place_of(error: BaseException) -> Place:
    """Return what an exception is, and where below its handler it was raised."""
    found: list[object] = [type(error)]
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
        found += (traceback.tb_frame.f_code, traceback.tb_lasti)
    return tuple(found)


def attempt(make: Callable[[], T]) -> T:
    """Return what a function makes; it is called once more if it fails.

    Raises:
        FailureError: it failed twice, in one place.
        BaseException: what came from outside, after another call if need be.
    """
    try:
        return make()
    except TRANSIENT:
        raise
    except Exception as error:
        first, place = error, place_of(error)
    try:
        make()
        raise first
    except TRANSIENT:
        raise
    except Exception as error:
        if error is not first and place_of(error) == place:
            raise FailureError from error
        raise
    finally:
        # a traceback keeps arrays of the program alive
        del first


def insist(call: Callable[[], object]) -> None:
    """Call a function, again if an exception comes between, which is raised then."""
    failure: BaseException | None = None
    for _ in range(_MAX_CALLS):
        try:
            call()
            break
        except BaseException as error:
            failure = failure or error
    if failure is not None:
        try:
            raise failure
        finally:
            # a traceback keeps arrays of the program alive
            del failure
