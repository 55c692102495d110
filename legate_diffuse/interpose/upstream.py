# SPDX-License-Identifier: Apache-2.0
"""The names of other libraries that are not public, or that stand-ins need.

Each is used for something that is said here, with what happens where a version lacks
it. What shortcuts do the work of is in ``known.py``, and what is exported from native
code in ``mappers/interposition/*.map``. A test finds what is used and not in the table.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Final

_UNFUSED: Final = "one sentence, and the program runs unfused"
_LONGER: Final = "one sentence, and calls of cuPyNumeric take longer"


@dataclass(frozen=True, slots=True)
class Door:
    """Names of another library that are used for one thing.

    Attributes:
        module: where they are, "" for attributes of objects.
        names: those that are needed.
        use: what for.
        without: what happens where one of them is missing.
    """

    module: str
    names: tuple[str, ...]
    use: str
    without: str


LEGATE: Final = (
    Door(
        "legate.core",
        (
            *("AutoTask", "Constraint", "LogicalStore", "LogicalStorePartition"),
            *("ManualTask", "Runtime", "Variable", "align", "bloat", "broadcast"),
            *("from_dlpack", "get_legate_runtime", "image", "scale"),
        ),
        "stand-ins take their places",
        _UNFUSED,
    ),
    Door(
        "legate.core",
        ("Field", "LogicalArray"),
        "arrays are stores with a mask; 26.7 has none",
        _UNFUSED,
    ),
    Door(
        "legate.core",
        (
            *("LEGATE_MAX_DIM", "PhysicalStore", "ReductionOpKind", "Scalar", "Scope"),
            *("Shape", "StoreTarget", "TaskContext", "TaskTarget", "Type"),
        ),
        "stand-ins make and read them",
        _UNFUSED,
    ),
    Door(
        "legate.core.data_interface",
        ("LogicalArray", "LogicalStore", "as_logical_array"),
        "objects give their stores away through it",
        _UNFUSED,
    ),
    Door(
        "legate.core._ext.task.invoker",
        ("as_logical_array",),
        "it unpacks arguments of Python tasks, and gets real ones",
        _UNFUSED,
    ),
    Door(
        "legate.core._ext.task.decorator",
        ("PyTask",),
        "@task makes one, whose calls wait in the window",
        _UNFUSED,
    ),
    Door(
        "legate.core.task",
        (
            *("InputArray", "InputStore", "OutputArray", "OutputStore", "PyTask"),
            *("ReductionArray", "ReductionStore"),
        ),
        "what that one is derived from, and what a parameter of a Python task is",
        _UNFUSED,
    ),
)

OTHERS: Final = (
    Door(
        "legate.core._lib.experimental.io.kvikio.kvikio_interface",
        ("from_file", "to_file", "from_tiles", "to_tiles", "from_tiles_by_offsets"),
        "they take and return stand-ins",
        "they get stand-ins, which they refuse",
    ),
    Door(
        "legate.io._lib.hdf5.hdf5_interface",
        ("from_file", "to_file"),
        "they take and return stand-ins",
        "they get stand-ins, which they refuse",
    ),
    Door(
        "legate::detail",
        ("VariantHelper", "CPUVariant", "OMPVariant", "GPUVariant"),
        "tasks are registered where they are not known when compiled (versions.h)",
        "the package does not compile",
    ),
    Door(
        "cupynumeric._thunk.deferred",
        ("DeferredArray",),
        "the class of what an array shows, which shortcuts make",
        _LONGER,
    ),
    Door(
        "cupynumeric.random._bitgenerator",
        ("BitGenerator",),
        "the class of what draws random numbers, whose methods shortcuts replace",
        _LONGER,
    ),
    Door(
        "",
        ("_legate_data", "_thunk", "_writeable"),
        "an array: what it shows, and whether it may change",
        _LONGER,
    ),
    Door("", ("_get_view",), "a thunk of a part that a basic index shows", _LONGER),
    Door(
        "",
        ("_post_resolution_check",),
        "a universal function: what it does with numbers out of range",
        _LONGER,
    ),
    Door(
        "",
        ("_dispatcher", "_frozen", "_get_module_for_linking"),
        "Numba's universal functions, and the code of what it compiles",
        "one sentence, and such functions run in NumPy",
    ),
)


@dataclass(frozen=True, slots=True)
class Patch:
    """What goes around a fault of another library, all of it in one file.

    Attributes:
        file: where it is.
        fault: what is wrong, and where.
        version: the one of Legate that it was seen in.
        ends: why nothing is changed where the fault is mended.
    """

    file: str
    fault: str
    version: str
    ends: str


PATCHES: Final = (
    Patch(
        "mappers/interposition/partitions.cc",
        "Tiling::construct says that tiles are disjoint which a bloat lets overlap, "
        "and Tiling::is_complete_for that they are complete which end too early",
        "26.06",
        "only kinds of partitions that are not those of their tiles are changed",
    ),
    Patch(
        "mappers/interposition/locks.cc",
        "FastReservation spins for a lock whose holder does not run, and threads that "
        "poll UCX spin where nothing arrives",
        "26.06",
        "it is built for one layout of locks, and LEGATE_DIFFUSE_YIELD=0 leaves it out",
    ),
    Patch(
        "mappers/mapper/guide.cc",
        "PartitionManager::compute_launch_shape leaves a task on one point that may "
        "divide few rows, however long they are",
        "26.1",
        "since 26.6 the length of the rows counts, and no guide is found",
    ),
    Patch(
        "legate_diffuse/interpose/runtime.py",
        "small arrays are in memory of NumPy's that is given away while the giver has "
        "it still (TransferType.DONATE)",
        "26.1",
        "26.6 has no such arrays; what is not known to be given away is shared",
    ),
    Patch(
        "legate_diffuse/launch/planner.py",
        "EquivalenceSet::overwrite_set uses views that were freed, so that fills of "
        "arrays that ranks share end or hang programs",
        "26.1",
        "one rank has Legion's fills; several run a kernel that fills, with equal bits",
    ),
    Patch(
        "legate_diffuse/stores/view.py",
        "a part of a store cannot be delinearized that is divided (Legate raises "
        "NonInvertibleTransformation)",
        "26.06",
        "a view with one more step shows the same elements",
    ),
    Patch(
        "legate_diffuse/shortcuts/assignments.py",
        "putmask asserts that a mask has all dimensions of an array, which a mask of "
        "rows has not to which one value is assigned",
        "26.06",
        "a mask of elements assigns the same",
    ),
)

# The version of ``__legate_data_interface__`` that stand-ins have; 26.7 has the next.
_INTERFACE: Final = 1


def lost() -> str:
    """Return what this Legate lacks, '' if stand-ins can take the places of all."""
    for door in LEGATE:
        module = _module(door.module)
        if module is None:
            return door.module
        for name in door.names:
            if not hasattr(module, name):
                return f"{door.module}.{name}"
    interface = importlib.import_module("legate.core.data_interface")
    version = getattr(interface, "MAX_DATA_INTERFACE_VERSION", _INTERFACE)
    return "" if version == _INTERFACE else f"data interface of version {_INTERFACE}"


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
