# SPDX-License-Identifier: Apache-2.0
"""Parts of small arrays are read and written as they come, also through masks.

What is behind an array, its thunk and its store, is made when somebody asks for it.
"""

from __future__ import annotations

from test_small_arrays import run_fresh, run_here
from tiers import examples

# Each statement is run on arrays of both packages, several times, and all are compared.
STATEMENTS = """
import itertools
import warnings
warnings.simplefilter("ignore")
def start(n):
    x = n.arange(24.0) - 7.0
    a = n.arange(30.0).reshape(5, 6)
    i = n.arange(24)
    return {"n": n, "x": x, "y": x[2:14], "a": a, "t": a.T, "i": i, "m": x > 2.0,
            "k": a > 11.0, "z": n.zeros(24), "s": n.ones((24,), "float32"),
            "o": a[2:3], "e": x[:0], "b": i > 40}
def run(statements):
    for _ in range(3):
        one, other = start(cn), start(np)
        for statement in statements:
            outcomes = []
            for names in (one, other):
                try:
                    exec(statement, names)
                    outcomes.append(None)
                except (ValueError, IndexError, TypeError) as error:
                    outcomes.append(type(error))
            assert outcomes[0] == outcomes[1], (statement, outcomes)
            for name in other:
                if name in ("n", "__builtins__"):
                    continue
                left, right = np.asarray(one[name]), np.asarray(other[name])
                assert left.dtype == right.dtype, (statement, name)
                assert left.shape == right.shape, (statement, name)
                assert left.tolist() == right.tolist(), (statement, name, left, right)
    assert legate_diffuse.stats()["failures"] == 0
"""


def test_parts_that_are_read() -> None:
    run_here(
        STATEMENTS
        + """
keys = [":", "1:", ":-1", "2:5", "-4:-1", "3:100", "None", "None, 1:", ":, None", "5:2",
        "-1", "7", "...", "1:3, None", "::1", "2:7:1, None"]
run([f"r{j} = x[{key}] * 2.0; q{j} = y[{key}]" for j, key in enumerate(keys)])
keys = [":, 1:", "1:-1, 1:-1", "2", "-1, :", ":, 3", "None, 2, 1:", "1:4", "..., 0",
        ":, None, 2:", "1:2, 1:2", "3:3", "2, 3"]
run([f"r{j} = a[{key}]; q{j} = t[{key}] + 1.0" for j, key in enumerate(keys)])
run(["p = x[1:][2:]", "q = p[None][:, 3:]", "p[1:3] = -1.0", "q += 1.0", "r = q[0]",
     "r[:2] *= 3.0", "x[4:9] = r[:5]", "c = p.copy()"])
"""
    )


def test_parts_that_are_written() -> None:
    run_here(
        STATEMENTS
        + """
run(["x[1:-1] = z[1:-1]", "x[:] = y[3]", "x[2:5] = 7.0", "x[2:5] = 7", "i[3:6] = 2",
     "i[3:6] = 2.5", "y[:] = z[:12]", "y[1:] = y[:-1]", "x[:-1] = x[1:]", "x[:] = x",
     "x[3:15] = y", "a[1:3] = a[2]", "a[:, 2] = a[0, :5]", "a[1:, 1:] = 0.5",
     "a[:, :] = t[:, 2].sum()", "t[:2] = a[3:5, :5]", "a[0] = a[:, :1]", "a[2] = x[:6]",
     "x[:6] = a[2:3]", "s[1:] = x[1:]", "x[4:] = s[4:]",
     "a[:2] = 1.0 + a[2:4]", "e[:] = 3.0", "x[3:3] = 1.0", "x[:3] = x[9]", "o[:] = 2.0",
     "x[0:1] = y[4:5]", "a[..., 1] = 9.0", "x[:, None] = 1.0", "x[1:2] = -0.0",
     "k[1:3] = True", "m[:4] = m[4:8]", "x[1:5:1] = y[::1][3:7]",
     "i[1:5] = i[7:11]", "z[:] = i"])
"""
    )


def test_what_masks_select() -> None:
    run_here(
        STATEMENTS
        + """
run(["c = x[m]", "d = x[b]", "x[m] = -0.5 * x[m]", "x[m] += 1.0", "x[b] = 3.0",
     "x[m] = 2.0", "x[m] = 2", "i[m] = 4", "i[m] = i[m] - 2", "a[k] = a[k] * 2.0",
     "f = a[k]", "t[k.T] = 1.0", "g = t[k.T]", "y[m[2:14]] = 0.0", "h = y[m[2:14]]",
     "z[x > 1.0] = x[x > 1.0]", "m[m] = False", "x[:5][b[:5]] = 1.0", "k[a > 20.0] = 1",
     "s[i > 3] = 1.5", "s[i > 3] = s[i > 3] * 2", "x[i == 5] = y[:1]", "j = x[i == 5]",
     "x[i > 3] = y[:2]", "v = e[m[:0]]"])
"""
    )


def test_no_part_needs_a_task() -> None:
    run_here("""
def program(n):
    x, a = n.linspace(0.0, 1.0, 30), n.zeros((6, 8))
    for k in range(4):
        a[1:-1, 1:-1] = a[1:-1, 2:] * 0.5 + x[:6, None][1:-1]
        a[k] = x[k : k + 8]
        x[1:] -= 0.25 * x[:-1]
        m = x > 0.3
        x[m] = -0.5 * x[m]
        x[~m if n is np else n.logical_not(m)] += 1.0
        a[:, 0] = 0.5
    return [x, a, x[m], a[a > 2.0], a[2:4][1]]
here(program)
""")


def test_new_arrays() -> None:
    run_here("""
def outcome(call):
    try:
        found = np.asarray(call())
    except (ValueError, TypeError, OverflowError, ZeroDivisionError) as error:
        return type(error)
    return found.dtype, found.shape, found.tobytes()
import warnings
warnings.simplefilter("ignore")
for text in ("arange(7)", "arange(7.0)", "arange(-3, 4)", "arange(0.1, 5.0)",
             "arange(3, 9.5)", "arange(5, 2)", "arange(0)",
             "arange(5, dtype='float64')",
             "arange(1.0, 6.0, dtype=float)", "arange(5, dtype='int64')",
             "arange(4, dtype='int32')", "arange(4.0, dtype='float32')",
             "arange(2, 9, 3)", "arange(2.5, 9, dtype=np.int64)", "arange(1)",
             "arange(2**53, 2**53 + 4)", "arange(True)", "arange(stop=5, start=2)",
             "linspace(0.0, 1.0, 11)", "linspace(1, 4, 7)", "linspace(2.0, 2.0, 5)",
             "linspace(-3.0, 7.7, 100)", "linspace(0.0, 1.0, 2)", "linspace(0.0, 9.0)",
             "linspace(1.0, 0.0, 5, endpoint=False)", "linspace(0, 1, num=4)",
             "linspace(0.0, 1.0, -2)", "linspace(0.3, 0.1, 9, dtype='float32')",
             "array([1.0, -0.0, 3.0])", "array([1, 2])", "array((1, 2.5))",
             "array([4.0])", "array([1.0, float('nan')])", "array([True, False])",
             "array([[1.0, 2.0], [3.0, 4.0]])", "array([1, 2], dtype='float32')",
             "array([])", "zeros(3, 'int64')", "ones((2, 2), dtype='float32')",
             "zeros(3, dtype='no type')", "full(4, 2.5)", "full((2, 3), 7)"):
    for _ in range(3):
        one, other = (outcome(lambda: eval(f"n.{text}", {"n": n, "np": np}))
                      for n in (cn, np))
        assert one == other, (text, one, other)
# they are new each time
for make in (lambda: cn.array([1.0, 2.0]), lambda: cn.arange(4), lambda: cn.ones(3)):
    x, y = make(), make()
    x += 1
    assert x.tolist() != y.tolist()
""")


