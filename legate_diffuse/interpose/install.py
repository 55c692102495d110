# SPDX-License-Identifier: Apache-2.0
"""Replaces what ``legate.core`` hands out with stand-ins.

The Cython classes cannot be patched, but the names in the modules can. This
runs right after ``legate.core`` was imported and before any client library
took a name from it.
"""

from __future__ import annotations

import atexit
import importlib
import sys
from types import ModuleType
from typing import Any

from legate_diffuse.interpose.originals import real

# Functions of modules that are not part of legate.core proper, which take or
# return arrays: (module, name).
_INPUT_OUTPUT = (
    ("legate.io._lib.hdf5.hdf5_interface", "from_file"),
    ("legate.io._lib.hdf5.hdf5_interface", "to_file"),
)


def install(core: ModuleType) -> None:
    """Replace the names in ``legate.core`` and in the modules below it."""
    _keep_originals(core)

    from legate_diffuse.interpose import array, constraints, runtime, store, task
    from legate_diffuse.launch.window import window

    replacements: dict[str, Any] = {
        "get_legate_runtime": runtime.get_legate_runtime,
        "Runtime": runtime.Runtime,
        "LogicalStore": store.LogicalStore,
        "LogicalStorePartition": store.LogicalStorePartition,
        "LogicalArray": array.LogicalArray,
        "AutoTask": task.AutoTask,
        "ManualTask": task.ManualTask,
        "Variable": constraints.Variable,
        "Constraint": constraints.Constraint,
        "from_dlpack": _from_dlpack,
        **{
            name: getattr(constraints, name)
            for name in ("align", "broadcast", "image", "scale", "bloat", "min_extents")
        },
    }
    for name, replacement in replacements.items():
        setattr(core, name, replacement)
    interface = importlib.import_module("legate.core.data_interface")
    interface.LogicalArray = array.LogicalArray  # type: ignore[attr-defined]
    interface.LogicalStore = store.LogicalStore  # type: ignore[attr-defined]

    # Python tasks take their arguments apart in Cython and need real arrays.
    invoker = importlib.import_module("legate.core._ext.task.invoker")
    as_logical_array = interface.as_logical_array

    def as_real_array(obj: Any) -> Any:
        found = as_logical_array(obj)
        return found.expose() if type(found) is array.LogicalArray else found

    invoker.as_logical_array = as_real_array  # type: ignore[attr-defined]
    real.as_real_array = as_real_array

    window.start()
    atexit.register(window.flush, "shutdown")


def _keep_originals(core: ModuleType) -> None:
    for name in core.__all__:
        setattr(real, name, getattr(core, name))
    real.from_dlpack = core.from_dlpack
    real.runtime = core.get_legate_runtime()


def _from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    """Stand-in for ``legate.core.from_dlpack``."""
    from legate_diffuse.interpose.store import adopt

    return adopt(real.from_dlpack(x, device=device, copy=copy))


def patch_hdf5(interface: ModuleType) -> None:
    """Let ``legate.io.hdf5`` take and return stand-ins.

    Runs after ``legate.io._lib.hdf5.hdf5_interface`` was imported.
    """
    from legate_diffuse.interpose.array import LogicalArray
    from legate_diffuse.interpose.store import adopt

    original = interface.from_file

    def from_file(path: Any, dataset_name: str) -> LogicalArray:
        made = original(path, dataset_name)
        if made.nullable or made.nested:
            return LogicalArray(None, made)
        return LogicalArray(adopt(made.data, fresh=True))

    from_file.__doc__ = original.__doc__
    interface.from_file = from_file  # type: ignore[attr-defined]
    interface.as_logical_array = real.as_real_array  # type: ignore[attr-defined]


def installed() -> bool:
    """Whether the stand-ins are in place."""
    core = sys.modules.get("legate.core")
    return (
        core is not None
        and core.__dict__.get("LogicalStore") is not None
        and (
            hasattr(real, "LogicalStore") and core.LogicalStore is not real.LogicalStore
        )
    )
