# SPDX-License-Identifier: Apache-2.0
"""Runs a program of an NPBench checkout on one side, and prints its time as JSON.

NumPy's versions run as they are; on cuPyNumeric they import it in NumPy's place. Of
Numba's and JAX's versions all that are there run, and the fastest counts; DaCe's are
optimised for CPUs by DaCe. A run is timed from its start until an element of each
result was read.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

# How the names of the modules end, by side.
ENDINGS = {
    "numpy": ("numpy",),
    "cupynumeric": ("numpy",),
    "numba": tuple(f"numba_{mode}" for mode in ("n", "np", "npr", "o", "op", "opr")),
    "jax": ("jax", "jax_lib"),
    "dace": ("dace",),
}
# Runs before the timed ones, unless one takes longer than the time of a program.
WARM = 3
MOST_RUNS = 20


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=ENDINGS)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("program", help="name of a file in bench_info/")
    parser.add_argument("preset")
    parser.add_argument("--seconds", type=float, default=1.0, help="of the program")
    parser.add_argument("--output", help="write the results to this file")
    options = parser.parse_args()
    sys.path.insert(0, str(options.checkout))
    information = options.checkout / "bench_info" / f"{options.program}.json"
    program = json.loads(information.read_text())["benchmark"]
    data = _data(program, options.preset)
    best: tuple[float, Callable[..., Any], str] | None = None
    for ending, function in _functions(options.side, options.checkout, program):
        found = measured(function, program, data, place(options.side), options.seconds)
        if best is None or found < best[0]:
            best = found, function, ending
    if best is None:
        sys.exit(f"{options.program} has no version that runs on {options.side}")
    before = submitted()
    results = run(best[1], program, data, place(options.side))[1]
    tasks = submitted() - before
    if options.output:
        numpy.savez(options.output, *(numpy.asarray(result) for result in results))
    print(json.dumps({"time": best[0] * 1e3, "tasks": tasks, "version": best[2]}))


def _data(program: dict[str, Any], preset: str) -> dict[str, Any]:
    """Return the parameters and NumPy's arrays of a program, by name."""
    data: dict[str, Any] = dict(program["parameters"][preset])
    start = program.get("init")
    if start:
        module = importlib.import_module(_module(program))
        function = getattr(module, start["func_name"])
        found = function(*(data[name] for name in start["input_args"]))
        names = start["output_args"]
        data |= zip(names, found if len(names) > 1 else [found], strict=True)
    return data


def _module(program: dict[str, Any]) -> str:
    folder = program["relative_path"].replace("/", ".")
    return f"npbench.benchmarks.{folder}.{program['module_name']}"


def _functions(
    side: str, checkout: Path, program: dict[str, Any]
) -> Iterator[tuple[str, Callable[..., Any]]]:
    for ending in ENDINGS[side]:
        name = f"{_module(program)}_{ending}"
        path = checkout / (name.replace(".", "/") + ".py")
        if not path.exists():
            continue
        if side == "cupynumeric":
            module = _with_cupynumeric(path)
        else:
            try:
                module = importlib.import_module(name)
            except Exception as error:  # What the peer refuses says why; others go on.
                print(f"{name}: {error}", file=sys.stderr)
                continue
        function = getattr(module, program["func_name"])
        if side == "dace":
            function = DaceProgram(function, program["input_args"])
        yield ending, function


class DaceProgram:
    """A DaCe program, compiled as NPBench does.

    Args:
        function: the program as it is written.
        names: of its arguments, in the order in which they are given.
    """

    def __init__(self, function: Any, names: list[str]) -> None:
        dace = importlib.import_module("dace")
        optimizer = importlib.import_module("dace.transformation.auto.auto_optimize")
        parser = importlib.import_module("dace.frontend.python.parser")
        with tempfile.TemporaryDirectory() as folder:
            dace.config.Config.set("default_build_folder", value=folder)
            self._graph = function.to_sdfg(simplify=True)
            optimizer.auto_optimize(self._graph, dace.dtypes.DeviceType.CPU)
            self._compiled = self._graph.compile()
        self._infer = parser.infer_symbols_from_datadescriptor
        self._wanted = self._graph.arglist()
        self._names = names

    def __call__(self, *arguments: Any, **parameters: Any) -> Any:
        """Run it, with ``parameters`` that are no arrays, of which it takes some."""
        given = parameters | dict(zip(self._names, arguments, strict=True))
        given = {name: value for name, value in given.items() if name in self._wanted}
        symbols = self._infer(self._graph, given)
        new = {name: value for name, value in symbols.items() if name not in given}
        return self._compiled(**given, **new)


def _with_cupynumeric(path: Path) -> ModuleType:
    """Return the module of a file, with cuPyNumeric where it imports NumPy."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "numpy":
                    alias.name, alias.asname = "cupynumeric", alias.asname or "numpy"
    module = ModuleType(path.stem)
    exec(compile(tree, str(path), "exec"), module.__dict__)
    return module


def place(side: str) -> Callable[[Any], Any]:
    """Return the function that copies an array to where a side has its arrays."""
    if side == "cupynumeric":
        return importlib.import_module("cupynumeric").array  # type: ignore[no-any-return]
    if side == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
        return importlib.import_module("jax.numpy").array  # type: ignore[no-any-return]
    return numpy.copy


def measured(
    function: Callable[..., Any],
    program: dict[str, Any],
    data: dict[str, Any],
    copy: Callable[[Any], Any],
    seconds: float,
) -> float:
    """Return the median time of a function's runs, in seconds."""
    for _ in range(WARM):
        last = run(function, program, data, copy)[0]
        if last > seconds:
            break
    runs = max(1, min(MOST_RUNS, int(seconds / last)))
    return statistics.median(run(function, program, data, copy)[0] for _ in range(runs))


def run(
    function: Callable[..., Any],
    program: dict[str, Any],
    data: dict[str, Any],
    copy: Callable[[Any], Any],
) -> tuple[float, list[Any]]:
    """Return the time of one run on fresh arrays, in seconds, and its results."""
    own = {
        name: copy(value) if isinstance(value, numpy.ndarray) else value
        for name, value in data.items()
    }
    for value in own.values():
        _read(value)
    arguments = [own[name] for name in program["input_args"]]
    if isinstance(function, DaceProgram):
        function = functools.partial(function, **_parameters(own))
    start = time.perf_counter()
    found = function(*arguments)
    results = list(found) if isinstance(found, tuple | list) else [found]
    results = [one for one in results if one is not None]
    outputs = [own[name] for name in program["output_args"]]
    # what others write into their arguments, which can be filled, JAX returns
    results += [one for one in outputs if hasattr(one, "fill")]
    for result in results:
        _read(result)
    return time.perf_counter() - start, results


def _parameters(data: dict[str, Any]) -> dict[str, Any]:
    """Return what is no array."""
    return {name: one for name, one in data.items() if not hasattr(one, "ndim")}


def _read(value: Any) -> None:
    """Wait until a result is there."""
    if hasattr(value, "ndim") and hasattr(value, "dtype"):
        complex(value[(0,) * value.ndim] if value.ndim else value)


def submitted() -> int:
    """Return how many tasks were submitted, 0 without fusion."""
    if "legate_diffuse.launch.window" not in sys.modules:
        return 0
    stats = sys.modules["legate_diffuse"].stats()
    return int(stats["tasks_submitted"] - stats["fills_submitted"])


if __name__ == "__main__":
    main()
