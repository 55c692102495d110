# SPDX-License-Identifier: Apache-2.0
"""Values and shapes on which a fused program once gave what the unfused does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from process import run_alone, run_in_worker
from workers import Done

BEGIN = "import cupynumeric as cn\nimport legate_diffuse\n"


def is_ours(done: Done) -> bool:
    """Whether operations of a program were fused, or ran in the process."""
    return done.counters["groups"] > 0 or done.counters["ran_in_process"] > 0


@pytest.mark.parametrize("sync", ["0", "1"])
def test_integer_division_by_zero_never_ends_the_program(
    tmp_path: Path, sync: str
) -> None:
    """Unfused it does, so no such task runs as it is, even before it is compiled."""
    program = """
x, z = cn.array([7, -7, 0, 5] * 20), cn.array([0, 0, 0, 2] * 20)
print((x // z)[:4].tolist(), (x % z)[:4].tolist(), cn.fmod(x, z)[:4].tolist())
quotient = x.max() // (z.max() - 2)
remainder = x.max() % z.min()
print(int(quotient), int(remainder), (x + quotient + remainder)[:4].tolist())
one = cn.array([3]) // cn.array([0])
print(one.tolist())
"""
    done = run_alone(
        BEGIN + program,
        LEGATE_DIFFUSE="1",
        LEGATE_DIFFUSE_SYNC_COMPILE=sync,
        LEGATE_DIFFUSE_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "[0, 0, 0, 2] [0, 0, 0, 1] [0, 0, 0, 1]\n0 0 [7, -7, 0, 5]\n[0]\n"
    )


@pytest.mark.parametrize("statement", ["x.min()", "cn.stack([x, x]).min(axis=1)[0]"])
def test_the_minimum_of_float16_is_upstreams(statement: str) -> None:
    """It depends on the order of the elements, if there are NaNs."""
    program = f"""
import numpy as np
nan, inf = np.nan, np.inf
for values in ([nan], [nan, 1.0], [1.0, nan], [1.0, nan, 2.0], [nan, inf], [-inf]):
    x = cn.array(values, "float16") + cn.zeros(len(values), "float16")
    print(float({statement}))
"""
    fused = run_in_worker(BEGIN + program, LEGATE_DIFFUSE="1")
    plain = run_in_worker(BEGIN + program, LEGATE_DIFFUSE="0")
    assert (fused.returncode, fused.stderr) == (0, "")
    assert is_ours(fused) and not is_ours(plain)
    assert fused.stdout == plain.stdout
    assert fused.stdout.startswith("nan\n")


def test_views_without_elements_overlap_as_legates_do() -> None:
    """Else cuPyNumeric makes no copy, and Legate ends the program."""
    program = """
a = cn.ones((1, 3))
a[1:, 0] += a[:, 2]
b = cn.ones((2, 2)) * 3.0
b[0:0, 1:] += b[0:0, 1:]
c = cn.ones((1,)) * 3.0
d = cn.ones(()) * 1.0
cn.negative(d, out=c[:-1])
c[1:] = d * 2.0
d = c[:] + d
e = cn.ones((1,)) * 3.0
e[:-1] += cn.zeros(0) + 2.0
e += d
print(a.tolist(), b.tolist(), c.tolist(), d.tolist(), e.tolist())
"""
    fused = run_in_worker(BEGIN + program, LEGATE_DIFFUSE="1")
    plain = run_in_worker(BEGIN + program, LEGATE_DIFFUSE="0")
    assert (fused.returncode, fused.stderr) == (0, "")
    assert is_ours(fused) and not is_ours(plain)
    assert fused.stdout == plain.stdout
    assert fused.stdout.startswith(f"{np.ones((1, 3)).tolist()} ")


def test_what_has_too_many_dimensions_is_refused_at_once() -> None:
    program = """
    import cupynumeric as np
    x = np.arange(5.0)
    y = x.reshape((5,) + (1,) * 6)
    for statement in (
        lambda: y + 1.0,
        lambda: y + y,
        lambda: -y,
        lambda: y.astype("float32"),
        lambda: y[y > 1.0],
        lambda: np.where(y > 0.0, y, 1.0),
    ):
        try:
            statement()
        except IndexError:
            print("refused")
    print((x + 1.0).tolist())
    """
    for small in ("393216", "0"):
        done = run_in_worker(
            program, LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_SMALL_BYTES=small
        )
        assert done.returncode == 0
        assert is_ours(done)
        assert done.stdout.splitlines() == [
            *["refused"] * 6,
            "[1.0, 2.0, 3.0, 4.0, 5.0]",
        ]


def test_scalars_of_tasks_may_be_arrays() -> None:
    program = """
    import cupynumeric as np
    x = np.arange(10) + 0
    found = np.in1d(x, x[2:5], kind="table")
    print(found.tolist())
    """
    expected = run_in_worker(
        program, LEGATE_DIFFUSE="0", LEGATE_DIFFUSE_DRIVER_STUB="1"
    )
    for small in ("393216", "0"):
        done = run_in_worker(
            program, LEGATE_DIFFUSE="1", LEGATE_DIFFUSE_SMALL_BYTES=small
        )
        assert (done.returncode, done.stdout) == (0, expected.stdout)
        assert is_ours(done)
