# SPDX-License-Identifier: Apache-2.0
"""Operations that run at once, or wait, and what is in front of functions of Python's.

mappers/process.
"""

from collections.abc import Callable, Sequence
from typing import Any

class Answer:
    """Whether an operation has run at once.

    UNKNOWN: the forms of its layouts are not known yet, the values of its constants, or
    the nests for such views. IMPOSSIBLE: an element is elsewhere.
    """

    DONE: Answer
    UNKNOWN: Answer
    IMPOSSIBLE: Answer

# The id of a kernel, the number of the view that has the shape, those of the kernel's
# arguments, and of the constants that are its scalars; from -1 downwards the last, the
# last but one of the operation's own scalars.
Nest = tuple[int, int, Sequence[int], Sequence[int]]

class Operation:
    """How operations of one kind run on small arrays, one after the other.

    Args:
        name: what people call it.
        changes: for each view of the operations whether it changes.
        number: how many operations they are.
        fills: how many of them are fills.
    """

    def __init__(
        self, name: str, changes: Sequence[bool], number: int, fills: int
    ) -> None: ...
    def run(self, views: list[Any], scalars: bytes = b"") -> Answer:
        """Run the operations, in this thread; ``scalars`` are their own ones.

        It is impossible while an operation is being recorded or submitted, and if one
        that waits uses a root of the views.
        """

    def add(self, views: list[Any], nests: Sequence[Nest]) -> None:
        """Let operations on views like these run, unless there are no nests.

        Nothing is done where they could not run now.
        """

class Function:
    """A function of NumPy on small arrays, by the types of its operands.

    What it is called through, ``apply``, returns None where all is left to Python, and
    has done nothing then.

    Args:
        dense: returns the layout of a new array of a shape.
        takes_numbers: Python's numbers take the type of their operand.
        reduces: the result has no dimensions, and its operation fills it first.
    """

    def __init__(
        self, dense: Callable[[Any], Any], takes_numbers: bool, reduces: bool
    ) -> None: ...
    def add(
        self,
        dtypes: Sequence[str | None],
        operation: Operation | None,
        prototype: Any,
        dtype: Any,
        itemsize: int,
        scalars: bytes,
        identity: bytes,
        task_template: Any,
    ) -> None:
        """Let it be applied to operands of these types.

        Args:
            dtypes: the types.
            operation: what runs then; it has the result before the operands.
            prototype: a root of the type of the result.
            dtype: NumPy's type of the result.
            itemsize: the bytes of an element of the result.
            scalars: the operation's own.
            identity: the element that the result of a reduction starts from.
            task_template: of the tasks that wait where it cannot run at once.
        """

    def mix(
        self, kinds: tuple[str | type, ...], dtype: str, converter: Function
    ) -> None:
        """Let operands of these kinds be converted to a type first.

        An array's kind is its type, and that of a number its class.
        """

    def convert_written(
        self, kinds: tuple[str | type, ...], dtype: str, converter: Function
    ) -> None:
        """Let what is made of operands be converted where it is written to an array.

        The last of the kinds is the array's; ``dtype`` is that of what is made.
        """

    def array_of(self, elements: Any, name: str) -> Any:
        """Return a new small array of NumPy's elements, the result of an operation.

        None if that is left to Python.
        """

def apply(function: Function, out: Any, *operands: Any) -> Any:
    """Apply a function to operands; writes to ``out``, or to a new array if None."""

def reduce_later(function: Function, templates: Any, array: Any, axis: Any) -> Any:
    """Let an array wait to be reduced, or return None if that is left to Python.

    Args:
        function: knows the types of results.
        templates: pairs of a task's template and the scalar that its result starts
            from, by the type and the shape, or the type and the axis.
        array: what is reduced.
        axis: along which; None for all elements.
    """

def reduce(function: Function, array: Any, axis: Any, keeps: bool) -> Any:
    """Return an array reduced along an axis, or several in a tuple.

    It ``keeps`` one element along each, or they go. None if that is left to Python.
    """

def get_at_places(function: Function, array: Any, key: Any) -> Any:
    """Return ``array[key]`` for a mask of the same shape, or a key with arrays.

    None if that is left to Python. The function makes arrays.
    """

def know_arrays(*objects: Any) -> None:
    """Let functions be applied from now on.

    Args:
        objects: cuPyNumeric's ``ndarray`` and ``DeferredArray``, ``LogicalStore``,
            ``View``, ``Root``, ``Layout``, and cuPyNumeric's library.
    """

