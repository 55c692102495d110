# SPDX-License-Identifier: Apache-2.0
"""Kernels, the tasks that run them, and the Python end of the native net.

mappers/bindings, mappers/mapper, mappers/interposition.
"""

from collections.abc import Callable, Sequence
from types import CodeType
from typing import TypeVar

_T = TypeVar("_T")

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

def call_uncollected(call: Callable[[], _T]) -> _T:
    """Call a function while Python's garbage collector waits.

    For what makes many objects that are kept, none of them in a cycle.
    """

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
