# SPDX-License-Identifier: Apache-2.0
"""Windows that come again run in one native call, and give what they gave before.

Programs run in workers, see ``test_small_arrays.py``; some need a new one.
"""

from __future__ import annotations

import pytest
from test_small_arrays import HALVED, run_begun, run_fresh, run_here

SIZE = (
    HALVED
    + """
size = 60000
"""
)

# each reads something in every step, and changes something in the window between
STEPS = {
    "other constants": """
        y = x * (0.5 + k) - 1.0 / (1 + k)
        found.append(float(y.max()))
        x -= found[-1] * 1e-6
""",
    "an int, a bool and a NumPy scalar": """
        y = x * [2, True, np.float32(0.5), np.float64(-0.0)][k % 4] + k
        found.append(float(y.min()))
""",
    "other slices": """
        x[k : k + 50000] += 0.5
        found.append(float((x[2 * k :] * 2.0).max()))
""",
    "arrays that stay": """
        y = x * 0.5 + k
        if k % 3 == 1:
            kept.append(y)
        found.append(float((y - 1.0).max()))
        del y
""",
    "another type": """
        z = x.astype([np.float64, np.float32, np.int64][k // 2 % 3])
        found.append(float((z + z).max()))
""",
    "other shapes": """
        z = x[: 50000 + 10 * (k // 3)] * 2.0
        found.append(float((z + z).max()))
""",
    "what NumPy has": """
        x += 0.25
        found.append(float((x * 2.0).max()))
        if k % 4 == 2:
            held = np.asarray(x)
            if k > 6:
                held[5] = 1e6 + k
        if k % 4 == 3:
            held = None
""",
    "what a task has": """
        x += 0.25
        found.append(float((x * 2.0).max()))
        if k % 5 == 4:
            x = halved(n, x)
""",
    "fills": """
        z = n.full(size, 0.5 + k // 4)
        z[10:20] = k
        found.append(float((x * z).max()))
""",
    "NaN, infinities and zeros": """
        x[7] = [np.nan, np.inf, -np.inf, -0.0][k % 4]
        y = x * 0.5
        found += [float(y[7]), bool((y == 0.0).any()), float((y[8:] * 2.0).max())]
""",
    "copies that are not made": """
        old = x.copy()
        x[1:-1] = old[:-2] * 0.5 + old[2:] * 0.25
        if k % 5 == 3:
            kept.append(old)
        del old
        found.append(float(x.max()))
""",
    "selections": """
        m = x > 20.0 + k % 3
        x[m] = x[m] * 0.5 + k
        x[~m] += 1.0
        found += [float(x.max()), bool(m.any())]
""",
    "what was there and is written in vain": """
        z = n.zeros(size)
        z[5] = float(x[k])
        z[:] = x * 2.0
        found.append(float((x + k).max()))
        if k % 3 == 2:
            kept.append(z)
        del z
""",
    "the same array twice": """
        x += x
        x[1:] -= x[:-1] * 0.25
        found.append(float((x - x).min()))
        x *= 0.01
""",
    "sums and means": """
        y = (x - x.mean()) ** 2
        found.append(float(y.max()) > 0.0)
""",
}


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_steps_give_what_numpy_gives(step: str, cpus: int) -> None:
    run_here(
        SIZE
        + f"""
def program(n):
    x = n.arange(float(size)) % 97.0
    found, kept, held = [], [], None
    for k in range(16):{step}
    return [x, *found, *kept]
agree(program)
agree(program)
found = counts(lambda: program(cn))
assert found["failures"] == 0, found
assert found["windows_repeated"] > 0 or found["ran_in_process"] == 0, found
assert found["windows_repeated"] > 0 or {cpus} > 1, found
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


def test_all_but_the_first_steps_are_repeated() -> None:
    run_fresh(
        SIZE
        + """
def program(n, steps):
    x = n.arange(float(size))
    found = []
    for k in range(steps):
        x *= 0.5
        found.append(float((x + k).max()))
    return [x, *found]
program(cn, 5)
found = counts(lambda: program(cn, 20))
# the first window of a call makes the array as well
assert found["windows_repeated"] == 19, found
assert found["plans_made"] == found["tasks_submitted"] == 0, found
# in each of them the sum is never stored
assert found["temporaries_removed"] == 20, found
agree(lambda n: program(n, 20))
"""
    )


def test_windows_that_take_turns_are_repeated() -> None:
    """They have one key; their arrays have other extents, types alike."""
    run_fresh(
        SIZE
        + """
def program(n, rounds, extents):
    arrays = [n.arange(float(size + 8 * extent)) % 89.0 for extent in range(extents)]
    found = []
    for k in range(rounds):
        for x in arrays:
            x *= 0.5
            found.append(float((x + k).max()))
    return [*arrays, *found]
# as the layers of a network, or the levels of a multigrid
for extents in (3, 8):
    program(cn, 6, extents)
    found = counts(lambda: program(cn, 9, extents))
    # the first ones of a call make the arrays as well
    assert found["windows_repeated"] >= 7 * extents, (extents, found)
    assert found["plans_made"] == 0, found
    agree(lambda n: program(n, 9, extents))
# more than are remembered
program(cn, 6, 11)
agree(lambda n: program(n, 9, 11))
# with other scalars, parts and arrays of their own
def layers(n, rounds):
    x = [n.arange(float(size * m)).reshape(m, size) % 7.0 for m in (1, 2, 3)]
    kept = []
    for k in range(rounds):
        for layer, a in enumerate(x):
            a[:, k + 1 :] = a[:, : -k - 1] * (1.0 + k) - a[:, k + 1 :] / (1.0 + layer)
            kept.append(float(a.max()))
            if k == 4:
                kept.append(a - 1.0)
    return [*x, *kept]
for _ in range(3):
    agree(lambda n: layers(n, 7))
"""
    )


def test_windows_of_selections_are_repeated() -> None:
    run_fresh(
        SIZE
        + """
def program(n, steps):
    x = n.arange(float(size)) % 89.0
    found = []
    for k in range(steps):
        m = x > 20.0
        x[m] = x[m] * 0.5 + k
        found.append(bool(m.any()))
    return [x, *found]
program(cn, 9)
found = counts(lambda: program(cn, 20))
assert found["windows_repeated"] >= 18, found
# masks, elements and selections are not made
assert found["temporaries_removed"] > 60, found
agree(lambda n: program(n, 20))
"""
    )


def test_full_windows_are_repeated() -> None:
    """What came behind one, and ended it, begins the next one."""
    run_fresh(
        SIZE
        + """
def program(n, steps):
    x = n.arange(float(size)) % 89.0
    y = n.zeros(size)
    for k in range(steps):
        y[1:-1] = 0.25 * (x[:-2] + x[1:-1] + x[2:]) + k % 3
        x[1:-1] = 0.5 * (y[:-2] + y[2:])
    return [x, y]
program(cn, 150)
found = counts(lambda: program(cn, 300))
assert found["windows_repeated"] > 10 and found["tasks_submitted"] == 0, found
agree(lambda n: program(n, 300))
# what is read in between comes with all that ended a window
def read(n, steps):
    x = n.arange(float(size)) % 89.0
    found = []
    for k in range(steps):
        y = x * 0.25 + k
        x[1:] = y[:-1]
        if k % 31 == 30:
            found.append(float(x[k]))
    return [x, y, *found]
for _ in range(2):
    agree(lambda n: read(n, 300))
"""
    )


def test_whoever_looks_on_sees_every_window() -> None:
    done = run_begun(
        SIZE
        + """
def program(n):
    x = n.arange(float(size))
    return [float((x * k).max()) for k in range(9)]
agree(program)
assert legate_diffuse.stats()["windows_repeated"] == 0, legate_diffuse.stats()
""",
        LEGATE_DIFFUSE_LOG="window",
    )
    assert done.returncode == 0, done.stderr


def test_forgotten_windows_are_planned() -> None:
    run_begun(
        SIZE
        + """
from legate_diffuse.interpose.window import window
def program(n):
    x = n.arange(float(size))
    return [float((x * k - 1.0).max()) for k in range(9)]
agree(program)
window.submitter.planner.clear()
found = counts(lambda: agree(program))
assert found["plans_made"] > 0 and found["windows_repeated"] > 0, found
"""
    )
