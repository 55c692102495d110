# SPDX-License-Identifier: Apache-2.0
"""Programs that select elements with masks compute with all elements."""

from __future__ import annotations

import os
from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import N, counts, differential, same
from hypothesis import given, settings
from hypothesis import strategies as st
from test_small_arrays import run_here
from tiers import examples

from legate_diffuse.interpose.window import window


def compactions(program: Any) -> int:
    """Return how many operations of a program ran unseen, for its selections."""
    window.flush("test")
    before = window.submitter.unseen
    result = program()
    window.flush("test")
    del result
    return window.submitter.unseen - before


def escape(n: Any) -> Any:
    z = n.arange(600.0).reshape(20, 30) / 200 - 1.5
    c, steps = z * 0.5 - 0.25, n.zeros((20, 30))
    for _ in range(4):
        m = n.abs(z) < 1
        z[m] = z[m] * z[m] + c[m]
        steps[m] += 1
    return z, steps


def several_arrays(n: Any) -> Any:
    x, y = n.arange(50.0) - 20, n.arange(50.0) / 8
    far = y > 2
    x[far] = n.maximum(x[far], y[far]) - n.sqrt(y[far])
    y[far] *= x[far]
    return x, y


def positive_sums(n: Any) -> Any:
    x = n.arange(40.0) - 10
    i = n.arange(40)
    return x[x > 0].sum(), i[i % 3 == 0].sum(), (x[x < 0] * 2).sum()


def compared_again(n: Any) -> Any:
    x, y = n.arange(60.0).reshape(6, 10) - 20, n.arange(60.0).reshape(6, 10) / 8
    x[x > 3.0] = x[x > 3.0] * 2.0
    y[(y > 1.5) & (x < 40.0)] = x[(y > 1.5) & (x < 40.0)] + y[(y > 1.5) & (x < 40.0)]
    x[n.abs(x) < y] *= 0.5
    return x, y


PROGRAMS = [escape, several_arrays, positive_sums, compared_again]


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_compacted(program: Any) -> None:
    differential(program, originals=None)
    assert compactions(lambda: program(cn)) == 0


def other_operand(n: Any) -> Any:
    x = n.arange(41.0) - 20
    y = n.flip(x, 0) + 0.0
    x[y > 3.0] = x[x > 3.0] * 2.0
    return x, y


def other_function(n: Any) -> Any:
    x = n.arange(41.0) - 20
    x[x < 3.0 - 3.0] = x[x > 0.0] * 2.0
    return (x,)


def other_number(n: Any) -> Any:
    x = n.abs(n.arange(41.0) - 20) + 0.0
    y = n.flip(n.arange(41.0), 0) + 0.0
    y[n.abs(x - 15.0) < 2.0] = y[n.abs(x - 12.0) < 2.0] * 2.0
    return x, y


def other_scalars(n: Any) -> Any:
    x = n.arange(41.0)
    nearby = n.abs(n.clip(x, 10.0, 30.0) - x) < 1.0
    values = x[nearby] * 2.0
    x[n.abs(n.clip(x, 15.0, 35.0) - x) < 1.0] = values
    return (x,)


def changed_between(n: Any) -> Any:
    x = n.arange(41.0) - 20
    values = x[x > 0.0] * 2.0
    x[...] = -x
    x[x > 0.0] = values
    return (x,)


def changed_part(n: Any) -> Any:
    x = n.arange(40.0) % 20 - 9.5
    values = x[x > 0.0] * 2.0
    x[:20] *= -1.0
    x[x > 0.0] = values
    return (x,)


def other_part(n: Any) -> Any:
    x = n.arange(40.0) % 20 - 9.5
    x[20:] *= -1.0
    a, b = x[:20], x[20:]
    a[b > 0.0] = a[a > 0.0] * 2.0
    return (x,)


def changed_mask(n: Any) -> Any:
    x = n.arange(41.0) - 20
    m = x > 0.0
    values = x[m] * 2.0
    m[0], m[40] = True, False
    other = x > 0.0
    other[1], other[39] = True, False
    x[other] = values
    x[m] = values + 1.0
    return x, m


OTHERS = [
    other_operand,
    other_function,
    other_number,
    other_scalars,
    changed_between,
    changed_part,
    other_part,
    changed_mask,
]


@pytest.mark.parametrize("program", OTHERS)
def test_masks_that_only_look_alike(program: Any) -> None:
    """As many elements are selected, and others."""
    differential(program, originals=None)


def source_changes(n: Any) -> Any:
    x = n.arange(10.0)
    m = x > 4
    selected = x[m]
    x[m] = 0.0
    return x, selected, selected * 2


