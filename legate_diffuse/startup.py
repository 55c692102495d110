# SPDX-License-Identifier: Apache-2.0
"""What happens around the import of ``legate.core``."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import importlib.util
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

from legate_diffuse import settings
from legate_diffuse.messages import note, notes, rank, say, say_once
from legate_diffuse.observe.destination import open_destination

DRIVER_STUB = "liblegate_diffuse_driver_stub.so"
NET = "liblegate_diffuse_net.so"
LOCKS = "liblegate_diffuse_locks.so"
CLOCKS = "liblegate_diffuse_clocks.so"
# The SONAMEs of the Legate that these were built for (mappers/CMakeLists.txt).
BUILT_FOR = "built_for.txt"

# Functions that read and write files, by the Cython module that defines them.
FILE_FUNCTIONS = {
    "legate.io._lib.hdf5.hdf5_interface": ("from_file", "to_file"),
    "legate.core._lib.experimental.io.kvikio.kvikio_interface": (
        "from_file",
        "to_file",
        "from_tiles",
        "to_tiles",
        "from_tiles_by_offsets",
    ),
}

_UNFUSED = "so the program runs unfused"

# False once something has ruled fusion out.
_wanted = True


def before_core() -> None:
    """Load what must be in the process before Legate's libraries."""
    load_driver_stub()
    # ends the program if they cannot be written
    notes()
    path = settings.explanation_path(rank())
    if path not in ("", "-", settings.ALL, settings.CELLS):
        open_destination(path)
    global _wanted
    _wanted = _version_is_tested(_UNFUSED) and _is_built_for_it(_UNFUSED)
    _wanted = _wanted and _load(NET)
    if _wanted and settings.flag("LEGATE_DIFFUSE_YIELD", default=True):
        _wanted = _load(LOCKS)
    if _wanted and settings.explanation_is_measured():
        _wanted = _load(CLOCKS)


def before_unfused_core() -> None:
    """Load what the variables ask for while fusion is off."""
    if settings.flag("LEGATE_DIFFUSE_DRIVER_STUB"):
        load_driver_stub()
    consequence = "so LEGATE_DIFFUSE_YIELD has no effect"
    if (
        settings.flag("LEGATE_DIFFUSE_YIELD")
        and _version_is_tested(consequence)
        and _is_built_for_it(consequence)
    ):
        _load(LOCKS)


def after_core(core: ModuleType) -> None:
    """Install the stand-ins, or say in one line why the program runs unfused."""
    get_runtime = getattr(core, "get_legate_runtime", None)
    if get_runtime is None or (_wanted and not _is_understood()):
        _rule_out()
    if get_runtime is None:
        return
    if _wanted:
        # it takes 30 ms, and Legate takes longer to start, in which Python may run
        Thread(target=_load_llvm, name="LLVM").start()
    runtime = get_runtime()
    native = _load_native(core, runtime) if _wanted else None
    # before the native part is started, in which all ranks take part
    if _is_ruled_out_by_ranks(runtime, native is not None) or native is None:
        return
    try:
        native.start()
    except Exception as error:
        _say_broken(error)
        return
    from legate_diffuse.interpose.install import install

    try:
        finish = install(core, native)
    except Exception as error:
        _say_other(f"is not what stand-ins were made for: {error}")
        return
    if settings.flag("LEGATE_DIFFUSE_STATS"):
        # registered before the last flush, so it runs after it
        several = runtime.node_count > 1
        atexit.register(_print_statistics, runtime.node_id if several else None)
    atexit.register(finish)


def _load_llvm() -> None:
    """Load what the first kernel needs, if it is there: whoever needs it says so."""
    with suppress(Exception):
        from llvmlite import binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()


def _rule_out() -> None:
    global _wanted
    _wanted = False


def _is_understood() -> bool:
    """Return whether Legate has all that is needed of it; if not, say so."""
    from legate_diffuse.interpose import upstream

    if missing := upstream.lost():
        _say_other(f"has no {missing}")
    return not missing


def _say_other(what: str, consequence: str = _UNFUSED) -> None:
    """Say what is other than expected in this Legate, and how to get the expected."""
    version = sys.modules["legate"].__version__
    lowest, beyond = (".".join(map(str, each)) for each in settings.LEGATE_RANGE)
    say(f"Legate {version} {what}, {consequence}; install legate>={lowest},<{beyond}")


