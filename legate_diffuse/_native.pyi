# SPDX-License-Identifier: Apache-2.0
"""Submission of programs, and the Python end of the native net (mappers/).

Import ``legate.core`` before this module: it is linked to the libraries that
``legate.core`` loads.
"""

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from typing_extensions import Buffer

def start() -> None:
    """Create the Legate library and register its task. Idempotent.

    Raises:
        RuntimeError: the Legate runtime is not running.
    """

def use_gpus() -> str:
    """Let the kernels of this process run on GPUs, before there are any.

    Returns why they cannot, '' if they do: there is no driver, it is too old, or the
    GPUs are of different architectures.
    """

class Places:
    """Where in the program its operations come from, by code and instruction."""

    def find(self, kind: int) -> str:
        """Return the place of the program's innermost frame, '' if it is not known.

        Frames are tried that were the program's when operations of this kind came.
        """

    def learn(self, code: CodeType, instruction: int, place: str) -> None:
        """Take note of an instruction's place, '' if it is not the program's."""

    def learn_depth(self, kind: int, depth: int) -> None:
        """Take note of how many frames above the caller's the program's frame was."""

def register_kernel(
    address: int,
    reductions: Sequence[tuple[int, int, bytes]] = (),
    timed: bool = False,
) -> int:
    """Add a compiled kernel to this process's table and return its id.

    The ``KernelCode`` at ``address``, or ``GpuKernelCode`` where kernels run on GPUs,
    has to stay in place until the kernel is forgotten. ``reductions`` are the arguments
    that threads may reduce to apart, each with the id of the kernel that reduces its
    second argument to its first, and the bytes of the value to start from; without them
    one thread runs the whole nest. Ids count up from zero, so that ranks that register
    the same kernels in the same order agree on them. A ``timed`` kernel sums the time
    of its runs on CPUs.

    Raises:
        RuntimeError: the driver of the GPUs does not load the kernel.
        ValueError: the address is zero, Legate's arrays have no such dimension as the
            kernel needs, there is no kernel to combine with, or a value takes more than
            16 bytes.
    """

def interpret_kernel(text: str, lanes: int) -> int | None:
    """Add a kernel that is interpreted to this process's table and return its id.

    It has the bits of one that is compiled with as many ``lanes``, and is for the
    program's thread only. None if it has to be compiled.
    """

def is_kernel_ready(kernel: int) -> bool:
    """Whether a kernel is there, and not to be compiled as it was interpreted often."""

def forget_kernel(kernel: int) -> None:
    """Take a kernel out of the table; no task may need it any more.

    Its id is not used again, and its time is kept.
    """

def kernel_nanoseconds() -> list[int]:
    """Return the time that each kernel took in all threads, by id; 0 if not timed."""

def task_times() -> list[tuple[str, str, int, int]]:
    """Return name, provenance, nanoseconds in all, and number of finished tasks.

    Of all tasks of Legate's libraries, if the library of clocks is in the process.
    """

def name_task(name: str) -> int:
    """Return the number of a task with a name, for ``submit_program``.

    Legate's profiler and messages of Legion show the name. Ranks that name the same
    tasks in the same order agree on the numbers. After 4,095 names all tasks are
    nameless.
    """

def submit_program(
    stores: tuple[int, ...],
    privileges: bytes,
    program: bytes,
    partitioned: bool,
    provenance: str | None,
    launch: int = 0,
    task: int = 0,
) -> None:
    """Submit a program as one task.

    Each store appears once. The GIL is released meanwhile.

    Args:
        stores: ``LogicalStore.raw_handle`` of live stores.
        privileges: one byte for each store: 1 read, 2 write, 3 read-write, or, if the
            program is partitioned, 4 plus a ``legate.core.ReductionOpKind``. What is
            written without being read has no value left but what the program writes.
            What is reduced to keeps the value that it had as part of the result; a
            scalar store needs to have one.
        program: loop nests in the format of ``mappers/program/program.h``. In each nest
            the operands that are written come first.
        partitioned: whether the program is one nest over all points of stores of one
            shape, which Legate partitions alike. Else it runs on one point, and
            nothing is partitioned.
        provenance: shown by Legate's profiler; None keeps that of the current scope.
        launch: its number, see ``last_launch``.
        task: what ``name_task`` returned; by default a task that is only called fused.

    Raises:
        ValueError: the program is not well-formed, names an unknown kernel or leaves
            the memory of a store or scratch buffer, or a privilege is wrong; nothing
            was submitted.
        RuntimeError: Legate refused; nothing was submitted.
    """