def test_what_is_behind_an_array_is_made_when_somebody_asks() -> None:
    run_fresh("""
import copy, pickle, weakref
large = cn.ones(100_000)
x = cn.arange(8.0)
for _ in range(3):
    # native code learns it
    (x + 1.0)[2:5]
for _ in range(3):
    x = cn.arange(8.0)
    y = x + 1.0
    assert "_thunk" not in vars(y)
    p = y[2:5]
    # the whole array has a store now, of which the part shows elements
    assert "_thunk" in vars(y) and "_thunk" not in vars(p)
    y._thunk.base
    p *= 2.0
    z = p._thunk.base
    assert z._view.root is y._thunk.base._view.root
    assert p._thunk is p._thunk and "_thunk" in vars(p)
    # Legate has it from then on
    assert np.asarray(y).tolist() == [1.0, 2.0, 6.0, 8.0, 10.0, 6.0, 7.0, 8.0]
    for same in (copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))):
        other = same(x * 2.0)
        assert np.asarray(other).tolist() == [2.0 * k for k in range(8)]
    # small ones may be used again
    dead = weakref.ref(large + 1.0)
    assert dead() is None
    w = x + 0.0
    assert w.flags["W"] and w._writeable and w._legate_data is None
    w.flags["W"] = False
    try:
        w += 1.0
    except ValueError:
        pass
    assert np.asarray(w).tolist() == list(range(8)) and (x + 0.0).flags["W"]
    v = x * 1.0
    assert v.__legate_data_interface__["version"] == 1
    assert np.asarray(v).tolist() == np.asarray(x).tolist()
try:
    object.__new__(cn.ndarray)._thunk
except AttributeError:
    pass
else:
    raise AssertionError("a thunk of nothing")
assert cn.ndarray._thunk is not None
# memory that nobody needs is given back
del v, w, y, p, z, other
gc.collect()
x = cn.arange(8.0)
before = native.small_array_bytes()
made = [x * k for k in range(50)]
grown = native.small_array_bytes() - before
# single elements that were kept to be used again may have gone
assert 49 * 64 < grown <= 50 * 64
parts = [each[1:] for each in made]
assert native.small_array_bytes() - before == grown
del made
assert native.small_array_bytes() - before == grown
del parts
assert native.small_array_bytes() <= before
""")


def test_finalizers_that_use_arrays_come_in_between() -> None:
    run_here("""
import sys
class Uses:
    def __init__(self):
        self.me = self
    def __del__(self):
        for array in kept:
            array._thunk
        total[0] += float(kept[-1].sum())
kept, total = [cn.ones(4)], [0.0]
gc.set_threshold(1, 1, 1)
for k in range(300):
    Uses()
    x = cn.arange(6.0) + k
    kept.append(x)
    y = x[1:] * 2.0
    kept.append(y)
    y[1:3] = 1.0
    x[x > 2.0] = y[:1][0]
    z = x.reshape(2, 3).sum(axis=0)
    kept[:] = kept[-6:]
    right = np.arange(6.0) + k
    high = (right[1:] * 2.0)
    high[1:3] = 1.0
    right[right > 2.0] = high[0]
    assert x.tolist() == right.tolist() and y.tolist() == high.tolist()
    assert z.tolist() == right.reshape(2, 3).sum(axis=0).tolist()
assert total[0] > 0.0
""")


def test_parts_have_views_when_somebody_asks() -> None:
    """What an index was, counts, whatever becomes of the objects in it."""
    run_here(
        STATEMENTS
        + """
run(["b2 = n.array([2, 5]); p = x[b2[0]:b2[1]]; b2[:] = 9; p += 1.0; q = p.copy()",
     "p = a[n.int64(1), n.int32(2):]; p *= 2.0; r = p[n.int8(-1):]",
     "p = a[1:, None, ..., 2]; q = p[..., 0]; q += 3.0; r = p.sum(axis=0)",
     "p = x[3:9]; q = n.sort(p); p[:] = q[::1]", "f = x[i[4]]; g = a[i[1], i[2]]",
     "a[i[1], i[2]] = 5.0; x[i[3]] = a[i[0], i[1]]; a[i[2]:i[4], 1] = -1.0",
     "p = a[2]; q = p[1:4]; r = q[::1]; a[2] = 8.0; s2 = q + r; d = p.reshape(2, 3)"])
p = cn.arange(10.0)[2:5]
assert (p.shape, p.dtype, p.ndim, len(p)) == ((3,), np.float64, 1, 3)
for key in ((0, 0), 10, -11, slice(None, None, -1), "a", (..., ...)):
    outcomes = []
    for each in (cn.arange(10.0), np.arange(10.0)):
        try:
            outcomes.append(np.asarray(each[key]).tolist())
        except (IndexError, TypeError, ValueError, NotImplementedError):
            outcomes.append("refused")
    assert outcomes[0] in (outcomes[1], "refused"), (key, outcomes)
"""
    )


