# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for sums and other reductions of all elements to one, or along an axis.

cuPyNumeric fills the result with the reduction's identity, and reduces to it.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.window import window
from legate_diffuse.launch.few_points import MOST_LOOPED
from legate_diffuse.shortcuts.elements import ALL_KINDS
from legate_diffuse.shortcuts.hosted import leave
from legate_diffuse.shortcuts.reduction_templates import ReductionTemplates
from legate_diffuse.shortcuts.refusals import Function, along_one
from legate_diffuse.shortcuts.shortcut import Shortcut, Source
from legate_diffuse.shortcuts.submission import MADE, Submission, replace
from legate_diffuse.shortcuts.task import fill_and_submit, run_at_once, submit
from legate_diffuse.shortcuts.templates import Template, new_function
from legate_diffuse.shortcuts.written import parameters_of
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.view import View

# The types whose values are reduced as they are.
_NUMBERS: Final = frozenset(
    ("int64", "uint64", "float32", "float64", "complex64", "complex128")
)
_ORDERED: Final = frozenset(("int32", "int64", "uint64", "float32", "float64"))
_TRUTH: Final = frozenset(("bool",))
# The methods, their codes, the types that they take the short way for.
_METHODS: Final = {
    "sum": ("SUM", _NUMBERS),
    # Legate has no product of complex128
    "prod": ("PROD", _NUMBERS - {"complex128"}),
    "max": ("MAX", _ORDERED),
    "min": ("MIN", _ORDERED),
    "any": ("ANY", _TRUTH),
    "all": ("ALL", _TRUTH),
}
# The functions of two operands that say in which types they reduce. The others reduce
# to truth values.
_FUNCTIONS: Final = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
# The methods that add integers and truth values as integers of 64 bits, and those.
_SUMS: Final = frozenset(("sum", "prod"))
# Those that compare elements.
_EXTREMES: Final = frozenset(("max", "min"))
_WIDER: Final[dict[str | None, str]] = {
    **dict.fromkeys(("bool", "int8", "int16", "int32"), "int64"),
    **dict.fromkeys(("uint8", "uint16", "uint32"), "uint64"),
}
# What does the same with several axes, or keeps dimensions, and the kinds of types.
_BY_NUMPY: Final[dict[str, tuple[Function, str]]] = {
    "sum": (np.ndarray.sum, ALL_KINDS),
    "prod": (np.ndarray.prod, "biuf"),
    "max": (np.ndarray.max, "biuf"),
    "min": (np.ndarray.min, "biuf"),
    "any": (along_one(np.ndarray.any), "biuf"),
    "all": (along_one(np.ndarray.all), "biuf"),
}
# The arguments that say along which axes, and what NumPy takes of those of a method.
AXIS: Final = frozenset(("axis", "keepdims"))
ARGUMENTS: Final = {
    name: AXIS
    | {"initial", "where", "out"}
    | ({"dtype"} if name in _SUMS else frozenset())
    for name in _METHODS
}
# What options are that are not given.
DEFAULTS: Final = {
    "axis": None,
    "dtype": None,
    "out": None,
    "keepdims": False,
    "initial": None,
    "where": None,
}
# A row of so many elements is short.
_SHORT_ROW: Final = 64


