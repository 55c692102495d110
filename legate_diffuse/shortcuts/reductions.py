# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for sums and other reductions of all elements to one, or along an axis.

cuPyNumeric fills the result with the reduction's identity, and reduces to it.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

import importlib
from functools import lru_cache, partial
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.window import window
from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.launch.few_points import MOST_LOOPED
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.elements import ALL_KINDS
from legate_diffuse.shortcuts.refusals import Function, along_one
from legate_diffuse.shortcuts.shortcut import Shortcut, Source
from legate_diffuse.shortcuts.submission import MADE, Submission, replace
from legate_diffuse.shortcuts.task import fill_and_submit, submit
from legate_diffuse.shortcuts.templates import Template, new_function
from legate_diffuse.shortcuts.written import Plain
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.layout import remember

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
# How partial results of a reduction are combined, and what it starts from: a number, or
# the least or the greatest element of the type.
_COMBINED: Final[dict[str, tuple[str, Any]]] = {
    "SUM": ("ADD", 0),
    "PROD": ("MUL", 1),
    "MAX": ("MAX", "min"),
    "MIN": ("MIN", "max"),
    "ANY": ("ADD", False),
    "ALL": ("MUL", True),
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
# At most so many shapes are remembered, of each method.
_MAX_TEMPLATES: Final = 1024


class _Reductions(dict[tuple[Any, ...], tuple[Template, Any] | None]):
    """The templates of one reduction, and the identities, by type and shape.

    Those of reductions along an axis by type and axis. None stands for a type without
    a shortcut.
    """

    def __init__(self, client: Client, code: str, dtypes: frozenset[str]) -> None:
        super().__init__()
        self._client = client
        config = importlib.import_module("cupynumeric.config")
        self._code = getattr(config.UnaryRedCode, code)
        self._dtypes = dtypes
        operator, self._identity = _COMBINED[code]
        self._operator = int(client.legate.ReductionOpKind[operator])
        self.function = new_function(client)

    def __missing__(self, key: tuple[Any, ...]) -> tuple[Template, Any] | None:
        name, shape = key
        found = self._make(name, shape) if name in self._dtypes else None
        return remember(self, key, found, _MAX_TEMPLATES)

    def _make(self, name: str, shape: tuple[int, ...] | int) -> tuple[Template, Any]:
        client, dtype = self._client, np.dtype(name)
        types = importlib.import_module("legate.core.types")
        is_along = type(shape) is int
        task = client.tasks["UNARY_RED" if is_along else "SCALAR_UNARY_RED"]
        template = Template(client, task, 1, None, dtype)
        template.privileges = [READ, REDUCE + self._operator]
        code = self._code, types.int32
        if is_along:
            template.function = self.function
            template.scalars = [(shape, types.int32), code, (False, types.bool_)]
        else:
            template.aligned = ()
            template.privileges.reverse()
            template.scalars = [code, (shape, (types.int64,)), (False, types.bool_)]
        identity = self._identity
        if isinstance(identity, str):
            limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
            identity = getattr(limits, identity)
        template.identity = np.array(identity, dtype).tobytes()
        return template, client.legate.Scalar(template.identity, template.type)


def _replace_reduction(name: str, submission: Submission) -> None:
    client, new = submission.client, submission.new
    doctor, sums = client.doctor, name in _SUMS
    arguments = ARGUMENTS[name] - {"dtype", "out"}
    defaults = {each: DEFAULTS[each] for each in arguments}
    code, dtypes = _METHODS[name]
    found = _Reductions(client, code, dtypes)

    method, kinds = _BY_NUMPY[name]
    by_numpy = submission.by_numpy(
        method,
        name,
        kinds,
        (1, 2, 1),
        arguments,
        brings=False,
        orders=name in _EXTREMES,
    )
    apply, function = submission.apply, new_function(client, reduces=True)
    native, convert = client.legate.native, submission.conversions.convert
    along, later = native.reduce, native.reduce_later
    # the types that native code knows
    learned: set[str | None] = set()
    learned_along: set[str | None] = set()

    # a sum of a selection needs no element apart
    view_of = client.view_of if name == "sum" else client.settled_view_of

    def reduce(self: Any, *options: Any, **named: Any) -> Any:
        made = None
        if not (options or named):
            made = apply(function, None, self)
            if made is None:
                made = reduce_all(self)
        elif not options and all(
            [named[each] is defaults.get(each, ...) for each in named]
        ):
            named = {}
            made = reduce_all(self)
        elif len(options) < 2 and named.keys() <= AXIS:
            axis = options[0] if options else named.get("axis")
            keeps = named.get("keepdims", False)
            if axis in (0, -1) and keeps is False and self.ndim == 1:
                return reduce(self)
            if type(axis) is int and type(keeps) is bool:
                made = along(found.function, self, axis)
                if made is None:
                    made = reduce_along(self, axis)
                if keeps and made is not None:
                    made = made[_with_axes((axis % self.ndim,), self.ndim)]
        if made is None and len(options) < 2 and named.keys() <= arguments:
            axis = options[0] if options else named.get("axis")
            # NumPy takes one axis of an array that has none, the original does not
            if (
                type(axis) is tuple
                and len(axis) > 1
                and named.keys() <= AXIS
                # the original reduces no truth values along several axes
                and dtypes is not _TRUTH
            ):
                made = reduce_axes(self, axis, named.get("keepdims", False))
            else:
                made = reduce_here(self, *options, **named)
            if made is None and sums and type(axis) is tuple:
                made = reduce_truth(self, *options, **named)
        return original(self, *options, **named) if made is None else made

    def reduce_axes(array: Any, axes: tuple[Any, ...], keeps: Any) -> Any:
        dim = array.ndim
        if not all([type(axis) is int and -dim <= axis < dim for axis in axes]):
            return None
        those = sorted({axis % dim for axis in axes})
        if len(those) < len(axes) or type(keeps) is not bool:
            return None
        # NumPy compares elements far apart one by one
        compares_many = name in _EXTREMES and array.size > MOST_LOOPED
        if len(those) == dim:
            made = reduce(array)
        else:
            made = None if compares_many else by_numpy(array, axes)
        if made is None and client.view_of(array) is not None:
            # what waits is computed with the first of them; rows that are short take
            # longer to add up than to be added
            made = array
            is_short = array.shape[those[-1]] < _SHORT_ROW
            for gone, axis in enumerate(those if is_short else those[::-1]):
                if made is not None:
                    made = reduce_along(made, axis - gone if is_short else axis)
        return (
            made[_with_axes(tuple(those), dim)] if keeps and made is not None else made
        )

    def reduce_here(array: Any, *options: Any, **named: Any) -> Any:
        """Let NumPy reduce, where types stay as they are."""
        view = view_of(array)
        if view is None:
            return None
        given = {each: named[each] for each in named if named[each] is not None}
        if not view.shape and (options or "axis" in given):
            # the original has no axis
            return None
        kind, initial = np.dtype(view.root.dtype).kind, given.get("initial", 0)
        if type(initial) not in (int, float) or (
            type(initial) is float and kind != "f"
        ):
            return None
        if not _is_mask(given.get("where", True)):
            return None
        return by_numpy(array, *options, **given)

    def reduce_all(array: Any) -> Any:
        made = later(function, found, array, None)
        if made is not None:
            return made
        view = view_of(array)
        if view is None or doctor.is_on:
            return None
        # the original refuses empty arrays, and copies single elements
        if view.volume < 2 or view.root.scalar_storage:
            return None
        root = view.root
        if sums and root.dtype in _WIDER:
            wider = convert(array, _WIDER[root.dtype])
            return None if wider is None else reduce(wider)
        if dtypes is _TRUTH and root.dtype != "bool":
            flags = convert(array, "bool")
            return None if flags is None else reduce(flags)
        entry = found[root.dtype, view.shape]
        if entry is None:
            return None
        template, identity = entry
        made, result = new(template, ())
        submit(template, [result, view], Fill(result, identity))
        if template.native and root.dtype not in learned:
            learned.add(root.dtype)
            template.function = function
            template.learn(root.dtype)
        return made

    def reduce_truth(array: Any, *options: Any, **named: Any) -> Any:
        """Reduce truth values along several axes, as integers from the start.

        The original keeps the sums along the first axis in an array of truth values,
        whose bytes its tasks then read as numbers.
        """
        view = client.view_of(array)
        if view is None or view.root.dtype != "bool":
            return None
        numbers = convert(array, "int64")
        return None if numbers is None else original(numbers, *options, **named)

    def reduce_along(array: Any, axis: int) -> Any:
        made = later(found.function, found, array, axis)
        if made is not None:
            return made
        view = view_of(array)
        if (
            view is None
            or doctor.is_on
            or not window.runs_at_once
            or not -len(view.shape) <= axis < len(view.shape)
        ):
            return None
        axis %= len(view.shape)
        shape = (*view.shape[:axis], *view.shape[axis + 1 :])
        dtype = view.root.dtype
        # the original copies single elements, and refuses empty arrays
        if view.volume == 0 or prod(shape) < 2:
            return None
        if sums and dtype in _WIDER:
            wider = convert(array, _WIDER[dtype])
            return None if wider is None else reduce(wider, axis=axis)
        entry = found[dtype, axis]
        if entry is None:
            return None
        template, identity = entry
        made, result = new(template, shape)
        views = [view, result.promote(axis, view.shape[axis])]
        fill_and_submit(Fill(result, identity), template, views)
        if dtype not in learned_along and template.native:
            learned_along.add(dtype)
            template.learn(dtype)
        return made

    written = submission.written
    plain: Plain = written.any_type
    if name in _FUNCTIONS:
        plain = written.reduction(_FUNCTIONS[name])
    submission.write_results(client.ndarray, name, plain, 2)
    original = replace(client.ndarray, name, reduce)


def _is_mask(where: Any) -> bool:
    """Whether the original takes it: it converts lists, and refuses other types."""
    if hasattr(where, "dtype"):
        return bool(where.dtype == np.bool_)
    return bool(np.asarray(where).dtype == np.bool_)


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
