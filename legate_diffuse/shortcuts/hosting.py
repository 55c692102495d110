# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what NumPy does on small arrays (``hosted.py``, ``recipes.py``).

Follows: cuPyNumeric (cupynumeric/_array, _module, _ufunc)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from math import prod
from operator import attrgetter, methodcaller
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.window import window
from legate_diffuse.launch.few_points import MOST_POINTS
from legate_diffuse.shortcuts import adjusted, ordering
from legate_diffuse.shortcuts.recipes import (
    FUNCTIONS,
    METHODS,
    OPERATORS,
    TEXTS,
    Recipe,
)
from legate_diffuse.shortcuts.reductions import ARGUMENTS
from legate_diffuse.shortcuts.refusals import Function
from legate_diffuse.shortcuts.shortcut import Shortcut, Source
from legate_diffuse.shortcuts.submission import (
    CALLED,
    CONVERTED,
    MADE,
    Submission,
    replace,
)
from legate_diffuse.shortcuts.written import Plain, Written, in_places, parameters_of
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.layout import whole

# Where methods are, in place of the package of functions.
_METHOD: Final = "ndarray"


def _replace(recipe: Recipe, package: str, submission: Submission) -> None:
    owner, name = _owner(package, submission), recipe.name
    parameters = parameters_of(getattr(owner, name)) if name in _FOUND_HERE else None
    if plain := _WRITTEN.get(name):
        submission.write_results(
            owner,
            name,
            plain(submission.written),
            recipe.positional,
            in_place=recipe.is_elementwise or recipe.in_blas,
            fills=True,
        )
    extra = submission.hosted.recipe_of(recipe)
    if not recipe.spreads:
        submission.front(owner, name, "hosted", extra=extra)
        if parameters:
            submission.front(owner, name, _FOUND_HERE[name], *parameters)
        return
    by_native = submission.hosted.native_first(
        "hosted", getattr(owner, name), extra=extra
    )

    # native code does not know beforehand how much is made
    def call(*arguments: Any, **named: Any) -> Any:
        made = original if _spreads_far(arguments) else by_native
        return made(*arguments, **named)

    original = replace(owner, name, call)


def _spreads_far(arguments: tuple[Any, ...]) -> bool:
    """Whether there are many combinations of the elements, or of what is counted."""
    parts = arguments[0] if arguments and type(arguments[0]) is tuple else arguments
    extents = [getattr(each, "size", each) for each in parts]
    # a square is made of one number
    counts = [each for each in extents if type(each) is int]
    return prod(counts * 2 if len(counts) == 1 else counts) > MOST_POINTS


def _owner(package: str, submission: Submission) -> Any:
    """Return the part of cuPyNumeric with functions, or the class with methods."""
    if package == _METHOD:
        return submission.client.ndarray
    return importlib.import_module(".".join(filter(None, ("cupynumeric", package))))


def _replace_texts(submission: Submission) -> None:
    for name, function in TEXTS.items():
        _replace_text(name, function, submission)


def _replace_text(name: str, function: Function, submission: Submission) -> None:
    hosted = submission.hosted

    def text(self: Any, *options: Any, **named: Any) -> Any:
        made = None if options or named else hosted.text(function, self)
        return original(self, *options, **named) if made is None else made

    original = replace(submission.client.ndarray, name, text)


# What native code knows most of, and how that is called there.
_FOUND_HERE: Final = {
    **{name: name for name in ("argmax", "argmin", "diagonal", "trace")},
    **{name: name for name in ("flip", "fliplr", "flipud", "rot90")},
    "diag": "diagonal",
}
# Functions of one operand with several results.
_SEVERAL: Final = ("frexp", "modf")
# Functions of two operands that reduce what methods of arrays reduce, and these.
_METHODS: Final = {
    "add": "sum",
    "logical_and": "all",
    "logical_or": "any",
    "maximum": "max",
    "minimum": "min",
    "multiply": "prod",
}


def _replace_reduce(submission: Submission) -> None:
    """Let methods of arrays do what functions of two operands reduce."""
    client, array_of = submission.client, submission.array_of
    methods = {client.ufuncs[each]: _METHODS[each] for each in _METHODS}

    def reduce(self: Any, array: Any, *options: Any, **named: Any) -> Any:
        array, method = array_of(array), methods.get(self)
        if options:
            options, named = in_places(parameters, 0, options, named)
        if type(array) is client.ndarray and method is not None and not options:
            called = {each: named[each] for each in named if named[each] is not None}
            if named.get("axis", 0) == 0:
                # of a vector that is all
                called.pop("axis", None)
                if array.ndim > 1:
                    called["axis"] = 0
            if not called:
                return getattr(array, method)()
            if called.keys() <= ARGUMENTS[method]:
                return getattr(array, method)(**called)
        return original(self, array, *options, **named)

    parameters = parameters_of(client.binary_ufunc.reduce)
    del parameters["self"], parameters["array"]
    original = replace(client.binary_ufunc, "reduce", reduce)


def _replace_parts_of_floats(submission: Submission) -> None:
    """Let NumPy do what functions of one operand with several results find."""
    package = importlib.import_module("cupynumeric")
    recipes = {
        getattr(package, name): submission.hosted.recipe(
            getattr(np, name), name, "f", (1, 1, 1), brings=False, converts=False
        )
        for name in _SEVERAL
    }
    owner = type(next(iter(recipes)))
    submission.front(owner, "__call__", "hosted_by", extra=recipes)