def test_parts_of_random_indices() -> None:
    run_here(
        """
import random
r = random.Random(5)
def part(extent):
    bound = lambda: r.choice([None, r.randrange(-extent - 2, extent + 3)])
    return r.choice([
        slice(bound(), bound()), slice(bound(), bound(), 1), None, ...,
        r.randrange(-extent, extent) if extent else slice(None),
    ])
for _ in range(PROGRAMS):
    shape = tuple(r.randrange(1, 6) for _ in range(r.randrange(1, 4)))
    base = np.arange(float(np.prod(shape))).reshape(shape)
    one, other = cn.array(base), base.copy()
    for _ in range(3):
        key = tuple(part(5) for _ in range(r.randrange(1, 4)))
        try:
            right = other[key]
        except IndexError:
            try:
                one[key]
            except (IndexError, ValueError):
                continue
            raise AssertionError((shape, key))
        if right.ndim > 4 or right.size == 0:
            continue
        found = one[key]
        if right.ndim == 0:
            np.testing.assert_array_equal(np.asarray(found), right)
            continue
        choice = r.randrange(4)
        if choice == 0:
            found += 1.0
            right += 1.0
        elif choice == 1:
            one[key] = 7.0
            other[key] = 7.0
        elif choice == 2 and right.ndim <= other.ndim:
            one[key] = found * 2.0
            other[key] = right * 2.0
        np.testing.assert_array_equal(np.asarray(found), right, str((shape, key)))
        one, other = found, right
""".replace("PROGRAMS", str(examples(1000, 5000)))
    )


def test_parts_without_elements() -> None:
    """They are arrays like others: no task, no plan, whatever comes of them later."""
    run_here(
        STATEMENTS
        + """
statements = ["d = x[5:5] @ y[:0]", "d = a[:3, :0] @ x[:0]", "d = a[:0, :3] @ x[:3]",
    "d = a[:2, :0] @ a[:0, :4]", "d = a[1, :0] @ a[:0, 2]", "d = a[2:2, -1] * 2",
    "d = x[9:3] * 2.0 - x[:0]", "d = a[2:2, 1:] + x[:5]",
    "x[4:4] = 3.0", "x[4:4] = y[7:7]", "x[4:4] += y[7:7]", "a[:, 6:] = a[:, :1]",
    "x[4:4] *= 2", "d = a[3:3].T", "d = a[:, 3:3][:, None]", "d = n.sqrt(x[:0])",
    "d = x[:0] < 1.0", "d = x[n.arange(0)]", "d = x[:0].sum()", "d = x[:0].prod()",
    "d = a[:0].sum(axis=0)", "d = n.concatenate((x[:0], x[:2]))", "d = x[:0].copy()",
    "d = x[7:7][None] + a[:, :0]", "d = n.maximum(i[3:1], 4)", "x[3:1] = i[:0]",
    "d = x[:0].max()"]
run(statements)
names = start(cn)
for round in range(3):
    before = legate_diffuse.stats()
    for statement in statements[:16]:
        exec(statement, names)
    after = legate_diffuse.stats()
assert after["tasks_submitted"] == before["tasks_submitted"]
assert after["plans_made"] == before["plans_made"]
# what Legate or another library gets of them
for each in (names["x"][3:3], names["x"][3:3] * 2.0, names["a"][:, :0]):
    made = cn.fft.fft(names["x"]) if each.size else each.__legate_data_interface__
    assert made is not None and each.shape == np.asarray(each).shape
"""
    )


