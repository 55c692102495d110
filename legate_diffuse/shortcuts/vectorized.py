# SPDX-License-Identifier: Apache-2.0
"""How the results of functions that Numba has compiled are submitted, and fused.

``numba.vectorize`` asks an argument whether it overrides universal functions: arrays of
cuPyNumeric's do, and are told here what to do with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.interpose.window import recognizer
from legate_diffuse.ir import OperationKind
from legate_diffuse.libraries.compiled import is_compiled
from legate_diffuse.libraries.form import Form
from legate_diffuse.libraries.operations import Operation
from legate_diffuse.shortcuts import vectorize
from legate_diffuse.shortcuts.broadcast import repeated
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.results import Result
from legate_diffuse.shortcuts.submission import Submission
from legate_diffuse.shortcuts.templates import Template, new_function, single_element
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.layout import remember
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.view import View

# An attribute of universal functions of Numba's.
_KNOWN: Final = "_legate_diffuse"

# At most so many numbers are remembered.
_MAX_CONSTANTS: Final = 1024

_ADVICE: Final = "Functions that Numba compiles are fused on CPUs only."


class Tasks:
    """Submits the results of functions.

    Args:
        legate: the real Legate.
        submission: submits tasks in a short way, if there is one.
    """

    def __init__(self, legate: Legate, submission: Submission | None) -> None:
        self._submission = submission
        self._fuses = legate.native.target() == "cpu"
        self.apply = legate.native.apply
        self._templates: dict[Result, Template] = {}
        # which functions of native code know which results
        self._learned: set[tuple[Any, Result]] = set()
        self._named: dict[str, Any] = {}
        self._constants: dict[tuple[str, bytes], LogicalStore] = {}
        if not self._fuses:
            recognizer.operations.add_adviser(self._advise)

    def know(self, result: Result) -> None:
        """Let the task of a result be recognised."""
        function, number = result.function, result.number
        name = f"numba::{result.name}"
        # two functions may have one name
        key, count = (function, number), 1
        while self._named.setdefault(name, key) != key:
            count += 1
            name = f"numba::{result.name}_{count}"
        kind = OperationKind(name, "", result.inputs, (function.outputs[number],))

        def lower(emit: Any, *operands: Any) -> Any:
            return emit.results(function, operands)[number]

        form = Form(name, fuse=self._fuses, overwrites=True, repeatable=True)
        task = result.task
        recognizer.add(task.library, int(task.task_id), form, {kind: Operation(lower)})

    def submit(
        self, results: Sequence[Result], operands: Sequence[Any], shape: Any
    ) -> list[Any] | None:
        """Return new arrays of the results of arrays; None if tasks must be called."""
        submission = self._submission
        if submission is None:
            return None
        views = self._views(submission, operands, shape)
        if views is None:
            return None
        templates = [self._template(result) for result in results]
        made = [submission.make(each, shape, *views) for each in templates]
        return None if any([each is None for each in made]) else made

    def _views(
        self, submission: Submission, operands: Sequence[Any], shape: Any
    ) -> list[View] | None:
        """Return views of operands, repeated over a shape; None if one has none."""
        views: list[View] = []
        for operand in operands:
            view = (
                self._constant(submission.client, operand)
                if isinstance(operand, np.ndarray)
                else submission.client.view_of(operand)
            )
            if view is None:
                return None
            views.append(view if view.shape == shape else repeated(view, shape))
        return views

    def learn(self, results: Sequence[Result], known: Sequence[Any]) -> tuple[Any, ...]:
        """Return functions of native code that know results, None where there is none.

        They may be ``known`` before, of other types of elements.
        """
        return tuple(map(self._learn, results, known))

    def _types(self, result: Result) -> tuple[str | None, ...]:
        """Return the types of a result's arguments as native code knows them."""
        assert self._submission is not None
        client = self._submission.client
        types = [client.to_core_type(np.dtype(each)) for each in result.inputs]
        return tuple(map(dtype_name, types))

    def _learn(self, result: Result, known: Any) -> Any:
        submission = self._submission
        template = self._templates.get(result)
        if submission is None or template is None or not template.native:
            return known
        client = submission.client
        function = known or new_function(client, takes_numbers=True)
        if (function, result) not in self._learned:
            self._learned.add((function, result))
            template.function = function
            template.learn(*self._types(result))
        return function

    def _constant(self, client: Client, value: np.ndarray[Any, Any]) -> View:
        """Return a single element as a constant."""
        key = (value.dtype.char, value.tobytes())
        store = self._constants.get(key)
        if store is None:
            kind = client.to_core_type(value.dtype)
            store = single_element(
                client.legate, kind, dtype_name(kind), value.tobytes()
            )
            store = remember(self._constants, key, store, _MAX_CONSTANTS)
        return store._view

    def _template(self, result: Result) -> Template:
        found = self._templates.get(result)
        if found is None:
            assert self._submission is not None
            task = result.task
            found = Template(
                self._submission.client,
                int(task.task_id),
                len(result.inputs),
                None,
                result.dtype,
            )
            found.library = task.library
            # the task has its constraints
            found.aligned = ()
            self._templates[result] = found
        return found

    def _advise(self, task: str) -> str:
        return _ADVICE if task.startswith("numba::") else ""


def install(legate: Legate, ndarray: Any, submission: Submission | None) -> None:
    """Let universal functions of Numba's run on arrays of cuPyNumeric's."""
    vectorize.backend = Tasks(legate, submission)

    def call(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if type(ufunc) is np.ufunc:
            return original(self, ufunc, method, *inputs, **options)
        found = getattr(ufunc, _KNOWN, None)
        if method != "__call__" or (found is None and not is_compiled(ufunc)):
            return original(self, ufunc, method, *inputs, **options)
        if found is None:
            found = vectorize.applied(ufunc)
            setattr(ufunc, _KNOWN, found)
        return found(*inputs, **options)

    original = ndarray.__array_ufunc__
    ndarray.__array_ufunc__ = call
    if submission is not None:
        # before all others
        submission.front(
            ndarray, "__array_ufunc__", "array_ufunc", extra=submission.ufuncs
        )
