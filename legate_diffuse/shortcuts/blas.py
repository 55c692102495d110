# SPDX-License-Identifier: Apache-2.0
"""Lets NumPy's BLAS use no more processors than Legate has.

A product of Legate's takes the processors that the program gives it; NumPy's takes all
of the machine, which other programs may be using.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_void_p, cast
from functools import cached_property
from typing import Any, Final

import numpy as np
from threadpoolctl import ThreadpoolController

Function = Callable[..., Any]

# With fewer elements BLAS uses one processor anyway, and asking it would take longer.
_LEAST: Final = 2**12
# In the paths of NumPy's own library, and not in those of other packages'.
_OWNER: Final = "numpy"
# What native code calls, in OpenBLAS's names of what has integers of 64 bits.
_ROUTINES: Final = (
    *(f"cblas_{kind}{name}" for name in ("gemv", "gemm") for kind in "dszc"),
    *("openblas_get_num_threads", "openblas_set_num_threads"),
)
_PREFIXES: Final = ("", "scipy_")
_SUFFIX: Final = "64_"


class Blas:
    """NumPy's BLAS, and how many processors it may use.

    Args:
        processors: how many Legate has.
    """

    def __init__(self, processors: int) -> None:
        self._processors = processors

    def routines(self) -> tuple[list[int], int] | None:
        """Return what native code needs to call it (``know_blas``), None of another."""
        for library in self._all:
            if found := _routines(library):
                addresses = [cast(each, c_void_p).value or 0 for each in found]
                return addresses, self._processors
        return None

    @cached_property
    def _all(self) -> list[Any]:
        return [
            each
            for each in ThreadpoolController().lib_controllers
            if each.user_api == "blas" and _OWNER in each.filepath
        ]

    @cached_property
    def _limits(self) -> list[tuple[Function, Function]]:
        """What returns and sets the threads of those that would use more.

        ``threadpoolctl`` looks for both, and for the thread that calls, each time, for
        which a small product has no time.
        """
        limits = []
        for each in self._all:
            *_, count, change = _routines(each) or (None,) * 2
            if (each.get_num_threads() or 1) > self._processors:
                pair = count or each.get_num_threads, change or each.set_num_threads
                limits.append(pair)
        return limits

    def limited(self, function: Function) -> Function:
        """Return a function that uses no more processors."""

        def limited(*arguments: Any, **named: Any) -> Any:
            for each in arguments:
                if isinstance(each, np.ndarray) and each.size >= _LEAST:
                    break
            else:
                return function(*arguments, **named)
            before = [(change, count()) for count, change in self._limits]
            try:
                for change, _ in before:
                    change(self._processors)
                return function(*arguments, **named)
            finally:
                for change, count in before:
                    change(count)

        return limited


def _routines(library: Any) -> list[Any] | None:
    """Return the routines of a library that has all of them."""
    for prefix in _PREFIXES:
        found: list[Any] = [
            getattr(library.dynlib, f"{prefix}{name}{_SUFFIX}", None)
            for name in _ROUTINES
        ]
        if None not in found:
            return found
    return None
