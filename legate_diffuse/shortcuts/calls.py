# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for cuPyNumeric's operators and universal functions (``arithmetic.py``).

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.arithmetic import Pointwise
from legate_diffuse.shortcuts.client import CHECKS, OF_NUMBERS
from legate_diffuse.shortcuts.shortcut import Shortcut, Source, is_known
from legate_diffuse.shortcuts.submission import CONVERTED, MADE, Submission, replace
from legate_diffuse.shortcuts.templates import Templates

# Operators: the method, the universal function, whether the array comes second.
_OPERATORS: Final = {
    "add": ("add", False),
    "radd": ("add", False),
    "sub": ("subtract", False),
    "rsub": ("subtract", True),
    "mul": ("multiply", False),
    "rmul": ("multiply", False),
    "truediv": ("true_divide", False),
    "rtruediv": ("true_divide", True),
    "floordiv": ("floor_divide", False),
    "rfloordiv": ("floor_divide", True),
    "mod": ("remainder", False),
    "rmod": ("remainder", True),
    "pow": ("power", False),
    "rpow": ("power", True),
    "lt": ("less", False),
    "le": ("less_equal", False),
    "gt": ("greater", False),
    "ge": ("greater_equal", False),
    "eq": ("equal", False),
    "ne": ("not_equal", False),
    "and": ("bitwise_and", False),
    "rand": ("bitwise_and", True),
    "or": ("bitwise_or", False),
    "ror": ("bitwise_or", True),
    "xor": ("bitwise_xor", False),
    "rxor": ("bitwise_xor", True),
    "lshift": ("left_shift", False),
    "rshift": ("right_shift", False),
}
_IN_PLACE: Final = {
    "iadd": "add",
    "isub": "subtract",
    "imul": "multiply",
    "itruediv": "true_divide",
    "ifloordiv": "floor_divide",
    "imod": "remainder",
    "ipow": "power",
    "iand": "bitwise_and",
    "ior": "bitwise_or",
    "ixor": "bitwise_xor",
    "ilshift": "left_shift",
    "irshift": "right_shift",
}
# Both names of an operator that an array may be on either side of.
_SIDES: Final = {
    side: (name.removeprefix("r"), name)
    for name in _OPERATORS
    if name[0] == "r" and name[1:] in _OPERATORS
    for side in (name.removeprefix("r"), name)
}
_UNARY: Final = {
    "neg": "negative",
    "abs": "absolute",
    "pos": "positive",
    "invert": "invert",
}

# How an operation becomes a task.
_TASKS: Final[tuple[Source, ...]] = (
    *MADE,
    *CONVERTED,
    ("_array.util", "check_writeable"),
    ("_thunk.deferred", "DeferredArray._copy_if_overlapping"),
    ("_thunk.deferred", "DeferredArray._copy_if_partially_overlapping"),
    ("_thunk.deferred", "DeferredArray._broadcast"),
    ("_ufunc.ufunc", "ufunc._maybe_create_result"),
    ("_ufunc.ufunc", "ufunc._maybe_cast_output"),
    ("_ufunc.ufunc", "ufunc._maybe_convert_output_to_cupynumeric_ndarray"),
    ("_ufunc.ufunc", "ufunc._prepare_single_output"),
    ("_ufunc.ufunc", "ufunc._validate_output"),
)
_OF_ONE_OPERAND: Final[tuple[Source, ...]] = (
    *_TASKS,
    ("_thunk.deferred", "_make_deferred_unary_ufunc"),
    ("_thunk.deferred", "DeferredArray.unary_op"),
    ("_ufunc.ufunc", "ufunc._prepare_unary_operands"),
    ("_ufunc.ufunc", "unary_ufunc.__init__"),
    ("_ufunc.ufunc", "unary_ufunc._resolve_dtype"),
    ("_ufunc.ufunc", "unary_ufunc._call_impl"),
    ("_ufunc.ufunc", "unary_ufunc._call_full"),
)
_OF_TWO_OPERANDS: Final[tuple[Source, ...]] = (
    *_TASKS,
    ("_thunk.deferred", "_make_deferred_binary_ufunc"),
    ("_thunk.deferred", "DeferredArray.binary_op"),
    ("_ufunc.ufunc", "ufunc._prepare_binary_operands"),
    ("_ufunc.ufunc", "binary_ufunc.__init__"),
    ("_ufunc.ufunc", "binary_ufunc._find_common_type"),
    ("_ufunc.ufunc", "binary_ufunc._maybe_cast_binary_inputs"),
    ("_ufunc.ufunc", "binary_ufunc._resolve_dtype"),
    ("_ufunc.ufunc", "binary_ufunc._call_full"),
)

_OUT: Final = frozenset(("out",))
# The others of cuPyNumeric's functions.
_OPTIONS: Final = _OUT | {"dtype", "casting", "where", "order"}
# What no kernel computes of all types, and has the same bits wherever it is computed.
_EXACT: Final = frozenset(("isfinite", "isinf", "isnan", "ldexp", "signbit"))


def _replace_operators(submission: Submission) -> None:
    submit = Pointwise(submission).submit

    def second(templates: Templates, x: Any, y: Any) -> Any:
        return submit(templates, (y, x))

    def first(templates: Templates, x: Any, y: Any) -> Any:
        return submit(templates, (x, y))

    for name, (ufunc, is_second) in _OPERATORS.items():
        _replace_operator(submission, name, ufunc, second if is_second else first)