def mask_changes(n: Any) -> Any:
    x = n.arange(10.0)
    m = x > 4
    selected = x[m]
    m[2] = True
    y = n.zeros(10)
    y[m] = x[m]
    return y, selected, m


def mask_changes_between(n: Any) -> Any:
    x = n.arange(10.0)
    m = x > 4
    selected = x[m] + 1
    m[3], m[7] = True, False
    x[m] = selected
    return x


def source_dies(n: Any) -> Any:
    x = n.arange(10.0) * 3
    m = x > 4
    selected = x[m]
    del x, m
    return selected, selected[:3]


def in_place(n: Any) -> Any:
    x = n.arange(10.0)
    m = x > 4
    selected = other = x[m]
    selected += 2.0
    selected *= x[m]
    return x, other, other.shape[0] + x


def parts(n: Any) -> Any:
    x = n.arange(10.0)
    selected = x[x > 4]
    selected[1:3] = 0.5
    return selected, selected[0], selected.reshape(-1, 1)


def other_selections(n: Any) -> Any:
    x, y = n.arange(10.0), 9.0 - n.arange(10.0)
    return x[x > 4] + y[y > 4], x[x > 4] + n.arange(5.0), x[x > 40] * 2


def rows(n: Any) -> Any:
    x = n.arange(20.0).reshape(5, 4)
    m = n.array([True, False, True, True, False])
    x[m] = x[m] * 2
    return x, x[m, 1]


def other_types(n: Any) -> Any:
    x, i = n.arange(10.0), n.arange(10)
    m = i > 4
    x[m] = i[m]
    i[m] = i[m] + i[m]
    return x, i, x[m] + i[m], x[m] > 6, i[m].astype("float32")


@pytest.mark.parametrize(
    "program",
    [
        *(source_changes, mask_changes, mask_changes_between, source_dies, in_place),
        *(parts, other_selections, rows, other_types),
    ],
)
def test_what_else_happens_to_selections(program: Any) -> None:
    differential(program, originals=None)
    assert counts(lambda: program(cn))["groups"] > 0


def test_integers_are_not_divided_where_the_mask_excludes_it() -> None:
    def program(n: Any) -> Any:
        x, y = n.arange(12), n.arange(12) % 3
        m = y != 0
        x[m] = x[m] // y[m] + x[m] % y[m]
        return x

    differential(program, originals=None)
    assert counts(lambda: program(cn))["groups"] > 0


def test_long_computations_see_selected_elements_only() -> None:
    def program(n: Any) -> Any:
        x = n.arange(40.0) / 8
        m = x > 4
        y = x[m]
        for _ in range(9):
            y = n.tanh(n.exp(-y))
        x[m] = y
        return x

    differential(program, originals=None)
    assert compactions(lambda: program(cn)) > 0
    assert counts(lambda: program(cn))["groups"] > 0


def test_a_selection_is_an_array() -> None:
    x = cn.arange(10.0)
    m = x > 4
    assert type(x[m]) is cn.ndarray
    assert (x[m].shape, x[m].ndim, x[m].size, len(x[m])) == ((5,), 1, 5, 5)
    assert x[m].dtype == np.float64
    assert x[m].tolist() == [5.0, 6.0, 7.0, 8.0, 9.0]
    assert not hasattr(x[m]._thunk, "nonsense")


def test_assigning_the_wrong_number_of_elements_is_an_error() -> None:
    for n in (np, cn):
        x = n.arange(10.0)
        with pytest.raises(ValueError):
            x[x > 4] = n.zeros(3)


def test_a_selection_that_is_not_compacted_makes_no_task() -> None:
    x = cn.arange(10.0) + 1
    window.flush("test")
    m = x > 4

    def add() -> None:
        x[m] + x[m]

    window.flush("test")
    assert counts(add)["tasks_submitted"] == 0


