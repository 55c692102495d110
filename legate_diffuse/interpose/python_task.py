# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the tasks of ``legate.core.task``, which are Python functions.

A call whose arguments are plain arrays and numbers waits in the window, as other tasks
do. Legate unpacks all other arguments in Cython, into a real task.

Follows: Legate (src/python/legate/core/_ext/task)
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any, Final, get_args, get_origin

from legate.core import TaskContext, Type
from legate.core.data_interface import as_logical_array
from legate.core.task import (
    InputArray,
    InputStore,
    OutputArray,
    OutputStore,
    ReductionArray,
    ReductionStore,
)
from legate.core.task import PyTask as RealPyTask

from legate_diffuse.interpose.array import LogicalArray
from legate_diffuse.interpose.constraints import Variable
from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.interpose.task import AutoTask, RealTask, real_array
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE

_ROLES: Final[dict[Any, int]] = {
    InputArray: READ,
    InputStore: READ,
    OutputArray: WRITE,
    OutputStore: WRITE,
}
_REDUCTIONS: Final = (ReductionArray, ReductionStore)
_NUMBERS: Final = (bool, int, float, complex)

# Adds an argument to a task; false if Legate has to unpack it.
Add = Callable[["HeldTask", Any], bool]


class PyTask(RealPyTask):
    """A ``legate.core.task.PyTask`` that prepares stand-in tasks."""

    def __init__(self, *, func: Any, invoker: Any = None, **options: Any) -> None:
        super().__init__(func=func, invoker=invoker, **options)
        self._signature: Signature = (
            signature(func, eval_str=True) if invoker is None else invoker.signature
        )
        self._adds = {
            name: _add(parameter)
            for name, parameter in self._signature.parameters.items()
            if parameter.annotation is not TaskContext
        }
        given = [self._signature.parameters[name] for name in self._adds]
        self._signature = self._signature.replace(parameters=given)

    def prepare_call(self, *args: Any, **kwargs: Any) -> Any:
        """Return a task that has its arguments."""
        task = HeldTask(self.library, self.task_id)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            bound = None
        if bound is not None:
            bound.apply_defaults()
            given = bound.arguments
            if all(add(task, given[name]) for name, add in self._adds.items()):
                return task
        return PreparedTask(super().prepare_call(*args, **kwargs))


def _add(parameter: Parameter) -> Add:
    """Return what adds the argument of a parameter to a task."""
    annotation = parameter.annotation
    origin = get_origin(annotation) or annotation
    if origin in _NUMBERS:
        return lambda task, value: type(value) is annotation and task.hold_number(value)
    if origin in _REDUCTIONS:
        privilege = REDUCE + int(get_args(annotation)[0])
    elif origin in _ROLES:
        privilege = _ROLES[origin]
    else:
        return lambda task, value: False
    return lambda task, value: task.hold_array(privilege, value)


class HeldTask(AutoTask):
    """Stand-in for an ``AutoTask`` that has its arguments."""

    __slots__ = ()

    def hold_array(self, privilege: int, value: Any) -> bool:
        """Add an array if it is one store."""
        if not isinstance(value, LogicalStore | LogicalArray):
            if not hasattr(value, "__legate_data_interface__"):
                return False
            value = as_logical_array(value)
        store = LogicalArray.plain_store(value)
        if type(store) is not LogicalStore:
            return False
        super()._add(privilege, store, None)
        return True

    def hold_number(self, value: Any) -> bool:
        """Add a number."""
        super().add_scalar_arg(value, Type.from_python_object(value))
        return True

    def _add(self, privilege: int, array_or_store: Any, partition: Any) -> Variable:
        raise RuntimeError("a prepared Python task takes no more arguments")

    def add_scalar_arg(self, value: Any, dtype: Any = None) -> None:
        """Refuse it: the task has all its arguments."""
        raise RuntimeError("a prepared Python task takes no more arguments")


class PreparedTask(RealTask):
    """Stand-in for an ``AutoTask`` that has its arguments: the real one."""

    __slots__ = ()

    def find_or_declare_partition(self, array: Any) -> Any:
        """Return the partition symbol of an argument."""
        return self._real.find_or_declare_partition(LogicalArray.to_real(array))

    def add_alignment(self, array_or_store1: Any, array_or_store2: Any) -> None:
        """Align two arguments."""
        self._real.add_alignment(
            real_array(array_or_store1), real_array(array_or_store2)
        )

    def add_broadcast(self, array_or_store: Any, axes: Any = None) -> None:
        """Broadcast an argument along some or all dimensions."""
        self._real.add_broadcast(real_array(array_or_store), axes)