class _Reduction:
    """Reduces arrays as one method does.

    Each function returns None where the original must reduce.
    """

    def __init__(self, name: str, submission: Submission) -> None:
        self._client = client = submission.client
        self._new, self._convert = submission.new, submission.conversions.convert
        self._name = name
        self._arguments = arguments = ARGUMENTS[name] - {"dtype", "out"}
        self._defaults = {each: DEFAULTS[each] for each in arguments}
        code, self._dtypes = _METHODS[name]
        self._found = ReductionTemplates(client, code, self._dtypes)
        method, kinds = _BY_NUMPY[name]
        how = {"brings": False, "orders": name in _EXTREMES}
        recipe = method, name, kinds, (1, 2, 1), arguments
        self._by_numpy = submission.by_numpy(*recipe, **how)
        self.function = new_function(client, reduces=True)
        self._apply, native = submission.apply, client.legate.native
        self.along = self._found.function
        self._along, self._later = native.reduce, native.reduce_later
        # the types that native code knows, of reductions to one and along an axis
        self._learned: set[tuple[Any, str | None]] = set()
        # a sum of a selection needs no element apart
        adds = name == "sum"
        self._view_of = client.view_of if adds else client.settled_view_of
        self._total = submission.selections.total if adds else leave

    def reduce_all(self, array: Any) -> Any:
        """Reduce all elements to one."""
        made = self._to_one(array)
        return self._here(array) if made is None else made

    def reduce(self, array: Any, options: tuple[Any, ...], named: Any) -> Any:
        """Do as the method does with these arguments."""
        made, defaults = None, self._defaults
        if not options and all([named[x] is defaults.get(x, ...) for x in named]):
            return self._whole(array)
        if len(options) < 2 and named.keys() <= AXIS:
            axis = options[0] if options else named.get("axis")
            keeps = named.get("keepdims", False)
            if axis in (0, -1) and keeps is False and array.ndim == 1:
                return self._whole(array)
            if type(axis) is int and type(keeps) is bool:
                made = self._along_one(array, axis, keeps=keeps)
        if made is None and len(options) < 2 and named.keys() <= self._arguments:
            made = self._otherwise(array, options, named)
        return made

    def _otherwise(self, array: Any, options: tuple[Any, ...], named: Any) -> Any:
        axis = options[0] if options else named.get("axis")
        # NumPy takes one axis of an array that has none, the original does not
        if (
            type(axis) is tuple
            and len(axis) > 1
            and named.keys() <= AXIS
            # the original reduces no truth values along several axes
            and self._dtypes is not _TRUTH
        ):
            made = self._along_several(array, axis, named.get("keepdims", False))
        else:
            made = self._here(array, *options, **named)
        if made is None and self._name in _SUMS and type(axis) is tuple:
            made = self._truth(array, *options, **named)
        return made

    def _along_several(self, array: Any, axes: tuple[Any, ...], keeps: Any) -> Any:
        dim = array.ndim
        if not all([type(axis) is int and -dim <= axis < dim for axis in axes]):
            return None
        those = sorted({axis % dim for axis in axes})
        if len(those) < len(axes) or type(keeps) is not bool:
            return None
        # NumPy compares elements far apart one by one
        compares_many = self._name in _EXTREMES and array.size > MOST_LOOPED
        if len(those) == dim:
            made = self._whole(array)
        else:
            made = self._along_at_once(array, axes, those)
            if made is None and not compares_many:
                made = self._by_numpy(array, axes)
        if made is None and self._client.view_of(array) is not None:
            # what waits is computed with the first of them; rows that are short take
            # longer to add up than to be added
            made = array
            is_short = array.shape[those[-1]] < _SHORT_ROW
            for gone, axis in enumerate(those if is_short else those[::-1]):
                if made is not None:
                    made = self._by_task(made, axis - gone if is_short else axis)
        if not keeps or made is None:
            return made
        return made[_with_axes(tuple(those), dim)]

    def _along_at_once(
        self, array: Any, axes: tuple[int, ...], those: list[int]
    ) -> Any:
        """Reduce along several axes in one loop, as no task of cuPyNumeric's does."""
        made = self._along(self.along, array, axes, False)
        view = None if made is not None else self._plain_view(array)
        if view is None or not window.runs_at_once or not view.root.is_here:
            return made
        shape = tuple([n for axis, n in enumerate(view.shape) if axis not in those])
        entry = self._found[view.root.dtype, those[0]]
        if entry is None or view.volume == 0 or prod(shape) < 2:
            return None
        template, identity = entry
        made, result = self._new(template, shape)
        target = result
        for axis in those:
            target = target.promote(axis, view.shape[axis])
        fill = Fill(result, identity)
        if not run_at_once(template, [view, target], fill):
            return None
        self._learn(self._found.function, template, view)
        return made

    def _here(self, array: Any, *options: Any, **named: Any) -> Any:
        """Let NumPy reduce, where types stay as they are."""
        view = self._view_of(array)
        if view is None:
            return None if options or named else self._total(array)
        given = {each: named[each] for each in named if named[each] is not None}
        if not view.shape and (options or "axis" in given):
            # the original has no axis
            return None
        kind, initial = np.dtype(view.root.dtype).kind, given.get("initial", 0)
        if type(initial) is not int and (type(initial), kind) != (float, "f"):
            return None
        if not _is_mask(given.get("where", True)):
            return None
        return self._by_numpy(array, *options, **given)

    def _to_one(self, array: Any) -> Any:
        made = self._later(self.function, self._found, array, None)
        view = None if made is not None else self._plain_view(array)
        # the original refuses empty arrays, and copies single elements
        if view is None or view.volume < 2 or view.root.scalar_storage:
            return made
        numbers = self._converted(array, view)
        if numbers is not array:
            return None if numbers is None else self._whole(numbers)
        entry = self._found[view.root.dtype, view.shape]
        if entry is None:
            return None
        template, identity = entry
        made, result = self._new(template, ())
        submit(template, [result, view], Fill(result, identity))
        self._learn(self.function, template, view)
        return made

    def _along_one(self, array: Any, axis: int, *, keeps: bool = False) -> Any:
        made = self._along(self.along, array, axis, keeps)
        if made is None:
            made = self._by_task(array, axis)
            if keeps and made is not None:
                made = made[_with_axes((axis % array.ndim,), array.ndim)]
        return made

    def _by_task(self, array: Any, axis: int) -> Any:
        made = self._later(self._found.function, self._found, array, axis)
        view = None if made is not None else self._plain_view(array)
        if view is None or not window.runs_at_once:
            return made
        if not -len(view.shape) <= axis < len(view.shape):
            return None
        axis %= len(view.shape)
        shape = (*view.shape[:axis], *view.shape[axis + 1 :])
        if view.volume == 0 or prod(shape) < 2:
            return None
        numbers = self._converted(array, view)
        if numbers is not array:
            return None if numbers is None else self._along_one(numbers, axis)
        entry = self._found[view.root.dtype, axis]
        if entry is None:
            return None
        template, identity = entry
        made, result = self._new(template, shape)
        views = [view, result.promote(axis, view.shape[axis])]
        fill_and_submit(Fill(result, identity), template, views)
        self._learn(self._found.function, template, view)
        return made

    def _plain_view(self, array: Any) -> View | None:
        return None if self._client.doctor.is_on else self._view_of(array)

    def _converted(self, array: Any, view: View) -> Any:
        """Return an array of the type in which it is reduced; None if there is none."""
        name = view.root.dtype
        if self._name in _SUMS and name in _WIDER:
            return self._convert(array, _WIDER[name])
        if self._dtypes is _TRUTH and name != "bool":
            return self._convert(array, "bool")
        return array

    def _learn(self, function: Any, template: Template, view: View) -> None:
        name = view.root.dtype
        if template.native and (function, name) not in self._learned:
            self._learned.add((function, name))
            template.function = function
            template.learn(name)

    def _truth(self, array: Any, *options: Any, **named: Any) -> Any:
        """Reduce truth values along several axes, as integers from the start.

        The original keeps sums along the first axis as truth values, and reads bytes.
        """
        view = self._client.view_of(array)
        if view is None or view.root.dtype != "bool":
            return None
        numbers = self._convert(array, "int64")
        if numbers is None:
            return None
        return getattr(numbers, self._name)(*options, **named)

    def _whole(self, array: Any) -> Any:
        made = self._apply(self.function, None, array)
        return self.reduce_all(array) if made is None else made


