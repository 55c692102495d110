# SPDX-License-Identifier: Apache-2.0
"""What the tasks of libraries mean: the door through which each library comes.

A library is registered by a function that gets a :class:`Library`::

    def register(library):
        @library.elementwise(OpCode.AXPY, "T T[1] T -> T", types=FLOATS)
        def axpy(k, x, a, y):
            return a * x + y

It is given to :func:`register`, or named by an entry point of an installed package, in
the group ``legate_diffuse.libraries``, under Legate's name of the library. It is called
when the first task of the library is submitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from itertools import product
from operator import index
from typing import Any, Final, NoReturn

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import ALL, COMPLEX, FLOATS, RECT
from legate_diffuse.kernel.operators import CONTRACTED_ROW_SUM, ROW_ELEMENT, ROW_SUM
from legate_diffuse.kernel.reductions import REDUCTIONS
from legate_diffuse.libraries.compiled import compiled, is_compiled
from legate_diffuse.libraries.form import Form, task_name
from legate_diffuse.libraries.numbers import traced
from legate_diffuse.libraries.operations import Operation
from legate_diffuse.libraries.rows import finds_diagonal, sums_rows
from legate_diffuse.libraries.table import Emitter, Lowering, Meaning, call
from legate_diffuse.libraries.trial import compute, sum_row
from legate_diffuse.settings import DiffuseError
from legate_diffuse.stores.legate import Legate

GROUP: Final = "legate_diffuse.libraries"
_COLUMNS: Final = ("int32", "int64")
Function = Callable[..., Any]


class RegistrationError(DiffuseError):
    """A registration is wrong; the message names library, task and error."""

    __module__ = "legate_diffuse"


class Library:
    """What is registered of one library.

    Attributes:
        name: Legate's name of it.
        forms: how it submits its tasks, by task id.
        operations: what they compute.
        table: what more they compute, of so many kinds that they are looked up.
        advise: says what to write instead of a task of Legate's name, '' for nothing.
    """

    def __init__(self, library: Any, legate: Legate) -> None:
        self.name: str = library.name
        self.forms: dict[int, Form] = {}
        self.operations: dict[OperationKind, Operation] = {}
        self.table: Mapping[OperationKind, Operation] = {}
        self.advise: Callable[[str], str] | None = None
        self._library = library
        self._legate = legate

    def elementwise(
        self,
        task: int,
        signature: str,
        *,
        types: Iterable[str] = (),
        fuse: bool = True,
    ) -> Callable[[Function], Function]:
        """Register a task that computes each element from those at the same place.

        Decorates ``function(k, *inputs, *scalars)``, which returns the outputs: see
        :mod:`legate_diffuse.libraries.numbers`; or ``function(*inputs, *scalars)`` of
        ``numba.njit``, which may branch. ``signature`` has the types of inputs, scalars
        and outputs, as in ``"T T[1] int64; bool -> T"``: each in the order of the calls
        that add such arguments to the task. ``T`` stands for each of
        ``types`` in turn, ``R`` for the type of its real part, and ``[1]`` follows an
        input of one element that is used at all points. All other arguments have one
        shape, and are aligned. With ``fuse=False`` the task runs as it was submitted.

        Raises:
            RegistrationError: one sentence says what is wrong.
        """
        return self._decorator(task, signature, None, types, fuse)

    def reduction(
        self,
        task: int,
        signature: str,
        operator: str,
        *,
        types: Iterable[str] = (),
        fuse: bool = True,
    ) -> Callable[[Function], Function]:
        """Register a task that combines a value for each element.

        The function gives the value, and ``operator`` is add, mul, min, max, and, or
        or. The task adds what it reduces to as a reduction. The rest is as for
        :meth:`elementwise`.
        """
        return self._decorator(task, signature, operator, types, fuse)

    def row_sums(
        self,
        task: int,
        *,
        types: Iterable[str],
        columns: Iterable[str] = _COLUMNS,
        contracted: bool = False,
        fuse: bool = True,
    ) -> None:
        """Register the product of a matrix in compressed rows with a vector.

        The task's inputs are where each row lies, as a ``rect_type(1)``, the columns,
        the values and x; its output is ``y[i]``, the sum in order of
        ``values[k] * x[columns[k]]`` for k in row i. It aligns y with the rows, which
        lie in order, and has images of them (FIRST_LAST) for columns and values, and an
        image of the columns for x, or all of it. ``types`` are those of x and y. With
        ``contracted`` a real product and the sum after it are one operation.

        Raises:
            RegistrationError: one sentence says what is wrong.
        """
        sums = call(CONTRACTED_ROW_SUM if contracted else ROW_SUM)
        name, pairs = self._matrices(task, types, columns)
        kinds = [
            OperationKind(name, "", (RECT, index, dtype, dtype), (dtype,))
            for dtype, index in pairs
        ]
        form = Form(name, fuse=fuse, strict=True, rows=sums_rows)
        self.define(task, form, dict.fromkeys(kinds, Operation(sums, rows=True)))

    def diagonal(
        self,
        task: int,
        *,
        types: Iterable[str],
        columns: Iterable[str] = _COLUMNS,
        fuse: bool = True,
    ) -> None:
        """Register the diagonal of a matrix in compressed rows.

        The task's inputs are rows, columns and values as of :meth:`row_sums`; its
        output is ``y[i]``, the last of ``values[k]`` in row i for which ``columns[k]``
        is i, or 0. It aligns y with the rows, and the columns with the values, and has
        an image of the rows for the columns. On several nodes it runs as it was
        submitted.

        Raises:
            RegistrationError: one sentence says what is wrong.
        """
        name, pairs = self._matrices(task, types, columns)
        kinds = [
            OperationKind(name, "", (RECT, index, dtype), (dtype,))
            for dtype, index in pairs
        ]
        # a fused task has all of the matrix at each point
        fuse = fuse and self._legate.runtime.node_count == 1
        form = Form(name, fuse=fuse, strict=True, rows=finds_diagonal, overwrites=True)
        found = Operation(_diagonal, rows=True, indexed=True)
        self.define(task, form, dict.fromkeys(kinds, found))

    def opaque(
        self, task: int, *, overwrites: bool = False, waits: bool | None = None
    ) -> None:
        """Register a task that runs as it is, in its place.

        Args:
            task: its id in the library.
            overwrites: it writes all elements of what it writes; else they count as
                read.
            waits: whether only its stores tie it to its place in the program; else it
                ends the window. Legate is asked for the options of its variants if it
                is not given.

        Raises:
            RegistrationError: one sentence says what is wrong.
        """
        name, bound = self._describe(task)
        if not isinstance(overwrites, bool) or not isinstance(waits, bool | None):
            self._refuse(task, "overwrites and waits must be True or False")
        waits = not bound if waits is None else waits
        self.define(task, Form(name, overwrites=overwrites, waits=waits), {})

    def compute(
        self, task: int, inputs: Sequence[float], scalars: Sequence[bool] = ()
    ) -> float:
        """Run a task on a float64 each, and return what it writes to the last one."""
        return compute(self._legate, self._library, task, inputs, scalars)

    def sum_row(self, task: int, value: float, count: int) -> float:
        """Run a product at once, of a row of equal elements and a vector of these."""
        return sum_row(self._legate, self._library, task, value, count)

    def define(
        self, task: int, form: Form, operations: Mapping[OperationKind, Operation]
    ) -> None:
        """Register a task by its form and the operations that it performs."""
        if task in self.forms:
            self._refuse(task, "it is registered twice")
        self.forms[task] = form
        self.operations.update(operations)

    def _decorator(
        self,
        task: int,
        signature: str,
        operator: str | None,
        types: Iterable[str],
        fuse: bool,
    ) -> Callable[[Function], Function]:
        name = self._fusable_name(task)
        if operator is not None and operator not in REDUCTIONS:
            self._refuse(
                task, f"{operator!r} is not one of {', '.join(REDUCTIONS)} to reduce by"
            )

        def decorate(function: Function) -> Function:
            lower: Any = compiled if is_compiled(function) else traced
            meaning, repeated = self._meaning(task, signature, types, lower(function))
            fuses = fuse and (lower is traced or self._legate.native.target() == "cpu")
            operation = Operation(meaning.lowering, operator)
            kinds = tuple(meaning.kinds(name, ""))
            if not self.operations.keys().isdisjoint(kinds):
                # another task has the same name
                kinds = tuple(meaning.kinds(f"{name}_{task}", ""))
            for kind in kinds:
                self._try(task, kind, operation)
            form = Form(kinds[0].task, repeated=repeated, fuse=fuses, strict=True)
            self.define(task, form, dict.fromkeys(kinds, operation))
            return function

        return decorate

    def _matrices(
        self, task: int, types: Iterable[str], columns: Iterable[str]
    ) -> tuple[str, list[tuple[str, str]]]:
        """Return a task's name, and the types of values and columns of its matrices."""
        name = self._fusable_name(task)
        given = _words(types), _words(columns)
        for words, allowed in zip(given, (FLOATS + COMPLEX, _COLUMNS), strict=True):
            wrong = [word for word in words if word not in allowed]
            if wrong or not words:
                found = repr(wrong[0]) if wrong else "nothing"
                self._refuse(task, f"{found} is not one of {', '.join(allowed)}")
        return name, list(product(*given))

    def _fusable_name(self, task: int) -> str:
        name, bound = self._describe(task)
        if bound:
            self._refuse(
                task,
                "it may raise or has effects, as the options of its variants say",
            )
        return name

    def _describe(self, task: int) -> tuple[str, bool]:
        """Return a task's name, and whether more than stores ties it to its place."""
        try:
            name, bound = self._legate.native.describe_task(
                self._library.raw_handle, index(task)
            )
        except TypeError:
            self._refuse(task, "the id of a task must be a whole number")
        except (IndexError, OverflowError):
            self._refuse(task, "the library has no such task")
        return task_name(self.name, name), bound

    def _meaning(
        self, task: int, signature: str, types: Iterable[str], lowering: Lowering
    ) -> tuple[Meaning, tuple[int, ...]]:
        """Return what a signature says, and which inputs are single elements."""
        dtypes = _words(types)
        operands, arrow, outputs = str(signature).partition("->")
        inputs, _, scalars = operands.partition(";")
        repeated = tuple(
            n for n, word in enumerate(inputs.split()) if word.endswith("[1]")
        )
        plain = " ".join(word.removesuffix("[1]") for word in inputs.split())
        words = f"{plain} {scalars} {outputs}".split()
        wrong = [word for word in (*words, *dtypes) if word not in (*ALL, "T", "R")]
        if not arrow or not outputs.split():
            self._refuse(
                task, f"the signature {signature!r} is not of the form 'T T; T -> T'"
            )
        if wrong or not {"T", "R"}.isdisjoint(dtypes):
            self._refuse(task, f"{(wrong or dtypes)[0]!r} is not the name of a type")
        if {"T", "R"}.isdisjoint(words) == bool(dtypes):
            self._refuse(task, "its signature has T or R, and types= is given, or none")
        return (
            Meaning(dtypes or ("bool",), f"{plain}; {scalars} -> {outputs}", lowering),
            repeated,
        )

    def _try(self, task: int, kind: OperationKind, operation: Operation) -> None:
        """Make the kernel of one operation."""
        operands = (*kind.inputs, *kind.scalars)
        arguments = [Argument(dtype, reads=True, writes=False) for dtype in operands]
        reduces = operation.operator
        for dtype in kind.outputs:
            if reduces is not None and dtype not in REDUCTIONS[reduces]:
                self._refuse(task, f"{reduces} does not combine {dtype}")
            arguments.append(Argument(dtype, False, reduces is None, reduces=reduces))
        builder = Builder(arguments, ())
        loaded = [builder.load(n) for n in range(len(operands))]
        given = f"of {', '.join(operands)}" if operands else "of nothing"
        try:
            result: Any = operation.lowering(Emitter(builder), *loaded)
        except Exception as error:
            self._refuse(task, f"the function fails {given}: {error}", error)
        results = result if isinstance(result, tuple) else (result,)
        found = tuple(value.dtype for value in results)
        if found != kind.outputs:
            self._refuse(
                task,
                f"the function {given} returns {', '.join(found)}, and the signature "
                f"says {', '.join(kind.outputs)}",
            )
        put = builder.store if reduces is None else builder.reduce
        for number, value in enumerate(results, len(operands)):
            put(number, value)
        builder.build()

    def _refuse(
        self, task: object, reason: str, cause: Exception | None = None
    ) -> NoReturn:
        text = f"library {self.name!r}, task {task!r}: {reason}"
        raise RegistrationError(text) from cause


