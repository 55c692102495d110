# SPDX-License-Identifier: Apache-2.0
"""The steps of ``check``: a name, the file to write, and options."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import pickle
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import operations
import replay
import target
import timing
from driver import driver
from native import prepared
from recordings import Recorded, Recording, parse

from legate_diffuse.codegen.gpu import libraries
from legate_diffuse.codegen.gpu.assembler import CubinAssembler
from legate_diffuse.codegen.gpu.module import gpu_module

CACHE: Final = Path(tempfile.gettempdir()) / "gpu_check_cache"
PACKAGES: Final = "llvmlite", "numpy", "torch", "triton", "cupy-cuda13x", "jax"
TOLERANCE: Final = {"float32": 2e-4, "complex64": 2e-4, "float16": 2e-2}
MOST_FAILURES: Final = 6
FEW: Final = "black_scholes", "softmax", "cg", "sums"

Step = Callable[[argparse.Namespace], dict[str, Any]]


def recording(name: str) -> Recording:
    """Return the recording of small or large cases."""
    found = pickle.loads((prepared() / f"{name}.pickle").read_bytes())
    assert isinstance(found, Recording)
    return found


def device(options: argparse.Namespace) -> dict[str, Any]:
    """Say what the machine has."""
    found = driver().describe() | {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    found["libraries"] = libraries.missing() or libraries.versions()
    print(found)
    return found


def check_operations(options: argparse.Namespace) -> dict[str, Any]:
    """Check the operations of the tables."""
    jobs = max(1, options.jobs - 2)
    found = operations.check(jobs, options.seconds, 40 if options.quick else None)
    print({"right": found["right"], "wrong": found["wrong"]})
    return found


def compile_kernels(options: argparse.Namespace) -> dict[str, Any]:
    """Compile all kernels of the applications."""
    kernels = [
        kernel
        for name in names(options)
        for kernel in replay.used_kernels(chosen(recording(name), options)).values()
    ]
    jobs = max(1, options.jobs // 2)
    failures = replay.compile_all(kernels, CACHE, jobs)
    for failure in failures:
        print(failure)
    print(f"{len(set(kernels))} kernels, {len(failures)} without code")
    return {"kernels": len(set(kernels)), "failures": failures}


def names(options: argparse.Namespace) -> list[str]:
    """Return the recordings that a step takes."""
    return ["small"] if options.quick else ["small", "large"]


def chosen(known: Recording, options: argparse.Namespace) -> Recording:
    """Return a recording, or a few programs of it."""
    cases: dict[str, Mapping[Recorded, int]] = dict(known.cases)
    if options.cases:
        cases = {case: cases[case] for case in options.cases.split(",")}
    elif options.few or options.quick:
        cases = {case: cases[case] for case in FEW if case in cases}
    if options.quick:
        cases = {case: dict(list(cases[case].items())[-2:]) for case in list(cases)[:2]}
    return Recording(known.kernels, cases)


def evidence(recorded: Recorded, kernels: Any) -> dict[str, Any]:
    """Return what is to be known of a program that fails."""
    program = parse(recorded.program)
    used = {nest.kernel: kernels[nest.kernel] for nest in program.nests}
    used |= {run[2]: kernels[run[2]] for run in program.runs}
    texts: dict[int, str] = {}
    for number, kernel in used.items():
        texts[number] = str(kernel)
        if not target.is_emulated() and len(texts) < MOST_FAILURES:
            architecture = str(driver().describe()["architecture"])
            assembly = gpu_module(kernel, "kernel")
            texts[number] += "\n" + CubinAssembler(architecture).ptx(assembly)
    return {"program": repr(program), "arguments": recorded.arguments, "kernels": texts}


def programs(options: argparse.Namespace) -> dict[str, Any]:
    """Run programs, and compare what they compute with the CPU's kernels."""
    known = chosen(recording("small"), options)
    compiler = target.compiler(CACHE)
    player = replay.Player(known, compiler)
    total = exact = 0
    failures: list[dict[str, Any]] = []
    worst: dict[str, float] = {}
    for case, found in known.cases.items():
        for recorded in found:
            total += 1
            arrays = replay.arrays_of(recorded, seed=total)
            expected = [array.copy() for array in arrays]
            try:
                player.run(recorded, arrays)
            except RuntimeError:
                failures.append(
                    {"case": case, "error": traceback.format_exc()}
                    | evidence(recorded, known.kernels)
                )
                print(failures[-1]["case"], failures[-1]["error"])
                break
            player.run_on_cpu(recorded, expected)
            pairs = list(zip(arrays, expected, strict=True))
            apart = [replay.difference(*pair) for pair in pairs]
            bits = all(replay.same_bits(*pair) for pair in pairs)
            exact += bits
            limits = [TOLERANCE.get(a.dtype.name, 1e-10) for a in arrays]
            right = all(a <= limit for a, limit in zip(apart, limits, strict=True))
            if replay.keeps_bits(recorded, known.kernels, compiler):
                right = bits
            worst[case] = max(worst.get(case, 0.0), *apart)
            if not right:
                print(case, "WRONG", apart)
                failure = {"case": case, "apart": apart}
                if len(failures) < MOST_FAILURES:
                    failure |= evidence(recorded, known.kernels)
                failures.append(failure)
    text = f"{total} programs, {exact} with all bits, {len(failures)} wrong"
    print(text)
    return {"summary": text, "worst": worst, "failures": failures}


def times(options: argparse.Namespace) -> dict[str, Any]:
    """Time the programs of iterations."""
    known = chosen(recording(names(options)[-1]), options)
    player = replay.Player(known, target.compiler(CACHE))
    least = 0 if options.quick else timing.LEAST_BYTES
    return timing.time_all(
        player, known.cases, known.kernels, least, options.quick or options.once
    )


STEPS: Final[dict[str, Step]] = {
    "device": device,
    "operations": check_operations,
    "compile": compile_kernels,
    "programs": programs,
    "times": times,
}


def main() -> int:
    """Run one step; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--cases", default="")
    parser.add_argument("--seconds", type=float, default=100, help="of operations")
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    found = STEPS[options.step](options)
    options.file.write_text(json.dumps(found, default=str))
    return int(bool(found.get("failures")))


if __name__ == "__main__":
    sys.exit(main())
