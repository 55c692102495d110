# SPDX-License-Identifier: Apache-2.0
"""Random windows over small concrete arrays, and two ways to run them.

Beside each view of the IR stands the set of elements behind it: for each point
of the launch domain the element of the store. That is what the analyses must
not look at, and what tells whether their answers are right.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st

from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.lowering import ConstantSource, LoweredGroup
from legate_diffuse.ir import Access, IndexTask, Points, Privilege, Store, View, Window
from legate_diffuse.kernel import Constant, Load, Op, Scalar
from legate_diffuse.kernel import Store as KernelStore
from legate_diffuse.ops.registry import OperationKind

Array = np.ndarray[Any, np.dtype[np.int64]]
Memory = dict[int, Array]  # store id -> its elements, flat
Point = tuple[int, ...]

ARRAYS: Final = ((8,), (4, 4))
LAUNCH_DOMAINS: Final = ((6,), (3, 3), (4,), (1,), (0,))
_DOMAINS: Final = LAUNCH_DOMAINS[:3] * 8 + LAUNCH_DOMAINS[3:]
POISON: Final = -999


def _clip(x: Any, low: int, high: int) -> Any:
    """Clip as cuPyNumeric does, which matters where low > high."""
    return np.where(x < low, low, np.where(x > high, high, x))


# name -> (reads, scalar arguments, meaning)
OPERATIONS: Final[dict[str, tuple[int, int, Any]]] = {
    "FILL": (0, 1, lambda value: value),
    "COPY": (1, 0, lambda x: x),
    "UNARY_OP.NEGATIVE": (1, 0, np.negative),
    "UNARY_OP.CLIP": (1, 2, _clip),
    "BINARY_OP.ADD": (2, 0, np.add),
    "BINARY_OP.SUBTRACT": (2, 0, np.subtract),
    "BINARY_OP.MULTIPLY": (2, 0, np.multiply),
    # of which no kernel is known, and which is not point-wise
    "FLIP": (1, 0, np.flip),
}
KERNEL_OPERATIONS: Final[dict[str, Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "lt": np.less,
    "gt": np.greater,
    "select": np.where,
}


@dataclass(frozen=True)
class Program:
    """A window with everything that running it takes.

    ``elements`` maps a view's id to an array in the shape of its launch domain:
    the element of the store behind each point. ``scalars`` are the scalar
    arguments of each task, ``memory`` what the stores hold at first.
    """

    window: Window
    elements: dict[int, Array]
    scalars: tuple[tuple[int, ...], ...]
    memory: Memory
    seed: int

    def points(self, task: IndexTask) -> list[Point]:
        """Return the points of a task's launch domain."""
        return list(np.ndindex(self.elements[task.writes[0].id].shape))

    def element(self, view: View, point: Point) -> int:
        """Return the element behind a point; a replicated store has only one."""
        return 0 if view.store.replicated else int(self.elements[view.id][point])


# -- generation ------------------------------------------------------------------
@cache
def patterns(array: Point, domain: Point) -> tuple[tuple[Array, bool], ...]:
    """Return the strided boxes of an array in a shape, each with "may be written".

    Views that repeat elements are only read.
    """
    index = np.arange(np.prod(array)).reshape(array)
    rows_and_columns = [*index, *index.T] if index.ndim == 2 else []
    parts = [index, *rows_and_columns]
    views = [view for part in parts for view in _boxes(part, domain)]
    views += [np.broadcast_to(element, domain) for element in index.flat[:2]]
    found: dict[bytes, tuple[Array, bool]] = {}
    for view in views:
        unique = len(np.unique(view)) == view.size
        found.setdefault(view.tobytes(), (np.ascontiguousarray(view), unique))
    return tuple(found.values())


def _boxes(array: Array, domain: Point) -> Iterator[Array]:
    """Yield slices of an array in a shape: shifted, strided, transposed, repeated."""
    if array.ndim < len(domain):
        for extent in set(domain):
            for row in _boxes(array, (extent,)):
                if domain[1] == extent:
                    yield np.broadcast_to(row, domain)
                if domain[0] == extent:
                    yield np.broadcast_to(row[:, None], domain)
        return
    if array.ndim > len(domain):
        return
    choices = [
        [
            slice(start, start + step * extent, step)
            for step in (1, 2)
            for start in range(size)
            if start + step * (extent - 1) < size
        ]
        for size, extent in zip(array.shape, domain, strict=True)
    ]
    for slices in itertools.product(*choices):
        yield array[slices]
        if array.ndim == 2:
            yield array[slices].T


