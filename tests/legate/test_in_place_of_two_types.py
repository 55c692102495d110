# SPDX-License-Identifier: Apache-2.0
"""Operators in place make of another type's operand what the original makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_alone
from test_small_arrays import run_here

PROGRAM = """
import operator
import numpy as np
import cupynumeric as cn
TYPES = (
    "bool", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128"
)
OPERATORS = (
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imod,
    operator.iand, operator.ilshift,
)
def values(n):
    whole = np.arange(n) % 5 + 1
    for name in TYPES:
        yield cn.array(whole.astype(name))
        yield np.dtype(name).type(3)
    yield cn.array(2.5)
    yield cn.array((whole * 1.25).reshape(1, n))
def outcomes(n):
    for name in TYPES:
        for operate in OPERATORS:
            for value in values(n):
                x = cn.array((np.arange(n) % 7).astype(name))
                try:
                    assert operate(x, value) is x
                    yield np.asarray(x)
                except Exception as error:
                    yield np.array(type(error).__name__)
def elements(n):
    for name in TYPES[2:]:
        x = cn.array((np.arange(n) % 7).astype(name)).reshape(2, -1)
        for value in values(1):
            try:
                x[1, 1] += value
                x[0] -= value
                x[:, 2:] *= value
                yield np.asarray(x)
            except Exception as error:
                yield np.array(type(error).__name__)
def everything(n):
    return [*outcomes(n), *elements(n)]
"""


@pytest.mark.parametrize("limit", ["8", "393216"])
def test_results_are_those_of_tasks(limit: str, tmp_path: Path) -> None:
    path = str(tmp_path / "unfused.npz")
    done = run_alone(
        f"{PROGRAM}np.savez({path!r}, *everything(6))\n", LEGATE_DIFFUSE="0"
    )
    assert done.returncode == 0, done.stderr
    run_here(
        f"""{PROGRAM}
wanted = np.load({path!r})
for one, name in zip(everything(6), wanted.files, strict=True):
    other = wanted[name]
    assert (one.dtype, one.shape) == (other.dtype, other.shape), (name, one, other)
    if one.dtype.kind == "c":
        np.testing.assert_allclose(one, other, rtol=1e-6)
    else:
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), (
            name, one, other)
single, double = cn.ones(6).astype("float32"), cn.ones(6)
field = cn.ones((4, 4), dtype="float32")
for _ in range(2):
    tasks = window.counters.tasks_submitted
    single += double
    single *= np.float64(0.5)
    field[1, 2] += np.sin(0.5)
    assert (single.dtype, field.dtype) == ("float32", "float32")
    assert float(single[2]) <= 1.0 < float(field[1, 2])
if {limit} > 8:
    assert window.counters.tasks_submitted == tasks
""",
        LEGATE_DIFFUSE_SMALL_BYTES=limit,
    )


def test_native_code_converts_what_is_written() -> None:
    run_here("""
names = ("float32", "float64", "int32", "int64", "complex64", "complex128")
def program(n):
    found = []
    for name in names:
        for other in names:
            if not np.can_cast(np.result_type(name, other), name, "same_kind"):
                continue
            x = n.array((np.arange(12) % 5).astype(name).reshape(3, 4))
            y = n.array((np.arange(12) % 7 + 1).astype(other).reshape(3, 4))
            for _ in range(3):
                x += y
                x[1:] -= y[:-1]
                x[:, 1] *= y[:, 0]
                x.T[2:] += y.T[:2]
                x += y[0]
                x[0, 0] += y[1, 1]
                n.add(y, y[0], out=x[...])
                n.multiply(x[:2], y[1:], out=x[1:])
                found.append(x.copy())
    z = n.arange(6.0)
    w = z.astype("float32")
    v = n.zeros(6, dtype="complex128")
    for _ in range(3):
        w += z * 0.1
        w -= n.sin(w) + z
        n.add(z, 0.1, out=w)
        n.add(w, z, out=v)
        n.sqrt(z, out=w)
        found += [w.copy(), v.copy()]
    return found
agree(program)
here(program)
for _ in range(3):
    x = cn.arange(3)
    for call in (lambda: x.__iadd__(cn.arange(3.0)),
                 lambda: cn.add(x, x, out=cn.zeros(4, dtype="float32"))):
        try:
            call()
        except (TypeError, ValueError):
            continue
        raise AssertionError
    assert (np.asarray(x) == np.arange(3)).all()
    rows = cn.add(x, x, out=cn.zeros((2, 3), dtype="float32"))
    assert rows.dtype == np.float32 and (np.asarray(rows) == np.arange(3) * 2).all()
""")
