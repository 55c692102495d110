# SPDX-License-Identifier: Apache-2.0
"""Operations that wait in the window are recorded by native code as Python does it."""

from __future__ import annotations

import pytest
from test_small_arrays import run_begun, run_fresh, run_here

# Arrays of several elements are not small: what is done to them waits.
WAIT = {"LEGATE_DIFFUSE_SMALL_BYTES": "8"}

PROGRAM = """
def program(n, steps=4):
    x, y = n.arange(40) * 0.025, n.arange(40) * 0.05 - 1.0
    i, j = n.arange(40), n.ones((6, 7))
    k, m = n.full(40, 3), n.zeros(40)
    for step in range(steps):
        m[3:] = n.maximum(x[3:], x[:-3] + (step % 5 + 1.5))
        z = -(x * y + 1.0) / (2.0 - 0.5 * y)
        z += x
        z *= 0.5
        n.add(x, z, out=y)
        y[1:-1] = (z[2:] - 2 * z[1:-1] + z[:-2]) * (step + 0.25)
        x = n.where(y < 0.0, y, n.sqrt(abs(z)))
        x = n.where(k > 2, x, 1.5)
        i = i * 3 - k % 4
        k = i // 2 + step
        i[5:20] = k[7:22]
        y = y + i
        m = m + y
        j[2] = j[3] * 0.5
        j[1:, 2:] = j[:-1, :-2] - 1.0
        j = j + j[0] * 2.0
        j[:, 1] = 0.25
        j[0, 0] = 0.5 * (j[1, 0] + j[0, 1])
        j[-1, -1] = j[-2, -1]
        j[2, 3] = step * 0.5
        i[step] = k[-1]
        j[2:4] = y[:7]
        j[:, 5:] = j[1, 2]
        before = j.copy()
        j[:, 1:] = before[:, :-1] + y[:6].copy()[:, None]
    return x, y, z, i, k, m, j
"""

# All numbers are whole, and of few digits, so sums are exact.
SUMS = """
def program(n, steps=4):
    x, y = n.arange(40) % 7.0, n.arange(40) % 5.0 - 2.0
    j = (n.arange(42) % 11.0).reshape(6, 7)
    for step in range(steps):
        s = (x * y).sum()
        x = (x + n.floor(s / 4.0)) % 9.0
        y = (y * x.max() - x[3]) % 5.0 - 2.0
        j = (j + j.sum(axis=1)[0]) % 7.0
        v = j.dot(x[:7]) + x.dot(y)
        w = j.T @ v + j.max(axis=0)
        q = j.dot(j.T)
        x[:6] = (q[0] - v) % 8.0
        x[6:13] = w % 8.0
        y = (y * (s - x[0])) % 5.0 - 2.0
    return x, y, j, s, v, w, q
"""

# Windows end anywhere in the loop, also between a sum and the fill before it.
LONG = """
def program(n):
    found = []
    for lead in range(5):
        x = n.arange(40) % 7.0
        for step in range(lead):
            x = x + 1.0
        for step in range(60):
            x = (x + x.sum()) % 9.0
        found.append(x[0])
        float(x[0])
    return found
"""


def test_no_function_of_python_submits_them() -> None:
    run_fresh(
        PROGRAM
        + """
import sys
called = set()
def note(frame, event, argument):
    if event == "call":
        called.add(frame.f_code.co_name)

x = cn.linspace(0.0, 1.0, 40)
y, z, s = x * 2.0, cn.zeros(40), (x * x).sum()
def lines():
    global y
    for step in range(4):
        y = -(cn.maximum(y, x * step) + 0.25) / (x + 2.0)
        y += x / s
        z[3:] = x[:-3]
        z[1:] = y[:-1]
        z[0] = 0.5 * (y[1] + x[-1])
        A[1:] = A[:2].copy()
        A[:, 2:4] = x[5]

A = cn.zeros((3, 40))
lines(), lines()
before = legate_diffuse.stats()["tasks_seen"]
y * x
sys.setprofile(note)
lines()
sys.setprofile(None)
assert legate_diffuse.stats()["tasks_seen"] - before == 1 + 4 * 19
# Python says where views lie between landmarks, finds constants, and ends
# windows
others = {"operator", "call", "binary", "make", "new", "write", "get", "set_", "_find",
          "submit", "take", "_record", "_examine", "recognize", "materialize", "add",
          "_describe"}
expected = {"lines", "_locate", "end_where_full"}
assert expected <= called and not called & others, called
""",
        **WAIT,
    )