def _diagonal(emit: Emitter, rows: Value, columns: Value, values: Value) -> Value:
    return emit(ROW_ELEMENT, rows, columns, values, emit.index(0))


def _words(types: Iterable[str]) -> tuple[str, ...]:
    return (types,) if isinstance(types, str) else tuple(types)


Register = Callable[[Library], None]

_registered: dict[str, list[Register]] = {}
_looked_up: set[str] = set()


def register(library: str, function: Register) -> None:
    """Let a function register the tasks of a library: see :class:`Library`.

    Raises:
        RegistrationError: tasks of the library were submitted already.
    """
    if not isinstance(library, str) or not callable(function):
        text = f"library {library!r}: give Legate's name of the library, and a function"
        raise RegistrationError(text)
    if library in _looked_up:
        text = f"library {library!r}: register it before its first task is submitted"
        raise RegistrationError(text)
    _registered.setdefault(library, []).append(function)


def register_all(
    library: Library, own: Mapping[str, Register], say: Callable[[str], None]
) -> None:
    """Call everything that registers tasks of a library.

    If one of them fails the user is told, and nothing that it registered is kept.
    """
    name = library.name
    _looked_up.add(name)
    for function in (
        *([own[name]] if name in own else []),
        *[partial(_call, one) for one in entry_points(group=GROUP, name=name)],
        *_registered.get(name, ()),
    ):
        before = dict(library.forms), dict(library.operations)
        try:
            function(library)
        except Exception as error:
            library.forms, library.operations = before
            say(
                str(error)
                if isinstance(error, RegistrationError)
                else f"library {name!r}: its registration failed with "
                f"{type(error).__name__}: {error}"
            )


def _call(point: EntryPoint, library: Library) -> None:
    point.load()(library)