class SmallArray:
    """The elements of a small array in this process, in row-major order.

    Args:
        itemsize: the bytes of an element.
        extents: the shape.
        value: the elements, if they are known.

    Raises:
        ValueError: the value has another size.
    """

    def __init__(
        self, itemsize: int, extents: Sequence[int], value: bytes | None = None
    ) -> None: ...
    @property
    def valid(self) -> bool:
        """Whether these are the array's elements; Legate's store may lack them."""

    def value(self) -> bytes:
        """Return a copy of the elements."""

    def clear(self) -> None:
        """Make all elements zero, in memory once somebody looks at them."""

    def lend(self) -> Any:
        """Return a NumPy array of the bytes of the elements themselves.

        They stay where they are until nobody refers to what is returned. Nothing is
        mapped.
        """

    def show(self) -> Any:
        """Return the same for the application, which may read and write it."""

    @property
    def shown(self) -> bool:
        """Whether the application has got hold of the elements so, and still has."""

    def put(self, value: Any) -> None:
        """Set the elements to those of bytes, or of a NumPy array of any strides.

        Raises:
            ValueError: the value has another size.
        """

    def copy_mapped(self, root: Any) -> bool:
        """Have a copy of what Legate maps, which the root does not hold any more.

        False the first time after it was mapped.
        """

    def share(self, other: SmallArray, address: int) -> bool:
        """Have the elements of another array from an address on.

        They lie in the same memory until either array changes. False if they are
        elsewhere, or may change unseen.
        """

    def adopt(self, value: Any) -> bool:
        """Take over a NumPy array's elements, and its memory with them.

        The array is not to be used any more. False if its memory is not of ours: see
        ``call_with_memory``.
        """

    def drop(self) -> None:
        """Free the elements; the array's value is elsewhere.

        Memory that is mapped stays in use.
        """

    def map(self, address: int) -> None:
        """Use memory of Legate's, which it has mapped for this process."""

    def unmap(self) -> None:
        """Stop using such memory; the array's value is elsewhere."""

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

def reduce(function: Function, array: Any, axis: Any) -> Any:
    """Return an array reduced along an axis."""

def get_at_places(function: Function, array: Any, key: Any) -> Any:
    """Return ``array[key]`` for a mask of the same shape, or a key with arrays.

    None if that is left to Python. The function makes arrays.
    """

def elements_of(array: Any) -> Any:
    """Return a copy of the elements that an array shows, as an array of NumPy's.

    In row-major order; None if they are not here.
    """

def put_elements(array: Any, old: Any, elements: Any) -> bool:
    """Let an array show other elements, of an array of NumPy's in row-major order.

    False if it does not show the old ones any more, or they are not here.
    """

def take_runs() -> tuple[int, int, int]:
    """Return how often something ran at once since the last call.

    Then of how many operations, and how many of them were fills.
    """

def watch_runs(locate: Callable[[str], str]) -> None:
    """Look from now on at where operations that run at once come from.

    At all of the first ones, and then at a part that stands for the others.

    Args:
        locate: returns the current place, given the name of the operation.
    """

def run_times() -> list[tuple[str, str, int, int]]:
    """Return name and place of what was watched, nanoseconds, and how often it ran."""

def know_stores(root: type, view: type, layout: type, most_bytes: int) -> None:
    """Take note of the classes of stores, and of the size of a small array."""

def know_window(
    window: Any, queue: Any, policy: Any, state_type: type, queue_type: type
) -> None:
    """Take note of the window, of its queue, and that this thread is the program's.

    Args:
        window: the window.
        queue: its queue.
        policy: says where it ends.
        state_type: ``WindowState``.
        queue_type: ``LaunchQueue``.
    """

def note_window(
    key: tuple[int, ...],
    operations: list[Any],
    layouts: list[Any],
    shapes: list[Any],
    arguments: tuple[int, ...],
    privileges: bytes,
    program: bytes,
    constants: list[tuple[int, int]],
    scalars: list[tuple[int, int]],
    temporaries: tuple[int, ...],
    most_bytes: int,
    takes_long: bool,
    note: object,
) -> None:
    """Let windows with a key run again as the one did to which all this belongs.

    Args:
        key: ``ClosedWindow.key``.
        operations: of the window.
        layouts: of the window's views.
        shapes: the window's shapes.
        arguments: views of the program's arguments, by number.
        privileges: see ``run_program``.
        program: the same.
        constants: where it has the values of constants, in words, with their views.
        scalars: where it has those of operations, with their positions.
        temporaries: views of the arrays that are never made.
        most_bytes: that all arrays of this process may take.
        takes_long: whether it is to run only where a large array is here.
        note: what ``repeat_window`` returns.
    """

def knows_window() -> bool:
    """Return whether what waits is like a window that was noted."""

def repeat_window(state: object, following: object) -> Any:
    """Run what waits as a window that was noted, and record in ``following`` next.

    Returns the note; None if ``state`` is not what waits any more, or like no other
    window, or would not run as that did. Then nothing was changed.
    """

