# SPDX-License-Identifier: Apache-2.0
"""Runs programs one after the other in this process, for ``workers.py``.

Arguments: a file descriptor of requests and one of replies, lines of JSON, and a folder
for what programs print.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

import legate_diffuse

# What programs are not to change: their functions and classes, as they are.
KEPT: Final = ("legate_diffuse", "cupynumeric", "legate")
DEFINED: Final = "what is defined in "
MAIN: Final = "__main__"
_stats: Final = legate_diffuse.stats


def definitions() -> Iterator[tuple[str, object]]:
    """Yield the functions and classes of packages, and what functions classes have."""
    kinds, members = (FunctionType, type), (FunctionType, property)
    for module_name, module in [*sys.modules.items()]:
        if module_name.partition(".")[0] not in KEPT:
            continue
        found = [
            (name, value)
            for name, value in [*vars(module).items()]
            if isinstance(value, kinds)
        ]
        yield f"{DEFINED}{module_name}", {name: id(value) for name, value in found}
        for name, value in found:
            if isinstance(value, type) and value.__module__ == module_name:
                yield (
                    f"what {module_name}.{name} defines",
                    {
                        member: id(defined)
                        for member, defined in vars(value).items()
                        if isinstance(defined, members)
                    },
                )


def own_functions(part: object) -> list[str]:
    """Return the functions that an object has beside those of its class."""
    found = getattr(part, "__dict__", {}).items()
    return [name for name, value in found if isinstance(value, FunctionType)]


def native_parts() -> Iterator[tuple[str, object]]:
    """Yield what calls the native part, which tests let fail."""
    module = sys.modules.get("legate_diffuse.interpose.window")
    if module is not None:
        from legate_diffuse.interpose.originals import real

        window = module.window
        yield "window.submitter.native", id(window.submitter.native)
        yield "window.queue.native", id(window.queue.native)
        yield "real.legate.native", id(real.legate.native)
        yield "real.runtime", id(real.runtime)
        for part in (window, window.submitter, window.queue, window.recognizer):
            yield f"functions of a {type(part).__name__}", own_functions(part)
        yield "functions of at_once", own_functions(window.submitter.at_once)


def arrays() -> int:
    """Return how many arrays of cuPyNumeric something holds.

    Nothing holds those of few elements that are kept to be used again.
    """
    from cupynumeric import ndarray

    # objects refer to their class
    found = [each for each in gc.get_referrers(ndarray) if type(each) is ndarray]
    numbers = set(map(id, found))
    held = set()
    for each in gc.get_referrers(*found):
        if each is not found:
            held |= numbers.intersection(map(id, gc.get_referents(each)))
    return len(held)


def state() -> dict[str, Any]:
    """Return what a program finds, and is to leave."""
    found: dict[str, Any] = {
        "the folder": os.getcwd(),
        "sys.path": [*sys.path],
        "sys.meta_path": [*map(id, sys.meta_path)],
        "sys.excepthook": id(sys.excepthook),
        "sys.unraisablehook": id(sys.unraisablehook),
        "sys.displayhook": id(sys.displayhook),
        "sys.stdout": id(sys.stdout),
        "sys.stderr": id(sys.stderr),
        "sys.settrace": sys.gettrace(),
        "warnings.filters": [*warnings.filters],
        "threads": sorted(each.name for each in threading.enumerate()),
        "whether cycles are collected": gc.isenabled(),
        "numpy.seterr": np.geterr(),
        "arrays": arrays(),
    }
    found |= {f"${name}": value for name, value in os.environ.items()}
    found |= {
        f"the handler of {number.name}": signal.getsignal(number)
        for number in signal.valid_signals()
        if isinstance(number, signal.Signals)
    }
    return found | dict(native_parts()) | dict(definitions())


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return what is not as it was; modules may have been imported."""
    added = [name for name in after.keys() - before.keys() if name.startswith("$")]
    changed = []
    for name, value in before.items():
        if name in after and after[name] == value:
            continue
        if name.startswith(DEFINED):
            # others may have been added
            now, module = after.get(name, {}), name.removeprefix(DEFINED)
            changed += [
                f"{module}.{each}" for each in value if now.get(each) != value[each]
            ]
        else:
            changed.append(name)
    told = [
        f"{name}: {before[name]} became {after.get(name)}" if name == "arrays" else name
        for name in changed
    ]
    return sorted(told + added)


