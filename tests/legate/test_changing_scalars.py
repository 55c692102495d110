# SPDX-License-Identifier: Apache-2.0
"""Single elements that change: each value belongs to the operations that use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import counts, differential
from process import run_alone

from legate_diffuse.interpose.window import window

Program = Callable[..., Any]
X = np.linspace(0.5, 2.0, 100)


def normalize(n: Any, x: Any) -> Any:
    s = (x * x).sum()
    s /= 100.0
    s = n.sqrt(s)
    s += 1.0
    y = x / s
    return y, s


def between_uses(n: Any, x: Any) -> Any:
    s = n.full((), 2.0)
    y = x * s
    s /= 4.0
    z = y + s
    s -= 1.5
    return y, z * s, s


def old_value(n: Any, x: Any) -> Any:
    s = n.full((), 3.0)
    old = s + 0.0
    s *= 5.0
    y = x * s
    s = s - old
    return y * s + old, s, old


def dead(n: Any, x: Any) -> Any:
    s = n.full((), 3.0)
    y = x * s
    for factor in (0.5, -0.0, 7.0):
        s *= factor
        y = y + s
    return y


def filled_again(n: Any, x: Any) -> Any:
    s = n.full((), 3.0)
    y = x * s
    s[()] = 0.25
    z = y * s
    s += x[0]
    return y, z, s


def before_a_sum(n: Any, x: Any) -> Any:
    s = n.full((), 3.0)
    y = x * s
    s *= 2.0
    total = (y * s).sum()
    total += s
    return y, total, s


def element_of_an_array(n: Any, x: Any) -> Any:
    s = n.full((1,), 3.0)
    y = x * s
    s[0] /= 2.0
    z = y - s
    s[:] = s * 3.0
    return y, z, s


def special_values(n: Any, x: Any) -> Any:
    s = n.full((), 0.0)
    y = x * s
    s *= -1.0
    z = x * s
    s /= 0.0
    w = z + s
    s = s * 0.0 + 1e308
    s *= 10.0
    return y, z, w, s, x - s


def integers(n: Any, x: Any) -> Any:
    s = n.full((), 2**62, dtype="int64")
    k = (x * 10.0).astype("int64")
    y = k + s
    s *= 3
    z = k + s
    s //= 7
    return y, z, s


@pytest.mark.parametrize(
    "program",
    [
        normalize,
        between_uses,
        old_value,
        dead,
        filled_again,
        before_a_sum,
        element_of_an_array,
        special_values,
        integers,
    ],
)
def test_scalars_that_change(program: Program) -> None:
    found = counts(lambda: differential(program, X, originals=None))
    assert found["groups"] > 0, "nothing was fused"


def test_division_by_zero_does_not_end_the_program() -> None:
    def program(n: Any, x: Any) -> Any:
        s, zero = n.full((), 7, dtype="int64"), n.full((), 0, dtype="int64")
        y = (x * 10.0).astype("int64") + s
        s //= zero
        return y + s, s

    with np.errstate(all="ignore"):
        expected = program(np, X)
    for one, other in zip(program(cn, cn.array(X)), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one), other)


def test_changes_across_the_ends_of_windows() -> None:
    def program(n: Any, x: Any) -> Any:
        s = n.full((), 3.0)
        for factor in (0.5, 2.5, 7.0):
            y = x * s
            s *= factor
            if n is cn:
                window.flush("test")
            s += 1.0
            x = x + y / s
            float(s)
        return x, s

    differential(program, X, originals=None)


def test_a_chain_of_scalars_is_one_task() -> None:
    def program(n: Any, x: Any) -> Any:
        s = n.full((), 3.0)
        s /= 2.0
        s = n.sqrt(s)
        s *= s
        return s

    found = pending(program)
    assert (found["tasks_seen"], found["tasks_submitted"]) == (4, 1)


@pytest.mark.parametrize("call", range(1, 3))
def test_a_task_that_cannot_be_submitted_changes_nothing_twice(call: int) -> None:
    """The original tasks run in its place, those that come after it among them."""
    done = run_alone(
        f"""
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
from legate_diffuse.interpose.window import window
calls = 0
class Native:
    def __getattr__(self, name):
        return getattr(native, name)
    def submit_program(self, *arguments):
        global calls
        calls += 1
        if {call} <= calls <= {call} + 1:
            raise RuntimeError("injected")
        return native.submit_program(*arguments)
native, window.submitter.native = window.submitter.native, Native()
x = cn.arange(8.0)
s = cn.full((), 2.0)
for _ in range(4):
    y = x * s
    s *= 3.0
    z = y + s
    s -= 1.0
    x = x + z * s
    print(*(a.__array__().tolist() for a in (x, y, z)), float(s))
assert calls >= {call}, calls
""",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
    lines = []
    x, s = np.arange(8.0), np.full((), 2.0)
    for _ in range(4):
        y = x * s
        s *= 3.0
        z = y + s
        s -= 1.0
        x = x + z * s
        lines.append(f"{x.tolist()} {y.tolist()} {z.tolist()} {float(s)}\n")
    assert (done.returncode, done.stdout) == (0, "".join(lines)), done.stderr


def pending(program: Program) -> dict[str, Any]:
    x = cn.array(X)
    window.flush("test")
    return counts(lambda: program(cn, x))


def test_operations_around_a_change_share_a_task() -> None:
    def program(n: Any, x: Any) -> Any:
        s = n.full((), 3.0)
        y = x * s
        for factor in (0.5, 2.5, 7.0):
            s *= factor
            y = y + s
        return y

    found = pending(program)
    assert (found["tasks_seen"], found["groups"]) == (8, 1)
    assert found["tasks_submitted"] == 1


def test_what_lives_on_is_computed_after_the_task() -> None:
    found = pending(between_uses)
    # the fill before it, and the two changes after it
    assert found["groups"] == 1
    assert found["tasks_submitted"] == 4