def test_windows_have_the_keys_that_python_writes() -> None:
    run_fresh(
        PROGRAM
        + """
import legate_diffuse.launch.pending as windows
close, seen = windows.close, []
def compare(state, *arguments):
    again = windows.record(state.operations, state.single_below, state.carried)
    for name in ("key", "facts", "operations"):
        assert getattr(again, name) == getattr(state, name), name
    for name in ("views", "roots", "shapes"):
        assert list(getattr(again, name)) == list(getattr(state, name)), name
    seen.append(len(state.operations))
    return close(state, *arguments)

windows.close = compare
program(cn)
a = cn.zeros((40, 50))
for k in range(3, 30):
    a[k:, k] = a[k - 1 : -1, k + 1] + k
    a[5:k, 2] += a[k, 5:k]
    a[7, :k] = cn.arange(k)
float(a[3, 3])
windows.close = close
assert max(seen) > 60, seen
""",
        **WAIT,
    )


def test_they_are_recorded_as_by_python() -> None:
    program = "".join(
        lines
        + """
found = counts(lambda: [np.asarray(each) for each in program(cn)])
assert found["failures"] == 0 < found["groups"]
print({name: found[name] for name in ("tasks_seen", "fills_seen")})
agree(program)
"""
        for lines in (PROGRAM, SUMS, LONG)
    )
    logs = []
    for limit in ("0", "8"):
        done = run_begun(
            program,
            LEGATE_DIFFUSE_SMALL_BYTES=limit,
            LEGATE_DIFFUSE_DUMP="decisions",
            LEGATE_DIFFUSE_SYNC_COMPILE="1",
        )
        assert done.returncode == 0, done.stderr
        logs.append((done.stdout, done.stderr))
    assert logs[0] == logs[1]


def test_a_constant_that_is_larger_than_arrays_here_changes() -> None:
    run_here(
        """
def program(n):
    x = n.array([1.5 + 2.0j])
    n.add(x, x, out=x)
    return [x]

agree(program)
""",
        # one operation is all that there is
        fuses=False,
        fresh=True,
        **WAIT,
    )


def test_finalizers_that_read_while_they_are_recorded() -> None:
    run_fresh(
        PROGRAM
        + """
class Cycle:
    total = 0
    def __init__(self, array):
        self.me, self.array = self, array
    def __del__(self):
        Cycle.total += 1
        assert float(self.array.sum()) == 7.0

def with_cycles(n):
    for step in range(20):
        if n is cn:
            Cycle(n.ones(7))
        found = program(n, 2)
    return found

gc.set_threshold(23, 2, 2)
agree(with_cycles)
gc.set_threshold(700, 10, 10)
gc.collect()
assert Cycle.total == 20, Cycle.total
""",
        **WAIT,
    )


