# SPDX-License-Identifier: Apache-2.0
"""Arrays whose memory NumPy has as well: operations run at once, and both see all.

``test_memory_of_numpy.py`` runs this file on several machines.
"""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Callable
from typing import Any

import cupynumeric
import numpy as np
import pytest

import legate_diffuse

# untyped: tests also pass what type checkers would refuse
cn: Any = cupynumeric
# More elements than an array has that operations run at once on.
LARGE = 200_000
PROGRAMS = int(os.environ.get("PROGRAMS", "100"))


def tasks() -> int:
    return int(legate_diffuse.stats()["tasks_submitted"])


def here(values: Any) -> Any:
    """Return an array that no task has seen."""
    return cn.array(values) + 0


def test_operations_run_at_once_while_numpy_has_the_memory() -> None:
    x, y = here(np.arange(50.0)), here(np.ones(50))
    seen = np.asarray(x)
    before = tasks()
    for _ in range(5):
        x += y
        z = x * y
        x[3] = -1.0
        assert float(x[4]) == float(z[4]) == seen[4]
    assert tasks() == before
    expected = np.arange(50.0) + 5
    expected[3] = -1.0
    np.testing.assert_array_equal(seen, expected)


def test_what_numpy_writes_is_seen() -> None:
    x = here(np.zeros(20))
    seen = np.asarray(x)
    for value in range(3):
        seen[5:7] = value
        assert (x + 1)[5] == value + 1
        assert x.sum() == 2 * value
        assert np.asarray(x)[6] == value
    # a constant is one no more
    constant = cn.full(20, 2.0)
    np.asarray(constant)[:] = 7.0
    assert (constant * 2)[0] == 14.0