def _replace_assignment(name: str, package: str, submission: Submission) -> None:
    """Let a function or a method that changes elements do so by NumPy."""
    change = submission.hosted.changed_by(_ASSIGNMENTS[package][name], name)

    def assign(a: Any, *arguments: Any, **named: Any) -> None:
        is_loop = name in _ASSIGNING_LOOPS and getattr(a, "size", 0) > MOST_POINTS
        if is_loop or change(a, *arguments, **named) is not None:
            original(a, *arguments, **named)

    original = replace(_owner(package, submission), name, assign)


def _replace_fill(submission: Submission) -> None:
    client, hosted = submission.client, submission.hosted
    ndarray, doctor, warn = client.ndarray, client.doctor, client.warn

    def fill_later(array: Any, value: Any) -> bool:
        """Fill many elements, or what waits; False if the original must."""
        view = client.view_of(array)
        if view is None or view.layout is not whole(view.root.shape):
            return False
        is_plain = type(value) in (float, int) and array._writeable
        if not is_plain or view.volume < 2 or doctor.is_on or warn.is_on:
            return False
        number = submission.constant(view.root, value)
        if number is not None:
            window.submit(Fill(view, number.root.initial))
        return number is not None

    def fill(self: Any, value: Any) -> None:
        # the original refuses several numbers
        is_one = isinstance(value, (np.generic, complex, float, int))
        if not is_one or not (
            hosted.assign(self, Ellipsis, value) or fill_later(self, value)
        ):
            original(self, value)

    original = replace(ndarray, "fill", fill)
    submission.front(ndarray, "fill", "fill", "self", "value")


# What changes elements of its first argument, by where it is.
_ASSIGNMENTS: Final[dict[str, dict[str, Function]]] = {
    "": {
        "fill_diagonal": adjusted.fill_diagonal,
        "put": adjusted.put,
        "place": adjusted.place,
        "putmask": adjusted.putmask,
        "put_along_axis": adjusted.put_along_axis,
    },
    _METHOD: {
        "sort": ordering.sort_in_place,
        "partition": ordering.partition_in_place,
        "put": adjusted.put,
    },
}
# Of which the original is a loop.
_ASSIGNING_LOOPS: Final = frozenset(("putmask",))
# Functions whose results may be written to arrays that are there, and how: results that
# are converted, ones of the type of the result, ones of elements that are converted.
_WRITTEN: Final[dict[str, Callable[[Written], Plain]]] = {
    **dict.fromkeys(("choose", "clip", "compress", "round"), attrgetter("any_type")),
    **dict.fromkeys(("argmax", "argmin", "take", "var"), attrgetter("same")),
    **dict.fromkeys(
        ("cumprod", "cumsum", "nancumprod", "nancumsum"), attrgetter("scan")
    ),
    # by which conversions they make of themselves
    "einsum": methodcaller("factors", "safe"),
    "matmul": methodcaller("factors", "same_kind"),
    **dict.fromkeys(("inner", "tensordot"), methodcaller("factors", "unsafe")),
    "nansum": methodcaller("reduction", np.add),
    "nanprod": methodcaller("reduction", np.multiply),
    "nanmax": methodcaller("reduction", np.maximum),
    "nanmin": methodcaller("reduction", np.minimum),
}
# What is around what changes elements.
_ASSIGNED: Final[tuple[Source, ...]] = (
    ("_array.util", "check_writeable"),
    *CALLED,
    *CONVERTED,
)
_BY_NAME: Final = {recipe.name: recipe for recipe in FUNCTIONS}

SHORTCUTS: Final = (
    *(
        Shortcut(
            f"the function {recipe.name} on small arrays",
            (
                (recipe.module, recipe.name),
                *MADE,
                *(CONVERTED if recipe.positional > recipe.arrays else ()),
            ),
            partial(_replace, recipe, recipe.package),
        )
        for recipe in FUNCTIONS
    ),
    *(
        Shortcut(
            f"the method {recipe.name} on small arrays",
            (("_array.array", f"ndarray.{recipe.name}"), *MADE, *CONVERTED),
            partial(_replace, recipe, _METHOD),
        )
        for recipe in (*map(_BY_NAME.__getitem__, METHODS), *OPERATORS)
    ),
    Shortcut(
        "the text of small arrays",
        (*(("_array.array", f"ndarray.{name}") for name in TEXTS), *CALLED),
        _replace_texts,
    ),
    Shortcut(
        "reductions by functions of two operands",
        (("_ufunc.ufunc", "binary_ufunc.reduce"), *MADE),
        _replace_reduce,
    ),
    Shortcut(
        "functions of one operand with several results",
        (
            ("_ufunc.ufunc", "multiout_unary_ufunc._call_impl"),
            ("_ufunc.ufunc", "multiout_unary_ufunc._resolve_dtype"),
            *MADE,
        ),
        _replace_parts_of_floats,
    ),
    *(
        Shortcut(
            f"the function {name} on small arrays",
            (
                ("_module.indexing", name),
                # which the function of that name calls
                *([("_array.array", "ndarray.put")] if name == "put" else []),
                *_ASSIGNED,
            ),
            partial(_replace_assignment, name, ""),
        )
        for name in _ASSIGNMENTS[""]
    ),
    *(
        Shortcut(
            f"the method {name} on small arrays",
            (("_array.array", f"ndarray.{name}"), *_ASSIGNED),
            partial(_replace_assignment, name, _METHOD),
        )
        for name in _ASSIGNMENTS[_METHOD]
    ),
    Shortcut(
        "the method fill on small arrays",
        (("_array.array", "ndarray.fill"), *_ASSIGNED),
        _replace_fill,
    ),
)