def test_products_and_sums_of_one_element() -> None:
    run_here(
        STATEMENTS
        + """
run(["d = x[:1] @ y[1:2]", "d = a[:1, :3] @ x[:3]", "d = a[:3, :1] @ x[:1]",
     "d = x[:1] @ a[:1]", "d = a[:4, :4] @ a[1:, 2:]",
     "d = n.dot(a[:1, :1], a[:1, 2:])", "d = a[1:4, 2:5] @ x[:3]",
     "d = x[:3] @ a[1:4, 2:5]", "d = s[:3] @ s[:3]",
     "d = t[:2, :2] @ a[:2, :2].T",
     "d = x[:2].sum() + x[:1].sum()", "d = a[:1, :1].sum()",
     "d = x[3:4].max()", "d = x[3:4].prod()", "d = i[:1].sum()", "d = m[:1].sum()",
     "d = m[:1].any()", "d = s[:1].sum()", "d = a[2:3, 1:2] @ (x[:1] * 0.0)",
     "d = a[:2] @ a[:2]", "c = a[:3, :3] + 1j * t[:3, :3]", "d = c @ c", "d = c @ c[0]",
     "d = c[:, :1] @ c[1, :1]", "c = c.astype('complex64')", "d = c @ c[:, 1]"])
# the original multiplies: it adds nothing
assert np.signbit(np.asarray(cn.array([-0.0])[:1] @ cn.array([2.0])[:1]))
"""
    )


def test_integers_from_the_left_and_shifts_in_place() -> None:
    run_here(
        STATEMENTS
        + """
for dtype in ("uint8", "int8", "int32", "int64", "uint16", "bool"):
    for _ in range(3):
        for call in (lambda v: 15 & v, lambda v: 3 | v, lambda v: 5 ^ v):
            found, wanted = (call(n.array((np.arange(9) % 5).astype(dtype))[2:])
                             for n in (cn, np))
            found = np.asarray(found)
            assert found.dtype == wanted.dtype, (dtype, found.dtype, wanted.dtype)
            np.testing.assert_array_equal(found, wanted)
        if dtype == "bool":
            continue
        found, wanted = (n.array((np.arange(9) % 5).astype(dtype)) for n in (cn, np))
        for each in (found, wanted):
            each <<= 2
            each[3:] >>= 1
            part = each[4:6]
            part >>= each[:2] // 2
        np.testing.assert_array_equal(found, wanted)
before = legate_diffuse.stats()
byte, found = cn.array(np.arange(9, dtype="uint8")), []
for b in byte:
    value = 0xFF & b
    for _ in range(3):
        found.append(int(value & 1))
        value >>= 1
after = legate_diffuse.stats()
assert found == [b >> bit & 1 for b in range(9) for bit in range(3)]
assert after["tasks_submitted"] == before["tasks_submitted"]
"""
    )


def test_integers_of_arrays_and_of_all_types_as_places() -> None:
    """An array without dimensions as an index copies, as the original does."""
    run_here(
        STATEMENTS
        + """
run(["j = i[3]", "d = a[j].copy()", "a[j] = 5.0", "d = a[j, 1:3] + 0.0",
     "d = a[1:4, j] * 2.0", "d = a[j, j]", "a[1:3, j] = x[:2]", "a[j] += 1.0",
     "d = a[i[4]][None] + 0.0", "d = a[i[23]]", "d = a[-1:, -i[1]] + 0.0",
     "d = a[..., j] + 0.0", "d = a[None, j] + 0.0", "d = t[j] + 0.0"])
names = start(cn)
for _ in range(3):
    row = names["a"][names["i"][2]]
    row[:] = -1.0  # NumPy shows the array, cuPyNumeric copies it
    assert float(names["a"][2].sum()) == 87.0
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    for count in (0, 1, 5):
        places = (np.arange(count) * 3 % 5).astype(dtype)
        if dtype[0] == "i" and count:
            places[0] = -2
        for _ in range(3):
            for source in (np.arange(6.0), np.arange(30, dtype="int32").reshape(6, 5).T,
                           np.arange(6) > 2, np.arange(6) + 1j):
                found = cn.array(source)[cn.array(places)]
                assert found.dtype == source.dtype
                np.testing.assert_array_equal(found, source[places])
try:
    cn.arange(5.0)[cn.array(np.array([1, 7], "int32"))]
    raise SystemExit("a place outside was taken")
except IndexError:
    pass
for dtype in ("int8", "int64", "uint32"):
    for _ in range(3):
        for shape in ((6,), (6, 4)):
            places = np.array([4, 1, 4, 5], dtype)
            rows = np.arange(4.0 * np.prod(shape[1:])).reshape(4, *shape[1:])
            for value in (7.0, 3, True, np.float64(2.5), rows, rows[:1]):
                one, other = (n.array(np.zeros(shape)) for n in (cn, np))
                one[cn.array(places)] = cn.array(value) if np.ndim(value) else value
                other[places] = value
                np.testing.assert_array_equal(one, other)
                one[cn.array(places)] += 1.0
                other[places] += 1.0
                one.T[..., 1:][0 if one.ndim == 2 else ...] = 0.0
                other.T[..., 1:][0 if one.ndim == 2 else ...] = 0.0
                np.testing.assert_array_equal(one, other)
empty = cn.arange(5.0)
empty[cn.arange(0)] = 3.0
empty[cn.arange(0)] = cn.arange(0.0)
assert empty.tolist() == [0, 1, 2, 3, 4]
before = legate_diffuse.stats()["tasks_submitted"]
table, which = cn.arange(60.0).reshape(6, 10), cn.array(np.array([3, 1, 4], "int32"))
total = [float(table[which[k]].sum()) for k in range(3)]
assert total == [345.0, 145.0, 445.0]
assert legate_diffuse.stats()["tasks_submitted"] == before
"""
    )