def test_tasks_see_and_are_seen() -> None:
    x = here(np.arange(400.0))
    seen = np.asarray(x)
    grid = cn.ones((LARGE // 400, 400))
    for step in range(3):
        x += 1
        seen[0] = 100.0 * step
        total = grid * x
        # the task that reads it may not see this
        x += 1000
        assert total[-1, 0] == 100.0 * step
        assert total[3, 7] == 7.0 + 1001 * step + 1
        x[:] = (grid * (step + 1)).sum(axis=0)
        assert seen[5] == (step + 1) * (LARGE // 400)
        assert x[5] == seen[5]
        x[:] = cn.arange(400.0) + 1001 * (step + 1)
        assert seen[9] == x[9]


def test_legate_gets_the_memory_that_numpy_has_when_a_task_needs_it() -> None:
    x = here(np.arange(8.0))
    root = x._thunk.base._view.root
    seen, part = np.asarray(x), np.asarray(x[2:5])
    assert root.real is None and np.shares_memory(seen, part)
    before = tasks()
    found = cn.partition(x, 3, axis=None)
    assert tasks() > before and root.mapped is not None
    np.testing.assert_array_equal(np.sort(np.asarray(found)), np.arange(8.0))
    assert root.mapped.get_inline_allocation().ptr == seen.ctypes.data
    part[0] = -4.0
    assert float(cn.partition(x, 0, axis=None)[0]) == -4.0 == float(x[2])
    x += 1.0
    assert seen[2] == part[0] == -3.0
    # where Legate has a store already, another one takes its place
    y = cn.partition(x, 3, axis=None)
    y += 0.0
    assert float(y[1] + y[2]) < 9.0
    root = y._thunk.base._view.root
    assert root.is_here and root.real is not None
    view, moves = y[1:]._thunk.base._view, root.moves
    before = view.materialize(reads_only=True)
    seen = np.asarray(y)
    seen[:] = np.arange(8.0)[::-1]
    assert float(cn.partition(y, 0, axis=None)[0]) == 0.0
    assert root.moves == moves + 1 and view.materialize() is not before
    seen[1] = -9.0
    assert float(cn.partition(y, 0, axis=None)[0]) == -9.0


def test_memory_that_numpy_has_let_go_of() -> None:
    x = here(np.arange(400.0))
    seen = np.asarray(x)
    x += 1
    del seen
    gc.collect()
    grid = cn.ones((LARGE // 400, 400))
    assert (grid * x)[1, 1] == 2.0
    x[:] = grid.sum(axis=0)
    x += 1
    assert x[17] == LARGE // 400 + 1
    assert np.asarray(x)[3] == LARGE // 400 + 1


def test_an_array_that_is_gone_leaves_its_memory_to_numpy() -> None:
    kept = []
    x = here(np.zeros(30))
    for step in range(20):
        x = x + 1
        kept.append(np.asarray(x))
        y = here(np.full(30, -5.0)) * step
        del y
    assert [int(each[7]) for each in kept] == list(range(1, 21))


@pytest.mark.parametrize("part", [np.s_[2:], np.s_[1:3, 2:], np.s_[3]])
def test_parts_share_memory_too(part: Any) -> None:
    x = here(np.arange(24.0).reshape(6, 4))
    seen = np.asarray(x[part])
    x += 1
    np.testing.assert_array_equal(seen, (np.arange(24.0).reshape(6, 4) + 1)[part])
    seen[...] = -2.0
    expected = np.arange(24.0).reshape(6, 4) + 1
    expected[part] = -2.0
    np.testing.assert_array_equal(np.asarray(x), expected)
    x[part] = 9.0
    assert (seen == 9.0).all()


def test_types_and_shapes() -> None:
    for dtype in (
        "bool",
        "int8",
        "uint16",
        "int64",
        "float16",
        "float32",
        "complex128",
    ):
        for shape in ((), (1,), (0,), (7,), (3, 5), (2, 1, 4)):
            expected = (np.arange(np.prod(shape)) % 3).reshape(shape).astype(dtype)
            x = cn.array(expected.copy())
            seen = np.asarray(x)
            total = x + x
            if shape:
                x[...] = total
                np.testing.assert_array_equal(seen, expected + expected)
            np.testing.assert_array_equal(np.asarray(x + x), total + np.asarray(x))


def statements(seed: int) -> list[str]:
    """Write a random program on arrays a, b, c, and what NumPy has of them."""
    pick = random.Random(seed)
    lines = []
    for _ in range(pick.randrange(5, 25)):
        x, y, z = (pick.choice("abc") for _ in range(3))
        part = pick.choice(["1:", ":-1", "2:6", ":"])
        k = pick.randrange(8)
        lines.append(
            pick.choice(
                [
                    f"{x} += {y}",
                    f"{x} = {y} + {z} * 2",
                    f"{x}[{k}] = {k}",
                    f"{x}[{part}] += {k}",
                    f"{x}[1:] = {y}[:-1]",
                    f"s_{x} = numpy.asarray({y})",
                    f"s_{x} = numpy.asarray({y}[{part}])",
                    f"s_{x}[...] = {k}",
                    f"s_{x}[-1] += {k}",
                    f"s_{x} = numpy.zeros(8)",
                    f"out.append(float({x}[{k}]))",
                    f"out.append(float({x}.sum()))",
                    f"{x} = {y}.copy()",
                    f"{x} = n.where({y} > {k}, {z}, 3.0)",
                    f"{x}[{y} > {k}] = {k}",
                    f"wide = n.ones(({LARGE // 8}, 8)) * {x}",
                    f"{x}[:] = (n.ones(({LARGE // 8}, 8)) * {y}).max(axis=0)",
                    f"out.append(float(n.sort({x})[2]))",
                    f"{x} %= 97",
                ]
            )
        )
    return lines


def run(lines: list[str], module: Any) -> Any:
    space: dict[str, Any] = {"n": module, "numpy": np, "out": []}
    for offset, name in enumerate("abc"):
        space[name] = module.array(np.arange(8.0) + offset)
        space[f"s_{name}"] = np.zeros(8)
    exec("\n".join(lines), space)
    arrays = [np.array(space[name]) for name in "abc"]
    return space["out"], arrays, [np.array(space[f"s_{name}"]) for name in "abc"]


def same(found: Any, expected: Any) -> bool:
    return found[0] == expected[0] and all(
        np.array_equal(x, y)
        for number in (1, 2)
        for x, y in zip(found[number], expected[number], strict=True)
    )


def test_random_programs() -> None:
    compare: Callable[[int], bool] = lambda seed: same(  # noqa: E731
        run(statements(seed), cn), run(statements(seed), np)
    )
    wrong = [seed for seed in range(PROGRAMS) if not compare(seed)]
    assert not wrong, "\n".join(statements(wrong[0]))