@dataclass
class _Views:
    """Numbers the views that a program uses; equal views get one number."""

    elements: dict[int, Array]
    known: dict[tuple[int, Point, bytes], View]

    def get(self, store: Store, elements: Array, affine: bool = True) -> View:
        shape = elements.shape
        key = (store.id, shape, elements.tobytes())
        view = self.known.get(key)
        if view is None:
            view = self.known[key] = View(
                len(self.known),
                store,
                _shape_class(shape),
                (Points.NONE, Points.ONE, Points.MANY)[min(elements.size, 2)],
                broadcast=elements.size > 1 and bool((np.diff(elements) == 0).all()),
                affine=affine,
            )
            self.elements[view.id] = elements
        return view


def _shape_class(shape: Point) -> int:
    return ((), *LAUNCH_DOMAINS).index(shape)


def programs() -> st.SearchStrategy[Program]:
    """Draw programs whose tasks touch the same elements in many ways.

    The program comes from a seed, and Hypothesis chooses which of its tasks to
    keep: that is fast, and a counterexample shrinks to the tasks that matter.
    """
    kept = st.lists(
        st.sampled_from((False, True, True, True, True)), min_size=14, max_size=14
    )
    return st.builds(_program, st.integers(0, 2**32 - 1), kept)


def _program(seed: int, kept: Sequence[bool]) -> Program:
    rng = random.Random(seed)
    memory: Memory = {}
    arrays = _arrays(rng, memory)
    futures = _futures(rng, memory)
    views = _Views({}, {})
    domains = [rng.choice(_DOMAINS) for _ in range(2)]
    pools = [_array_pool(rng, views, arrays, domain) for domain in domains]
    for pool, domain in zip(pools, domains, strict=True):
        # a future repeats over the launch domain
        pool.readable += [views.get(store, np.zeros(domain, int)) for store in futures]
    of_futures = [views.get(store, np.zeros((), int)) for store in futures]
    pools.append(_Pool(of_futures, [v for v in of_futures if not v.store.constant]))
    tasks: list[IndexTask] = []
    arguments: list[tuple[int, ...]] = []
    for keep in kept:
        (pool,) = rng.choices(pools, weights=(8, 1, 4))
        (name,) = rng.choices(tuple(OPERATIONS), weights=(*(9,) * 7, 1))
        reads, count, _ = OPERATIONS[name]
        scalars = tuple(rng.randint(-9, 9) for _ in range(count))
        operands = [rng.choice(pool.readable) for _ in range(reads)]
        if pool.writable:
            task = _task(name, rng.choice(pool.writable), operands)
            tasks += [task] * keep
            arguments += [scalars] * keep
    return Program(Window(tuple(tasks)), views.elements, tuple(arguments), memory, seed)


@dataclass
class _Pool:
    """The views that tasks of one launch domain use."""

    readable: list[View]
    writable: list[View]


def _arrays(rng: random.Random, memory: Memory) -> dict[Store, Point]:
    """Make arrays, with their shapes."""
    arrays: dict[Store, Point] = {}
    for number in range(rng.randint(2, 4)):
        shape = rng.choice(ARRAYS)
        arrays[Store(number, "int64", live=rng.random() < 0.5)] = shape
        memory[number] = np.arange(np.prod(shape)) * 7 + 100 * number
    return arrays


def _futures(rng: random.Random, memory: Memory) -> list[Store]:
    """Make replicated one-element stores."""
    futures = []
    for number in range(10, 10 + rng.randint(1, 4)):
        kind = rng.choice(("live", "live", "dead", "constant"))
        futures.append(
            Store(
                number,
                "int64",
                live=kind == "live",
                replicated=True,
                constant=kind == "constant",
            )
        )
        memory[number] = np.array([rng.randint(-9, 9)])
    return futures


def _array_pool(
    rng: random.Random, views: _Views, arrays: dict[Store, Point], domain: Point
) -> _Pool:
    """Choose one or two views of each array in the shape of a launch domain."""
    pool = _Pool([], [])
    for store, shape in arrays.items():
        boxes = patterns(shape, domain)
        for elements, unique in rng.choices(boxes, k=rng.randint(1, 2) if boxes else 0):
            view = views.get(store, elements, affine=rng.random() < 0.97)
            pool.readable.append(view)
            pool.writable += [view] * unique
    return pool


def _task(name: str, target: View, operands: Sequence[View]) -> IndexTask:
    task, _, code = name.partition(".")
    reads, count, _ = OPERATIONS[name]
    # the value that FILL writes is its input
    inputs = ("int64",) * max(reads, 1)
    scalars = ("int64",) * (count if reads else 0)
    kind = OperationKind(task, code, inputs, ("int64",), scalars)
    accesses = [Access(Privilege.WRITE, target)]
    accesses += [Access(Privilege.READ, view) for view in operands]
    return IndexTask(kind, target.shape, tuple(accesses))


