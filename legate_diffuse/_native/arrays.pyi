# SPDX-License-Identifier: Apache-2.0
"""Small arrays, the programs that run on them, and windows that run again.

mappers/process.
"""

from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import Buffer

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

    def adopt(self, value: Any) -> bool:
        """Take over a NumPy array's elements, and its memory with them.

        The array is not to be used any more. False if its memory is not of ours: see
        ``call_with_memory``.
        """

    def drop(self) -> None:
        """Free the elements; the array's value is elsewhere.

        Memory that is mapped stays in use.
        """

    def map(self, address: int, keeper: Any) -> None:
        """Use memory of Legate's, which it has mapped for this process.

        As long as somebody refers to ``keeper``, it stays as it is, unless it is
        changed from here; if that is None, it may change unseen.
        """

    def unmap(self) -> None:
        """Stop using such memory; the array's value is elsewhere."""

    def own(self) -> None:
        """Prepare a change of the elements: no other array has them after this."""

    def expose(self) -> None:
        """Let what is mapped be changed from elsewhere."""

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

def repeat_window(state: object, following: object, apart: bool) -> Any:
    """Run what waits as a window that was noted, and record in ``following`` next.

    If it may run ``apart``, and takes long, it does so in a thread of its own, for
    which whoever uses its arrays waits.

    Returns the note; None if ``state`` is not what waits any more, or like no other
    window, or would not run as that did. Then nothing was changed.
    """

def wait_for_background() -> None:
    """Wait for what runs apart."""

def num_run_apart() -> int:
    """Return how many windows have run apart."""

def use_background_thread(flag: bool) -> None:
    """Choose whether a thread runs them; without it, who waits for one does."""

def set_least_apart(points: int) -> int:
    """Let programs over fewer points of loops not run apart.

    Returns what it was before.
    """

def set_least_shared(num_bytes: int) -> int:
    """Let arrays copy fewer bytes than that at once, and not share or read them later.

    Returns what it was before.
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

def find_nonzero(array: Any) -> Any:
    """Return where elements of NumPy's are not zero, counted in row-major order.

    Args:
        array: of real numbers or truth values, in row-major order.
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
