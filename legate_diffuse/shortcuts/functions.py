# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for functions of the package that choose, or call methods of arrays.

Follows: cuPyNumeric (cupynumeric/_module)
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any, Final

import numpy as np

from legate_diffuse.launch.few_points import MOST_POINTS
from legate_diffuse.shortcuts.broadcast import common_shape
from legate_diffuse.shortcuts.choices import Choices
from legate_diffuse.shortcuts.reductions import ARGUMENTS, front_reduction
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import (
    CALLED,
    CONVERTED,
    MADE,
    Submission,
    replace,
)
from legate_diffuse.shortcuts.templates import EXACT, FLOATS, Template
from legate_diffuse.shortcuts.written import (
    CASTINGS,
    in_places,
    loses_part,
    may_overlap,
    parameters_of,
)
from legate_diffuse.stores.layout import remember

# Functions that have a method of the same name do its work with its defaults: their
# modules, and the arguments that both have.
_FUNCTIONS: Final = {
    "sum": ("math_sum_prod_diff", ARGUMENTS["sum"]),
    "prod": ("math_sum_prod_diff", ARGUMENTS["prod"]),
    "amax": ("math_extrema", ARGUMENTS["max"]),
    "amin": ("math_extrema", ARGUMENTS["min"]),
    "any": ("logic_truth", ARGUMENTS["any"] - {"initial"}),
    "all": ("logic_truth", ARGUMENTS["all"] - {"initial"}),
}


# Numbers of which the original makes arrays.
_COPIED: Final = frozenset((float, int, bool))
# Those between which elements are clipped; the tasks of so many pairs are remembered.
_BOUNDS: Final = (float, int, np.floating, np.integer)
_MAX_CLIPS: Final = 1024


def _package() -> Any:
    return importlib.import_module("cupynumeric")


def _replace_function(name: str, submission: Submission) -> None:
    package = _package()
    method = name.removeprefix("a") if name.startswith("am") else name
    ndarray, (_, arguments) = submission.client.ndarray, _FUNCTIONS[name]
    array_of = submission.array_of
    parameters = parameters_of(getattr(package, name))
    del parameters["a"]

    def function(a: Any, *options: Any, **named: Any) -> Any:
        a = array_of(a)
        if len(options) > 1:
            options, named = in_places(parameters, 1, options, named)
        if (
            type(a) is ndarray
            and named.keys() <= arguments
            and len(options) + ("axis" in named) < 2
            # which the function looks at, other than the method
            and type(named.get("initial")) is not list
            # other than the method, the function takes 0 for one that is not there
            and (a.ndim or not (options or "axis" in named))
        ):
            return getattr(a, method)(*options, **named)
        return original(a, *options, **named)

    original = replace(package, name, function)
    if method in submission.reductions:
        front_reduction(submission, package, name, method)


def _replace_copyto(submission: Submission) -> None:
    client = submission.client
    ndarray, view_of, package = client.ndarray, client.view_of, _package()

    def are_apart(dst: Any, src: Any) -> bool:
        target, source = view_of(dst), view_of(src)
        if target is None or source is None:
            return False
        return not may_overlap(source.root, target.root)

    def fits(dst: Any, src: Any, casting: Any) -> bool:
        """Whether an array may be copied to another one, broadcast and converted."""
        dim, source, target = src.ndim, src.dtype, dst.dtype
        return (
            dst._writeable
            and dim <= dst.ndim
            and common_shape(src.shape, dst.shape) == dst.shape
            and casting in CASTINGS
            and np.can_cast(source, target, casting)
            and (
                source == target
                or not (client.warn.is_on or loses_part(source, target))
            )
            and are_apart(dst, src)
        )

    def copyto(
        dst: Any, src: Any, casting: Any = "same_kind", where: Any = None
    ) -> None:
        array = package.asarray(src) if type(src) in _COPIED else src
        if type(dst) is type(array) is ndarray and fits(dst, array, casting):
            if where is None:
                dst[...] = array
                return
            if (
                type(where) is ndarray
                and where.dtype == bool
                and where.shape == dst.shape
                and dst.size <= MOST_POINTS
            ):
                if array.dtype != dst.dtype:
                    array = array.astype(dst.dtype)
                dst[...] = package.where(where, array, dst)
                return
        original(dst, src, casting, where)

    original = replace(package, "copyto", copyto)


