# SPDX-License-Identifier: Apache-2.0
"""What NumPy makes of selections that wait, and of many elements at places."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

WAITING = """
def program(n):
    x = n.array(np.arange(60000.0).reshape(6, 10000) % 97)
    found = []
    for k in range(4):
        y = (x * 0.5)[k] - 3.0
        chosen = y[y > 20]
        A = n.stack([n.ones_like(chosen), chosen, chosen * chosen], axis=1)
        y = (x * 0.5)[k] - 3.0
        chosen = y[y > 20]
        found += [PRODUCT]
    return found
program(cn), program(cn)
counted = counts(lambda: program(cn))
assert counted["tasks_submitted"] == 0, counted
for one, other in zip(program(cn), program(np)):
    one = np.asarray(one)
    assert (one.dtype, one.shape) == (other.dtype, np.shape(other))
    np.testing.assert_allclose(one, other, rtol=1e-13)
"""


@pytest.mark.parametrize(
    "product",
    ["A.T @ chosen", "chosen @ A", "chosen.dot(chosen)", "n.dot(A.T, chosen)"],
)
def test_products_with_what_a_mask_selects_need_no_task(product: str) -> None:
    run_here(WAITING.replace("PRODUCT", product))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool", "complex128"])
def test_many_elements_at_places(dtype: str) -> None:
    run_here(f"""
def program(n):
    x = n.array((np.arange(120000) * 7 % 251).astype({dtype!r}))
    A = x.reshape(400, 300)
    found = []
    for name in ("int64", "int32", "uint8"):
        most = 120000 if name != "uint8" else 256
        places = n.array((np.arange(70000) * 31 % most).astype(name))
        rows = n.array((np.arange(210) * 3 % 256).astype(name))
        found += [x[places], (x + x)[places], A[rows], A.T[rows], x[places[:0]],
                  x[places.reshape(700, 100)], A[1:-1][rows], A[:, 1:][rows]]
        if name != "uint8":
            found += [x[-1 - places], A[-1 - rows]]
    return found
here(program)
# what the original says
for array, place, message in (
    (cn.zeros(120000), 120000, "index is out of bounds in index array"),
    (cn.zeros((400, 300)), -401, "invalid entry in indices array"),
):
    try:
        array[cn.array([0, place] * 40000)]
    except IndexError as error:
        assert str(error) == message, error
    else:
        raise AssertionError
""")


SELECTED = """
def program(n, side=SIDE):
    x = n.array((np.arange(side * side) * 7 % 251).astype(DTYPE)).reshape(side, side)
    y, found = x + x, []
    for k in range(70):
        mask = x != k
        own = y[mask]
        found += [own[:3] + own[-3:], n.array(len(own))]
        if k % 9 == 8:
            # computed with all elements, or not
            y[mask] = y[mask] + x[mask]
            found.append(y[x == k].sum())
        if k % 7 == 0:
            kept, y = y[mask], y + x
            kept[:5] = 1
            found += [kept, x[mask]]
    return found + [y]
program(cn)
counted = counts(lambda: program(cn))
assert counted["tasks_submitted"] == counted["failures"] == 0, counted
agree(program)
"""


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
@pytest.mark.parametrize("side", [170, 240])
def test_selections_that_are_wanted_time_after_time(dtype: str, side: int) -> None:
    run_here(SELECTED.replace("SIDE", str(side)).replace("DTYPE", repr(dtype)))


def test_results_of_numpy_that_are_large_are_taken_over() -> None:
    run_here("""
def program(n):
    x = n.array((np.arange(120000) * 7 % 251).astype("float64"))
    places = n.array(np.arange(120000)[::-1].copy())
    found = []
    for kind in ("float64", "int16", "bool", "float32"):
        y = (x + 0).astype(kind)
        taken = y[places]
        taken[3:] = taken[:-3]
        found += [taken, n.sort(y), n.tile(y, 2), n.concatenate([y, taken]),
                  n.where(y > 100)[0], y[places] * 2]
        # what was shown to NumPy stays as it was
        shown = np.asarray(y[places])
        before = shown.copy()
        y[:] = 0
        np.testing.assert_array_equal(shown, before)
    return found
here(program)
""")


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "complex128"])
def test_rows_are_put_where_masks_say(dtype: str) -> None:
    run_here(
        f"""