def _load_native(core: ModuleType, runtime: Any) -> ModuleType | None:
    """Load the native part; None if it cannot be used, which the user is told."""
    gpus = runtime.machine.count(core.TaskTarget.GPU)
    on_gpus = gpus > 0
    if on_gpus and not settings.flag("LEGATE_DIFFUSE_GPU", default=gpus == 1):
        if not os.environ.get("LEGATE_DIFFUSE_GPU"):
            say(
                "several GPUs have not run fused tasks yet, so the program runs "
                "unfused; LEGATE_DIFFUSE_GPU=1 lets it run fused, or use --gpus 1"
            )
        return None
    # of Legate 26.1 nobody can ask
    if getattr(runtime.config(), "enable_inline_task_launch", False):
        say(f"--inline-task-launch is not supported, {_UNFUSED}")
        return None
    try:
        native = importlib.import_module("legate_diffuse._native")
        if (missing := native.missing_symbol()) is not None:
            raise ImportError(f"liblegate has no symbol {missing}")
    except Exception as error:
        _say_broken(error)
        return None
    if on_gpus and (reason := _missing_for_gpus(native)):
        say(f"{reason}, {_UNFUSED}; --gpus 0 lets it run fused")
        return None
    return native


def _missing_for_gpus(native: ModuleType) -> str:
    """Let kernels run on GPUs, or return what is missing for that."""
    from legate_diffuse.codegen import gpu

    return gpu.missing() or str(native.use_gpus())


def _is_ruled_out_by_ranks(runtime: Any, starts: bool) -> bool:
    """Whether several ranks cannot all run fused in the same way."""
    if runtime.node_count == 1:
        return False
    from legate_diffuse.launch.handshake import objection

    found = objection(starts)
    if found:
        say_once(f"all ranks run unfused: {found}")
    return bool(found)


def after_files(interface: ModuleType) -> None:
    """Let functions that read and write files take and return stand-ins."""
    from legate_diffuse.interpose import install

    if install.installed():
        install.patch_files(interface, FILE_FUNCTIONS[interface.__name__])


def after_cupynumeric(package: ModuleType) -> None:
    """Shorten the way from cuPyNumeric's operators to the window."""
    from legate_diffuse.interpose import install

    legate = install.installed()
    if legate is None:
        return
    try:
        from legate_diffuse.check import self_test
        from legate_diffuse.interpose.window import recognizer
        from legate_diffuse.shortcuts import vectorized
        from legate_diffuse.shortcuts.apply import apply_shortcuts

        # of the original tasks, which shortcuts go round
        self_test.apply(legate, package, recognizer)
        vectorized.install(legate, package.ndarray, apply_shortcuts(legate))
    except (AttributeError, ImportError) as error:
        version = getattr(package, "__version__", "of this version")
        say(
            f"cuPyNumeric {version} is not what shortcuts were made for, so that its "
            f"calls take longer ({error})"
        )


def load_driver_stub() -> None:
    """Let Legate's wheels, which need the CUDA driver, run on a CPU without it.

    If there is a real driver, the stub is not loaded. The CUDA runtime library
    comes from the ``nvidia-cuda-runtime`` package.
    """
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        _load(DRIVER_STUB)
        # Legate's automatic configuration counts GPUs, and fails without a driver
        os.environ.setdefault("LEGATE_AUTO_CONFIG", "0")
    try:
        ctypes.CDLL("libcudart.so.13")
    except OSError:
        spec = importlib.util.find_spec("nvidia")
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for library in Path(folder).glob("*/lib/libcudart.so.1[23]"):
                ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def _load(library: str) -> bool:
    try:
        ctypes.CDLL(_find(library), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        _say_broken(error)
        return False
    return True


def _find(library: str) -> str:
    """Return the path of a library of the package.

    An editable install has two folders, the checkout and the built libraries.
    """
    spec = importlib.util.find_spec("legate_diffuse")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / library
        if path.exists():
            return str(path)
    raise OSError(f"{library} is missing")


def _say_broken(error: Exception, consequence: str = _UNFUSED) -> None:
    say(
        f"its native library cannot be used, {consequence}; reinstall "
        f"legate-diffuse in this environment ({error})"
    )


def _version_is_tested(consequence: str) -> bool:
    """Return whether Legate's is; if not, say so, and what follows."""
    version = str(sys.modules["legate"].__version__)
    lowest, beyond = settings.LEGATE_RANGE
    with suppress(ValueError):
        if lowest <= tuple(map(int, version.split(".")[:2])) < beyond:
            return True
    _say_other("was not tested with it", consequence)
    return False


def _is_built_for_it(consequence: str) -> bool:
    """Return whether this package was built for this Legate; if not, say so.

    What is loaded before Legate has definitions in place of Legate's, with the layouts
    of the headers that it was built with.
    """
    folders = [Path(folder) / "lib64" for folder in sys.modules["legate"].__path__]
    try:
        for name in Path(_find(BUILT_FOR)).read_text("utf-8").split():
            if not any((folder / name).exists() for folder in folders):
                raise OSError(f"it was built for a Legate with {name}")
    except OSError as error:
        _say_broken(error, consequence)
        return False
    return True


def _print_statistics(of_rank: int | None) -> None:
    from legate_diffuse.interpose.window import window
    from legate_diffuse.observe.counters import render

    note(render(window.counters.as_dict(), of_rank))