def _replace_count(submission: Submission) -> None:
    """Count what is not zero as a sum, which is a loop."""
    client, convert = submission.client, submission.conversions.convert

    def count_nonzero(a: Any, *options: Any, **named: Any) -> Any:
        view = None if options or named else client.view_of(a)
        flags = None
        if view is not None and view.volume > 1 and not client.doctor.is_on:
            flags = a if view.root.dtype == "bool" else convert(a, "bool")
        numbers = None if flags is None else convert(flags, "uint64")
        return original(a, *options, **named) if numbers is None else numbers.sum()

    original = replace(_package(), "count_nonzero", count_nonzero)


def _replace_where(submission: Submission) -> None:
    choose = Choices(submission).where

    def where(a: Any, x: Any = None, y: Any = None) -> Any:
        made = choose(a, x, y)
        return original(a, x, y) if made is None else made

    original = replace(_package(), "where", where)


def _replace_outer(submission: Submission) -> None:
    ndarray, doctor = submission.client.ndarray, submission.client.doctor

    def outer(a: Any, b: Any, out: Any = None) -> Any:
        if (
            out is None
            and type(a) is type(b) is ndarray
            and a.ndim == b.ndim == 1
            and not doctor.is_on
        ):
            return a[:, None] * b
        return original(a, b, out=out)

    original = replace(_package(), "outer", outer)


def _replace_clip(submission: Submission) -> None:
    client = submission.client
    code = importlib.import_module("cupynumeric.config").UnaryOpCode.CLIP
    # by the type, and the bytes of the bounds
    templates: dict[tuple[str, bytes], Template] = {}

    def template_of(name: str, bounds: tuple[Any, Any]) -> Template:
        values = np.array(bounds, name)
        key = name, values.tobytes()
        found = templates.get(key)
        if found is None:
            found = Template(client, client.tasks.UNARY_OP, 1, code, values.dtype)
            found.scalars = [
                *found.scalars,
                *[(each, found.type) for each in values.tolist()],
            ]
            remember(templates, key, found, _MAX_CLIPS)
        return found

    def replace_clip(owner: Any) -> None:
        def clip(a: Any, *bounds: Any, **named: Any) -> Any:
            made, view = None, client.view_of(a)
            if (
                view is not None
                and view.root.dtype in FLOATS
                and len(bounds) == 2
                and not named
                and not client.doctor.is_on
                and all([isinstance(each, _BOUNDS) for each in bounds])
                # the original rounds larger ones otherwise, or raises
                and not any([type(x) is int and abs(x) > EXACT for x in bounds])
            ):
                template = template_of(view.root.dtype, bounds)
                made = submission.make(template, view.shape, view)
            return original(a, *bounds, **named) if made is None else made

        original = replace(owner, "clip", clip)

    replace_clip(client.ndarray)
    replace_clip(_package())


SHORTCUTS: Final = (
    *(
        Shortcut(
            f"the function {name}",
            ((f"_module.{module}", name), *CALLED),
            partial(_replace_function, name),
        )
        for name, (module, _) in _FUNCTIONS.items()
    ),
    Shortcut(
        "the function copyto",
        (
            ("_module.creation_data", "copyto"),
            ("_thunk.deferred", "DeferredArray.copy"),
            *CALLED,
        ),
        _replace_copyto,
    ),
    Shortcut(
        "the function count_nonzero",
        (
            ("_module.ssc_counting", "count_nonzero"),
            ("_array.array", "ndarray.sum"),
            ("_thunk.deferred", "DeferredArray.convert"),
            *MADE,
            *CALLED,
        ),
        _replace_count,
    ),
    Shortcut(
        "the function outer", (("_module.linalg_mvp", "outer"), *CALLED), _replace_outer
    ),
    Shortcut(
        "clip",
        (
            ("_module.math_misc", "clip"),
            ("_array.array", "ndarray.clip"),
            ("_array.thunk", "perform_unary_op"),
            ("_thunk.deferred", "DeferredArray.unary_op"),
            *MADE,
        ),
        _replace_clip,
    ),
    Shortcut(
        "the function where",
        (
            ("_module.ssc_searching", "where"),
            ("_array.thunk", "perform_where"),
            ("_thunk.deferred", "DeferredArray.where"),
            ("_thunk.deferred", "DeferredArray._broadcast"),
            *MADE,
            *CONVERTED,
        ),
        _replace_where,
    ),
)