VALUES = (
    "1.0", "2", "n.arange(16).reshape(4, 4)", "n.arange(4)", "n.arange(4)[:, None]",
    "n.arange(12).reshape(3, 4)", "n.arange(12).reshape(1, 3, 4)", "n.zeros((0, 4))",
    "n.ones(2)", "n.array([1.5])", "n.ones((1, 4))", "n.ones((1, 1))", "F[:2, :2, 0]",
    "F[m] + F[m]", "F[r] + F[r]", "F[1]", "F[0, 0]",
)
KEYS = "m", "m, :", "m, ::", "r", "r, :", "r, :, :", "r, :, :, :", "z", "z, :"
VIEWS = "F", "G[:2, 1:, 2:6]", "G.transpose((2, 1, 0))[:2, :3, :4]"
def outcome(n, view, key, value):
    names = dict(
        n=n, G=n.arange(384).reshape(6, 8, 8).astype("{dtype}")[:, :4, :],
        m=n.array([[True, False, True], [False, True, True]]),
        r=n.array([True, False]), z=n.zeros((2, 3), dtype=bool),
    )
    names["F"] = n.arange(24).reshape(2, 3, 4).astype("{dtype}")
    names["V"] = eval(view, names)
    try:
        if "F" in value:
            names["F"] = names["V"]
        names["value"] = eval(value, names)
        if hasattr(names["value"], "astype"):
            names["value"] = names["value"].astype("{dtype}")
        exec(f"V[{{key}}] = value", names)
    except Exception:
        return None
    names["S"] = eval(f"V[{{key}}]", names)
    return [np.array(names[each]) for each in "FGVS"]
for view in VIEWS:
    for key in KEYS:
        for value in VALUES:
            made, wanted = (outcome(n, view, key, value) for n in (cn, np))
            assert (made is None) == (wanted is None), (view, key, value, made, wanted)
            for one, other in zip(made or (), wanted or (), strict=True):
                assert one.dtype == other.dtype, (view, key, value)
                assert np.array_equal(one, other), (view, key, value)
F, m = cn.zeros((60, 60, 9)), cn.arange(3600).reshape(60, 60) % 7 == 2
def run():
    F[m, :] = F[m, :][:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
    F[m] = F[m] + 1.0
run()
found = counts(run)
assert found["tasks_submitted"] == 0, found
"""
    )


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "complex128"])
def test_masks_along_dimensions_are_where_their_flags_are_set(dtype: str) -> None:
    run_here(f"""
def program(n):
    x = n.array((np.arange(600) * 7 % 251).astype({dtype!r}))
    A, T = x.reshape(30, 20), x.reshape(5, 6, 20)
    rows = n.array(np.arange(30) * 7 % 11 < 4)
    columns = n.array(np.arange(20) * 7 % 11 < 4)
    six, none = rows[:6], n.array(np.zeros(30, dtype=bool))
    one = n.array(np.arange(30) == 17)
    F = n.array(np.arange(120).reshape(6, 20) % 7 < 3)
    G = n.array(np.arange(30).reshape(5, 6) % 7 < 3)
    places = n.array(np.arange(int(rows.sum())) * 3 % 20)
    found = []
    for _ in range(3):
        found += [A[rows, 1], A[3, columns], A[:, columns], A[rows, 2:9], A.T[3, rows],
                  A[rows, places], A[one, places], A[2:][rows[2:], -1], A[none, 3],
                  T[:, six], T[1, six], T[1, :, columns], T[:, six, 3], T[2, six, 1:4],
                  T[:, :, columns], (A + A)[rows, 4], T[2, F], T[:, F],
                  T[G, 4], T[G, 2:4]]
        B, S = A.copy(), T.copy()
        B[rows, 1] = 5
        B[3, columns] = B[4, columns]
        B[rows, places] = A[rows, 3]
        B[none, 3] = 1
        B[:, columns] += B[:, columns]
        S[:, six, 3] = S[:, six, 4]
        S[1, :, columns] = 0
        S[2, F] = T[1, F]
        S[G, 4] += S[G, 5]
        found += [B, S]
    return found
here(program)
""")


def test_what_a_mask_selects_nothing_of_needs_no_task() -> None:
    run_here("""
def quick(n, a):
    if a.size <= 4:
        return n.sort(a)
    p = a[a.size // 2]
    return n.concatenate([quick(n, a[a < p]), a[a == p], quick(n, a[a > p])])
def program(n):
    found = []
    for kind in ("float64", "int64", "float32"):
        x = n.array((np.arange(90) * 37 % 61).astype(kind))
        none, rows = x[x > 100], x.reshape(30, 3)[x[:30] > 100]
        ordered = quick(n, x)
        found += [
            ordered, n.sort(none), n.argsort(none), n.cumsum(none), n.cumprod(none),
            n.unique(none), n.flatnonzero(none), n.argwhere(none), n.diff(none),
            *n.nonzero(none > 3), *n.where(rows > 3), *n.nonzero(rows),
            n.repeat(none, 2), n.tile(none, 3), n.append(none, x), n.isin(none, x),
            n.searchsorted(none, x), n.searchsorted(ordered, none),
            n.digitize(none, ordered), n.sort(rows, axis=0), n.argsort(rows, axis=1),
            n.cumsum(rows, axis=0), n.cumsum(rows), n.diff(rows), n.unique(rows),
            n.repeat(rows, 2, axis=0), n.take(rows, n.array([2, 0]), axis=1),
            none.argsort(), none.cumsum(), none.nonzero()[0],
        ]
    return found
here(program)
""")
