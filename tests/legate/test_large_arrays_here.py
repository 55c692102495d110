# SPDX-License-Identifier: Apache-2.0
"""Large arrays live in the process where the program waits for results, and only there.

Programs run in workers, see ``test_small_arrays.py``; some need a new one.
"""

from __future__ import annotations

import pytest
from test_small_arrays import HALVED, run_begun, run_fresh, run_here

SOLVE = """
def solve(n, reads=12, size=300):
    a = n.sqrt(n.arange(float(size))[:, None] + n.arange(size))
    a = a + size * n.eye(size)
    x = n.zeros((size, size))
    p = n.ones((size, size))
    found = []
    for k in range(reads):
        q = a * p + p[0]
        step = 1.0 / float(q.max())
        x[1:] += step * q[:-1]
        p = n.maximum(q * step, x)
        found.append(float(x.min()))
    return [x, p, *found]
"""


@pytest.mark.parametrize("cpus", [1, 2])
def test_loop_that_waits_is_no_task(cpus: int) -> None:
    run_here(
        SOLVE
        + """
def program(n):
    return solve(n)
program(cn), program(cn)
found = counts(lambda: program(cn))
assert found["tasks_submitted"] == found["failures"] == 0, found
assert found["ran_in_process"] == found["groups"] > 0, found
agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_arrays_come_and_go(cpus: int) -> None:
    """Legate's tasks and NumPy see what was computed here, and the other way round."""
    run_here(
        HALVED
        + """
def program(n):
    x = n.arange(90000.0)
    found = [float((x * 2.0).sum() % 7.0)]
    for k in range(20):
        x = x * 0.5 + k
        x[k : k + 3] = -0.0
        found.append(float(x.max()))
        if k % 6 == 5:
            x = n.sort(x)
            found.append(float(x[4]))
        if k % 5 == 4:
            x = halved(n, x)
        if k % 7 == 6:
            found.append(np.asarray(x).copy())
            x[7:80000] -= 1.0
    return [x, *found]
before = native.num_given_away()
agree(program)
assert native.num_given_away() > before
assert legate_diffuse.stats()["ran_in_process"] > 0
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


def test_arrays_of_a_megabyte_stay_where_they_are() -> None:
    """What other arrays have been through before does not matter."""
    run_fresh(
        """
def program(n):
    x = n.arange(90000.0) / 8.0
    b = x > 9.0
    a = x.reshape(300, 300) + 1.0
    found = [float(x.sum()), float(x.max()), x[3] > 2.0, a[3, 4], b.all(), ~b]
    z = x + 1
    z[b] = 0
    z[3] = 9
    found += [np.asarray(x + 1).copy(), x * True, z, float(z.min()), a[4][5]]
    z[x > 7] = 5.0
    return [*found, z, x, a.sum(axis=0), a.mean(axis=1)]
from legate_diffuse.interpose.window import window
program(cn)
window.submitter.small._patience = 1 << 20
program(cn), program(cn)
found = counts(lambda: program(cn))
assert found["tasks_submitted"] == found["failures"] == 0, found
agree(program)
"""
    )


def test_elements_that_are_read_bring_their_array() -> None:
    run_fresh(
        """
def program(n):
    x = n.arange(90000.0) * 0.5
    for k in range(300):
        x = x * 0.5 + k
    for k in range(300):
        last = x[k] * 2.0
    return [last, x]
program(cn)
found = counts(lambda: program(cn))
assert found["ran_in_process"] > 500 > 50 > found["tasks_submitted"] > 0, found
agree(program)
"""
    )


def test_what_was_lent_is_not_kept() -> None:
    run_fresh(
        """
x = cn.arange(90000.0) * 0.5
for k in range(300):
    x = x * 0.5 + k
for _ in range(50):
    np.asarray(x)
root = x._thunk.base._view.root
assert len(root.lent) <= 2, len(root.lent)
"""
    )


def test_arrays_that_go_again_and_again_stay() -> None:
    run_here(
        """
def program(n):
    x = n.arange(90000.0)
    found = []
    for k in range(60):
        x = x * 0.5 + k
        found.append(float(x.max()))
        x = n.sort(x)
    return [x, *found]
program(cn)
before = native.num_given_away()
agree(program)
assert native.num_given_away() - before <= 1, native.num_given_away() - before
"""
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_what_is_no_loop_is_numpys_on_few_processors(cpus: int) -> None:
    run_fresh(
        """
def program(n):
    x = (n.arange(1100000.0) * 7919.0) % 1299709.0
    order = n.argsort(x)
    y = n.sort(x) + n.take(x, order)
    return [y, order, n.argmin(y), n.histogram(y, 10)[0], n.searchsorted(y, x[:9])]
program(cn)
found = counts(lambda: program(cn))
# all tasks are fused ones
assert found["tasks_submitted"] == found["groups"] - found["ran_in_process"], found
assert found["ran_in_process"] >= 5 > found["tasks_submitted"], found
agree(program)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
        LEGATE_DIFFUSE_SYNC_COMPILE="1",
    )


def test_nothing_is_large_without_a_read() -> None:
    run_here(
        """
def program(n):
    x = n.arange(90000.0)
    for k in range(300):
        x = x * 0.5 + k
    return [x]
found = counts(lambda: program(cn))
assert found["ran_in_process"] == 0 < found["tasks_submitted"], found
agree(program)
"""
    )


def test_memory_is_limited() -> None:
    """Arrays beyond the limit in all are Legate's."""
    run_fresh(
        """
from legate_diffuse.launch import room
room._MOST_IN_ALL = 3 * 720000
def program(n):
    xs = [n.arange(90000.0) + k for k in range(12)]
    found = []
    for k in range(12):
        found += [float(x.max()) for x in xs]
        xs = [x * 0.5 + k for x in xs]
        assert native.small_array_bytes() <= 3 * 720000
    return [*xs, *found]
agree(program)
assert legate_diffuse.stats()["ran_in_process"] > 0
"""
    )


def test_failing_launch_runs_the_original_tasks() -> None:
    done = run_begun(
        """
def program(n):
    x = n.arange(90000.0)
    found = []
    for k in range(8):
        x = x * 0.5 + k
        found.append(float(x.max()))
    return [x, *found]
expected = program(np)
def fail(*arguments):
    raise RuntimeError("refused")
class Native:
    def __getattr__(self, name):
        return fail if name == "run_program" else getattr(native, name)
window.submitter.native = Native()
for one, other in zip(program(cn), expected, strict=True):
    np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
assert legate_diffuse.stats()["failures"] > 0
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("so they run unfused") == 1, done.stderr


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32"])
def test_narrow_results_are_computed_once(dtype: str) -> None:
    """More elements than operations at once have, in fewer bytes than small arrays."""
    run_here(
        f"""
def program(n):
    x = n.array((np.arange(60000) % 251).reshape(240, 250).astype({dtype!r}))
    return [n.flip(x, 0), n.sort(x, axis=1), n.concatenate((x, x[:9]))]
program(cn)
found = counts(lambda: program(cn))
assert found["tasks_submitted"] == found["failures"] == 0, found
# the array may be a copy, and so may what is shown of it
assert 3 <= found["ran_in_process"] <= 5, found
agree(program)
"""
    )


LOOPS = (
    "n.outer(u, v) + A",
    "A - n.eye(300)",
    "n.identity(300) * A",
    "n.meshgrid(u, v)[1] * A",
    "n.nan_to_num(A) + A",
    "n.clip(A, 0.25, 0.5) * 2.0",
    "n.tril(A, 3) + A",
    "n.diff(A) * 2.0",
)


@pytest.mark.parametrize("statement", LOOPS)
def test_loops_on_many_elements_are_fused(statement: str) -> None:
    """Where one more operation follows, what they make is never stored."""
    run_here(
        f"""
def program(n):
    A = n.array(np.arange(90000.0).reshape(300, 300) / 90000)
    u, v = n.array(np.arange(300.0)), n.array(np.arange(300.0) - 7)
    # the elements of all are here then
    A @ A
    return [{statement}]
def run():
    found = program(cn)
    float(found[0][1, 1])
run(), run()
found = counts(run)
assert found["temporaries_removed_bytes"] > 700_000, found
assert found["failures"] == 0, found
agree(program)
"""
    )


def test_loop_that_waits_for_products_is_no_task() -> None:
    """Legate has the result of the whole loop at first."""
    run_fresh(
        """
def program(n):
    x = n.array(np.arange(64.0 * 256 * 30).reshape(30, 64, 256) / 1e6)
    w = n.array(np.arange(256.0 * 1024).reshape(256, 1024) % 7 / 100)
    h, found = n.zeros((64, 256)), n.zeros((30, 64, 256))
    for t in range(30):
        z = n.floor(x[t] @ w) + n.floor(h @ w)
        h = n.minimum(z[:, :256] * 0.5, z[:, 256:512]) - z[:, 768:] % 3.0
        h = n.floor(h) / 4
        found[t] = h
    return [h, found]
program(cn), program(cn)
found = counts(lambda: float(program(cn)[0][0, 0]))
assert found["tasks_submitted"] <= 5, found
assert found["ran_in_process"] > 80 and found["failures"] == 0, found
for one, other in zip(program(cn), program(np), strict=True):
    np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-6)
"""
    )


def test_products_let_what_is_pending_wait() -> None:
    run_here(
        """
def program(n):
    x, y = (n.array(np.arange(90000.0).reshape(300, 300) % k) for k in (5, 7))
    z = x @ y
    a = x + 1.0
    b = y @ x
    c = a * 2.0 - y
    y[3] = 5.0
    return [z, b, c]
def flushes():
    return sum(legate_diffuse.stats()["flushes"].values())
program(cn)
before = flushes()
found = program(cn)
# of what waited before, and of what is changed
assert flushes() - before <= 2, legate_diffuse.stats()["flushes"]
del found
agree(program)
"""
    )


def test_contractions_are_those_of_numpy() -> None:
    run_here(
        """
EXPRESSIONS = [
    "ijk,kl->ijl", "ijk,kl", "ijk,lk->lij", "bij,bjk->bik", "bhqd,bhkd->bhqk",
    "ij,ij->i", "ij,jk->", "ij,kl->ikjl", "ij,jk->ik", "ijk,jil->kl", "ij,j->i",
    "ijk,ik->ij", "ij,jk->i", " ij , jk -> ki", "iij,jk->ik", "b...d,bd->b...",
]
def operand(n, names, k):
    extents = {"b": 3, "h": 4, "q": 17, "d": 20, "i": 18, "j": 18, "k": 16, "l": 19}
    shape = [extents[name] for name in names.strip()]
    return n.array((np.arange(float(np.prod(shape))) * k % 11 - 4).reshape(shape))
def outcome(n, expression):
    names = expression.partition("->")[0].replace("...", "h").split(",")
    given = [operand(n, each, 3 + k) for k, each in enumerate(names)]
    try:
        return np.asarray(n.einsum(expression, *given))
    except (ValueError, NotImplementedError, TypeError) as error:
        return type(error).__name__
before = legate_diffuse.stats()["ran_in_process"]
agreeing = 0
for expression in EXPRESSIONS:
    one, other = outcome(cn, expression), outcome(np, expression)
    if isinstance(one, str):
        continue
    assert one.shape == other.shape and one.dtype == other.dtype, expression
    np.testing.assert_array_equal(one, other, err_msg=expression)
    agreeing += 1
assert agreeing >= 13, agreeing
assert legate_diffuse.stats()["ran_in_process"] - before >= agreeing
""",
        fuses=False,
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_places_of_equal_elements_are_in_order(dtype: str) -> None:
    run_here(
        f"""
many = np.random.default_rng(7)
def differs(x):
    found = np.asarray(cn.argsort(cn.array(x)))
    return not np.array_equal(found, np.argsort(x, kind="stable"))
x = many.random(70000).astype({dtype!r})
few, zeros = x.copy(), x.copy()
few[many.integers(0, 70000, 900)] = few[many.integers(0, 70000, 900)]
zeros[::97], zeros[5::89] = 0.0, -0.0
before = legate_diffuse.stats()
assert not any(map(differs, (x, few, zeros, np.floor(x * 90), np.zeros_like(x))))
after = legate_diffuse.stats()
assert after["ran_in_process"] - before["ran_in_process"] >= 5
assert after["tasks_submitted"] == before["tasks_submitted"]
""",
        fuses=False,
    )


def test_masks_of_rows_need_no_task() -> None:
    run_here(
        """
def program(n):
    x, y = n.array(np.arange(90000.0).reshape(300, 300) % 83), n.arange(300.0) % 7
    w, found = n.zeros(300), []
    for k in range(8):
        rows = y * (k + 1) < n.floor(x[k] / 9) + 6
        w = w + (x[rows] * y[rows][:, None]).sum(axis=0) % 11.0
        found += [x[:, w < 5.0 + k], x[y > 2.0 + k % 3]]
    return [w, *found]
program(cn), program(cn)
found = counts(lambda: float(program(cn)[0][0]))
assert found["tasks_submitted"] == found["failures"] == 0, found
agree(program)
"""
    )


def test_zeros_come_when_somebody_looks() -> None:
    """The memory is that of arrays that are gone."""
    run_here(
        """
def program(n):
    x = n.arange(90000.0)
    for _ in range(4):
        float((x * 3.0 + 1.0)[5])
    made = [n.zeros((300, 300)) for _ in range(9)]
    made[1][3] = x[:300]
    made[2][:] = x.reshape(300, 300)
    made[3][:, 5] += 1.0
    made[4] += made[2]
    made[5][7, 7] = 1.0
    made[6][made[2] > 70000.0] = 3.0
    made[7][0] = 4.0
    others = [made[7].reshape(90000), n.zeros((300, 300)).reshape(90000)]
    others += [made[8].T.copy(), made[0] @ made[2]]
    others += [n.sort(n.zeros(90000)), n.zeros(90000)[5:9], n.zeros(90000, int) + 1]
    others += [n.array(n.zeros(90000, complex).tolist()[:3])]
    others += [n.zeros(90000, "float32")]
    return [*made, *others]
program(cn), program(cn)
found = counts(lambda: float(program(cn)[1][3, 3]))
assert found["tasks_submitted"] == found["fills_seen"] == 0, found
agree(program)
"""
    )


def test_grids() -> None:
    run_here(
        """
def program(n):
    y, x = n.mgrid[0:300, 1:38.5:0.125]
    return [x * y, n.mgrid[0:4, 0:5] * 2]
agree(program)
"""
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_what_numpy_has_is_written_here(cpus: int) -> None:
    """NumPy sees what operations write, and they see what NumPy writes."""
    run_fresh(
        """
x = cn.arange(200000.0) * 0.5
y = cn.ones(200000)
for k in range(8):
    x = x * 0.5 + y
    float(x.max())
seen = np.asarray(x)
wanted = seen.copy()
def step():
    global wanted
    x[1:] += y[1:] * 2.0
    cn.multiply(x, 0.5, out=x)
    x[3] = 7
    x[x > 5.0] = 4
    wanted[1:] += 2.0
    wanted *= 0.5
    wanted[3] = 7.0
    wanted[wanted > 5.0] = 4.0
    np.testing.assert_array_equal(seen, wanted)
    seen[5:9] = wanted[5:9] = -1.0
    assert float(x[6]) == -1.0 and float((x + y).min()) == wanted.min() + 1.0
step(), step()
found = counts(lambda: [step() for _ in range(5)])
assert found["tasks_submitted"] == found["failures"] == 0 < found["groups"], found
del seen
z = x * 2.0
x += 1.0
np.testing.assert_array_equal(z, wanted * 2.0)
np.testing.assert_array_equal(x, wanted + 1.0)
""",
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )
