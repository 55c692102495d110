# SPDX-License-Identifier: Apache-2.0
"""Results in given arrays, and of given types, are those of cuPyNumeric's own tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_hosted import DTYPES, run_both
from test_small_arrays import run_here
from tiers import some


@pytest.mark.parametrize("dtype", some(DTYPES, 2))
def test_results_are_written_as_by_tasks(dtype: str, tmp_path: Path) -> None:
    run_both("__import__('written_statements').WRITTEN", dtype, tmp_path / "unfused")


def test_sums_in_another_type_are_of_converted_elements() -> None:
    """The bits are those of a sum in that type, not of one that is converted."""
    run_here("""
rng = np.random.default_rng(3)
for source in ("float16", "float32", "int8", "uint8", "int32"):
    x = cn.array((rng.random((40, 3)) * 100).astype(source))
    for target in ("float32", "float64"):
        if np.promote_types(source, target) != target:
            continue
        y = x.astype(target)
        for name, axis in (("sum", None), ("sum", 0), ("prod", 1), ("mean", None)):
            found = getattr(cn, name)(x, axis=axis, dtype=target)
            wanted = getattr(y, name)(axis=axis)
            assert found.dtype == wanted.dtype == target, (name, source, target)
            same = np.asarray(found).tobytes() == np.asarray(wanted).tobytes()
            assert same, (name, axis, source, target)
        found = cn.add.reduce(x, dtype=target)
        assert np.asarray(found).tobytes() == np.asarray(y.sum(axis=0)).tobytes()
""")


def test_a_mean_of_halves_is_a_half() -> None:
    run_here("""
x = np.array([3.25, 0.5, 1.5, 4.5, 2.25], "float16")
for found in (cn.array(x).mean(), cn.mean(cn.array(x), axis=0), cn.array(x[:1]).mean()):
    assert found.dtype == np.float16, found.dtype
assert float(cn.array(x).mean()) == float(x.mean())
""")


def test_many_results_are_written_without_tasks() -> None:
    """NumPy makes them, and a loop copies them to where they belong."""
    run_here(
        """
def program(n):
    x = n.array(np.arange(90000.0) % 7)
    i = n.array(np.arange(90000) * 7 % 89)
    A = n.array(np.arange(90000.0).reshape(300, 300) % 5)
    found = [n.zeros(90000) for _ in range(4)] + [n.zeros((300, 300))]
    n.take(x, i, out=found[0])
    n.cumsum(x, out=found[1])
    n.choose(i % 2, [x, x + 1.0], out=found[2])
    n.nancumsum(x, out=found[3])
    n.matmul(A, A, out=found[4])
    n.take(found[0], i, out=x)
    return [*found, x]
program(cn), program(cn)
found = counts(lambda: float(program(cn)[-1][3]))
assert found["tasks_submitted"] == found["failures"] == 0, found
agree(program)
"""
    )