def test_masks_of_all_shapes() -> None:
    run_here(
        STATEMENTS
        + """
rng = np.random.default_rng(3)
for dtype in ("float64", "float32", "int8", "complex128", "bool", "int64"):
    for shape in ((40,), (5, 8), (2, 3, 7)):
        source = (rng.random(shape) * 9).astype(dtype)
        for share in (0.0, 0.1, 0.5, 1.0):
            flags = rng.random(shape) < share
            for _ in range(3):
                a, m = cn.array(source), cn.array(flags)
                for one, other, which, chosen in (
                        (a, source, m, flags), (a[..., ::1][..., 1:], source[..., 1:],
                        m[..., 1:], flags[..., 1:]), (a.T, source.T, m.T, flags.T)):
                    np.testing.assert_array_equal(one[which], other[chosen])
"""
    )


def test_flips() -> None:
    run_here(
        STATEMENTS
        + """
run(["d = n.flip(x)", "d = n.flip(a)", "d = n.flip(a, 0)", "d = n.flip(a, -1)",
     "d = n.flip(t, 1)", "d = n.flipud(a)", "d = n.fliplr(t)", "d = n.flip(x[3:9])",
     "d = n.flip(m)", "d = n.flip(s[:1])", "d = n.flip(a[1:3, 2:5])", "d = n.flip(i)",
     "y[:] = n.flip(y)", "x[:5] += 2.0 * n.flip(x[:5])", "d = n.flip(a[None], (0, 2))"])
before = legate_diffuse.stats()["tasks_submitted"]
names = start(cn)
for k in range(1, 20):
    cn.flip(names["x"][:k])
assert legate_diffuse.stats()["tasks_submitted"] == before
import sys
called = set()
sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
cn.flip(names["x"])
sys.setprofile(None)
assert "run" not in called, called
"""
    )


def test_memory_that_is_lent_stays() -> None:
    """NumPy may read it while a signal handler gives its array away."""
    run_here(
        """
from legate_diffuse import _native
content = np.arange(100000.0)
for leave in (_native.SmallArray.drop, lambda array: array.put(bytes(800000))):
    array = _native.SmallArray(8, (100000,), content.tobytes())
    before = _native.small_array_bytes()
    lent = array.lend().view(float)
    leave(array)
    if not array.valid:
        others = [_native.SmallArray(8, (100000,), bytes(800000)) for _ in range(3)]
        np.testing.assert_array_equal(lent, content)
        assert _native.small_array_bytes() == before + 2 * 800000
    again = array.lend()
    del lent
    del again
x = cn.arange(100000.0) * 3.0 % 7.0
wanted = np.arange(100000.0) * 3.0 % 7.0
for _ in range(3):
    np.testing.assert_array_equal(cn.sort(x), np.sort(wanted))
    x += 1.0
    wanted += 1.0
    np.testing.assert_array_equal(x[x > 6.5], wanted[wanted > 6.5])
    np.testing.assert_array_equal(x[x > 60.5], wanted[wanted > 60.5])
""",
        fuses=False,
    )
