# SPDX-License-Identifier: Apache-2.0
"""Factorizations of arrays in this process have the bits of cuPyNumeric's tasks."""

from __future__ import annotations

from pathlib import Path

from process import run_alone
from test_small_arrays import run_fresh, run_here

PROGRAM = """
import numpy as np
import cupynumeric as cn
rng = np.random.default_rng(5)
def found(linalg):
    for dtype in "fdFD":
        for shape in ((5, 5), (8, 3), (3, 8), (130, 130)):
            a = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
            a = cn.array((a if dtype in "FD" else a.real).astype(dtype))
            for name, options in (
                ("svd", {}), ("svd", {"full_matrices": False}), ("qr", {}), ("eig", {}),
                ("eigvals", {}), ("eigh", {}), ("eigh", {"UPLO": "U"}),
            ):
                for each in (a, a.T[1:, 1:]):
                    try:
                        made = getattr(linalg, name)(each, **options)
                    except (NotImplementedError, linalg.LinAlgError) as error:
                        yield np.array(str(error))
                        continue
                    for one in made if isinstance(made, tuple) else (made,):
                        yield np.asarray(one)
all_found = list(found(cn.linalg))
"""


def test_bits_are_those_of_tasks(tmp_path: Path) -> None:
    path = tmp_path / "unfused.npz"
    done = run_alone(
        f"{PROGRAM}np.savez({str(path)!r}, *all_found)\n", LEGATE_DIFFUSE="0"
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    run_here(
        f"""
tasks = window.counters.tasks_submitted
{PROGRAM}
assert window.counters.tasks_submitted == tasks
wanted = np.load({str(path)!r})
assert len(wanted.files) == len(all_found) > 150
for one, name in zip(all_found, wanted.files, strict=True):
    other = wanted[name]
    assert (one.dtype, one.shape) == (other.dtype, other.shape), name
    assert one.tobytes() == other.tobytes(), (name, one, other)
""",
        fuses=False,
    )


def test_they_factorize() -> None:
    run_here(
        """
rng = np.random.default_rng(6)
for dtype in "dD":
    a = (rng.standard_normal((9, 9)) + 1j * rng.standard_normal((9, 9)))
    a = (a if dtype == "D" else a.real).astype(dtype)
    A = cn.array(a)
    u, s, vh = map(np.asarray, cn.linalg.svd(A))
    assert np.allclose((u * s) @ vh, a)
    q, r = map(np.asarray, cn.linalg.qr(A))
    assert np.allclose(q @ r, a) and np.array_equal(r, np.triu(r))
    w, v = map(np.asarray, cn.linalg.eig(A))
    assert np.allclose(a @ v, v * w)
    assert np.array_equal(np.asarray(cn.linalg.eigvals(A)).shape, w.shape)
    h = a + a.conj().T
    w, v = map(np.asarray, cn.linalg.eigh(cn.array(h)))
    assert np.allclose(h @ v, v * w) and np.array_equal(w, np.sort(w))
""",
        fuses=False,
    )


def test_blas_uses_as_many_processors_as_legate() -> None:
    run_fresh(
        """
from threadpoolctl import OpenBLASController
from legate_diffuse.shortcuts import blas
counts_set = []
known = blas._routines
def routines(library):
    *products, _, change = known(library)
    def counted(count):
        counts_set.append(count)
        change(count)
    return [*products, lambda: 3, counted]
blas._routines = routines
OpenBLASController.get_num_threads = lambda library: 3
x = np.arange(6400.0).reshape(80, 80) % 7 + 80 * np.eye(80)
a = cn.array(x + x.T)
for name, arguments in (
    ("solve", (a, a[0])), ("inv", (a,)), ("cholesky", (a,)), ("eigvalsh", (a,)),
    ("svd", (a,)), ("matrix_power", (a, 3)),
):
    counts_set.clear()
    getattr(cn.linalg, name)(*arguments)
    assert counts_set[:1] + counts_set[-1:] == [1, 3], (name, counts_set)
for name in ("matmul", "dot", "inner"):
    counts_set.clear()
    getattr(cn, name)(a, a)
    assert counts_set[:1] + counts_set[-1:] == [1, 3], (name, counts_set)
blas._routines = known
""",
        fuses=False,
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 1000",
    )