# -- execution -------------------------------------------------------------------
def operation(task: IndexTask) -> Any:
    """Return the function that a task applies."""
    kind = task.kind
    return OPERATIONS[f"{kind.task}.{kind.code}" if kind.code else kind.task][2]


def run_task(program: Program, number: int, memory: Memory) -> None:
    """Run one task as it was submitted: everything is read, then all is written."""
    task = program.window.tasks[number]
    operands = [memory[view.store.id][program.elements[view.id]] for view in task.reads]
    result = operation(task)(*operands, *program.scalars[number])
    target = task.writes[0]
    memory[target.store.id][program.elements[target.id]] = result


def run_in_order(program: Program) -> Memory:
    """Run a program task by task."""
    memory = {store: array.copy() for store, array in program.memory.items()}
    for number in range(len(program.window.tasks)):
        run_task(program, number, memory)
    return memory


def run_points(
    program: Program,
    group: Grouping,
    liveness: Liveness,
    memory: Memory,
    points: Sequence[Point],
) -> None:
    """Run all tasks of a group at one point, then at the next.

    Temporaries and replicated stores live in registers, which are empty at the
    start of each point.
    """
    for point in points:
        registers: dict[int, Any] = {}
        for number in range(group.start, group.stop):
            task = program.window.tasks[number]
            operands = []
            for view in task.reads:
                store = view.store.id
                if store not in registers and store in liveness.temporaries:
                    raise AssertionError(f"temporary %{store} is read before a write")
                operands.append(
                    registers[store]
                    if store in registers
                    else memory[store][program.element(view, point)]
                )
            result = operation(task)(*operands, *program.scalars[number])
            target = task.writes[0]
            store = target.store.id
            if target.store.replicated or store in liveness.temporaries:
                registers[store] = result
            else:
                memory[store][program.element(target, point)] = result


def run_kernel(
    program: Program,
    group: Grouping,
    lowered: LoweredGroup,
    memory: Memory,
    points: Sequence[Point],
) -> None:
    """Run the kernel of a group at one point, then at the next."""
    views = {view.id: view for view in program.window.views}
    arguments = [views[view] for view in lowered.arguments]
    block = [
        memory[views[source.view].store.id][0]
        if isinstance(source, ConstantSource)
        else program.scalars[group.start + source.task][source.position]
        for source in lowered.scalars
    ]
    for point in points:
        values: list[Any] = []
        for instruction in lowered.kernel.body:
            match instruction:
                case Load(argument):
                    view = arguments[argument]
                    element = program.element(view, point)
                    values.append(memory[view.store.id][element])
                case Scalar(index):
                    values.append(np.int64(block[index]))
                case Op(name, _, operands):
                    taken = [values[operand] for operand in operands]
                    values.append(KERNEL_OPERATIONS[name](*taken))
                case KernelStore(argument, value):
                    view = arguments[argument]
                    element = program.element(view, point)
                    memory[view.store.id][element] = values[value]
                case Constant():
                    raise AssertionError("no operation here has a literal")


# -- dependences -----------------------------------------------------------------
class Footprint:
    """Which points of a sequence of tasks have touched each element so far."""

    def __init__(self) -> None:
        """Start with no task."""
        self._read: dict[tuple[int, int], set[Point]] = {}
        self._written: dict[tuple[int, int], set[Point]] = {}

    def conflicts(self, program: Program, task: IndexTask) -> bool:
        """Whether a point of a task depends on another point of an earlier task.

        Reads and writes of one task by different points count as well. Replicated
        stores do not: every point has its own copy.
        """
        own: dict[tuple[int, int], set[Point]] = {}
        for key, point in _touched(program, task, task.reads):
            own.setdefault(key, set()).add(point)
            if self._written.get(key, set()) - {point}:
                return True
        for key, point in _touched(program, task, task.writes):
            others = self._written.get(key, set()) | self._read.get(key, set())
            if (others | own.get(key, set())) - {point}:
                return True
        return False

    def add(self, program: Program, task: IndexTask) -> None:
        """Take in a task."""
        for key, point in _touched(program, task, task.reads):
            self._read.setdefault(key, set()).add(point)
        for key, point in _touched(program, task, task.writes):
            self._written.setdefault(key, set()).add(point)


def _touched(
    program: Program, task: IndexTask, views: Sequence[View]
) -> Iterator[tuple[tuple[int, int], Point]]:
    for view in views:
        if not view.store.replicated:
            for point in program.points(task):
                yield (view.store.id, program.element(view, point)), point
