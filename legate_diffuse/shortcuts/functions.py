# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for functions of the package that make arrays, or call methods of theirs.

Follows: cuPyNumeric (cupynumeric/_module)
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window
from legate_diffuse.shortcuts.broadcast import common_shape, repeated
from legate_diffuse.shortcuts.calls import ARRAYS, Submission, replace
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.templates import NewArrays, Template, new_function
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.form import dense
from legate_diffuse.stores.layout import Layout, Shape

# Functions that have a method of the same name do its work with its defaults.
_MODULES: Final = {
    "sum": "math_sum_prod_diff",
    "prod": "math_sum_prod_diff",
    "amax": "math_extrema",
    "amin": "math_extrema",
    "any": "logic_truth",
    "all": "logic_truth",
}


# Digests of the functions (see ``shortcut.py``).
_KNOWN: Final = {
    "sum": "7a33d91bb18a707a",
    "prod": "ec52afd2773fc1b1",
    "amax": "c524bbdfc3efa641",
    "amin": "0bc4119609cc45f5",
    "any": "65b533f60ab53d4d",
    "all": "b86c900c55ca43aa",
}


def _replace_function(name: str, submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    method = name.removeprefix("a") if name.startswith("am") else name
    ndarray = submission.client.ndarray

    def function(a: Any, *options: Any, **named: Any) -> Any:
        if type(a) is ndarray and not options and not named:
            return getattr(a, method)()
        return original(a, *options, **named)

    original = replace(package, name, function)
    if method != name:
        setattr(package, method, getattr(package, name))


# What functions fill new arrays with.
_VALUES: Final = {"zeros": 0, "ones": 1}
_TYPES: Final = ("float64", "float32", "int64", "int32")


def _replace_all_creations(submission: Submission) -> None:
    client = submission.client
    filled = NewArrays(client, _TYPES).function
    # the names of types, by what stands for them
    names: dict[Any, str | None] = {}
    for name in _TYPES:
        known = dtype_name(client.to_core_type(np.dtype(name)))
        names[name] = names[np.dtype(name)] = names[np.dtype(name).type] = known
    names[float], names[int] = names[np.float64], names[np.int64]
    for name, value in _VALUES.items():
        _replace_creation(name, value, filled.fill, names)
    _replace_full(filled.fill, names)


def _replace_creation(
    name: str, value: int, fill: Any, names: dict[Any, str | None]
) -> None:
    package = importlib.import_module("cupynumeric")

    def create(shape: Any, dtype: Any = np.float64) -> Any:
        known = names.get(dtype) if _is_type(dtype) else None
        layout = None if known is None else _small_layout(shape)
        made = None if layout is None else fill(known, layout, value)
        return original(shape, dtype) if made is None else made

    original = replace(package, name, create)


def _replace_full(fill: Any, names: dict[Any, str | None]) -> None:
    package = importlib.import_module("cupynumeric")

    def full(shape: Any, value: Any, dtype: Any = None) -> Any:
        known = names.get(type(value)) if dtype is None else None
        layout = None if known is None else _small_layout(shape)
        made = None if layout is None else fill(known, layout, value)
        return original(shape, value, dtype) if made is None else made

    original = replace(package, "full", full)


# What ``where`` chooses from, and the numbers that become such an element.
_CHOICES: Final = {"float64": (float, int), "int64": (int,)}


def _replace_where(submission: Submission) -> None:
    client = submission.client
    ndarray, doctor, apply = client.ndarray, client.doctor, submission.apply
    known = new_function(client, takes_numbers=True)
    templates: dict[str, Template] = {}
    for name in _CHOICES:
        templates[name] = Template(client, client.tasks.WHERE, 3, None, np.dtype(name))
        templates[name].function = known

    def where(a: Any, x: Any = None, y: Any = None) -> Any:
        # the type of two numbers is the original's affair
        if type(a) is not ndarray or not (type(x) is ndarray or type(y) is ndarray):
            return original(a, x, y)
        made = apply(known, None, a, x, y)
        if made is None and not doctor._user_value:
            made = _choose(a, x, y)
        return original(a, x, y) if made is None else made

    def _choose(a: Any, x: Any, y: Any) -> Any:
        mask, one, other = map(client.view_of, (a, x, y))
        chosen = one or other
        if mask is None or chosen is None or mask.root.dtype != "bool":
            return None
        like = chosen.root
        if like.dtype not in _CHOICES:
            return None
        shape: Shape | None = mask.shape
        views = [mask]
        for view, value in ((one, x), (other, y)):
            if view is None and type(value) in _CHOICES[like.dtype]:
                view = submission.constant(like, value)
            if view is None or view.root.dtype != like.dtype or shape is None:
                return None
            shape = common_shape(shape, view.shape)
            views.append(view)
        if shape is None:
            return None
        template = templates[like.dtype]
        operands = [repeated(view, shape) for view in views]
        made = submission.make(template, shape, *operands)
        template.learn_once("bool", like.dtype, like.dtype)
        return made

    original = replace(importlib.import_module("cupynumeric"), "where", where)


def _is_type(dtype: Any) -> bool:
    return type(dtype) in (type, str) or isinstance(dtype, np.dtype)


def _small_layout(shape: Any) -> Layout | None:
    """Return the layout of a new small array; None if the shape is another one."""
    extents = shape if type(shape) is tuple else (shape,)
    volume = 1
    for extent in extents:
        if type(extent) is not int or extent < 0:
            return None
        volume *= extent
    if volume > window.submitter.small.limit or len(extents) > real.LEGATE_MAX_DIM:
        return None
    return dense(extents)


SHORTCUTS: Final = (
    *(
        Shortcut(
            f"the function {name}",
            ((f"_module.{module}", name), *ARRAYS),
            _KNOWN[name],
            partial(_replace_function, name),
        )
        for name, module in _MODULES.items()
    ),
    Shortcut(
        "the function where",
        (
            ("_module.ssc_searching", "where"),
            ("_array.thunk", "perform_where"),
            ("_thunk.deferred", "DeferredArray.where"),
            ("_thunk.deferred", "DeferredArray._broadcast"),
            *ARRAYS,
        ),
        "390a416ab9347dd3",
        _replace_where,
    ),
    Shortcut(
        "new arrays",
        (
            ("_module.creation_shape", "full"),
            ("_module.creation_shape", "zeros"),
            ("_module.creation_shape", "ones"),
            ("_module.creation_shape", "_uninitialized"),
            ("_thunk.deferred", "DeferredArray._fill"),
            ("_thunk.deferred", "DeferredArray.fill"),
            *ARRAYS,
        ),
        "17890aeabb9c45e0",
        _replace_all_creations,
    ),
)