STATEMENTS = (
    "t = x[m]",
    "t = y[m] - 1.0",
    "x[m] = t",
    "x[m] = x[m] * y[m] + 1.5",
    "y[m] += x[m]",
    "y[k] = x[k]",
    "x[1:] = x[:-1]",
    "m = x > y",
    "m = k",
    "k = y <= x",
    "m[2] = True",
    "m[1:4] = k[2:5]",
    "t = t + t",
    "t += 1.0",
    "t *= x[m]",
    "r.append(t)",
    "r.append(n.maximum(t, 0.5))",
    "r.append(x[m].sum())",
    "r.append(t.shape[0] + x)",
    "r.append(t[:2])",
    "t[:1] = 5.0",
    "x = y * 2.0",
    "y = n.roll(x, 1)",
    "x[m] = y[k]",
    "del t",
)
EXAMPLES = int(os.environ.get("PROGRAMS") or examples(50, 150))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(st.sampled_from(STATEMENTS), min_size=2, max_size=14))
def test_random_programs(statements: list[str]) -> None:
    known: list[str] = []
    spaces = []
    for n in (np, cn):
        x = n.arange(8.0) - 3.0
        y = (7.0 - n.arange(8.0)) / 4
        spaces.append({"n": n, "x": x, "y": y, "m": x > 0, "k": y > 1, "r": []})
    for statement in statements:
        try:
            exec(statement, spaces[0])
        except (ValueError, NameError):
            continue
        known.append(statement)
        exec(statement, spaces[1])
    for name in ("x", "y", "m", "k", "t"):
        if name in spaces[0]:
            same(np.asarray(spaces[1][name]), spaces[0][name], f"{name} of {known}")
    for found, expected in zip(spaces[1]["r"], spaces[0]["r"], strict=True):
        same(np.asarray(found), np.asarray(expected), f"results of {known}")


def test_a_selection_is_compacted_before_numpy_takes_it() -> None:
    x = np.arange(400.0) * 37 % 101
    functions = (
        lambda n, a: a.mean(),
        lambda n, a: a.max(),
        lambda n, a: a.var(),
        lambda n, a: n.sort(a),
        lambda n, a: a.cumsum(),
        lambda n, a: a.argmax(),
        lambda n, a: n.unique(a),
        lambda n, a: n.median(a),
        lambda n, a: a.sum(axis=0),
        lambda n, a: n.any(a > 5.0),
    )
    for function in functions:
        y = cn.array(x)
        wide = y * 2.0
        found = np.asarray(function(cn, y[wide > 150.0]))
        expected = np.asarray(function(np, x[x * 2.0 > 150.0]))
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_numpy_takes_many_selected_elements_without_a_task() -> None:
    """They count, sort and scan here as all elements would."""
    run_here(
        """
a, w = np.arange(70_000) * 7 % 251, np.arange(70_000) * 0.25 % 50.0
b, v, m = cn.array(a), cn.array(w), cn.array(a % 3 > 0)
n = a % 3 > 0
STATEMENTS = (
    "bincount(a[m])",
    "bincount(a[m], weights=w[m], minlength=300)",
    "cumsum(a[m])",
    "argmax(w[m])",
    "sort(w[m])",
    "unique(a[m])",
    "nonzero(w[m] > 9.0)[0]",
    "concatenate([a[m], a])",
    "searchsorted(w[:9].cumsum(), w[m])",
)
def made(statement, package, **names):
    return eval(f"n.{statement}", {"n": package, **names})

for statement in STATEMENTS:
    expected = made(statement, np, a=a, w=w, m=n)
    made(statement, cn, a=b, w=v, m=m)
    found = counts(lambda: made(statement, cn, a=b, w=v, m=m))
    assert found["tasks_submitted"] == 0, (statement, found)
    result = np.asarray(made(statement, cn, a=b, w=v, m=m))
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape), statement
    np.testing.assert_array_equal(result, expected)
"""
    )


def test_places_are_fused_once_their_number_is_known() -> None:
    (places,) = cn.nonzero(cn.array(np.arange(float(N))) % 3 == 0)
    expected = np.arange(0, N, 3)
    assert places.shape == expected.shape
    found = []
    done = counts(lambda: found.append(places * 2 + places))
    assert (done["tasks_submitted"], done["groups"]) == (1, 1)
    np.testing.assert_array_equal(np.asarray(found[0]), expected * 3)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_runs_of_selected_elements(dtype: str) -> None:
    run_here(f"""
def program(n):
    numbers = (np.arange(6 * 67) % 251).reshape(6, 67).astype({dtype!r})
    results = []
    for run in (1, 3, 8, 20, 1000):
        flags = (np.arange(6 * 67) // run % 2 == 0).reshape(6, 67)
        for part in (np.s_[:], np.s_[1:], np.s_[:, 3:-1], np.s_[2, :], np.s_[:, 5]):
            x, mask = n.array(numbers), n.array(flags)[part]
            own, other = x[part], x[part].copy()
            found = own[mask]
            own[mask] = other[mask] * 0 + found[::1]
            other[mask] = 1
            twice = n.zeros((len(found), 2), found.dtype)
            twice[:, 1] = found
            x[part][mask] = twice[:, 1]
            results += [found, x, other]
    return results
here(program)
""")
