# SPDX-License-Identifier: Apache-2.0
"""Solvers on an assembled matrix, through a library of Legate tasks.

``bench.py assembled``: the tests' own library, whose product of a sparse matrix with a
vector is registered, unfused and fused, beside SciPy and C written by hand with the
same layout of the matrix, and PETSc with the same matrix (AIJ), if it is found; that
has another right-hand side, and ``compare_petsc.py`` checks it. With ``--solver
bicgstab`` it is BiCGSTAB instead of conjugate gradients, with ``--solver multigrid`` a
V-cycle on assembled matrices, without PETSc. With ``--library legate_sparse`` it is
Legate Sparse, which must be installed; its solver's own task updates the vectors. The
sides alternate, each run is a process, times are medians, in milliseconds for an
iteration and for a product alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import petsc_side
from assembled_multigrid import (
    Compressed,
    Product,
    levels_of,
    solver,
    write,
    write_levels,
)
from by_hand import OPTIMIZE
from measurement import FUSED, TUNABLES, UNFUSED
from records import run_side

SCIPY, C, PETSC = "SciPy", "C", "PETSc"
SIDES = (UNFUSED, FUSED, SCIPY, C)
TESTS_OWN, SPARSE = LIBRARIES = ("tests", "legate_sparse")
CG, BICGSTAB, MULTIGRID = SOLVERS = ("cg", "bicgstab", "multigrid")
SOURCES = Path(__file__).parent / "peers" / "assembled"
TESTS = Path(__file__).parent.parent / "tests" / "legate"
# The residuals of all sides agree to this, relative to the first one, after so many
# iterations: what is rounded otherwise grows in BiCGSTAB, and multigrid soon has
# nothing else left.
TOLERANCE = 1e-8
CHECKED = {CG: 10, BICGSTAB: 10, MULTIGRID: 2}
# Until several iterations are one task.
WARM_UP = 60


def main(arguments: list[str]) -> int:
    """Measure all sides, and print a table."""
    options = _parse(arguments)
    if options.side:
        print(json.dumps(_run_here(options)))
        return 0
    found: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    beside: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        program = _compile(Path(folder), options.solver)
        petsc = None if options.solver == MULTIGRID else _find_petsc(Path(folder))
        for repeat in range(options.repeat):
            for side in SIDES if repeat % 2 == 0 else SIDES[::-1]:
                if side != C:
                    found[side].append(_run(side, options, arguments))
                elif program is not None:
                    found[side].append(_run_c(program, options))
            if petsc is not None:
                beside += _run_petsc(petsc, Path(folder), options)
    residual = found[SCIPY][0]["residual"]
    right = True
    points = f"{options.size} x {options.size} points"
    print(f"{options.solver}, {points}, {options.cpus} CPUs")
    print("| side | iteration ms | product ms | tasks of an iteration |")
    print("|---|---:|---:|---:|")
    for side, runs in found.items():
        if not runs:
            print(f"{side} is left out: no C compiler cc found")
            continue
        times = [
            statistics.median(run[key] for run in runs)
            for key in ("iteration_ms", "product_ms")
        ]
        tasks = f"{runs[0]['tasks']:.2f}" if "tasks" in runs[0] else ""
        agrees = all(
            abs(run["residual"] - residual) <= TOLERANCE * residual for run in runs
        )
        right = right and agrees
        note = "" if agrees else " results differ |"
        print(f"| {side} | {times[0]:.3g} | {times[1]:.3g} | {tasks} |{note}")
    if beside:
        print(f"| {PETSC} | {statistics.median(beside):.3g} | | |")
    return 0 if right else 1


def poisson(size: int) -> tuple[Any, Any, Any]:
    """Return where rows begin, the columns and the values of the 5-point matrix."""
    points = np.arange(size * size).reshape(size, size)
    parts = [(points, points, 4.0)]
    for one, other in ((points[1:], points[:-1]), (points[:, 1:], points[:, :-1])):
        parts += [(one, other, -1.0), (other, one, -1.0)]
    rows = np.concatenate([one.ravel() for one, _, _ in parts])
    columns = np.concatenate([other.ravel() for _, other, _ in parts])
    values = np.concatenate([np.full(one.size, value) for one, _, value in parts])
    order = np.lexsort((columns, rows))
    begins = np.concatenate([[0], np.cumsum(np.bincount(rows))])
    return begins, columns[order], values[order]


def _run_here(options: argparse.Namespace) -> dict[str, float]:
    """Run the program in this process, on SciPy or on Legate."""
    matrix, count = poisson(options.size), options.size**2
    package, product_of = _side(options)
    tasks: Callable[[], int] = lambda: 0  # noqa: E731
    if options.side == FUSED:
        import legate_diffuse

        tasks = lambda: int(legate_diffuse.stats()["tasks_submitted"])  # noqa: E731
    product = product_of(matrix, count)
    checked = CHECKED[options.solver]
    x, r, q = package.zeros(count), package.ones(count), package.zeros(count)
    p = r.copy()
    if options.solver == MULTIGRID:
        step = solver(package, levels_of(matrix, options.size), product_of, x, r)
    elif options.solver == BICGSTAB:
        step = _bicgstab(package, product, x, r, p, q)
    else:
        own_task = options.side in (UNFUSED, FUSED) and options.library == SPARSE
        step = _cg(package, product, x, r, p, q, own_task=own_task)
    rho = package.dot(r, r)

    def iterate(times: int) -> None:
        nonlocal rho
        for _ in range(times):
            rho = step(rho)

    def multiply(times: int) -> None:
        for n in range(times):
            product(*((q, p) if n % 2 else (p, q)))

    iterate(checked)
    residual = float(package.dot(r, r))
    iterate(WARM_UP - checked)
    float(rho)
    before, start = tasks(), time.perf_counter()
    iterate(options.iterations)
    float(rho)
    iteration = time.perf_counter() - start
    submitted = tasks() - before
    multiply(WARM_UP)
    float(p[0])
    start = time.perf_counter()
    multiply(options.iterations)
    float(p[0])
    found = {
        "iteration_ms": 1e3 * iteration / options.iterations,
        "product_ms": 1e3 * (time.perf_counter() - start) / options.iterations,
        "residual": residual,
    }
    if submitted:
        found["tasks"] = submitted / options.iterations
    return found


def _side(
    options: argparse.Namespace,
) -> tuple[Any, Callable[[Compressed, int], Product]]:
    """Return the package of arrays, and what makes a product of a matrix."""
    if options.side == SCIPY:
        from scipy.sparse import csr_array

        def of_scipy(matrix: Compressed, columns: int) -> Product:
            shape = (len(matrix[0]) - 1, columns)
            csr = csr_array(matrix[::-1], shape=shape)

            def product(x: Any, y: Any) -> None:
                y[:] = csr @ x

            return product

        return np, of_scipy
    import cupynumeric

    import legate_diffuse

    def arrays_of(matrix: Compressed) -> list[Any]:
        # Legate copies what lies in NumPy's memory for each task that reads it
        return [cupynumeric.array(each).copy() for each in matrix]

    if options.library == SPARSE:
        from legate_sparse import csr_array as sparse_array

        def of_sparse(matrix: Compressed, columns: int) -> Product:
            shape = (len(matrix[0]) - 1, columns)
            sparse = sparse_array(tuple(arrays_of(matrix)[::-1]), shape=shape)

            def product(x: Any, y: Any) -> Any:
                sparse.dot(x, out=y)

            return product

        return cupynumeric, of_sparse
    sys.path.insert(0, str(TESTS))
    import other_library
    import other_package

    legate_diffuse.register("other", other_package.register())

    def of_tests(matrix: Compressed, columns: int) -> Product:
        product: Product = other_library.Matrix(*arrays_of(matrix)).product
        return product

    return cupynumeric, of_tests


def _cg(
    package: Any, product: Product, x: Any, r: Any, p: Any, q: Any, *, own_task: bool
) -> Callable[[Any], Any]:
    """Return an iteration, which takes and returns the square of the residual."""

    def step(rho: Any) -> Any:
        product(p, q)
        alpha = rho / package.dot(p, q)
        x[:] += alpha * p
        r[:] -= alpha * q
        following = package.dot(r, r)
        p[:] = r + (following / rho) * p
        return following

    if not own_task:
        return step
    from legate_sparse.linalg import cg_axpby

    def step_of_tasks(rho: Any) -> Any:
        product(p, q)
        pq = package.dot(p, q)
        cg_axpby(x, p, rho, pq)
        cg_axpby(r, q, rho, pq, negate=True)
        following = package.dot(r, r)
        cg_axpby(p, r, following, rho, isalpha=False)
        return following

    return step_of_tasks


def _bicgstab(
    package: Any, product: Product, x: Any, r: Any, p: Any, v: Any
) -> Callable[[Any], Any]:
    """Return an iteration, which takes and returns r times the first r."""
    first, s, t = r.copy(), package.zeros_like(r), package.zeros_like(r)

    def step(rho: Any) -> Any:
        product(p, v)
        alpha = rho / package.dot(first, v)
        s[:] = r - alpha * v
        product(s, t)
        omega = package.dot(t, s) / package.dot(t, t)
        x[:] += alpha * p + omega * s
        r[:] = s - omega * t
        following = package.dot(first, r)
        beta = following / rho * (alpha / omega)
        p[:] = r + beta * (p - omega * v)
        return following

    return step


def _run(side: str, options: argparse.Namespace, arguments: list[str]) -> Any:
    command = [sys.executable, __file__, *arguments, "--side", side]
    settings = {
        "GLIBC_TUNABLES": TUNABLES,
        "LEGATE_CONFIG": f"--cpus {options.cpus} --gpus 0 --sysmem {options.sysmem}",
        "LEGATE_DIFFUSE": "1" if side == FUSED else "0",
    }
    return run_side(command, settings)


def _compile(folder: Path, chosen: str) -> Path | None:
    if shutil.which("cc") is None:
        return None
    program = folder / "by_hand"
    source = SOURCES / ("multigrid.c" if chosen == MULTIGRID else "solve.c")
    subprocess.run(["cc", *OPTIMIZE, str(source), "-o", str(program)], check=True)
    return program


def _run_c(program: Path, options: argparse.Namespace) -> Any:
    matrix = poisson(options.size)
    file = program.with_name("matrix")
    with file.open("wb") as target:
        if options.solver == MULTIGRID:
            write_levels(target, levels_of(matrix, options.size))
        else:
            write(target, matrix)
    counts = (CHECKED[options.solver], WARM_UP, options.iterations)
    settings = {"GLIBC_TUNABLES": TUNABLES, "OMP_NUM_THREADS": str(options.cpus)}
    command = [str(program), options.solver, str(file), *map(str, counts)]
    return run_side(command, settings)


def _find_petsc(folder: Path) -> petsc_side.Petsc | None:
    try:
        return petsc_side.build(folder)
    except petsc_side.MissingError:
        print(f"{PETSC} is left out: see compare_petsc.py")
        return None


def _run_petsc(
    petsc: petsc_side.Petsc, folder: Path, options: argparse.Namespace
) -> list[float]:
    """Return the times of an iteration, of two solves."""
    found = petsc_side.run(
        petsc,
        options.cpus,
        method=options.solver,
        form="aij",
        size=options.size,
        iterations=options.iterations,
        batches=2,
        last=1,
        output=folder / "solution",
    )
    times: list[float] = found["iteration_ms"]
    return times


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py assembled",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--size", type=int, default=1000, help="points of a side")
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3, help="processes of each side")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--sysmem", type=int, default=4000, help="MB for Legate")
    parser.add_argument("--solver", choices=SOLVERS, default=CG)
    parser.add_argument("--library", choices=LIBRARIES, default=TESTS_OWN)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
