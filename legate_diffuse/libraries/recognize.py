# SPDX-License-Identifier: Apache-2.0
"""Tells which operation a submitted task is.

The answer depends on the task's library and id, its operation code and the privileges
and types of its arguments, and is looked up in one dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from legate_diffuse.ir import OperationKind
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.libraries.form import Form, task_name
from legate_diffuse.libraries.kind import Kind
from legate_diffuse.libraries.operations import Operation, Operations
from legate_diffuse.libraries.registry import (
    Library,
    Register,
    register_all,
)
from legate_diffuse.messages import say_once
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.legate import Legate

# The reductions of Legate that do what an operator does; bools are added as by ``or``.
_REDOPS: Final[dict[str | None, tuple[str, ...]]] = {
    "add": ("ADD",),
    "mul": ("MUL",),
    "min": ("MIN",),
    "max": ("MAX",),
    "and": ("MUL", "MIN", "AND"),
    "or": ("ADD", "MAX", "OR"),
}


class TaskRecognizer:
    """Maps the tasks of all libraries to operation kinds.

    ``own`` are the registrations that come with the package, by library. All others
    are looked for when the first task of a library is submitted.
    """

    def __init__(self, legate: Legate, own: Mapping[str, Register]) -> None:
        self.operations = Operations()
        self._legate = legate
        self._own = own
        # of each library, by task id
        self._forms: dict[Any, dict[int, Form]] = {}
        self._kinds: dict[tuple[Any, ...], Kind | None] = {}
        self._ids = count()
        # registered tasks that were not submitted as they were registered
        self._told: set[Form] = set()

    def recognize_task(self, task: Any) -> Kind | None:
        """Return the kind of a stand-in auto task, None if it cannot wait."""
        try:
            form = self._forms[task.library][task.task_id]
        except KeyError:
            form = self._find_form(task)
        if (
            not form.fuse
            or not (form.rows(task) if form.rows else task.plain)
            or not (form.suits is None or form.suits(task))
        ):
            return self.recognize_opaque(task)
        scalars, own, code = task.scalars, form.own_scalars, form.code_scalar
        key = (
            form,
            None if code is None else scalars[code][0],
            *task.privileges,
            *[view.root.dtype for view in task.arguments],
        )
        if len(scalars) > own:
            extra = self._scalar_dtypes(scalars[own:])
            if None in extra:
                scalars[own:] = map(self._as_scalar, scalars[own:])
                extra = self._scalar_dtypes(scalars[own:])
            key += extra
        try:
            return self._kinds[key]
        except KeyError:
            # whoever was here meanwhile has found the same
            return self._kinds.setdefault(key, self._new_kind(form, task))

    def recognize_opaque(self, task: Any) -> Kind | None:
        """Return the kind of a task that runs as it is, in its place."""
        if any(map(_repeats, task.privileges, task.arguments)):
            return None
        form = self._find_form(task)
        key = ("opaque", form, *task.privileges)
        try:
            return self._kinds[key]
        except KeyError:
            return self._kinds.setdefault(key, self._opaque_kind(form, task))

    def add(
        self,
        library: Any,
        task: int,
        form: Form,
        operations: Mapping[OperationKind, Operation],
    ) -> None:
        """Take in a task of a library, before it is submitted."""
        self.forms(library)[task] = form
        self.operations.add(operations)

    def forms(self, library: Any) -> dict[int, Form]:
        """Return the forms of the tasks of a library, by their numbers."""
        forms = self._forms.get(library)
        if forms is None:
            found = Library(library, self._legate)
            register_all(found, self._own, say_once)
            self.operations.add(found.table)
            self.operations.add(found.operations)
            if found.advise is not None:
                self.operations.add_adviser(found.advise)
            forms = self._forms.setdefault(library, found.forms)
        return forms

    def recognize_fill(self, fill: Any) -> Kind | None:
        """Return the kind of a fill."""
        dtype = fill.views[0].root.dtype
        # a kind has one number of views, or a window's key would be ambiguous
        key = ("fill", dtype, len(fill.views))
        try:
            return self._kinds[key]
        except KeyError:
            operation = OperationKind("FILL", "", (dtype,), (dtype,), ())
            kind = Kind(next(self._ids), operation, (0,), pointwise=True, covered=True)
            return self._kinds.setdefault(key, kind)

    def _find_form(self, task: Any) -> Form:
        forms = self.forms(task.library)
        form = forms.get(task.task_id)
        if form is None:
            form = forms.setdefault(task.task_id, self._unknown(task))
        return form

    def _unknown(self, task: Any) -> Form:
        """Return the form of a task that nobody has registered."""
        library = task.library
        try:
            name, bound = self._legate.native.describe_task(
                library.raw_handle, task.task_id
            )
        except IndexError:
            # Legate says what is wrong when it is submitted
            name, bound = "", True
        return Form(task_name(library.name, name), waits=not bound)

    def _opaque_kind(self, form: Form, task: Any) -> Kind | None:
        """Return the kind of a task that runs as it is; None if it cannot wait.

        What changes no store has effects that nobody knows.
        """
        privileges = task.privileges
        outputs = sum(each != READ for each in privileges)
        if not form.waits or not outputs:
            return None
        # what it may leave as it is counts as read
        inputs = sum(
            each == READ or (each == WRITE and not form.overwrites)
            for each in privileges
        )
        if form.strict and form.fuse and form not in self._told:
            self._told.add(form)
            say_once(
                f"{form.name}: it was submitted with other arguments, shapes or "
                "constraints than were registered, so it runs as it was submitted"
            )
        name = form.opaque_name or form.name
        operation = OperationKind(name, "", ("any",) * inputs, ("any",) * outputs)
        return Kind(
            next(self._ids),
            operation,
            _changed(privileges),
            pointwise=False,
            covered=False,
            overwrites=form.overwrites,
            repeatable=form.repeatable,
        )

    def _new_kind(self, form: Form, task: Any) -> Kind | None:
        inputs: list[str] = []
        outputs: list[str] = []
        privileges = task.privileges
        for privilege, view in zip(privileges, task.arguments, strict=True):
            (inputs if privilege == READ else outputs).append(str(view.root.dtype))
        scalars = task.scalars
        code = ""
        if form.code_scalar is not None:
            code = form.codes.get(int(scalars[form.code_scalar][0]), "")
        extra = self._scalar_dtypes(scalars[form.own_scalars :])
        if (form.codes and not code) or None in extra:
            return self.recognize_opaque(task)
        operation = OperationKind(
            form.name,
            code,
            tuple(inputs),
            tuple(outputs),
            tuple(str(dtype) for dtype in extra),
        )
        operations = self.operations
        covered = operations.covers(operation)
        reduces = max(privileges) >= REDUCE
        if form.strict and not (covered and self._reduces_so(operation, privileges)):
            return self.recognize_opaque(task)
        reads = [n for n, each in enumerate(privileges) if each == READ]
        return Kind(
            next(self._ids),
            operation,
            _changed(privileges),
            pointwise=covered and not reduces and not form.rows,
            covered=covered,
            traps=operations.traps(operation),
            repeated=tuple(reads[n] for n in form.repeated),
        )

    def _reduces_so(self, kind: OperationKind, privileges: Sequence[int]) -> bool:
        """Whether a task reduces with the operator that was registered, if any."""
        operator = self.operations.reduction(kind)
        redops = self._legate.ReductionOpKind
        allowed = [
            REDUCE + int(getattr(redops, name)) for name in _REDOPS.get(operator, ())
        ]
        return all(each == READ or each in (allowed or (WRITE,)) for each in privileges)

    def _as_scalar(self, argument: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return a scalar argument as a Scalar, if it was a value and a type."""
        value, dtype = argument
        legate = self._legate
        if type(dtype) is not legate.Type or type(value) is legate.Scalar:
            return argument
        return legate.Scalar(value, dtype), None

    def _scalar_dtypes(
        self, scalars: Sequence[tuple[Any, Any]]
    ) -> tuple[str | None, ...]:
        """Return the types of scalar arguments, None for what is not a Scalar."""
        scalar = self._legate.Scalar
        return tuple(
            [
                dtype_name(value.type) if type(value) is scalar else None
                for value, _ in scalars
            ]
        )


def _repeats(privilege: int, view: Any) -> bool:
    """Whether a task writes elements of a store at several points each."""
    if privilege != WRITE:
        return False
    dims = view.layout.dims
    return any([d < 0 and n > 1 for d, n in zip(dims, view.shape, strict=True)])


def _changed(privileges: Sequence[int]) -> tuple[int, ...]:
    return tuple(n for n, each in enumerate(privileges) if each != READ)
