# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for sums and other reductions of all elements to one.

cuPyNumeric fills the result with the reduction's identity, and reduces to it.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.shortcuts.calls import ARRAYS, Submission, replace
from legate_diffuse.shortcuts.shortcut import Shortcut, Source
from legate_diffuse.shortcuts.task import submit
from legate_diffuse.shortcuts.templates import Client, Template, new_function
from legate_diffuse.stores.fill import Fill

# The types whose values are reduced as they are.
_NUMBERS: Final = frozenset(
    ("int64", "uint64", "float32", "float64", "complex64", "complex128")
)
_ORDERED: Final = frozenset(("int32", "int64", "uint64", "float32", "float64"))
# The methods, their codes, and the types that they take the short way for.
_METHODS: Final = {
    "sum": ("SUM", _NUMBERS),
    # Legate has no product of complex128
    "prod": ("PROD", _NUMBERS - {"complex128"}),
    "max": ("MAX", _ORDERED),
    "min": ("MIN", _ORDERED),
    "any": ("ANY", frozenset(("bool",))),
    "all": ("ALL", frozenset(("bool",))),
}
# What options are that are not given.
_DEFAULTS: Final = {
    "axis": None,
    "dtype": None,
    "out": None,
    "keepdims": False,
    "initial": None,
    "where": None,
}
# At most so many shapes are remembered, of each method.
_MAX_TEMPLATES: Final = 1024


class _Reductions(dict[tuple[Any, ...], tuple[Template, Any] | None]):
    """The templates of one reduction, and the identities, by type and shape.

    None stands for a type without a shortcut.
    """

    def __init__(self, client: Client, code: str, dtypes: frozenset[str]) -> None:
        super().__init__()
        deferred = importlib.import_module("cupynumeric._thunk.deferred")
        self._client = client
        self._code = getattr(deferred.UnaryRedCode, code)
        self._dtypes = dtypes
        self._operator = int(deferred._UNARY_RED_TO_REDUCTION_OPS[self._code])
        self._identity = deferred._UNARY_RED_IDENTITIES[self._code]

    def __missing__(self, key: tuple[Any, ...]) -> tuple[Template, Any] | None:
        name, shape = key
        found = self._make(name, shape) if name in self._dtypes else None
        if len(self) >= _MAX_TEMPLATES:
            self.clear()
        self[key] = found
        return found

    def _make(self, name: str, shape: tuple[int, ...]) -> tuple[Template, Any]:
        client, dtype = self._client, np.dtype(name)
        types = importlib.import_module("legate.core.types")
        template = Template(client, client.tasks.SCALAR_UNARY_RED, 1, None, dtype)
        template.aligned = ()
        template.privileges = [REDUCE + self._operator, READ]
        template.scalars = [
            (self._code, types.int32),
            (shape, (types.int64,)),
            (False, types.bool_),
        ]
        identity = np.array(self._identity(dtype), dtype).tobytes()
        return template, client.legate.Scalar(identity, template.type)


def _replace_reduction(name: str, submission: Submission) -> None:
    client, new = submission.client, submission.new
    doctor = client.doctor
    found = _Reductions(client, *_METHODS[name])

    apply, function = submission.apply, new_function(client, reduces=True)
    # the types that native code knows
    learned: set[str | None] = set()

    def reduce(self: Any, *options: Any, **named: Any) -> Any:
        if not (options or named):
            made = apply(function, None, self)
            if made is not None:
                return made
        thunk = self._thunk
        if (
            options
            or doctor._user_value
            or type(thunk) is not client.deferred_array
            or type(thunk.base) is not LogicalStore
            or not all([named[each] is _DEFAULTS.get(each, ...) for each in named])
        ):
            return original(self, *options, **named)
        view = thunk.base._view
        root = view.root
        # the original refuses empty arrays, and copies single elements
        if not root.fusable or view.volume < 2 or root.scalar_storage:
            return original(self)
        entry = found[root.dtype, view.shape]
        if entry is None:
            return original(self)
        template, identity = entry
        array, result = new(template, ())
        submit(template, [result, view], Fill(result, identity))
        if template.native and root.dtype not in learned:
            learned.add(root.dtype)
            template.function = function
            template.learn(root.dtype)
        return array

    original = replace(client.ndarray, name, reduce)


def _sources(name: str) -> tuple[Source, ...]:
    return (
        ("_array.array", f"ndarray.{name}"),
        ("_array.thunk", "_unary_reduction_task_accumulation_dtype"),
        ("_array.thunk", "perform_unary_reduction"),
        ("_thunk.deferred", "DeferredArray.unary_reduction"),
        ("_thunk.deferred", "DeferredArray._scalar_unary_reduction"),
        ("_thunk.deferred", "DeferredArray._fill"),
        ("_thunk.deferred", "DeferredArray.fill"),
        *ARRAYS,
    )


_KNOWN: Final = {
    "sum": "11dfd7faf9a62833",
    "prod": "acb671ad4e58a35e",
    "max": "d9c8bf7aa3b81dc7",
    "min": "eccf1b5553b3b9f5",
    "any": "377fc06d35fe2ce4",
    "all": "296dd8cd90b65c6c",
}

SHORTCUTS: Final = tuple(
    Shortcut(
        f"reductions with {name}",
        _sources(name),
        _KNOWN[name],
        partial(_replace_reduction, name),
    )
    for name in _METHODS
)