def _replace_reduction(name: str, submission: Submission) -> None:
    ndarray, reduction = submission.client.ndarray, _Reduction(name, submission)
    apply, function = submission.apply, reduction.function
    partly, wholly = reduction.reduce, reduction.reduce_all

    def reduce(self: Any, *options: Any, **named: Any) -> Any:
        if options or named:
            made = partly(self, options, named)
        else:
            made = apply(function, None, self)
            if made is None:
                made = wholly(self)
        return original(self, *options, **named) if made is None else made

    written, ufunc = submission.written, _FUNCTIONS.get(name)
    plain = written.any_type if ufunc is None else written.reduction(ufunc)
    submission.write_results(ndarray, name, plain, 2)
    original = replace(ndarray, name, reduce)
    # the original reduces no truth values along several axes
    takes_several = ufunc is not None
    submission.reductions[name] = function, reduction.along, takes_several
    front_reduction(submission, ndarray, name, name)


def front_reduction(submission: Submission, owner: Any, name: str, method: str) -> None:
    """Let native code try what reduces as a method does, where only axes are given."""
    names = list(parameters_of(getattr(owner, name)))
    before = names[: names.index("keepdims") + 1]
    extra = submission.reductions[method]
    submission.front(owner, name, "reduction", *before, extra=extra)


def _is_mask(where: Any) -> bool:
    """Whether the original takes it: it converts lists, and refuses other types."""
    dtype = where.dtype if hasattr(where, "dtype") else np.asarray(where).dtype
    return bool(dtype == np.bool_)


@lru_cache
def _with_axes(axes: tuple[int, ...], dim: int) -> tuple[Any, ...]:
    """Return the index that adds axes where they were of so many dimensions."""
    return tuple([None if axis in axes else slice(None) for axis in range(dim)])


def _sources(name: str) -> tuple[Source, ...]:
    return (
        ("_array.array", f"ndarray.{name}"),
        ("_array.thunk", "_unary_reduction_task_accumulation_dtype"),
        ("_array.thunk", "perform_unary_reduction"),
        ("_thunk.deferred", "DeferredArray.unary_reduction"),
        ("_thunk.deferred", "DeferredArray._scalar_unary_reduction"),
        ("_thunk.deferred", "DeferredArray._single_axis_unary_reduction"),
        ("_thunk.deferred", "DeferredArray._fill"),
        ("_thunk.deferred", "DeferredArray.fill"),
        *MADE,
    )


SHORTCUTS: Final = (
    *(
        Shortcut(
            f"reductions with {name}",
            _sources(name),
            partial(_replace_reduction, name),
        )
        for name in _METHODS
    ),
)