@contextmanager
def printed_to(folder: Path) -> Iterator[None]:
    """Write what is printed, by C++ as well, to files of a folder."""
    streams = (sys.stdout, sys.stderr)
    kept = [os.dup(number) for number in (1, 2)]
    for stream in streams:
        stream.flush()
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    try:
        yield
    finally:
        for stream in streams:
            stream.flush()
        for number, file in zip((1, 2), kept, strict=True):
            os.dup2(file, number)
            os.close(file)


def finish() -> None:
    """Let everything that was begun end, as at the end of a process."""
    if "legate.core" in sys.modules:
        from legate.core import get_legate_runtime

        get_legate_runtime().issue_execution_fence(block=True)


def guarded(function: Callable[[], None]) -> int:
    """Call what may end a process; return the status that the process would have."""
    try:
        function()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        # the frames of the program alone
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def run(program: str, arguments: list[str]) -> int:
    """Run a program in a namespace of its own, and all work that it leaves."""
    module = ModuleType(MAIN)
    own, argv = sys.modules[MAIN], sys.argv
    sys.modules[MAIN], sys.argv = module, ["-c", *arguments]
    code = compile(program, "<string>", "exec")
    # what programs may well set, and none inherits
    thresholds = gc.get_threshold()
    with warnings.catch_warnings(), np.errstate():
        status = guarded(lambda: exec(code, module.__dict__))
        status = guarded(finish) or status
    gc.set_threshold(*thresholds)
    sys.modules[MAIN], sys.argv = own, argv
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)
    module.__dict__.clear()
    return status


def growth(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the difference of counters; of some of them, causes by name."""
    return {
        name: {
            cause: number - before[name].get(cause, 0)
            for cause, number in value.items()
            if number != before[name].get(cause, 0)
        }
        if isinstance(value, dict)
        else value - before[name]
        for name, value in after.items()
    }


class Counted:
    """Stands in for ``legate_diffuse.stats``: counts since a program has started."""

    def __init__(self) -> None:
        self.before = _stats()

    def stats(self) -> dict[str, Any]:
        return growth(self.before, _stats())


def serve(
    requests: int,
    replies: int,
    folder: Path,
    counters: Callable[[], dict[str, Any]] = _stats,
) -> None:
    """Run the programs of requests until there are no more.

    The answer tells how ``counters`` have grown.
    """
    import cupynumeric  # noqa: F401

    # what holds an array may be an object of the process that was forked
    gc.unfreeze()
    if "legate_diffuse.interpose.window" in sys.modules:
        # what is not imported yet has no state
        import_module("legate_diffuse.codegen")
        import_module("legate_diffuse.fusion.pipeline")
    else:
        # programs that turn it on themselves are run without it, too
        legate_diffuse.enable = lambda: None
    with os.fdopen(requests) as lines, os.fdopen(replies, "w") as answers:
        finish()
        own = Counted()
        legate_diffuse.stats = own.stats
        before = state()
        for line in lines:
            request = json.loads(line)
            # counters may be relative to that, too
            own.before = _stats()
            counted = counters()
            # only what the program makes is looked through for cycles
            gc.freeze()
            with printed_to(folder):
                status = run(request["program"], request["arguments"])
            gc.collect()
            gc.unfreeze()
            finish()
            after = state()
            if changes(before, after):
                gc.collect()
                after = state()
            answer = {
                "status": status,
                "counters": growth(counted, counters()),
                "left": changes(before, after),
            }
            before = after
            print(json.dumps(answer, default=str), file=answers, flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