def forget_windows() -> None:
    """Forget all that ``note_window`` has noted."""

def know_keys(
    state_type: type,
    place: Callable[..., Any],
    dtypes: dict[Any, int],
    new_view: int,
    single: int,
    undefined: int,
) -> None:
    """Let native code record operations that wait as ``WindowState.add`` does.

    Args:
        state_type: ``WindowState``.
        place: returns where a layout lies in a root of given extents.
        dtypes: the numbers of types in keys, by their names.
        new_view: what the description of a view follows in keys.
        single: what they say of a root whose tasks run on one processor.
        undefined: and of one to which nothing was written.
    """

def know_arrays(classes: tuple[type, ...], library: Any) -> None:
    """Let functions be applied from now on.

    Args:
        classes: cuPyNumeric's ``ndarray`` and ``DeferredArray``, ``LogicalStore``,
            ``View``, ``Root``, ``Layout``.
        library: cuPyNumeric's.
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
        is_sized: whether the first array must have axes and elements.
        orders: whether it must have no NaN.
        changes: whether the function changes its elements, which are few.
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
        is_sized: bool,
        orders: bool,
        changes: bool,
    ) -> None: ...

def front(
    way: str,
    arrays: Function,
    extra: Any,
    names: tuple[str, ...] | None,
    learn: Callable[[Any], bool],
    otherwise: Callable[..., Any],
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

    Raises:
        ValueError: there is no such way.
    """

def know_blas(routines: list[int], processors: int) -> None:
    """Let products of matrices and vectors be made by a BLAS.

    Args:
        routines: addresses of ``cblas_dgemv``, ``cblas_sgemv``, ``cblas_dgemm`` and
            ``cblas_sgemm`` with integers of 64 bits, of what returns how many
            processors BLAS uses, and of what says so.
        processors: how many it may use.
    """

def know_numpy(known: tuple[Any, ...]) -> None:
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

def know_parts(part_of: Callable[[Any, Any], Any], function: Function) -> None:
    """Let parts of arrays have no views until somebody asks for them.

    Args:
        part_of: returns the view at a basic index of a thunk.
        function: makes arrays of each type.
    """

def know_waiting(
    classes: tuple[type, ...],
    at_once: Any,
    constant: Callable[..., Any],
    assigned: tuple[Any, Any],
    shapes: tuple[Callable[..., Any], Callable[..., Any]],
) -> None:
    """Let operations that have to wait be recorded without functions of Python's.

    Args:
        classes: ``TemplateTask``, ``TaskTemplate``, ``Kind``, ``Fill``.
        at_once: the window's ``AtOnce``.
        constant: returns the view of a number, of the type of a root, or None.
        assigned: the templates of copies, by the type of the elements, and those of
            copies of one element to one of an array.
        shapes: what returns the shape of two together, or None, and a view that repeats
            over a shape.
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

def call_with_memory(call: Callable[[], Any]) -> Any:
    """Call something that makes arrays of NumPy's, in memory of ours if they are large.

    ``SmallArray.adopt`` can take over that memory.
    """

def find_extremes(source: Any, places: Any, largest: bool) -> None:
    """Find the first of the largest or smallest elements along the second axis.

    Args:
        source: of float64, float32 or int64, with three axes, in row-major order.
            Where there is NaN, its place is found.
        places: of int64, with the first and the third axis; is written.
        largest: whether to find the largest.
    """

def has_nan(array: Any) -> bool:
    """Whether an array of NumPy's has NaN, or is of unknown floats."""

def sum_in_intervals(values: Any, edges: Any, weights: Any, sums: Any) -> None:
    """Sum weights by the intervals that numbers are in, as NumPy does.

    Args:
        values: float64 numbers of one dimension, in order, without NaN.
        edges: one more than there are intervals, of one width, each of which is much
            wider than its edges are rounded. The last has its end.
        weights: of float64, one for each value; without any, each is 1.
        sums: of float64; is written.
    """

def scan(source: Any, target: Any, multiplies: bool) -> None:
    """Sum or multiply along the last axis, as NumPy does.

    Args:
        source: of float64, float32 or int64, in row-major order.
        target: is written; of the same shape and type.
        multiplies: whether to multiply.
    """

def small_array_bytes() -> int:
    """Return the memory that arrays of this process take."""

def num_given_away() -> int:
    """Return how many of them were large, and gave it to a task of Legate's."""