def know_settings(looks: bool, warns: bool) -> None:
    """Take note of how cuPyNumeric is set.

    Args:
        looks: it looks at every call, so that none may run at once.
        warns: it warns where a value becomes one of another type.
    """

class Recipe:
    """A function that NumPy does.

    Args:
        function: NumPy's.
        label: what people call it.
        kinds: of the types of arrays, as NumPy names them.
        counts: with fewer arguments the original runs; how many may come by position;
            how many, the first ones, must be arrays.
        keywords: the names of those that may come by name.
        may_warn: whether NumPy may warn of what it computes.
        brings: whether it runs on elements for which something waits, or that Legate
            has, many ones as well; see ``know_numpy``.
        reads_many: whether it runs at least on many elements that are here.
        converts: whether sequences are as good as arrays.
        needs_axes: whether the first array must have some.
        needs_elements: whether it must have some.
        orders: whether it must have no NaN.
        changes: whether the function changes its elements, which are few.
        grows: whether few elements may become many.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        label: str,
        kinds: str,
        counts: tuple[int, int, int],
        keywords: frozenset[str],
        may_warn: bool,
        brings: bool,
        reads_many: bool,
        converts: bool,
        needs_axes: bool,
        needs_elements: bool,
        orders: bool,
        changes: bool,
        grows: bool,
    ) -> None: ...

def front(
    way: str,
    arrays: Function,
    extra: Any,
    names: tuple[str, ...] | None,
    learn: Callable[[Any], bool],
    otherwise: Callable[..., Any],
    converted: int,
) -> Any:
    """Return what native code is called through before a function of Python's.

    Args:
        way: what native code does (mappers/process/ways.cc).
        arrays: makes arrays of each type.
        extra: what the way needs.
        names: of all parameters; None if the way takes whatever comes.
        learn: whether there was more to know of an array, with which the way is tried
            again.
        otherwise: does what the way leaves to Python.
        converted: a bit for the place of each argument of which the original makes an
            array: the way is tried again with it, and ``otherwise`` is given it.

    Raises:
        ValueError: there is no such way.
    """

def know_blas(routines: list[int], processors: int) -> None:
    """Let products of matrices and vectors be made by a BLAS.

    Args:
        routines: addresses of ``cblas_dgemv``, ``cblas_sgemv``, ``cblas_zgemv``,
            ``cblas_cgemv`` and the same for two matrices, with integers of 64 bits, of
            what returns how many processors BLAS uses, and of what says so.
        processors: how many it may use.
    """

def know_numpy(*known: Any) -> None:
    """Let native code run functions of NumPy's.

    Args:
        known: the types of arrays by their names, and the names; a set of classes whose
            objects mean the same to NumPy, and a tuple of such classes of its own; what
            it raises of arguments that do not fit; ``asarray``; the context variable
            that says of what it warns, None without, and its value for nothing; what
            makes arrays of results that native code does not take, or None; what
            returns the elements of an array that are many, or are brought if its second
            argument is true, or None; what says whether there is room for so many bytes
            of a large new array.
    """

def know_empty(empty: Callable[[Any, str], Any]) -> None:
    """Let arrays have no stores before somebody writes to their many elements.

    Args:
        empty: returns a new array of a shape, and of a type by its name.
    """

def know_parts(part_of: Callable[[Any, Any], Any], function: Function) -> None:
    """Let parts of arrays have no views until somebody asks for them.

    Args:
        part_of: returns the view at a basic index of a thunk.
        function: makes arrays of each type.
    """

def know_waiting(*objects: Any) -> None:
    """Let operations that have to wait be recorded without functions of Python's.

    Args:
        objects: ``TemplateTask``, ``TaskTemplate``, ``Kind``, ``Fill``; the window's
            ``AtOnce``; what returns the view of a number, of the type of a root, or
            None; the templates of copies, by the type of the elements, and those of
            copies of one element to one of an array; what returns the shape of two
            together, or None; what returns a view that repeats over a shape.
    """

def let_wait(task_template: Any, views: list[Any], fill: Any) -> bool:
    """Let a task wait in the window that is made from a template.

    Before it a fill, unless that is None. False if they are left to Python, as they can
    run at once, or not wait as they are.
    """

def take_operators(functions: dict[str, Function | None]) -> None:
    """Let operators of arrays that can run at once go through no function of Python's.

    Others go on to the methods of the class, as long as it keeps those that it has.

    Args:
        functions: by the names of their methods; for ``__getitem__`` the one that
            reads single elements; None for ``__setitem__``.
    """
