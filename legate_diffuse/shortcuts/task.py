# SPDX-License-Identifier: Apache-2.0
"""Tasks that shortcuts submit in cuPyNumeric's name.

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from legate_diffuse.interpose.constraints import Constraint, symbol
from legate_diffuse.interpose.task import AutoTask
from legate_diffuse.interpose.window import window
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View


class TaskTemplate:
    """What the tasks of one operation on arguments of given types have in common.

    The tasks write one argument and read the others. They align those at the places
    ``aligned``: all, unless they are single elements. ``kind`` is what the window took
    the first of them for, ``fill_kind`` the same of a fill before it, and ``native``
    what runs them at once, with scalars of their own.
    """

    __slots__ = (
        "aligned",
        "fill_kind",
        "kind",
        "library",
        "native",
        "own_scalars",
        "privileges",
        "scalars",
        "task_id",
    )

    def __init__(
        self, library: Any, task_id: int, inputs: int, scalars: list[tuple[Any, Any]]
    ) -> None:
        self.library = library
        self.task_id = task_id
        self.privileges: list[int] = [WRITE, *[READ] * inputs]
        self.aligned = tuple(range(1 + inputs))
        self.scalars = scalars
        self.kind: Any = None
        self.fill_kind: Any = None
        self.native: Any = None
        self.own_scalars = b""


class TemplateTask:
    """An auto task made from a template; only the window sees it."""

    __slots__ = ("kind", "provenance_", "template", "views")
    plain = True
    holdable = True

    def __init__(self, template: TaskTemplate, views: list[View]) -> None:
        self.template = template
        self.views = views
        self.kind = template.kind
        self.provenance_ = ""

    @property
    def library(self) -> Any:
        """The library of the task."""
        return self.template.library

    @property
    def task_id(self) -> int:
        """The number of the task in its library."""
        return self.template.task_id

    @property
    def privileges(self) -> list[int]:
        """What the task does to each of its views."""
        return self.template.privileges

    @property
    def scalars(self) -> list[tuple[Any, Any]]:
        """The scalar arguments, as (value, type)."""
        return self.template.scalars

    @property
    def arguments(self) -> list[View]:
        """The views, under the name that they have in other tasks."""
        return self.views

    def check_scalars(self) -> None:
        """Do nothing: the scalars of a template are right."""

    def uses(self) -> Iterator[tuple[Root, int, bool]]:
        """Yield of each store its root, its privilege, and whether it is divided."""
        for privilege, view in zip(self.privileges, self.views, strict=True):
            yield view.root, privilege, view.volume > 1

    def run(self) -> None:
        """Submit the real task."""
        self.task().run()

    def prepare(self) -> tuple[Any, ...]:
        """Return what to call with what, once, to submit the real task."""
        return self.task().prepare()

    def task(self) -> AutoTask:
        """Return the task by itself."""
        template = self.template
        task = AutoTask(template.library, template.task_id)
        task.privileges = template.privileges
        task.arguments = self.views
        task.variables = [None] * len(self.views)
        task.scalars = template.scalars
        task.constraints = [
            Constraint("align", (symbol(template.aligned[0]), symbol(number)))
            for number in template.aligned[1:]
        ]
        return task


def submit(template: TaskTemplate, views: list[View], fill: Fill | None = None) -> None:
    """Submit a task, or let it wait in the window, and before it a fill, if any.

    The fill and the task run together, or both wait.
    """
    native = template.native
    if native is not None:
        every = views if fill is None else [*fill.views, *views]
        at_once = window.submitter.at_once
        if at_once.run_known(native, every, template.own_scalars):
            return
        if _let_wait(template, views, fill):
            return
    task = TemplateTask(template, views)
    operations = (task,) if fill is None else (fill, task)
    window.submit(*operations)
    if fill is not None:
        template.fill_kind = fill.kind
    _take_note(template, task, operations)


def _take_note(
    template: TaskTemplate, task: TemplateTask, operations: Sequence[Any]
) -> None:
    """Keep what a template's first task was taken for, which ran with operations."""
    if template.kind is None and task.kind is not None:
        if window.runs_at_once:
            at_once = window.submitter.at_once
            template.native = at_once.native(operations)
            template.own_scalars = at_once.scalars(operations)
        template.kind = task.kind


def fill_and_submit(fill: Fill, template: TaskTemplate, views: list[View]) -> None:
    """Submit a fill, and then a task that native code knows without the fill."""
    if not _let_wait(template, views, fill):
        window.submit(fill)
        template.fill_kind = fill.kind
        submit(template, views)


def run_at_once(template: TaskTemplate, views: list[View], fill: Fill) -> bool:
    """Run a fill and then a task that is none of the library's, False if they cannot.

    Nothing of them waits, or is ever submitted.
    """
    at_once, recognizer = window.submitter.at_once, window.recognizer
    task = TemplateTask(template, views)
    if not at_once.take((fill,), recognizer) or not at_once.take((task,), recognizer):
        return False
    at_once.filled = None
    _take_note(template, task, (task,))
    return True


def _let_wait(template: TaskTemplate, views: list[View], fill: Fill | None) -> bool:
    let_wait = window.submitter.native.let_wait
    return template.native is not None and let_wait(template, views, fill)
