# SPDX-License-Identifier: Apache-2.0
"""Products of small arrays run as they come, with the bits of their tasks' loops."""

from __future__ import annotations

from test_small_arrays import run_begun, run_fresh

FACTORS = """
    def factors(n, dtype):
        whole = n.arange(1.0, 601.0).reshape(20, 30)
        if dtype[0] == "c":
            whole = whole + 1j
        # products of integers that are exact
        whole = (whole % 7.0 if dtype[0] == "f" else whole).astype(dtype)
        a, v, w = whole[:12, :12], whole[0], whole[:, 3]
        # of so many elements that NumPy multiplies what lies across
        large = (n.arange(9000.0).reshape(100, 90) % 7.0).astype(dtype)
        return [
            (v, v), (v[1:], v[:-1]), (w, whole[:, 4]), (v[:1], v[1:2]), (v[:0], w[:0]),
            (whole, v), (w, whole), (whole.T, w), (v, whole.T), (a, a[2]), (a[:, 1], a),
            (whole[2:19, 5:], v[5:]), (whole[:7], v), (whole[:, :1], v[:1]),
            (whole[:, :0], v[:0]), (v, w), (whole, w),
            (large[:, 2], large[:, 3:]), (large.T, large[:, 4]), (large.T, large[4]),
            (large[5], large.T), (large, large[6]), (large[7], large),
        ]
""".replace("\n    ", "\n")


def test_products_give_what_numpy_gives() -> None:
    run_fresh(
        FACTORS
        + """
def outcome(product, a, b):
    try:
        found = np.asarray(product(a, b))
    except ValueError:
        return "refused"
    return found.dtype, found.shape, found.tolist()
forms = [lambda a, b: a.dot(b), lambda a, b: a @ b]
for dtype in ("float64", "float32", "complex128", "complex64"):
    for form in range(3):
        for _ in range(3):
            for x, y in zip(factors(cn, dtype), factors(np, dtype), strict=True):
                one, other = (
                    outcome((*forms, n.dot)[form], *each)
                    for n, each in ((cn, x), (np, y))
                )
                shapes = [each.shape for each in y]
                assert one == other, (dtype, form, shapes, one, other)
assert legate_diffuse.stats()["failures"] == 0
"""
    )


def test_other_operands_are_left_to_the_original() -> None:
    run_fresh("""
def program(n):
    x, i, a = n.arange(12.0), n.arange(12), n.arange(144.0).reshape(12, 12)
    result = n.zeros(12)
    for _ in range(3):
        a.dot(x, out=result)
        n.dot(a, result, out=x)
        x /= 1e5
        x = n.floor(x)
    return [x, i.dot(i), i @ i, x.dot(i), x.astype("float32") @ i, x.dot(2.0), a @ a,
            n.dot([1.0, 2.0], [3.0, 4.0]), n.dot(2.0, x), n.dot(x[1], a),
            x.dot([1.0] * 12), result]
agree(program)
""")


