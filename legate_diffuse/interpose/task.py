# SPDX-License-Identifier: Apache-2.0
"""Stand-in for ``legate.core.AutoTask``, and for tasks that are real ones.

A stand-in task remembers how it was built. It holds views and not stand-in stores:
a task that waits in the window is no reference of the application to its stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from legate_diffuse.interpose.access import hold
from legate_diffuse.interpose.array import LogicalArray
from legate_diffuse.interpose.constraints import Constraint, Variable, symbol
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.store import (
    LogicalStore,
    view_of,
)
from legate_diffuse.interpose.uses import uses
from legate_diffuse.interpose.window import window
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# Scalars that Legate has taken, with the tasks: not to be tried again, as that takes as
# long as to submit one.
_taken: Final[set[tuple[Any, ...]]] = set()
_MOST_TAKEN: Final = 1024
_ADD: Final[dict[int, str]] = {READ: "add_input", WRITE: "add_output"}


def _exact(scalar: tuple[Any, Any]) -> tuple[Any, ...]:
    """Return what is equal for scalars that are, and have the same types."""
    value, dtype = scalar
    parts = tuple(map(type, value)) if isinstance(value, tuple) else ()
    return value, type(value), parts, dtype


class AutoTask:
    """Stand-in for ``legate.core.AutoTask``; same methods, same meaning.

    ``plain`` is true while the task has nothing but stores, scalars, alignment and
    single elements that are used everywhere, which a fused task can express.
    ``holdable`` is true while only its stores tie the task to a place in the program.
    """

    __slots__ = (
        "arguments",
        "calls",
        "constraints",
        "exception_types",
        "holdable",
        "kind",
        "library",
        "plain",
        "privileges",
        "provenance_",
        "scalars",
        "task_id",
        "variables",
        "views",
    )

    def __init__(self, library: Any, task_id: int) -> None:
        self.library = library
        self.task_id = task_id
        self.privileges: list[int] = []
        self.arguments: list[Any] = []  # View, or a real LogicalArray
        # the views that the window compares: the arguments, but for fills
        self.views = self.arguments
        self.variables: list[Variable | None] = []
        self.scalars: list[tuple[Any, Any]] = []  # (value, dtype or None)
        self.constraints: list[Constraint] = []
        self.calls: list[tuple[Any, ...]] = []
        self.plain = True
        self.holdable = True
        self.exception_types: tuple[type, ...] = ()
        self.provenance_ = ""
        self.kind: Any = None

    # -- arguments ------------------------------------------------------------
    def add_input(self, array_or_store: Any, partition: Any = None) -> Variable:
        """Add an array or store that the task reads."""
        return self._add(READ, array_or_store, partition)

    def add_output(self, array_or_store: Any, partition: Any = None) -> Variable:
        """Add an array or store that the task writes."""
        return self._add(WRITE, array_or_store, partition)

    def add_reduction(
        self, array_or_store: Any, redop: int, partition: Any = None
    ) -> Variable:
        """Add an array or store that the task reduces to.

        Raises:
            ValueError: Legate knows no such operator for the type.
        """
        variable = self._add(REDUCE + int(redop), array_or_store, partition)
        argument = self.arguments[-1]
        if type(argument) is View:
            argument.root.type.reduction_op_id(redop)
        return variable

    def _add(self, privilege: int, array_or_store: Any, partition: Any) -> Variable:
        if type(array_or_store) is not LogicalStore:
            array_or_store = LogicalArray.plain_store(array_or_store)
        if type(array_or_store) is LogicalStore:
            self.arguments.append(array_or_store._view)
        else:
            self.plain = self.holdable = False
            self.arguments.append(real_array(array_or_store))
        if partition is not None and not isinstance(partition, Variable):
            raise ValueError("Invalid partition symbol")
        if partition is not None and not self._names_same(partition):
            self.plain = self.holdable = False
        self.privileges.append(privilege)
        self.variables.append(partition)
        return partition or symbol(len(self.privileges) - 1)

    def _names_same(self, partition: Variable) -> bool:
        """Whether a partition symbol is that of an earlier argument of one view."""
        declare = partition.declare
        return (
            isinstance(declare, int)
            and self.variables[declare] is None
            and self.arguments[declare] == self.arguments[-1]
        )

    def add_scalar_arg(self, value: Any, dtype: Any = None) -> None:
        """Add a scalar argument, passed by value; an array's is read now."""
        if hasattr(value, "__legate_data_interface__"):
            value = value.item()
        self.scalars.append((value, dtype))
        if type(dtype) not in (real.Type, tuple) and type(value) is not real.Scalar:
            self.check_scalars()

    def check_scalars(self) -> None:
        """Let Legate refuse a scalar argument now, and not at submission.

        An alignment of different shapes it refuses when the task is executed.
        """
        scalars = [each for each in self.scalars if type(each[0]) is not real.Scalar]
        key: Any = (self.library, self.task_id, *map(_exact, scalars))
        try:
            is_known = key in _taken
        except TypeError:
            # one of them has no hash
            key, is_known = None, False
        if not is_known:
            trial = real.runtime.create_auto_task(self.library, self.task_id)
            for value, dtype in scalars:
                trial.add_scalar_arg(value, dtype)
            if key is not None and len(_taken) < _MOST_TAKEN:
                _taken.add(key)
        shapes = ({view.shape for view in views} for views in self._aligned())
        if self.holdable and any(len(each) > 1 for each in shapes):
            self.holdable = False

    def _aligned(self) -> Iterator[Sequence[Any]]:
        """Yield the arguments that are aligned with each other."""
        for constraint in self.constraints:
            if constraint.name == "align":
                places = [variable.declare for variable in constraint.arguments]
                if all(type(place) is int for place in places):
                    yield [self.arguments[place] for place in places]
        for name, *arguments in self.calls:
            if name == "add_alignment":
                yield arguments

    def add_constraint(self, constraint: Any) -> None:
        """Add partitioning constraints."""
        if isinstance(constraint, Constraint):
            constraint = (constraint,)
        for single in constraint:
            if not isinstance(single, Constraint):
                raise TypeError(type(single))
            if single.name != "align" and not self._broadcasts_one(single):
                self.plain = False
            self.constraints.append(single)

    def _broadcasts_one(self, constraint: Constraint) -> bool:
        """Whether a constraint only says that a single element is used everywhere."""
        if constraint.name != "broadcast":
            return False
        declare = constraint.arguments[0].declare
        return type(declare) is int and _is_single(self.arguments[declare])

    def add_alignment(self, array_or_store1: Any, array_or_store2: Any) -> None:
        """Align two arguments."""
        arguments = _argument(array_or_store1), _argument(array_or_store2)
        self.plain = self.plain and all(each in self.arguments for each in arguments)
        self.calls.append(("add_alignment", *arguments))

    def add_broadcast(
        self, array_or_store: Any, axes: int | Iterable[int] | None = None
    ) -> None:
        """Broadcast an argument along some or all dimensions."""
        argument = _argument(array_or_store)
        self.plain = self.plain and _is_single(argument)
        self.calls.append(("add_broadcast", argument, axes))

    def find_or_declare_partition(self, array: Any) -> Variable:
        """Return the partition symbol of an argument."""
        self.plain = self.holdable = False
        if not isinstance(array, LogicalArray):
            raise TypeError(f"Expected a logical array but got {type(array)}")
        return Variable(("find_or_declare_partition", LogicalArray.to_real(array)))

    def declare_partition(self) -> Variable:
        """Return a new partition symbol."""
        self.plain = False
        return Variable(("declare_partition",))

    # -- everything that keeps a task from being fused -------------------------
    def set_concurrent(self, concurrent: bool) -> None:
        """Say whether the point tasks must run at the same time."""
        self._call("set_concurrent", concurrent)

    def set_side_effect(self, has_side_effect: bool) -> None:
        """Say whether the task has side effects."""
        self._call("set_side_effect", has_side_effect)

    def throws_exception(self, exception_type: type) -> None:
        """Declare an exception that the task may throw."""
        self.exception_types = (*self.exception_types, exception_type)
        self._call("throws_exception", exception_type)

    def add_communicator(self, name: str) -> None:
        """Request a communicator."""
        self._call("add_communicator", name)

    def add_nccl_communicator(self) -> None:
        """Request an NCCL communicator."""
        self._call("add_communicator", "nccl")

    def add_cpu_communicator(self) -> None:
        """Request a CPU communicator."""
        self._call("add_communicator", "cpu")

    def lock(self) -> None:
        """Forbid further arguments (Python tasks)."""
        self._call("lock")

    def provenance(self) -> str:
        """Where the task comes from."""
        return str(real.Scope.provenance())

    @property
    def raw_handle(self) -> int:
        """Address of a C++ task built like this one."""
        raise RuntimeError(
            "raw_handle of a task is not available under legate_diffuse; "
            "run with LEGATE_DIFFUSE=0"
        )

    def _call(self, name: str, *arguments: Any) -> None:
        self.plain = self.holdable = False
        self.calls.append((name, *arguments))

    def uses(self) -> Iterator[tuple[Root, int, bool]]:
        """Yield of each store its root, its privilege, and whether it is divided."""
        return uses(self)

    # -- execution --------------------------------------------------------------
    def execute(self) -> None:
        """Submit the task, or let it wait in the window."""
        window.submit(self)

    def task(self) -> AutoTask:
        """Return the task."""
        return self

    def build(self) -> Any:
        """Make the real task."""
        task = real.runtime.create_auto_task(self.library, self.task_id)
        made: dict[Variable | int, Any] = {}
        splits = any(isinstance(a, View) and not a.affine for a in self.arguments)

        def resolve(variable: Variable) -> Any:
            declare = variable.declare
            if isinstance(declare, int):
                return made[declare]
            if variable not in made:
                made[variable] = getattr(task, declare[0])(*declare[1:])
            return made[variable]

        for position, (privilege, argument, variable) in enumerate(
            zip(self.privileges, self.arguments, self.variables, strict=True)
        ):
            if isinstance(argument, View):
                if privilege != READ:
                    argument.root.constant = None
                if privilege >= REDUCE:
                    argument.root.settle()
                # on the way it has a dimension more
                if splits and len(argument.shape) < real.LEGATE_MAX_DIM:
                    argument = argument.without_tiling()
                argument = argument.materialize(reads_only=privilege == READ)
            partition = None if variable is None else resolve(variable)
            if privilege < REDUCE:
                made[position] = getattr(task, _ADD[privilege])(argument, partition)
            else:
                made[position] = task.add_reduction(
                    argument, privilege - REDUCE, partition
                )
        for value, dtype in self.scalars:
            task.add_scalar_arg(value, dtype)
        for constraint in self.constraints:
            task.add_constraint(constraint.build(resolve))
        for name, *arguments in self.calls:
            getattr(task, name)(
                *(a.materialize() if isinstance(a, View) else a for a in arguments)
            )
        return task

    def prepare(self) -> tuple[Any, ...]:
        """Return what to call with what, once, to submit the real task."""
        return real.runtime.submit, self.build()

    def run(self) -> None:
        """Submit the real task."""
        real.runtime.submit(self.build())


class RealTask:
    """A real task that runs after all that is pending."""

    __slots__ = ("_real",)

    def __init__(self, task: Any) -> None:
        self._real = task

    def uses(self) -> tuple[()]:
        """Return nothing: it is not Legate that divides its stores."""
        return ()

    def execute(self) -> None:
        """Submit the task."""
        window.submit_now(self)

    def run(self) -> None:
        """Submit the real task."""
        real.runtime.submit(self._real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _is_single(argument: Any) -> bool:
    return isinstance(argument, View) and argument.volume == 1


def _argument(array_or_store: Any) -> Any:
    array_or_store = LogicalArray.plain_store(array_or_store)
    if type(array_or_store) is LogicalStore:
        return array_or_store._view
    return real_array(array_or_store)


def real_array(array_or_store: Any) -> Any:
    """Return the real array or store of an argument that is not a plain store."""
    if isinstance(array_or_store, LogicalArray):
        return LogicalArray.unwrap(array_or_store)
    if isinstance(array_or_store, LogicalStore):
        return hold(view_of(array_or_store))
    raise ValueError(
        f"Expected a logical array or store but got {type(array_or_store)}"
    )