def _replace_operators_in_place(submission: Submission) -> None:
    submit, view_of = Pointwise(submission).submit, submission.client.view_of
    write, ufuncs = submission.written.call, submission.client.ufuncs

    def in_place(templates: Templates, x: Any, y: Any) -> Any:
        made = submit(templates, (x, y), x)
        if made is None and view_of(x) is not None:
            made = write(ufuncs[templates.name], (x, y), templates, out=x)
        return made

    for name, ufunc in _IN_PLACE.items():
        _replace_operator(submission, name, ufunc, in_place)


def _replace_unary_operators(submission: Submission) -> None:
    submit = Pointwise(submission).submit

    def unary(templates: Templates, x: Any) -> Any:
        return submit(templates, (x,))

    for name, ufunc in _UNARY.items():
        _replace_operator(submission, name, ufunc, unary)


def _replace_operator(
    submission: Submission, name: str, ufunc: str, call: Callable[..., Any]
) -> None:
    method = f"__{name}__"
    if not is_known("_array.array", f"ndarray.{method}"):
        return
    templates, array_of = submission.templates_of(ufunc), submission.array_of

    def operator(self: Any, *other: Any) -> Any:
        other = tuple([array_of(each) for each in other])
        made = call(templates, self, *other)
        return original(self, *other) if made is None else made

    ndarray, function = submission.client.ndarray, templates.function
    original = replace(ndarray, method, operator)
    # native code has one place for an operator and its reflection
    if all([is_known(*each) for each in _methods(_SIDES.get(name, (name,)))]):
        submission.operators[method] = function


def _replace_universal_function(submission: Submission) -> None:
    """Let numbers and arrays of NumPy's that come first take the short way, too."""
    client = submission.client
    known = {
        getattr(np, name): ufunc
        for name, ufunc in client.ufuncs.items()
        if isinstance(ufunc, client.binary_ufunc) and hasattr(np, name)
    }
    ndarray, array_of = client.ndarray, submission.array_of

    def call(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        found = known.get(ufunc)
        if method == "__call__" and not options and type(inputs[-1]) is ndarray:
            first = inputs[0]
            if found is not None:
                if isinstance(first, np.number) or type(first) is np.ndarray:
                    return found(first, *inputs[1:])
            elif ufunc is np.matmul and type(made := array_of(first)) is ndarray:
                return made @ inputs[1]
        return original(self, ufunc, method, *inputs, **options)

    original = replace(ndarray, "__array_ufunc__", call)
    submission.ufuncs.update(
        {
            getattr(np, templates.name): templates.function
            for templates in submission.templates.values()
            if isinstance(getattr(np, templates.name, None), np.ufunc)
        }
    )


def _replace_functions(kind: str, count: int, submission: Submission) -> None:
    owner, submit = getattr(submission.client, kind), Pointwise(submission).submit
    templates_of, apply = submission.templates.get, submission.apply
    arrays_of, written = submission.arrays_of, submission.written
    by_numpy = {
        ufunc: submission.by_numpy(
            getattr(np, each.name), each.name, "biuf", (count, count, 1), brings=False
        )
        for ufunc, each in submission.templates.items()
        if each.name in _EXACT and type(ufunc) is owner and each.is_known
    }

    def call(self: Any, *operands: Any, **options: Any) -> Any:
        made, templates = None, templates_of(self)
        if len(operands) == count + 1 and "out" not in options:
            operands, options["out"] = operands[:-1], operands[-1]
        if templates is not None and len(operands) == count:
            operands = arrays_of(operands, templates.takes_numbers)
            out = options.get("out")
            if options.keys() <= _OUT:
                made = apply(templates.function, out, *operands)
                if made is None:
                    made = submit(templates, operands, out)
                if made is None and out is None and self in by_numpy:
                    made = by_numpy[self](*operands)
            if made is None and options and options.keys() <= _OPTIONS:
                made = written.call(self, operands, templates, **options)
        return original(self, *operands, **options) if made is None else made

    submission.called.add(owner)
    original = replace(owner, "__call__", call)


def _methods(names: Iterable[str]) -> tuple[Source, ...]:
    return tuple(("_array.array", f"ndarray.__{name}__") for name in names)


SHORTCUTS: Final = (
    # what ``Client`` looks at
    Shortcut("numbers beside arrays", OF_NUMBERS, lambda _: None),
    *(Shortcut(name, (check,), lambda _: None) for name, check in CHECKS.items()),
    Shortcut(
        "operators",
        _OF_TWO_OPERANDS,
        _replace_operators,
        _methods(_OPERATORS),
    ),
    Shortcut(
        "operators in place",
        _OF_TWO_OPERANDS,
        _replace_operators_in_place,
        _methods(_IN_PLACE),
    ),
    Shortcut(
        "operators of one operand",
        _OF_ONE_OPERAND,
        _replace_unary_operators,
        _methods(_UNARY),
    ),
    Shortcut(
        "functions of NumPy's",
        (("_array.array", "ndarray.__array_ufunc__"), *_OF_TWO_OPERANDS),
        _replace_universal_function,
    ),
    Shortcut(
        "functions of two operands",
        _OF_TWO_OPERANDS,
        partial(_replace_functions, "binary_ufunc", 2),
    ),
    Shortcut(
        "functions of one operand",
        _OF_ONE_OPERAND,
        partial(_replace_functions, "unary_ufunc", 1),
    ),
)