def test_products_have_the_bits_of_loops_that_wait() -> None:
    program = """
rng = np.random.default_rng(1)
A, u = rng.normal(size=(30, 33)), rng.normal(size=33)
a, v = cn.array(A), cn.array(u)
for _ in range(4):
    w = a @ v
    found = [w, w @ a, a.T @ w, v.dot(v), v[1:].dot(v[:-1])]
    for each in found:
        print(np.asarray(each).tobytes().hex())
assert legate_diffuse.stats()["groups"] > 0
"""
    here = run_begun(program)
    apart = run_begun(program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert here.returncode == apart.returncode == 0, here.stderr + apart.stderr
    assert here.stdout == apart.stdout
    # of five products two are the same
    assert len(set(here.stdout.splitlines())) == 4


def test_matrices_that_blas_multiplies_with_vectors() -> None:
    run_fresh("""
from threadpoolctl import threadpool_info
def programs(n, dtype):
    values = np.arange(7200) % 13
    # whole numbers, whose products are exact
    values = values + 1j * (np.arange(7200) % 5 - 2) if dtype[0] == "c" else values
    a = n.array(values.reshape(90, 80).astype(dtype))
    x, y = a[3], a[:, 2]
    yield from (a @ x, y @ a, a.T @ y, x @ a.T, a.dot(x), n.dot(y, a))
    part = a[5:, 7:70]
    yield from (part @ a[1, 7:70], a[5:, 3] @ part, part.T @ a[5:, 3], part @ part[0])
    b = a.reshape(60, 120)
    yield from (b[:, 20:] @ b[0, :100], b.T[3:] @ b[:, 1], a[:40] @ (x * 0.5))
    cube = a.reshape(9, 10, 80)
    yield from (cube[1:, 2] @ x, cube[:, :, 3] @ cube[2, :, 5], a[:, :30] @ a[:30, 1])
    c = a[:, 3:50]
    yield from (a.T @ c, c.T @ a, a @ a.T, a.T @ a, c @ c[:47].T)
    yield from (n.dot(cube[:, 1], a.T), a[:30, :20] @ c[:20, 2:30])
    yield from (a[4:6].T @ c[:2], c[:, 1:3] @ c[7:9], a.dot(b[:40].T[:80]))
def threads():
    return [each["num_threads"] for each in threadpool_info()]
before = threads()
for dtype in ("float64", "float32", "complex128", "complex64"):
    for _ in range(2):
        tasks = legate_diffuse.stats()["tasks_submitted"]
        found = list(programs(cn, dtype))
    assert legate_diffuse.stats()["tasks_submitted"] == tasks
    for one, wanted in zip(found, programs(np, dtype), strict=True):
        assert one.shape == wanted.shape and one.dtype == wanted.dtype
        # sums of small integers are exact, and of their halves
        np.testing.assert_array_equal(one, wanted)
assert threads() == before
a, x = cn.full((50, 60), cn.nan), cn.ones(60)
a[1:] = 1.0
assert np.isnan((a @ x)[0]) and float((a @ x)[1]) == 60.0
""")


def test_products_of_matrices_need_no_python() -> None:
    run_fresh("""
import sys
def factors(n, dtype, rows, columns):
    count = rows * columns
    values = np.arange(count) % 7 - 3 + 1j * (np.arange(count) % 5 - 2)
    values = values if dtype[0] == "c" else values.real
    a = n.array(values.reshape(rows, columns).astype(dtype))
    b = a.copy()  # many products with one's own transpose are NumPy's
    yield from ((a, a[0]), (a[:, 1], a), (a.T, a[:, 0]), (a[0], a.T), (a, b.T[:, 1:]))
    yield from ((a[1:, 1:].T, b[1:]), (a[:40, :1], a[:1, :40]), (a[1], a[0]))
    yield from ((a[:, 1:], a[0, 1:]), (a[:2, :2], a[0, :2]), (a[1:3, 1:3], a[:2, :2].T))
    # others lie between their elements, so BLAS does not take them
    part = values.reshape(rows, columns)[:60, :60]
    c = n.array(np.stack((part, part - 1, part), 2).astype(dtype))
    yield from ((c[:, :, 1], c[0, :, 0]), (c[:, 0, 2], c[:, :, 1]))
    yield c[:, :, 0].T, c[:, 1, 1]
def program(n, dtype, rows, columns):
    return [x @ y for x, y in factors(n, dtype, rows, columns)]
for dtype in ("float64", "float32", "complex128", "complex64"):
    for shape in ((3, 3), (4, 3), (3, 9), (7, 7), (15, 20), (70, 60), (150, 140)):
        wanted = program(np, dtype, *shape)
        for _ in range(3):
            found = program(cn, dtype, *shape)
        called = set()
        sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
        program(cn, dtype, *shape)
        sys.setprofile(None)
        assert called.isdisjoint({"product", "_submit", "limited", "_contract"}), shape
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_array_equal(np.asarray(one), other)
assert legate_diffuse.stats()["failures"] == 0
""")


def test_no_product_is_a_task() -> None:
    run_fresh("""
a, v = cn.arange(900.0).reshape(30, 30) / 900.0, cn.ones(30)
for _ in range(3):
    v = a.dot(v)
    v = v @ a / float(v.dot(v))
before = legate_diffuse.stats()
for _ in range(5):
    v = a.dot(v)
    v = v @ a / float(v.dot(v))
counts = {name: value - before[name] for name, value in legate_diffuse.stats().items()
          if type(value) is int}
assert counts["tasks_seen"] == 5 * 7 and counts["fills_seen"] == 5 * 3, counts
assert counts["tasks_submitted"] == 0 and counts["groups"] == 5 * 7, counts
import sys
called = set()
sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
v = a.dot(v)
v = v @ a / float(v.dot(v))
sys.setprofile(None)
assert not called & {"_submit", "submit", "_contract"}, called
""")


def test_products_of_matrices_that_wait_have_the_bits_of_the_originals() -> None:
    program = """
def outcome(product, a, b):
    try:
        found = np.asarray(product(a, b))
    except (TypeError, ValueError):
        return "refused"
    return found.dtype.name, found.shape, found.tobytes().hex()

special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3.0, -2.5, 1e30]
rng = np.random.default_rng(1)
for dtype in ("float64", "float32", "complex128", "int64"):
    column, row = np.array([special]).T, np.array([special[::-1]])
    if dtype == "int64":
        column, row = column[6:8], row[:, 1:3]
    square = rng.normal(size=(9, 9)) * 4.0
    if dtype[0] == "c":
        # the contraction of a column and a row is a task
        column, row, square = column[6:] + 1j, row[:, :3] - 2j, square - 1j
    column, row, square = [
        cn.array(each.astype(dtype)) for each in (column, row, square)
    ]
    pairs = [
        (square, square), (square[1:6], square), (square.T, square[:, 2:4]),
        (column, row), (row.T, column.T), (square, square[:, 3:4]),
        (square.T, square[:, :1]),
        (square[2:3], square), (square[2:3], square.T), (square[:1], square[:, :1]),
        (square[:1, :1], square[:1, :1]), (square[:, :1], square[:1, :1]),
        (square[:, :1], square[:1]), (square[:, :0], square[:0]), (square[:0], square),
        (square[:, :4], square[:5]), (square[:, :1], square[:2]),
    ]
    for product in (lambda a, b: a.dot(b), lambda a, b: a @ b, cn.dot):
        for _ in range(2):
            for a, b in pairs:
                print(dtype, a.shape, b.shape, outcome(product, a, b))
assert legate_diffuse.stats()["groups"] > 0
"""
    wait = run_begun(program, LEGATE_DIFFUSE_SMALL_BYTES="8")
    originals = run_begun(program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (wait.returncode, wait.stderr) == (originals.returncode, "") == (0, "")
    assert "refused" in wait.stdout and len(wait.stdout.splitlines()) == 4 * 3 * 2 * 17
    for one, other in zip(
        wait.stdout.splitlines(), originals.stdout.splitlines(), strict=True
    ):
        assert one == other


def test_a_column_times_a_row_is_fused() -> None:
    run_fresh(
        """
def program(n):
    x = n.linspace(0.5, 1.5, 40)
    a, b = x[:, None] * n.ones((1, 40)), x[3:30, None]
    for _ in range(4):
        a = n.maximum(a[:27] - 0.25 * b.dot(x[None]), 0.125)[:, :27]
        c = a.dot(b)
        a = a.dot(c.dot(x[None]) * 0.001)
        b = c * 0.125
    return [a, b]
for one, other in zip(program(cn), program(np), strict=True):
    np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12)
program(cn)
# for each round a product of matrices, and what is before and after it
found = counts(lambda: float(program(cn)[0][0, 0]))
assert found["tasks_submitted"] - found["fills_submitted"] <= 4 + 5, found
assert found["failures"] == 0
""",
        LEGATE_DIFFUSE_SMALL_BYTES="8",
    )


def test_products_of_stacks_are_those_of_numpy_without_tasks() -> None:
    run_fresh("""
def stacks(n, dtype):
    whole = (n.arange(720.0) % 7.0).astype(dtype).reshape(4, 5, 6, 6)
    return [
        (whole, whole[0, 0]), (whole, whole[0]), (whole[:, 0], whole[:, 1]),
        (whole[:, :, :1], whole[1, 1]), (whole[:, :, :, :3], whole[1, 1, :3, :2]),
        (whole[1:, 1:3], whole[2, 2].T), (whole[0, 0], whole), (whole, whole[3, 3, 3]),
        (whole[2, 2, 2], whole[0]), (whole[:0], whole[0, 0]),
        (whole[0, 0:1], whole[0, 0]), (whole, whole[1:2]), (whole, whole[0, :, 0]),
        (whole[:, :, :, :0], whole[0, 0, :0]),
    ]
def outcome(a, b):
    try:
        found = np.asarray(a @ b)
    except ValueError:
        return "refused"
    return found.dtype, found.shape, found.tolist()
for dtype in ("float64", "float32", "complex128"):
    for x, y in zip(stacks(cn, dtype), stacks(np, dtype), strict=True):
        one, other = outcome(*x), outcome(*y)
        assert one == other, (dtype, [each.shape for each in y], one, other)

big = np.arange(90.0 * 70 * 1 * 64).reshape(90, 70, 1, 64) % 5
def program(n):
    a, c = n.array(big), n.array(big[0, :64, 0])
    a[:] = n.reshape(n.reshape(a, (90, 70, 1, 64)) @ c, (90, 70, 1, 64))
    return [a, n.matmul(a, c)]
program(cn)
found = counts(lambda: program(cn))
assert found["tasks_submitted"] == found["failures"] == 0, found
assert found["ran_in_process"] >= 2, found
agree(program)
""")


def test_factors_of_two_types() -> None:
    """Sums of whole numbers are the same in any order."""
    run_fresh(
        """
from comparison import same, unfused

TYPES = "bool", "uint8", "int64", "float32", "float64", "complex64", "complex128"

def products(n, one, other):
    a = (n.arange(90.0).reshape(9, 10) % 7 - 2 * (one[0] in "fc")).astype(one)
    b = (n.arange(90.0).reshape(10, 9) % 5).astype(other)
    found = []
    for x, y in ((a, b), (a, b[:, 3]), (a[2], b), (a[2], b[:, 3]), (b.T, a.T[:, 2])):
        found += [x @ y, x.dot(y), n.dot(x, y)]
    stack = a.reshape(3, 3, 10)
    for y in (b, b[:, 3], b[:, :1]):
        found += [stack @ y, stack.dot(y), n.dot(stack, y)]
    found += [a @ b.reshape(3, 10, 3), stack @ b.reshape(3, 10, 3)]
    return [n.asarray(each) for each in found]

for one in TYPES:
    for other in TYPES[3:]:
        for _ in range(3):
            found = products(cn, one, other)
            for made, wanted in zip(found, products(np, one, other), strict=True):
                same(np.asarray(made), np.asarray(wanted))
        with unfused():
            original = products(cn, one, other)
        for made, wanted in zip(found, original, strict=True):
            same(np.asarray(made), np.asarray(wanted))
picture, weights = cn.ones((20, 20, 3), dtype="uint8"), cn.array([0.5, 0.25, 0.25])
before = window.counters.tasks_submitted
assert float((picture @ weights).sum()) == 400.0
assert window.counters.tasks_submitted == before
"""
    )


def test_a_column_times_a_row_has_the_zeros_of_a_product() -> None:
    run_fresh(
        """
for dtype in ("float64", "float32"):
    for n in (3, 40, 300):
        x = (np.arange(float(n)) - n // 2).astype(dtype)
        column, row = x[:, None], x[None, ::-1].copy()
        a, b = cn.array(column), cn.array(row)
        for made in (a @ b, a.dot(b), cn.dot(a, b), cn.matmul(a, b)):
            wanted = np.dot(column, row)
            assert made.dtype == wanted.dtype and made.shape == wanted.shape
            assert np.asarray(made).tobytes() == wanted.tobytes(), (dtype, n)
assert legate_diffuse.stats()["failures"] == 0
assert window.counters.tasks_submitted == 0
"""
    )


def test_large_matrices_that_are_here_go_straight_to_blas() -> None:
    run_fresh(
        """
import sys
values = (np.arange(1300.0 * 1700.0) % 13).reshape(1300, 1700)
a = cn.array(values)
for i in range(40):  # it comes after a few
    float(a[i, i])
def program(n, a):
    return [a[:, i] @ a[:, i:] for i in range(3)] + [a[2:] @ a[i] for i in range(3)]
found, wanted = program(cn, a), program(np, values)
called = set()
sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
program(cn, a)
sys.setprofile(None)
assert called.isdisjoint({"product", "given", "bring", "limited"}), called
for one, other in zip(found, wanted, strict=True):
    assert (np.asarray(one) == other).all()
a += 1.0  # waits, and is multiplied all the same
assert (np.asarray(a @ a[0]) == (values + 1.0) @ (values + 1.0)[0]).all()
""",
        fuses=False,
    )
