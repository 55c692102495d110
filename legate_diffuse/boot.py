# SPDX-License-Identifier: Apache-2.0
"""The switch: decides at start-up whether this process runs fused.

``legate_diffuse.pth`` in site-packages imports this module into every Python
process before anything else, the launcher's and the program's. It must stay
small: with the switch off it imports nothing but the settings and leaves no
trace.
"""

from __future__ import annotations

import os
import sys

from legate_diffuse import DiffuseError, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    Action = Callable[[ModuleType], None]

_LAUNCHER = "legate.driver.args"
_CORE = "legate.core"
_HDF5 = "legate.io._lib.hdf5.hdf5_interface"


def enable() -> None:
    """Install the stand-ins as soon as ``legate.core`` is imported.

    Raises:
        DiffuseError: ``legate.core`` was imported already.
    """
    if any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        return
    if _CORE in sys.modules:
        raise DiffuseError(
            "legate_diffuse.enable() came too late: call it before cupynumeric or "
            "legate.core is imported"
        )
    from legate_diffuse import startup

    sys.meta_path.insert(
        0,
        _AfterImport(
            before={_CORE: startup.before_core},
            after={_CORE: startup.after_core, _HDF5: startup.after_hdf5},
        ),
    )


class _AfterImport:
    """Meta-path finder that runs actions around the import of certain modules."""

    def __init__(
        self, before: dict[str, Callable[[], None]], after: dict[str, Action]
    ) -> None:
        self._before = before
        self._after = after

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Let the other finders find a module, and hook into its loading."""
        after = self._after.pop(name, None)
        if after is None:
            return None
        before = self._before.pop(name, None)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            if before is not None:
                before()
            execute(module)
            after(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _add_launcher_flag(args: ModuleType) -> None:
    """Teach the ``legate`` launcher ``--diffuse``; it sets the variable."""
    import argparse

    class Diffuse(argparse.Action):
        def __call__(self, *_: Any) -> None:
            os.environ["LEGATE_DIFFUSE"] = "1"

    args.parser.add_argument(
        "--diffuse",
        action=Diffuse,
        nargs=0,
        help="Fuse the tasks that the program submits (legate_diffuse); the "
        "same as LEGATE_DIFFUSE=1",
    )


def _stop(message: str) -> Action:
    def stop(_: ModuleType) -> None:
        raise SystemExit(f"legate_diffuse: {message}")

    return stop


def _start() -> None:
    launcher = "legate" in os.path.basename(sys.argv[0] if sys.argv else "") or (
        "legate.driver" in sys.orig_argv
    )
    try:
        on = settings.flag("LEGATE_DIFFUSE")
        stub = settings.flag("LEGATE_DIFFUSE_DRIVER_STUB")
    except ValueError as error:
        # only processes that use Legate are concerned
        stop = _stop(str(error))
        sys.meta_path.insert(0, _AfterImport({}, {_LAUNCHER: stop, _CORE: stop}))
        return
    if launcher:
        sys.meta_path.insert(0, _AfterImport({}, {_LAUNCHER: _add_launcher_flag}))
    elif on:
        enable()
    elif stub:
        from legate_diffuse import startup

        actions = {_CORE: startup.load_driver_stub}
        sys.meta_path.insert(0, _AfterImport(actions, {_CORE: lambda _: None}))


_start()
