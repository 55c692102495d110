# SPDX-License-Identifier: Apache-2.0
"""The switch: decides at start-up whether this process runs fused.

``legate_diffuse.pth`` in site-packages imports this module first in every Python
process, in the launcher's and in the program's. So it must stay small: with the
switch off it imports nothing but the settings and changes nothing.
"""

from __future__ import annotations

import os
import sys

from legate_diffuse import settings
from legate_diffuse.settings import DiffuseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    Action = Callable[[ModuleType], None]

_LAUNCHER = "legate.driver.args"
_PACKAGE = "legate"
_CORE = "legate.core"
# So many the interpreter has, NumPy and some modules of a program's.
_FEW_OBJECTS = 1 << 16


def enable() -> None:
    """Install the stand-ins as soon as ``legate.core`` is imported.

    Raises:
        DiffuseError: ``legate.core`` was imported already.
    """
    global _enabled
    if _enabled:
        return
    if _CORE in sys.modules:
        raise DiffuseError(
            "legate_diffuse.enable() came too late: call it before cupynumeric or "
            "legate.core is imported"
        )
    from legate_diffuse import startup

    _before_libraries(startup.before_core)
    _around_import(_CORE, after=startup.after_core)
    for name in startup.FILE_FUNCTIONS:
        _around_import(name, after=startup.after_files)
    _around_import("cupynumeric", after=startup.after_cupynumeric)
    _enabled = True


def _before_libraries(action: Callable[[], None]) -> None:
    """Call ``action`` before any of Legate's libraries is loaded.

    ``legate.util`` loads one that needs the driver, and may be imported first.
    """
    if _PACKAGE in sys.modules:
        _around_import(_CORE, action)
    else:
        _around_import(_PACKAGE, after=lambda _: action())


def _nothing() -> None:
    pass


def _around_import(
    name: str, before: Callable[[], None] = _nothing, after: Action | None = None
) -> None:
    """Call ``before`` and ``after`` when a module is imported."""
    sys.meta_path.insert(0, _AroundImport(name, before, after))


class _AroundImport:
    """Meta-path finder that runs actions around the first import of a module."""

    def __init__(
        self, name: str, before: Callable[[], None], after: Action | None
    ) -> None:
        self._name = name
        self._before = before
        self._after = after

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Let the other finders find the module, and hook into its loading."""
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        from functools import partial
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def run(module: ModuleType) -> None:
            self._before()
            execute(module)
            if self._after is not None:
                self._after(module)

        def exec_module(module: ModuleType) -> None:
            _run_uncollected(partial(run, module))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _run_uncollected(run: Callable[[], None]) -> None:
    """Run an import, of whose objects the garbage collector is not to know.

    They are some 100,000, which live as long as the process. To look through them takes
    50 ms, several times while they are made, and whenever a program has made a quarter
    as many. If there are others than those of the interpreter, they may be garbage
    later, and the collector is told of all.
    """
    import gc

    if not gc.isenabled():
        run()
        return
    is_first = len(gc.get_objects()) <= _FEW_OBJECTS
    gc.disable()
    try:
        run()
    finally:
        gc.enable()
    if is_first:
        gc.freeze()


def _add_launcher_flags(args: ModuleType) -> None:
    """Teach the ``legate`` launcher flags that set the environment variables."""
    import argparse

    class Diffuse(argparse.Action):
        def __call__(self, *_: Any) -> None:
            os.environ["LEGATE_DIFFUSE"] = "1"

    class Explain(argparse.Action):
        def __call__(self, _: Any, __: Any, path: Any, ___: Any = None) -> None:
            os.environ["LEGATE_DIFFUSE"] = "1"
            os.environ["LEGATE_DIFFUSE_EXPLAIN"] = path

    parser = getattr(args, "parser", None)
    if parser is None:
        from legate_diffuse.messages import say

        say(
            "this Legate's launcher takes no flags of others; use LEGATE_DIFFUSE=1 in "
            "the place of --diffuse"
        )
        return
    parser.add_argument(
        "--diffuse",
        action=Diffuse,
        nargs=0,
        default=argparse.SUPPRESS,
        help="Fuse the tasks that the program submits (legate_diffuse); the "
        "same as LEGATE_DIFFUSE=1",
    )
    parser.add_argument(
        "--diffuse-explain",
        action=Explain,
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="Turn --diffuse on, and explain in a file what was fused, and why not "
        "more; the same as LEGATE_DIFFUSE_EXPLAIN=FILE",
    )


def _start() -> None:
    launcher = os.path.basename(sys.argv[0] if sys.argv else "") == "legate"
    try:
        settings.refuse_mistakes()
        on, stub, yields, *_ = map(settings.flag, settings.FLAGS)
    except ValueError as error:
        message = f"legate_diffuse: {error}"

        def stop() -> None:
            raise SystemExit(message)

        # this only concerns processes that use Legate
        _around_import(_LAUNCHER if launcher else _CORE, stop)
        return
    if not launcher and (unknown := settings.unknown_variables()):

        def tell() -> None:
            from legate_diffuse.messages import say_once

            for sentence in unknown:
                say_once(sentence)

        _around_import(_CORE, tell)
    if launcher:
        _around_import(_LAUNCHER, after=_add_launcher_flags)
    elif on:
        enable()
    elif stub or yields:
        from legate_diffuse import startup

        _before_libraries(startup.before_unfused_core)


_enabled = False
_start()
