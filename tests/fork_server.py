# SPDX-License-Identifier: Apache-2.0
"""Makes processes that have imported what most of them need, for ``forked.py``.

Imports take half of the time in which a process starts Legate, runs a small program and
ends. This one imports what is the same for all: nothing of Legate, which starts when it
is imported, and of legate_diffuse what needs no Legate. It is forked for each process
that is asked for, so it has no threads of its own.

Argument: the file descriptor of a socket. A message is a ``Request`` in JSON, with
the descriptors of the standard files, of one that is told the process's number and its
status, and of those that the process inherits.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import select
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

LARGEST_MESSAGE: Final = 1 << 20
MOST_DESCRIPTORS: Final = 32
BYTES_OF_NUMBERS: Final = 4
UNFUSED: Final = "TESTS_UNFUSED"
"""Set, nothing is fused in any program: what claims something of it is to fail."""
# What cuPyNumeric imports beside Legate, and what runs files of tests; hypothesis reads
# variables when it is imported.
PACKAGES: Final = (
    "cffi",
    "llvmlite.binding",
    "numpy.random",
    "opt_einsum",
    "pycparser.c_parser",
    "pytest",
)
# Folders of legate_diffuse that import no Legate.
OWN: Final = (
    "check",
    "codegen",
    "fusion",
    "ir",
    "kernel",
    "launch",
    "libraries",
    "llvm",
    "maths",
    "observe",
    "proof",
    "stores",
)
# What Legate's libraries are linked to, where wheels have it. The order is that of
# their own dependencies.
LIBRARIES: Final = (
    "nvidia/*/lib/libcublasLt.so.*",
    "nvidia/*/lib/libcublas.so.*",
    "nvidia/*/lib/libnvJitLink.so.*",
    "nvidia/*/lib/libcusparse.so.*",
    "nvidia/*/lib/libcusolver.so.*",
    "nvidia/*/lib/libcufft.so.*",
    "nvidia/*/lib/libnccl.so.*",
    "cutensor/lib/libcutensor.so.*",
    "cupynumeric/lib*/libopenblas.so.*",
    "cupynumeric/lib*/libtblis.so.*",
)
# Descriptors while they are sorted.
_ABOVE_ALL: Final = 200


@dataclass(frozen=True)
class Request:
    """What a process runs.

    ``arguments`` are those of Python: ``-c`` and the text of a program, or a file, and
    what the program finds in ``sys.argv``. ``inherited`` are numbers of descriptors.
    """

    arguments: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    inherited: tuple[int, ...]


def own_modules() -> Iterator[str]:
    """Yield the modules of legate_diffuse that need no Legate."""
    for folder in OWN:
        package = importlib.import_module(f"legate_diffuse.{folder}")
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield found.name


def has_driver() -> bool:
    """Whether there is a driver of CUDA, which reads variables when it is loaded."""
    process = os.fork()
    if not process:
        with suppress(OSError):
            ctypes.CDLL("libcuda.so.1")
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 1


def prepare() -> list[Any]:
    """Import and load what processes need; return what is to be kept."""
    for name in (*PACKAGES, *own_modules()):
        importlib.import_module(name)
    kept = []
    # some of these load it
    for pattern in () if has_driver() else LIBRARIES:
        for folder in map(Path, sys.path):
            for library in sorted(folder.glob(pattern)):
                # what needs something from elsewhere is Legate's to load
                with suppress(OSError):
                    kept.append(ctypes.CDLL(str(library)))
    begun = {name.partition(".")[0] for name in sys.modules}
    assert begun.isdisjoint({"legate", "cupynumeric"}), "Legate has started"
    gc.collect()
    # processes share the memory, as none looks through it for cycles
    gc.freeze()
    return kept


def serve(control: socket.socket) -> tuple[Request, list[int]] | None:
    """Fork for each request; return it in the new process, and None at the end."""
    running: dict[int, tuple[int, int]] = {}
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for number, _ in poll.poll():
            if number != control.fileno():
                poll.unregister(number)
                process, report = running.pop(number)
                status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                os.close(number)
                tell(report, status)
                os.close(report)
                continue
            message, descriptors, *_ = socket.recv_fds(
                control, LARGEST_MESSAGE, MOST_DESCRIPTORS
            )
            if not message:
                return None
            report = descriptors[3]
            process = os.fork()
            if not process:
                os.close(report)
                return Request(**json.loads(message)), descriptors
            for descriptor in descriptors:
                if descriptor != report:
                    os.close(descriptor)
            tell(report, process)
            end = os.pidfd_open(process)
            running[end] = process, report
            poll.register(end, select.POLLIN)


def tell(report: int, number: int) -> None:
    """Write a number, unless nobody reads it any more."""
    with suppress(BrokenPipeError):
        os.write(report, number.to_bytes(BYTES_OF_NUMBERS, "little", signed=True))


def take_descriptors(received: list[int], numbers: tuple[int, ...]) -> None:
    """Give descriptors their numbers, and close all others."""
    sorted_out = [fcntl.fcntl(one, fcntl.F_DUPFD, _ABOVE_ALL) for one in received]
    for descriptor, number in zip(sorted_out, numbers, strict=True):
        os.dup2(descriptor, number)
    first = 3
    for number in sorted(one for one in numbers if one >= first):
        os.closerange(first, number)
        first = number + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def begin(request: Request, received: list[int]) -> None:
    """Let this process be as one that has started by itself."""
    standard, inherited = received[:3], received[4:]
    take_descriptors([*standard, *inherited], (0, 1, 2, *request.inherited))
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    what, *arguments = request.arguments
    if what == "-c":
        sys.path[0] = ""
        sys.argv = [what, *arguments[1:]]
    else:
        sys.path[0] = str(Path(what).resolve().parent)
        sys.argv = [what, *arguments]
    path = request.environment.get("PYTHONPATH", "")
    sys.path[1:1] = filter(None, path.split(os.pathsep))
    sys.orig_argv = [sys.executable, *request.arguments]
    if UNFUSED in request.environment:
        fuse_nothing()
    if "COVERAGE_PROCESS_CONFIG" in request.environment:
        # as its .pth does when Python starts
        importlib.import_module("coverage").process_startup()
    # as site-packages' .pth does when Python starts
    importlib.import_module("legate_diffuse.boot")._start()


def fuse_nothing() -> None:
    """Let each task run as it was submitted, where fusion is on.

    What programs import is there, so that they fail by what they claim.
    """
    startup = importlib.import_module("legate_diffuse.startup")
    install = startup.after_core

    def after_core(core: ModuleType) -> None:
        install(core)
        if importlib.import_module("legate_diffuse.interpose.install").installed():
            recorder = importlib.import_module("legate_diffuse.interpose.window")
            recorder.window._examine = lambda _: None
            recorder.window.runs_at_once = False

    startup.after_core = after_core


def run(arguments: tuple[str, ...]) -> int:
    """Run as Python's main program does; return the status."""
    python = ctypes.pythonapi
    own = sys.modules["__main__"]
    # "own" keeps the module in which this function is
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(__builtins__=vars(own)["__builtins__"], __annotations__={})
    what = arguments[0]
    if what == "-c":
        failed = python.PyRun_SimpleStringFlags(arguments[1].encode(), None)
    else:
        opened = ctypes.CDLL(None).fopen
        opened.restype = ctypes.c_void_p
        file = ctypes.c_void_p(opened(os.fsencode(what), b"rb"))
        name = os.fsencode(what)
        failed = python.PyRun_SimpleFileExFlags(file, name, True, None)
    return int(failed != 0)


def main() -> int:
    """Serve, or be what was asked for."""
    control = socket.socket(fileno=int(sys.argv[1]))
    # stays loaded
    _libraries = prepare()
    asked = None
    # whoever asks is interrupted as well
    with suppress(KeyboardInterrupt):
        asked = serve(control)
    if asked is None:
        return 0
    control.detach()
    begin(*asked)
    return run(asked[0].arguments)


if __name__ == "__main__":
    sys.exit(main())