def run_program(
    arrays: tuple[SmallArray, ...],
    privileges: bytes,
    program: bytes,
    first_values: Sequence[tuple[int, Buffer, bool]],
    launch: int = 0,
) -> None:
    """Run a program in this thread and those that help it, over arrays of this process.

    Args:
        arrays: what takes the place of the stores of ``submit_program``.
        privileges: as there.
        program: as there; it is not partitioned.
        first_values: elements that arrays have before the program runs: the number of
            the array, a buffer of the elements in row-major order, and whether Legate's
            store has them as well.
        launch: its number, see ``last_launch``.

    Raises:
        ValueError: as ``submit_program``; nothing was run.
    """

def store_array(array: SmallArray, handle: int, keep: bool) -> None:
    """Give Legate's store of an array its elements, if it may lack them.

    Args:
        array: the array.
        handle: ``LogicalStore.raw_handle`` of the store, which has its shape and type.
        keep: whether an array of at most 384 KiB goes on having the elements, as nobody
            changes the store but programs that run here. Else its memory is freed.

    Raises:
        RuntimeError: Legate refused; nothing was changed.
    """

def scratch_bytes(roots: Sequence[tuple[Sequence[int], int]], program: bytes) -> int:
    """Return the bytes of the scratch buffers of a program that is submitted now.

    Args:
        roots: extents and bytes of an element of each argument.
        program: its words; it is not divided.
    """

def memory_of_kernels() -> int:
    """Return the bytes that Legate has for arrays where kernels run."""

def submit_original(
    launch: int, method: Callable[..., object], *arguments: object
) -> None:
    """Call a method of Legate's runtime that submits one operation.

    No Python code runs within the call, which must not call any.

    Args:
        launch: its number, see ``last_launch``.
        method: the method.
        arguments: what it is called with.

    Raises:
        Exception: what Legate raises.
    """

def call(function: Callable[..., object], *arguments: object) -> object:
    """Call a function whose calls of Legate need no flush."""

def last_launch() -> int:
    """Return the number of the last launch that Legate has.

    The launches of the window are numbered from 1 on. A launch is made only if its
    number is higher than this one, which is the launch's as soon as Legate has it. A
    launch that is no part of the window has the number 0.
    """

def give_up_launch(launch: int) -> None:
    """Let a launch not be made any more."""

def drop_on_window_thread(types: Sequence[type]) -> None:
    """Let objects of Legate's types go on the window's thread.

    What Python drops on another thread goes when the main thread runs Python code
    again. Objects of types that are derived from these are not kept.

    Raises:
        RuntimeError: they are more than eight.
    """

def is_in_task() -> bool:
    """Whether this thread runs a task of Legate's; the program itself is one."""

def describe_task(library: int, task: int) -> tuple[str, bool]:
    """Return a task's name, and whether more than its stores ties it to its place.

    ``library`` is the address of a ``legate::Library``.

    Raises:
        IndexError: the library has no such task.
    """

def cpu_processors() -> list[int]:
    """Return the numbers of the processors, but for GPUs, on which tasks run."""

def launch_policy() -> tuple[int, int]:
    """Return how Legate partitions in the current scope: (pieces, threshold).

    A store is not partitioned if there is one piece, or if it has fewer elements than
    the threshold.
    """

def target() -> str:
    """Return which processors run kernels: "cpu", or the architecture of the GPUs."""

def scope_runs_kernels() -> bool:
    """Return whether tasks that are submitted now run where kernels do."""

def kernels_run_in_process() -> bool:
    """Return whether the program's thread can run kernels, on memory of its own."""

def num_threads() -> int:
    """Return how many threads share the loops of a program that is submitted now.

    They are as many as the scope's machine has CPUs, if these are all in this process,
    unless ``set_num_threads`` has chosen another number.
    """

def set_num_threads(threads: int) -> int:
    """Choose the number of threads, 0 leaves it to the machine.

    Returns what was chosen before.
    """

def set_cache_bytes(bytes: int) -> int:
    """Block the loops of programs for a cache of this size; 0 does not block them.

    Returns the size before, which is at first that of a core's second-level cache.
    """

def set_nearest_cache_bytes(bytes: int) -> int:
    """Let short rows stay in so many bytes of the cache, at most in all of it.

    Returns the size before, at first two thirds of a core's first-level cache.
    """

def scalar_bytes(handle: int) -> bytes:
    """Return the value of a Legate scalar, given its ``Scalar.raw_handle``."""

def missing_symbol() -> str | None:
    """Return a function that the net needs and this Legate lacks, by its symbol.

    None if there is none, or no net in the process. Legate must have been loaded.
    """

def set_flush_callback(callback: Callable[[], object] | None) -> None:
    """Connect the net: ``callback`` submits the window. None disconnects it.

    It is called on the thread that connected it, when a Legate entry point is called
    while operations are pending. What it submits passes through the net. An exception
    that it raises is raised in the main thread when Python goes on. Without the net
    library in the process this does nothing.
    """

def set_pending(flag: bool) -> None:
    """Say whether operations wait to be submitted."""
