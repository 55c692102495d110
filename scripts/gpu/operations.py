# SPDX-License-Identifier: Apache-2.0
"""Every element-wise operation on a device, against the CPU's kernels.

Bits are the same but for functions that CUDA rounds in its own way: for those it says
by how many units in the last place the results differ.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import time
import traceback
import warnings
from typing import Any, Final

import numpy as np

LAYOUTS: Final = ("aligned", "shifted", "strided")
PARTS: Final = 96
MOST_ULPS: Final = 8
"""Of a function of reals; libm's own error is in it."""
SUMS: Final = ("LOGADDEXP", "LOGADDEXP2")
MOST_COMPLEX: Final = 64
"""Units of the larger part."""


def ulps(found: np.ndarray, expected: np.ndarray, scale: np.ndarray | None) -> float:
    """Return the largest distance of numbers, in units in the last place.

    With a `scale` units are those of its numbers. NaNs where there are none on the
    other side are infinitely far.
    """
    if scale is not None:
        with np.errstate(all="ignore"):
            apart = np.abs(found.astype("f8") - expected.astype("f8"))
            unit = np.spacing(np.abs(scale).astype(found.dtype)).astype("f8")
            far = np.where((found == expected) | np.isnan(expected), 0.0, apart / unit)
        return float(np.nanmax(far, initial=0.0))
    if (np.isnan(found) != np.isnan(expected)).any():
        return float("inf")
    kind = np.dtype(f"i{found.dtype.itemsize}")
    places = []
    for numbers in (found, expected):
        bits = np.where(np.isnan(numbers), 0, numbers).astype(found.dtype).view(kind)
        limit = np.iinfo(kind).min
        places.append(np.where(bits < 0, limit - bits.astype("O"), bits.astype("O")))
    return float(max(abs(a - b) for a, b in zip(*places, strict=True)))


def verdict(
    code: str, found: np.ndarray, expected: np.ndarray, rounded: bool, unit: str
) -> tuple[float, bool]:
    """Return how far a result is off, and whether that is right.

    Args:
        code: the operation.
        found: what the device gave.
        expected: what the CPU gave.
        rounded: whether CUDA rounds it in its own way.
        unit: the type in whose last place it is.
    """
    if found.dtype.kind == "c":
        parts = (found.real, expected.real), (found.imag, expected.imag)
        if not rounded:
            worsts, rights = zip(
                *(verdict(code, *pair, False, unit) for pair in parts), strict=True
            )
            return max(worsts), all(rights)
        scale = np.maximum(np.abs(expected.real), np.abs(expected.imag))
        worst = max(ulps(*pair, scale) for pair in parts)
        return worst, worst <= MOST_COMPLEX
    if found.dtype.kind != "f":
        wrong = int((found != expected).sum())
        return float(wrong), wrong == 0
    if rounded:
        found, expected = found.astype(unit), expected.astype(unit)
        # their errors are of the largest term (codegen/gpu/README.md)
        scale = np.maximum(np.abs(expected), 1) if code in SUMS else None
        worst = ulps(found, expected, scale)
        return worst, worst <= MOST_ULPS
    nan = np.isnan(found) & np.isnan(expected)
    bits = [np.where(nan, 0, each).astype(found.dtype) for each in (found, expected)]
    same = bits[0].tobytes() == bits[1].tobytes()
    return (0.0 if same else ulps(found, expected, None)), same


def unit_of(kind: Any) -> str:
    """Return the narrowest type of floats among operands and results."""
    parts = {"complex64": "float32", "complex128": "float64"}
    types = [parts.get(each, each) for each in (*kind.inputs, *kind.outputs)]
    floats = [each for each in types if each.startswith("float")]
    return min(floats, key=lambda each: np.dtype(each).itemsize, default="float64")


def check_some(part: int, parts: int) -> list[dict[str, Any]]:
    """Check one part of the operations; return what each gave."""
    import on_device  # noqa: F401
    from batches import Batch
    from compiled_kernels import run_compiled
    from test_gpu_operations import moderate, placed
    from test_operations import ELEMENT_WISE, kernel_of, name, operands_of, scalars_of

    from legate_diffuse.codegen import Compiler
    from legate_diffuse.codegen.gpu.compiler import GpuCompiler
    from legate_diffuse.maths.libm import MathMode

    warnings.simplefilter("ignore")
    own = ELEMENT_WISE[part::parts]
    batch = Batch([kernel_of(kind) for kind in own])
    cpu = Compiler(MathMode.LIBM)
    gpu = GpuCompiler(None)  # type: ignore[arg-type]
    records = []
    for kind in own:
        kernel = kernel_of(kind)
        record: dict[str, Any] = {"operation": name(kind), "worst": 0.0, "right": True}
        record["rounded"] = not gpu.keeps_bits(kernel)
        records.append(record)
        try:
            operands = moderate(kind, operands_of(kind))
            for scalars in scalars_of(kind):
                expected = [np.zeros(operands[0].shape, d) for d in kind.outputs]
                run_compiled(
                    cpu.compile(kernel), kernel, [*operands, *expected], scalars
                )
                for layout in LAYOUTS:
                    given = [placed(each, layout) for each in operands]
                    results = [placed(np.zeros_like(e), layout) for e in expected]
                    batch.run(kernel, [*given, *results], scalars)
                    for result, values in zip(results, expected, strict=True):
                        worst, right = verdict(
                            kind.code, result, values, record["rounded"], unit_of(kind)
                        )
                        if not right and record["right"]:
                            differs = np.flatnonzero(
                                ~(
                                    (result == values)
                                    | ((result != result) & (values != values))
                                )
                            )[:4]
                            record |= {
                                "right": False,
                                "layout": layout,
                                "scalars": repr(scalars),
                                "examples": [
                                    repr(
                                        (
                                            [o[n] for o in operands],
                                            result[n],
                                            values[n],
                                        )
                                    )
                                    for n in differs
                                ],
                            }
                        record["worst"] = max(record["worst"], worst)
        except Exception:
            record |= {"right": False, "error": traceback.format_exc()[-1500:]}
            if "cu" in record["error"]:
                break
    return records


def check(jobs: int, seconds: float, most: int | None = None) -> dict[str, Any]:
    """Check all operations in so many processes, or those that the time is enough for.

    With `most` parts it is two of them.
    """
    context = multiprocessing.get_context("spawn")
    parts = most or PARTS
    chosen = range(2 if most else parts)
    records: list[dict[str, Any]] = []
    begun = time.monotonic()
    pool = concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context)
    made = [pool.submit(check_some, part, parts) for part in chosen]
    try:
        for each in concurrent.futures.as_completed(made, seconds):
            found = each.result()
            records += found
            for record in found:
                if not record["right"]:
                    print(record, flush=True)
    except TimeoutError:
        print("out of time", flush=True)
    for process in list(pool._processes.values()):
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
    taken = round(time.monotonic() - begun, 1)
    print(len(records), "operations checked in", taken, "s", flush=True)
    wrong = [record for record in records if not record["right"]]
    rounded: dict[str, float] = {}
    for record in records:
        if record["rounded"]:
            task, code, *types = record["operation"].split("-")
            key = f"{code or task} {types[0]}"
            rounded[key] = max(rounded.get(key, 0.0), record["worst"])
    return {
        "right": len(records) - len(wrong),
        "wrong": len(wrong),
        "checked": len(records),
        "failures": wrong[:40],
        "ulps": dict(sorted(rounded.items())),
    }
