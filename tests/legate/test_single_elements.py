# SPDX-License-Identifier: Apache-2.0
"""Single elements that one task computes do not mix.

Legate puts them into one future, and forgets where in it each one lies when it passes
the future on.
"""

from __future__ import annotations

from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import counts, same
from test_small_arrays import run_here

from legate_diffuse.interpose.window import window


def computed() -> tuple[Any, Any]:
    """Return two single elements that one task has computed."""
    first, second = cn.full((), 1.0), cn.full((), 2.0)
    window.flush("test")
    made: list[Any] = []

    def program() -> None:
        made.extend((first * 3.0 + 1.0, second * 5.0 + 1.0))

    assert counts(program)["tasks_submitted"] == 1
    return made[0], made[1]


def test_they_fill_arrays() -> None:
    for element, expected in zip(computed(), (4.0, 11.0), strict=True):
        x = cn.zeros(8)
        x.fill(element)
        same(x, np.full(8, expected))


def test_they_fill_one_another() -> None:
    for element, expected in zip(computed(), (4.0, 11.0), strict=True):
        one = cn.zeros((1,))
        one[:] = element
        other = one + 1.0
        same(other, np.array([expected + 1.0]))


def test_a_reduction_starts_from_them() -> None:
    x = cn.arange(8.0)
    window.flush("test")
    for element, expected in zip(computed(), (4.0, 11.0), strict=True):
        lhs = element._thunk.base
        task = window_task(lhs, x)
        task.execute()
        same(element, np.array(28.0 + expected))


def window_task(lhs: Any, x: Any) -> Any:
    """Return a task that adds the sum of an array to what is there."""
    import legate.core as lc
    from cupynumeric.config import CuPyNumericOpCode, UnaryRedCode

    task = lc.get_legate_runtime().create_auto_task(
        x._thunk.library, CuPyNumericOpCode.SCALAR_UNARY_RED
    )
    task.add_reduction(lhs, lc.ReductionOpKind.ADD)
    task.add_input(x._thunk.base)
    task.add_scalar_arg(UnaryRedCode.SUM, lc.types.int32)
    task.add_scalar_arg(x.shape, (lc.types.int64,))
    task.add_scalar_arg(False, lc.types.bool_)
    return task


def test_a_part_of_one_element_is_shown_in_other_shapes() -> None:
    run_here(
        """
def program(n):
    x = n.arange(6.0).reshape(2, 3)
    found = []
    for dtype in ("float64", "int32", "bool", "complex128"):
        y = (x + 0).astype(dtype)
        for part in y[1:, 2:], y[:1, :1], y[0, 1:2], y[1:2, 0]:
            for shape in ((1, 1, 1), (1,), (1, 1), -1, (-1, 1), ()):
                shown = part.reshape(shape)
                found += [shown.shape, shown + shown]
                if shape != ():
                    shown[...] = 1
                    found.append(y.copy())
                    part += part
                    found.append(shown.copy())
    return found
for made, wanted in zip(program(cn), program(np), strict=True):
    if not isinstance(made, tuple):
        made = np.asarray(made)
        assert made.dtype == wanted.dtype, (made, wanted)
    assert np.array_equal(made, wanted), (made, wanted)
"""
    )


def test_truth_of_one_element_of_any_dimensions() -> None:
    run_here(
        """
def program(n):
    found = []
    for dtype in ("float64", "int8", "bool", "complex64", "float16", "uint64"):
        x = n.array([[0, 1], [2, 0]]).astype(dtype)
        y = x + x if dtype != "bool" else x | x
        parts = [x[0, 0], x[:1, 1:], x[1], x[1, :1], y[1:, 1:], y, y[:1, :1] == 0]
        parts += [n.zeros(1, dtype), n.ones((1, 1, 1), dtype), n.zeros((1, 2))]
        for part in parts:
            try:
                found.append(bool(part))
            except ValueError:
                found.append("several")
        x[1:, :1] = 0
        found.append("zero" if not x[1:, :1] else "other")
    x = n.arange(100_000) * 0.5
    found += [bool(x[7:8]), bool(n.array([n.nan])), bool(n.array([-0.0])), not x[:1]]
    return found
assert program(cn) == program(np), (program(cn), program(np))
"""
    )


@pytest.mark.parametrize(
    "made", ["n.array(3.0)", "x[3]", "x[3:4]", "A[1:2, 1:2]", "A[0, 0]"]
)
def test_they_are_shown_in_other_shapes(made: str) -> None:
    run_here(f"""
def program(n):
    x, A = n.arange(5.0) + 1, n.arange(6.0).reshape(2, 3) + 1
    found = []
    for show in (
        lambda e: e.reshape(1, 1), lambda e: e.reshape(1), lambda e: e.reshape(-1),
        lambda e: e.reshape((1, 1, 1)), lambda e: e[None], lambda e: e[None, None],
        lambda e: e[..., None], lambda e: n.expand_dims(e, 0), lambda e: e.ravel(),
        lambda e: n.atleast_1d(e), lambda e: n.atleast_2d(e), lambda e: e.T,
        lambda e: e.reshape(1, 1).T, lambda e: e.reshape(1, 1)[0],
        lambda e: e.reshape(1, 1)[:, 0], lambda e: e.reshape(1, 1).reshape(1),
        lambda e: e.reshape(1, 1).swapaxes(0, 1),
    ):
        e = n.array({made})
        y = show(e)
        found += [y + 0, y * 2 + x[:1], y - x[:, None]]
        found += [n.vstack((y.reshape(1, 1), x[:, None]))]
        y += 1
        found += [e + 0, y + 0]
        e *= 3
        found += [e + 0, y + 0, y.sum()]
        y[...] = 7
        found += [e + 0, y + 0, e.reshape(1, 1) @ y.reshape(1, 1)]
    return found
here(program)
agree(program)
""")
