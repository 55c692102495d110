# SPDX-License-Identifier: Apache-2.0
"""Small arrays of different shapes meet without a way through cuPyNumeric."""

from __future__ import annotations

from test_small_arrays import run_here


def test_new_axes_and_operands_that_repeat() -> None:
    run_here("""
def program(n):
    found = []
    for dtype in ("float64", "int64"):
        x, y = n.arange(5).astype(dtype), n.arange(6).astype(dtype)
        a = x[:, None] * y
        for _ in range(3):
            found += [a + x[:, None], y[None, :] - a, a[:, 2:3] + a[1], a[3, None] * a]
            found += [x[:, None, None] + a[None], a[:, 1, None] < y, a - a[:1, :1]]
            found += [a[2:, None].sum(), a[None, 0][0], y[None][0, 1], a[1:1, None]]
            found += [n.maximum(a, x[:, None]), n.sum(a[..., None] + y)]
            a += y
            a[1:] -= x[1:, None]
            a[:, 1:] *= a[0, 1:] + 0
            a //= 2
            try:
                a + x
            except ValueError:
                found.append(1.0)
            try:
                x += a
            except ValueError:
                found.append(2.0)
    return found
agree(program)
""")


def test_parts_are_set_to_numbers_and_to_what_repeats() -> None:
    run_here("""
def program(n):
    a, b = n.arange(30.0).reshape(5, 6), n.arange(30).reshape(5, 6)
    x, one, none = n.arange(6.0), n.full((1,), 3.0), n.zeros((0, 6))
    found = []
    for k in range(3):
        a[:] = 1.5
        a[1, 2:] = -0.0
        a[:, 1] = float("nan")
        b[:, :2] = 7
        b[3:] = True
        a[:2] = 4
        one[:] = 2.0
        one[0:1] = x[k]
        none[:] = 1.0
        a[3:] = x
        a[:, 4:] = x[:2]
        a[:3, 3:4] = a[4, 5]
        a[:, 0] = one
        a[1:3] = a[4]
        a[2] = a[2, 3]
        a[0, :5] = a[:, 5]
        a[4:] = x[None, :]
        a[:, 2:] = x[:3, None][0]
        found += [a.copy(), b.copy(), one.copy(), none, a[..., 1].copy()]
        try:
            a[:, :5] = x
        except ValueError:
            found.append(1.0)
    return found
agree(program)
""")


def test_what_repeats_is_native_once_it_is_known() -> None:
    run_here("""
from legate_diffuse.launch.at_once import AtOnce
def step():
    y = a + v - v[:, None] * 0.5
    y *= v[None]
    y[1] = y[2] + y[3, 0]
    return float(y[1, 1] / v[2])
a, v = cn.arange(900.0).reshape(30, 30), cn.ones(30) * 2.0
for _ in range(3):
    step()
planned = AtOnce.run
calls = []
AtOnce.run = lambda self, operations: calls.append(1) or planned(self, operations)
step()
AtOnce.run = planned
assert not calls
""")
