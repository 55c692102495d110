# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for what joins arrays some of which wait to be computed.

NumPy joins what is here. To let it join the others would end the window in which they
wait; so they are copied to parts of a new array, fused with what computes them.

Follows: cuPyNumeric (cupynumeric/_module/array_joining.py)
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window
from legate_diffuse.launch.few_points import MOST_LOOPED
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.hosted import leave
from legate_diffuse.shortcuts.recipes import FUNCTIONS
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import CALLED, Submission, replace

# The axis along which a function joins arrays, and whether that is a new one, by how
# many dimensions they have; the last is for more of these as well.
_ALONG: Final[dict[str, tuple[tuple[int, bool] | None, ...]]] = {
    "vstack": (None, (0, True), (0, False)),
    "hstack": (None, (0, False), (1, False)),
    "column_stack": (None, (1, True), (1, False), None),
    "dstack": (None, None, (2, True), (2, False)),
}
# Whether those to which the axis is given, which is 0 if it isn't, make a new one.
_GIVEN: Final = {"concatenate": False, "stack": True}

# The parameters of those that native code does, which copies few elements itself.
_PARAMETERS: Final = {
    "concatenate": ("inputs", "axis"),
    "stack": ("arrays", "axis"),
    "vstack": ("tup",),
    "hstack": ("tup",),
}


def joined_later(client: Client, parts: Any, axis: Any, *, is_new: bool) -> Any:
    """Return arrays that are joined along an axis, which may be a new one.

    None if all are here, as NumPy copies these, or they have few elements, or the
    original must say what they make.
    """
    if (
        type(parts) not in (list, tuple)
        or not parts
        or any([type(each) is not client.ndarray for each in parts])
        or client.doctor.is_on
    ):
        return None
    shape, dtype = parts[0].shape, parts[0].dtype
    dim = len(shape) + is_new
    if (
        not shape
        or dim > real.LEGATE_MAX_DIM
        or type(axis) is not int
        or not -dim <= axis < dim
        or any([each.dtype != dtype for each in parts])
        or sum([each.size for each in parts]) <= MOST_LOOPED
    ):
        return None
    views = [client.view_of(each) for each in parts]
    if not any([view and window.is_waited_for(view.root) for view in views]):
        return None
    return _copied(parts, axis % dim, is_new=is_new)


def _copied(parts: Sequence[Any], axis: int, *, is_new: bool) -> Any:
    """Copy arrays to parts of a new one; None if they do not fit."""
    first = parts[0]
    end = axis if is_new else axis + 1
    others = [(each.shape[:axis], each.shape[end:]) for each in parts]
    if any([each != others[0] for each in others]):
        return None
    lengths = [1 if is_new else each.shape[axis] for each in parts]
    before, after = others[0]
    package = importlib.import_module("cupynumeric")
    made = package.empty((*before, sum(lengths), *after), first.dtype)
    whole, start = (slice(None),) * axis, 0
    for part, length in zip(parts, lengths, strict=True):
        if length:
            along = start if is_new else slice(start, start + length)
            made[(*whole, along)] = part
        start += length
    return made


def _replace_joining(name: str, submission: Submission) -> None:
    package, client = importlib.import_module("cupynumeric"), submission.client
    recipe = next(each for each in FUNCTIONS if each.name == name)
    hosted = submission.hosted
    extra = hosted.recipe_of(recipe, brings=True, reads_many=True)
    brought = hosted.native_first("hosted", leave, extra=extra)
    takes_axis = name in _GIVEN

    def join(parts: Any, *options: Any, **named: Any) -> Any:
        made = None
        if len(options) + len(named) <= takes_axis and named.keys() <= {"axis"}:
            along = _along(name, parts, *options, **named)
            if along is not None:
                made = joined_later(client, parts, along[0], is_new=along[1])
        if made is None:
            made = brought(parts, *options, **named)
        return original(parts, *options, **named) if made is None else made

    original = replace(package, name, join)


def _along(name: str, parts: Any, axis: Any = 0) -> tuple[Any, bool] | None:
    if name in _GIVEN:
        return axis, _GIVEN[name]
    if type(parts) not in (list, tuple) or not parts:
        return None
    by_dim = _ALONG[name]
    return by_dim[min(getattr(parts[0], "ndim", 0), len(by_dim) - 1)]


def _join_here(name: str, submission: Submission) -> None:
    package = importlib.import_module("cupynumeric")
    submission.front(package, name, name, *_PARAMETERS[name])


# NumPy joins what is here and has many elements, or several types.
SHORTCUTS: Final = tuple(
    Shortcut(
        f"{name} of what waits",
        (("_module.array_joining", name), *CALLED),
        partial(_replace_joining, name),
    )
    for name in (*_ALONG, *_GIVEN)
)
# Around those of NumPy.
JOINED_HERE: Final = tuple(
    Shortcut(
        f"{name} of what is here",
        (("_module.array_joining", name), *CALLED),
        partial(_join_here, name),
    )
    for name in _PARAMETERS
)