def test_what_is_left_to_python() -> None:
    run_fresh(
        """
def program(n):
    x = n.linspace(0.0, 1.0, 40)
    y, i = x * 2.0, n.arange(40)
    z = y + 1.0
    # overlapping, broadcast, of other types, to themselves
    z[1:] = z[:-1] + 0.5
    z[:-1] = z[1:]
    z[:] = z
    x[2:5] = y[:1]
    i = i * 2
    w = i + 0.5
    w = w * i
    n.multiply(x[:-1], 2.0, out=x[1:])
    y[...] = 3.0
    a = n.ones((5, 8)) * x[:8] + n.ones((5, 1))
    a[2:4] = x[8:16]
    a[None][0, 1] = x[16:24]
    b = (i > 10) & (x < 0.5)
    b[3:9] = b[10:16]
    x[b] = 0.125
    x[3:7] = 5
    a = n.copy(a) + n.array(a * 2.0) + a[:1].copy() + n.array(a[1])
    return x, y, z, w, i, a, b, n.copy(b), n.array(i[3:7])

for _ in range(3):
    agree(program)
x = cn.ones(40) * 2.0
x.flags.writeable = False
y = x + 1.0
for change in ("x += y", "x[2:] = y[2:]", "cn.add(x, y, out=x)"):
    try:
        exec(change)
    except ValueError:
        pass
    else:
        raise AssertionError(change)
np.testing.assert_array_equal(np.asarray(x), 2.0)
""",
        **WAIT,
    )


@pytest.mark.parametrize("read", ["part.tolist()", "str(part)", "n.array(part)"])
def test_what_comes_after_a_window_is_waited_for(read: str) -> None:
    # of a full window that came before, the operation that follows waits behind it
    run_fresh(
        f"""
seen = 0
parts = [cn.arange(7.0) for _ in range(400)]
y = cn.zeros(400_000)
for step, part in enumerate(parts, 1):
    y = y + 1.0
    part[:] = y[:7]
    if window.state.rest:
        seen += 1
        found = (lambda n, part: {read})(cn, part)
        expected = (lambda n, part: {read})(np, np.full(7, float(step)))
        assert np.array_equal(found, expected), (found, expected)
assert seen
"""
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_waits_is_clipped_in_the_window(dtype: str) -> None:
    """As one operation, whose bounds are of the type of the elements."""
    run_here(
        f"""
def program(n):
    x = (n.arange(60000) % 401 - 200).astype("{dtype}") * 0.25
    x[3], x[4], x[5], x[6] = n.nan, -n.inf, n.inf, -0.0
    found = []
    for bounds in ((-1, 1), (-0.0, 0.0), (0.0, -0.0), (0, n.float32(2.5)), (-3, 7)):
        found += [(x * 0.5).clip(*bounds), n.clip(x + x, *bounds), x.clip(*bounds)]
    return [*found, x]
run = lambda: float(program(cn)[0][9])
run(), run()
found = counts(run)
assert found["groups"] <= 2 and found["tasks_submitted"] == 0, found
assert found["failures"] == 0, found
for made, wanted in zip(program(cn), program(np)):
    made = np.asarray(made)
    assert made.dtype == wanted.dtype and np.array_equal(made, wanted, equal_nan=True)
"""
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_numbers_are_put_in_the_window_where_masks_say(dtype: str) -> None:
    """Into what waits, whether the mask waits or is here; others end no window."""
    run_here(
        f"""
def program(n, extent=40000):
    x = (n.arange(extent) % 401 - 200).astype("{dtype}")
    here, shape = n.arange(extent) % 7 == 3, (extent // 100, 100)
    found = []
    for number in (0, 1, 2.75, -1, True, n.float32(0.5), n.array(3)):
        y = x + x
        y[here] = number
        found.append(y | y if y.dtype == bool else y * 2)
        z = (x + x).reshape(shape)
        z[z > 100] = number
        z[1:, 2:][(x.reshape(shape) == 5)[1:, 2:]] = number
        found.append(z)
    return [*found, x]
def run():
    y = cn.arange(40000) * 0.5
    y[mask] = 0
    y = y * 2
    y[mask] = 1.5
    return float(y[7])
mask = cn.arange(40000) % 3 == 0
run(), run()
found = counts(run)
assert found["plan_hits"] == 1 and found["tasks_submitted"] == 0, found
for extent in (200, 40000, 60000):
    for made, wanted in zip(program(cn, extent), program(np, extent), strict=True):
        made = np.asarray(made)
        assert made.dtype == wanted.dtype and np.array_equal(made, wanted)
"""
    )
