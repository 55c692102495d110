# SPDX-License-Identifier: Apache-2.0
"""What the shortcuts need of cuPyNumeric.

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.shortcuts.shortcut import Source, is_known
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.view import View

# What functions of two operands do with numbers, by what has the function.
CHECKS: Final[dict[str, Source]] = {
    "comparisons": ("_ufunc.comparison", "_post_resolution_check"),
    "arithmetic": ("_ufunc.ufunc", "_default_post_resolution_check"),
}
# What makes arrays of numbers beside arrays.
OF_NUMBERS: Final[tuple[Source, ...]] = (
    ("runtime", "Runtime.get_numpy_thunk"),
    ("runtime", "Runtime.find_or_create_array_thunk"),
    ("runtime", "cached_thunk_from_scalar"),
    ("runtime", "thunk_from_scalar"),
)

# What makes arrays of the arguments of functions.
_OF_ARGUMENTS: Final[tuple[Source, ...]] = (
    ("_array.util", "add_boilerplate"),
    ("_array.util", "convert_to_cupynumeric_ndarray"),
)


class Switch:
    """Whether a setting of cuPyNumeric's is on, which takes 20 times as long to ask.

    ``changed`` is called after it was set.
    """

    __slots__ = ("changed", "is_on")

    def __init__(self, setting: Any) -> None:
        self.is_on = bool(setting())
        self.changed: Callable[[], None] = lambda: None
        for name in ("set_value", "unset_value"):
            setattr(setting, name, self._noticed(setting, getattr(setting, name)))

    def _noticed(self, setting: Any, change: Callable[..., None]) -> Any:
        @wraps(change)
        def noticed(*value: Any) -> None:
            change(*value)
            self.is_on = bool(setting())
            self.changed()

        return noticed


class Client:
    """What the shortcuts need of cuPyNumeric, and of the real Legate."""

    def __init__(self, legate: Legate) -> None:
        def member(module: str, name: str) -> Any:
            return getattr(importlib.import_module(f"cupynumeric.{module}"), name)

        self.legate = legate
        package = importlib.import_module("cupynumeric")
        self.ndarray = package.ndarray
        self.deferred_array = member("_thunk.deferred", "DeferredArray")
        self.unary_ufunc = type(package.negative)
        self.binary_ufunc = type(package.add)
        kinds = self.unary_ufunc, self.binary_ufunc
        # universal functions, by their names
        self.ufuncs = {
            each.__name__: each
            for each in vars(package).values()
            if isinstance(each, kinds)
        }
        # what functions of two operands do with numbers, where that is known
        self.checks = [member(*each) for each in CHECKS.values() if is_known(*each)]
        # whether it is known how arrays are made of numbers
        self.takes_numbers = all([is_known(*each) for each in OF_NUMBERS])
        # and of what functions are given
        self.converts = all([is_known(*each) for each in (*OF_NUMBERS, *_OF_ARGUMENTS)])
        self.to_core_type = legate.Type.from_numpy_dtype
        self.library = member("runtime", "runtime").library
        self.tasks = member("config", "CuPyNumericOpCode")
        # what tasks on one operand and on two compute, by kinds of universal functions
        codes = member("config", "UnaryOpCode"), member("config", "BinaryOpCode")
        self.codes = dict(zip(kinds, codes, strict=True))
        self.copy_code = codes[0].COPY
        self.code_type = importlib.import_module("legate.core.types").int32
        # the setting that makes cuPyNumeric look at every call
        self.doctor = Switch(member("settings", "settings").doctor)
        # the one that makes it warn of conversions
        self.warn = Switch(member("settings", "settings").warn)

    def view_of(self, array: Any) -> View | None:
        """Return the view of an array; None if its operations are not recorded."""
        if type(array) is not self.ndarray:
            return None
        thunk = array._thunk
        if type(thunk) is not self.deferred_array:
            return None
        if type(thunk.base) is not LogicalStore:
            return None
        view: View = thunk.base._view
        return view if view.root.fusable else None

    def settled_view_of(self, array: Any) -> View | None:
        """Return the view of an array, after a selection was compacted (masks.py)."""
        thunk = array._thunk if type(array) is self.ndarray else None
        if isinstance(thunk, self.deferred_array):
            # that of a selection is made when it is asked for
            _ = thunk.base
        return self.view_of(array)
