# SPDX-License-Identifier: Apache-2.0
"""Replaces what ``legate.core`` hands out with stand-ins.

Cython classes cannot be patched, but the names in the modules can. This runs right
after ``legate.core`` was imported, before a client library takes a name from it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, Final

from legate_diffuse.interpose.originals import real
from legate_diffuse.stores.legate import Legate

# Types that hold stores.
_DROPPED_HERE: Final = (
    *("LogicalStore", "LogicalStorePartition", "LogicalArray"),
    *("AutoTask", "ManualTask"),
)


def install(core: ModuleType, native: ModuleType) -> Callable[[], None]:
    """Replace the names in ``legate.core`` and in the modules below it.

    If this fails, nothing is replaced.

    Args:
        core: the module.
        native: the native part, which has been started.

    Returns:
        What submits all that waits when the program ends.
    """
    try:
        _keep_originals(core, native)
        replacements, finish = _replacements(core)
    except Exception:
        vars(real).clear()
        raise
    native.drop_on_window_thread([getattr(core, name) for name in _DROPPED_HERE])
    for module, name, replacement in replacements:
        setattr(module, name, replacement)
    return finish


def _replacements(
    core: ModuleType,
) -> tuple[list[tuple[ModuleType, str, Any]], Callable[[], None]]:
    """Return what is put in the places of which names, and what ends the program."""
    from legate_diffuse.interpose import (
        array,
        constraints,
        manual_task,
        python_task,
        runtime,
        store,
        task,
    )
    from legate_diffuse.interpose.window import window

    replacements: dict[str, Any] = {
        "get_legate_runtime": runtime.get_legate_runtime,
        "Runtime": runtime.Runtime,
        "LogicalStore": store.LogicalStore,
        "LogicalStorePartition": store.LogicalStorePartition,
        "LogicalArray": array.LogicalArray,
        "AutoTask": task.AutoTask,
        "ManualTask": manual_task.ManualTask,
        "Variable": constraints.Variable,
        "Constraint": constraints.Constraint,
        "from_dlpack": _from_dlpack,
        **{
            name: getattr(constraints, name)
            for name in ("align", "broadcast", "image", "scale", "bloat", "min_extents")
            # 26.1 lacks the last one
            if hasattr(core, name)
        },
    }
    interface = importlib.import_module("legate.core.data_interface")
    # Cython code unpacks the arguments of Python tasks, and needs real arrays.
    as_logical_array = interface.as_logical_array

    def as_real_array(obj: Any) -> Any:
        found = as_logical_array(obj)
        return found.expose() if type(found) is array.LogicalArray else found

    real.as_real_array = as_real_array
    invoker = importlib.import_module("legate.core._ext.task.invoker")
    decorator = importlib.import_module("legate.core._ext.task.decorator")
    found: list[tuple[ModuleType, str, Any]] = [
        *((core, name, each) for name, each in replacements.items()),
        (interface, "LogicalArray", array.LogicalArray),
        (interface, "LogicalStore", store.LogicalStore),
        (invoker, "as_logical_array", as_real_array),
        (decorator, "PyTask", python_task.PyTask),
    ]
    return found, window.finish


def _keep_originals(core: ModuleType, native: ModuleType) -> None:
    for name in core.__all__:
        setattr(real, name, getattr(core, name))
    real.from_dlpack = core.from_dlpack
    real.runtime = core.get_legate_runtime()
    real.legate = Legate(
        real.runtime,
        native,
        core.Scalar,
        core.Type,
        core.Scope,
        core.ReductionOpKind,
    )


def _from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    """Stand-in for ``legate.core.from_dlpack``."""
    from legate_diffuse.interpose.store import adopt

    return adopt(real.from_dlpack(x, device=device, copy=copy))


def patch_files(interface: ModuleType, names: tuple[str, ...]) -> None:
    """Let functions that read and write files take and return stand-ins.

    Runs after the Cython module that defines them was imported.
    """
    for name in names:
        setattr(interface, name, _file_function(getattr(interface, name)))
    interface.as_logical_array = real.as_real_array  # type: ignore[attr-defined]


def _file_function(original: Callable[..., Any]) -> Callable[..., Any]:
    from legate_diffuse.interpose.array import LogicalArray
    from legate_diffuse.interpose.store import adopt

    def expose(value: Any) -> Any:
        return value.expose() if type(value) is LogicalArray else value

    @wraps(original)
    def function(*arguments: Any, **options: Any) -> Any:
        made = original(
            *(expose(argument) for argument in arguments),
            **{name: expose(value) for name, value in options.items()},
        )
        if made is None:
            return None
        if made.nullable or made.nested:
            return LogicalArray(None, made)
        return LogicalArray(adopt(made.data, sole=True))

    return function


def installed() -> Legate | None:
    """Return the real Legate if the stand-ins are in place."""
    return getattr(real, "legate", None)
