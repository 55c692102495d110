# SPDX-License-Identifier: Apache-2.0
"""Fuses the tasks of cuPyNumeric programs on Legate, with no change to them.

Turn it on with ``legate --diffuse app.py``, ``LEGATE_DIFFUSE=1``,
``python -m legate_diffuse app.py``, or :func:`enable` before cupynumeric is
imported.
"""

from __future__ import annotations

from legate_diffuse.settings import DiffuseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from legate_diffuse.libraries.registry import Register

__all__ = ("DiffuseError", "enable", "register", "stats", "vectorize")
__version__ = "0.1.0"


def enable() -> None:
    """Turn fusion on for this process.

    Call it before cupynumeric or legate.core is imported.

    Raises:
        DiffuseError: legate.core was imported already.
    """
    from legate_diffuse import boot

    boot.enable()


def register(library: str, function: Register) -> None:
    """Let a function say what the tasks of a library mean, so that they are fused.

    ``library`` is Legate's name of it. The function is called with a
    :class:`legate_diffuse.libraries.registry.Library` when its first task is submitted.
    An installed package names such a function as an entry point instead, in the group
    ``legate_diffuse.libraries``.

    Raises:
        DiffuseError: a task of the library was submitted already.
    """
    from legate_diffuse.libraries import registry

    registry.register(library, function)


def vectorize(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what applies a scalar Python function to each element of arrays.

    The function may branch and loop. Numba compiles it, as for ``numba.vectorize``, and
    it is fused with what is around it. A function that returns a tuple returns as many
    arrays. What Numba refuses runs in NumPy, and the user is told why, once.

    Raises:
        TypeError: it is no function, or takes no fixed number of arguments.
    """
    from legate_diffuse.shortcuts import vectorize as vectorized

    return vectorized.vectorize(function)


def load_ipython_extension(shell: Any) -> None:
    """Answer ``%load_ext legate_diffuse``: ``%%diffuse`` shows the page of a cell."""
    from legate_diffuse import notebook

    notebook.load(shell)


def stats() -> dict[str, Any]:
    """Return the counts since the start of the program.

    Operations are tasks, fills and copies. All counts are 0 while fusion is off.
    See :class:`legate_diffuse.observe.counters.Counters` for the keys.
    """
    import sys

    from legate_diffuse.observe.counters import Counters

    module = sys.modules.get("legate_diffuse.interpose.window")
    return Counters().as_dict() if module is None else module.window.counters.as_dict()
