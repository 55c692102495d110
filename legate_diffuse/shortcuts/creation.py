# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for functions of the package that make arrays.

Those of several different elements compute them with NumPy, where the operations that
cuPyNumeric submits round alike.

Follows: cuPyNumeric (cupynumeric/_module)
"""

from __future__ import annotations

import importlib
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.window import window
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.shortcuts.client import OF_NUMBERS
from legate_diffuse.shortcuts.conversions import TARGETS
from legate_diffuse.shortcuts.copies import COPIED
from legate_diffuse.shortcuts.filled import Filled
from legate_diffuse.shortcuts.joining import joined_later
from legate_diffuse.shortcuts.shortcut import Shortcut, Source
from legate_diffuse.shortcuts.submission import CONVERTED, MADE, Submission, replace
from legate_diffuse.shortcuts.written import CASTINGS
from legate_diffuse.stores.dtype import dtype_name, names_by_spelling

# Functions that fill new arrays, and with what.
_VALUES: Final = {"zeros": 0, "ones": 1, "empty": 0}


def _names(submission: Submission) -> dict[Any, str]:
    """Return the names that roots have of types, by all that stands for them."""
    types = [submission.client.to_core_type(np.dtype(name)) for name in ALL]
    return names_by_spelling(filter(None, map(dtype_name, types)))


def _replace_filled(submission: Submission) -> None:
    names, package = _names(submission), importlib.import_module("cupynumeric")
    filled = Filled(submission)
    original = package.empty
    for name, value in _VALUES.items():
        like = f"{name}_like"
        _replace_creation(name, value, submission, filled, names)
        _replace_likeness(like, value, filled, names)
        submission.front(package, name, name, "shape", "dtype", extra=names)
        submission.front(package, like, like, "a", "dtype", extra=names)

    def empty(shape: tuple[int, ...], dtype: str) -> Any:
        made = filled.make(shape, dtype, 0)
        return original(shape, dtype) if made is None else made

    if window.runs_at_once:
        submission.client.legate.native.know_empty(empty)
    for name, first in (("full", "shape"), ("full_like", "a")):
        submission.front(package, name, name, first, "value", "dtype", extra=names)


def _replace_copy(submission: Submission) -> None:
    submission.front(importlib.import_module("cupynumeric"), "copy", "copy", "a")


def _replace_ranges(submission: Submission) -> None:
    names, package = _names(submission), importlib.import_module("cupynumeric")
    parameters = "start", "stop", "step", "dtype"
    submission.front(package, "arange", "arange", *parameters, extra=names)


def _replace_collected(submission: Submission) -> None:
    _replace_collecting("array", np.ndarray, submission)
    # of NumPy's arrays the original may share the memory
    _replace_collecting("asarray", None, submission)
    package = importlib.import_module("cupynumeric")
    submission.front(package, "asarray", "asarray", "a", "dtype")
    submission.front(package, "array", "array", "obj")


def _replace_creation(
    name: str,
    value: int,
    submission: Submission,
    filled: Filled,
    names: dict[Any, str],
) -> None:
    package = importlib.import_module("cupynumeric")
    ones = submission.by_numpy(np.ones, name)

    def create(shape: Any, dtype: Any = np.float64, **others: Any) -> Any:
        made = None
        if _is_type(dtype) and not others:
            if value and _are_few(shape):
                made = ones(shape, dtype)
            if made is None:
                made = filled.make(shape, names.get(dtype), value)
        return original(shape, dtype, **others) if made is None else made

    original = replace(package, name, create)


def _replace_likeness(
    name: str, value: int, filled: Filled, names: dict[Any, str]
) -> None:
    package = importlib.import_module("cupynumeric")

    def create(a: Any, dtype: Any = None, *others: Any, **named: Any) -> Any:
        made = None
        known = names.get(dtype) if _is_type(dtype) else None
        if not others and not named and (known or dtype is None):
            made = filled.make_like(a, known, value)
        return original(a, dtype, *others, **named) if made is None else made

    original = replace(package, name, create)


# What arrays are made of whose elements were anywhere, and what is said of them.
_SEQUENCES: Final[frozenset[type]] = frozenset((list, tuple))
_APART: Final[frozenset[type]] = _SEQUENCES | {
    *(float, int, complex, bool),
    *(np.dtype(each).type for each in ALL),
}
_DTYPE: Final = frozenset(("dtype",))


def _replace_collecting(name: str, copied: type | None, submission: Submission) -> None:
    """Let a function that makes arrays of elements do so here.

    ``copied`` is the type of which a copy becomes an array with its memory.
    """
    native = submission.client.legate.native
    collect = submission.by_numpy(np.array, "", brings=False, reads_many=False)
    by_numpy = submission.by_numpy(np.array, "array", keywords=_DTYPE)
    package, client = importlib.import_module("cupynumeric"), submission.client
    names, ndarray = _names(submission), client.ndarray
    # what else an array may come with
    of_arrays = frozenset(("dtype", "copy") if copied else ("dtype",))

    def is_small(array: Any) -> bool:
        return bool(0 < array.nbytes <= window.submitter.small.limit)

    def array(*arguments: Any, **named: Any) -> Any:
        made, kind = None, type(arguments[0]) if arguments else None
        if kind is ndarray and len(arguments) == 1 and named.keys() <= of_arrays:
            return _as_array(*arguments, **{"copy": copied is not None, **named})
        if len(arguments) == 1:
            made = None if named or kind not in _SEQUENCES else collect(*arguments)
            if made is None and kind in _SEQUENCES and not arguments[0]:
                dtype = named.get("dtype", float)
                is_plain = _is_type(dtype) and named.keys() <= _DTYPE
                made = package.zeros(0, dtype) if is_plain and dtype in names else None
            elif made is None and kind in _SEQUENCES and not named:
                made = joined_later(client, arguments[0], 0, is_new=True)
            is_known = kind in _APART or (kind is copied and is_small(*arguments))
            if made is None and is_known and named.keys() <= _DTYPE:
                made = by_numpy(*arguments, **named)
        if made is None and kind is copied:
            return native.call_with_memory(partial(original, *arguments, **named))
        return original(*arguments, **named) if made is None else made

    original = replace(package, name, array)


def _as_array(array: Any, *, copy: Any, dtype: Any = None) -> Any:
    """Return an array as one of a type: itself if it may be, and need not change."""
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def _replace_arguments(submission: Submission) -> None:
    """Let what functions take as arrays become arrays here."""
    (module, name), ndarray = CONVERTED[0], submission.client.ndarray

    def convert(obj: Any, share: bool = False) -> Any:
        if type(obj) is ndarray:
            return obj
        made = None if share else submission.converted(obj)
        return original(obj, share) if made is None else made

    original = replace(importlib.import_module(f"cupynumeric.{module}"), name, convert)


# What ``astype`` takes, and does not look at.
_IGNORED: Final = frozenset(("subok", "copy"))


def _replace_astype(submission: Submission) -> None:
    convert = submission.conversions.convert
    names = names_by_spelling(filter(None, TARGETS))
    kinds = {name: np.dtype(name) for name in names.values()}

    # nothing else depends on the options
    def astype(
        self: Any,
        dtype: Any,
        order: Any = "C",
        casting: Any = "unsafe",
        *options: Any,
        **named: Any,
    ) -> Any:
        made = None
        if _is_type(dtype):
            name = names.get(dtype)
            if name is not None and self.dtype is kinds[name]:
                made = self
            elif name is not None and (
                casting == "unsafe"
                or (casting in CASTINGS and np.can_cast(self.dtype, name, casting))
            ):
                made = convert(self, name)
        if made is not None and len(options) < 3 and named.keys() <= _IGNORED:
            return made
        return original(self, dtype, order, casting, *options, **named)

    original = replace(submission.client.ndarray, "astype", astype)


def _is_type(dtype: Any) -> bool:
    return type(dtype) in (type, str) or isinstance(dtype, np.dtype)


def _are_few(shape: Any) -> bool:
    """Whether elements of a new array are so few that they are here."""
    extents = shape if type(shape) is tuple else (shape,)
    is_plain = all([type(each) is int and each >= 0 for each in extents])
    return is_plain and prod(extents) <= window.submitter.small.limit


_LIKE: Final = ("zeros", "ones", "empty", "full")

# What fills a new array with one value, which may be that of another array.
_FILLED: Final[tuple[Source, ...]] = (
    ("_module.creation_shape", "_uninitialized"),
    ("_module.creation_shape", "_uninitialized_like"),
    ("_array.array", "ndarray.fill"),
    ("_array.util", "check_writeable"),
    ("_thunk.deferred", "DeferredArray._fill"),
    ("_thunk.deferred", "DeferredArray.fill"),
)

SHORTCUTS: Final = (
    Shortcut(
        "new arrays",
        (
            *(("_module.creation_shape", name) for name in _LIKE),
            *(("_module.creation_shape", f"{name}_like") for name in _LIKE),
            *_FILLED,
            *MADE,
            *CONVERTED,
        ),
        _replace_filled,
    ),
    Shortcut(
        "the function copy",
        (
            ("_module.creation_data", "copy"),
            ("_module.creation_shape", "empty_like"),
            *_FILLED,
            *COPIED,
            *MADE,
            *CONVERTED,
        ),
        _replace_copy,
    ),
    Shortcut(
        "ranges",
        (
            ("_module.creation_ranges", "arange"),
            ("_thunk.deferred", "DeferredArray.arange"),
            *MADE,
        ),
        _replace_ranges,
    ),
    Shortcut(
        "arrays of elements",
        (
            ("_module.creation_data", "array"),
            ("_module.creation_data", "asarray"),
            *OF_NUMBERS,
            *MADE,
            *CONVERTED,
        ),
        _replace_collected,
    ),
    Shortcut(
        "arguments that become arrays",
        (*OF_NUMBERS, *MADE, *CONVERTED),
        _replace_arguments,
    ),
    Shortcut(
        "conversions",
        (
            ("_array.array", "ndarray.astype"),
            ("_array.array", "ndarray._astype"),
            ("_thunk.deferred", "DeferredArray.convert"),
            *MADE,
        ),
        _replace_astype,
    ),
)
