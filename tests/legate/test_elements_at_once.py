# SPDX-License-Identifier: Apache-2.0
"""Operators on small arrays go through no function of Python's.

New arrays of few elements are old ones that nobody holds any more.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_fresh

# Operations that ran before are known to native code.
BEGIN = """
import random, sys, time, weakref

def known(n):
    x = n.ones(8)
    for _ in range(3):
        y = x[3]
        y = -(y * x[2] + 1.0) / (2.0 - y) - y
        x[1] = y
        x[2] = 0.5
        float(abs(y)), bool(y < 2.0), n.sin(y), n.maximum(y, 1.0), n.array([1.0, 2.0])

known(cn)
"""


def test_no_function_of_python_runs() -> None:
    run_fresh(
        BEGIN
        + """
called = []
def note(frame, event, argument):
    if event == "call":
        called.append(frame.f_code.co_name)

x, y = cn.full(8, 0.5), cn.full(8, 1.5)
z = cn.full((3, 3), 1.0)[1, 1] * x[0]
def program():
    for i in range(1, 8):
        x[i] = x[i - 1] * 0.9 + y[i]
        m = 1.0 / (4.0 + x[i - 1]) - 2.0 * x[i]
        y[i] = -m
        if m < z and float(abs(m)) > 100.0:
            break
        cn.sin(m)
        cn.maximum(m, z)
        cn.array([1.0, 2.0]) * m
program()
sys.setprofile(note)
program()
sys.setprofile(None)
assert set(called) == {"program"}, called
"""
    )


def test_programs_of_elements() -> None:
    run_fresh(
        BEGIN
        + """
UNARY = (
    lambda n, a: -a,
    lambda n, a: abs(a),
    lambda n, a: n.sqrt(abs(a)),
    lambda n, a: +a,
)
BINARY = (
    lambda n, a, b: a + b,
    lambda n, a, b: a - b,
    lambda n, a, b: a * b,
    lambda n, a, b: n.copysign(a, b),
    lambda n, a, b: n.where(a < b, a, b) if hasattr(a, "shape") else a + b,
)

def program(n, seed):
    # the same one for both packages
    draw = random.Random(seed)
    arrays = [n.full(5, 0.5), n.full((3, 4), -1.5), n.arange(6), n.arange(7.0)]
    held = [n.full((), 1.25), arrays[0][1]]
    decided = []

    def operand():
        which = draw.randrange(8)
        if which == 0:
            return draw.choice((0.5, -0.0, 2, 3.75))
        if which == 1:
            return arrays[draw.randrange(4)]
        return draw.choice(held)

    for _ in range(60):
        what = draw.randrange(7)
        number = draw.randrange(4)
        array = arrays[number]
        key = tuple(draw.randrange(-extent, extent) for extent in array.shape)
        key = key[0] if len(key) == 1 else key
        if what == 0:
            held.append(array[key])
        elif what == 1:
            value = draw.choice(held) if number != 2 else draw.randrange(9)
            if getattr(value, "shape", ()) == () and (
                number == 2 or value.dtype == array.dtype
            ):
                array[key] = value
        elif what == 2:
            held.append(draw.choice(UNARY)(n, draw.choice(held)))
        elif what == 3:
            one = draw.choice(held)
            if one.shape == () and one.dtype == "float64":
                decided.append((bool(one < 0.5), float(one)))
        elif what == 4 and len(held) > 3:
            del held[draw.randrange(len(held))]
        else:
            one, other = draw.choice(held), operand()
            if draw.random() < 0.5:
                one, other = other, one
            if draw.randrange(4) < 3 or not hasattr(one, "shape"):
                try:
                    made = draw.choice(BINARY)(n, one, other)
                except ValueError:
                    continue
                if hasattr(made, "shape"):
                    held.append(made * 0.25)
    return [*arrays, *held], decided

for seed in range(400):
    with np.errstate(all="ignore"):
        (fused, one), (expected, other) = program(cn, seed), program(np, seed)
    assert repr(one) == repr(other), seed
    assert len(fused) == len(expected)
    for a, b in zip(fused, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape, (seed, a, b)
        np.testing.assert_array_equal(a, b, err_msg=str(seed))
"""
    )


def test_what_somebody_holds_stays_what_it_is() -> None:
    run_fresh(
        BEGIN
        + """
x = cn.array([float(i) for i in range(100)])
held = [x[i] for i in range(100)]
more = [-one for one in held]
pairs = [cn.array([float(i), -1.0]) for i in range(50)]
for i in range(100):
    x[i] = x[i] * 2.0
assert [float(one) for one in held] == list(range(100))
assert [float(one) for one in more] == [-i for i in range(100)]
assert [float(one[0]) for one in pairs] == list(range(50))

# arrays at addresses that others had
for i in range(1000):
    a = cn.full(5, float(i))
    assert float(a[2]) == i
    a = cn.array([float(i), 1.0, 2.0])
    a[1] = a[0]
    assert float(a[1]) == i
"""
    )


def test_new_arrays_have_no_past() -> None:
    run_fresh(
        BEGIN
        + """
x = cn.full(8, 3.0)

# attributes, which no other array has
for _ in range(40):
    y = x[1]
    assert not hasattr(y, "note")
    y.note = 1
    y = x[2] * 1.0
    assert not hasattr(y, "note")

# arrays that cannot be written to
for _ in range(40):
    y = x[1]
    assert y.flags.writeable
    y.flags.writeable = False
    y = x[1] + x[2]
    assert y.flags.writeable

# what Python has seen of them
shapes = []
for i in range(40):
    y = x[1] * 2.0
    shapes.append(y.shape)
    thunk = y._thunk
    del y
    z = x[1] * 3.0
    assert z._thunk is not thunk and float(z) == 9.0
assert set(shapes) == {()}

# others that know them
y = x[1] * 2.0
weak = weakref.ref(y)
del y
made = [x[1] * 5.0 for _ in range(40)]
assert all(weak() is not one for one in made)
assert weak() is None or float(weak()) == 6.0
"""
    )


def test_arrays_that_cannot_be_written_to() -> None:
    run_fresh(
        BEGIN
        + """
x, y = cn.full(8, 3.0), cn.full(8, 3.0)
x[1] = 2.0
x.flags.writeable = False
try:
    x[1] = 4.0
except ValueError as error:
    assert "read-only" in str(error) or "not writeable" in str(error), error
else:
    raise AssertionError
y[1] = 4.0
assert float(x[1]) == 2.0 and float(y[1]) == 4.0
"""
    )


@pytest.mark.parametrize("doctor", ["False", "True"])
def test_other_keys_and_values_are_left_to_the_original(doctor: str) -> None:
    run_fresh(
        BEGIN
        + f"""
from cupynumeric.settings import settings
def outcome(n, call):
    x, z = n.arange(6.0), n.full((2, 3), 1.0)
    try:
        found = call(n, x, z)
        return [np.asarray(each).tolist() for each in (found, x, z)]
    except Exception:
        return "refused"

def put(key, value):
    def call(n, x, z):
        x[key] = value
        return x
    return call

def delete(n, x, z):
    del x[0]

if {doctor}:
    settings.doctor = True
CALLS = (
    lambda n, x, z: x[np.int64(2)], lambda n, x, z: x[-6], lambda n, x, z: x[6],
    lambda n, x, z: x[-7], lambda n, x, z: z[1, 2], lambda n, x, z: z[-1, -3],
    lambda n, x, z: z[2, 0], lambda n, x, z: z[1], lambda n, x, z: x[()],
    lambda n, x, z: x[..., 1], lambda n, x, z: x[1:3], lambda n, x, z: x["a"],
    lambda n, x, z: z[0, 0, 0], lambda n, x, z: x[1] ** 2, lambda n, x, z: 2 ** x[1],
    lambda n, x, z: pow(x[2], 2), lambda n, x, z: x[1] // 0.3,
    lambda n, x, z: 7 % x[2], lambda n, x, z: x[1] == x[2], lambda n, x, z: x[1] != 3,
    lambda n, x, z: np.float64(2.5) * x[1], lambda n, x, z: x[1] * np.float64(2.5),
    lambda n, x, z: x[1] + np.arange(3.0),
    lambda n, x, z: x[1] + "a", lambda n, x, z: "a" * x[1], lambda n, x, z: x[1] - True,
    lambda n, x, z: x[1] + float("nan"), lambda n, x, z: x[1] * -0.0,
    lambda n, x, z: 1.0 / x[0] if n is cn else np.float64("inf"),
    lambda n, x, z: int(x[3]), lambda n, x, z: float(x), lambda n, x, z: bool(x),
    put(0, 2.5), put(-1, 3), put(9, 1.0), put(0, float("nan")),
    put((0, 0), 1.0), put(slice(0, 2), 4.0), delete,
)
for _ in range(3):
    for number, call in enumerate(CALLS):
        one, other = outcome(cn, call), outcome(np, call)
        assert repr(one) == repr(other), (number, one, other)
"""
    )


def test_lists_of_numbers() -> None:
    run_fresh(
        BEGIN
        + """
GIVEN = (
    [1.0, 2.0], [1, 2], (1, 2.5), [2**53 + 1, 1.0], [2**62, 1], [float("nan"), 1.0],
    [1, -0.0], [True, 1], [True, False], [1.0], [], [[1.0, 2.0], [3.0, 4.0]], 5.0,
    [1, 2, 2**70], [1.0, None], list(range(40)), [0.5] * 100,
)
for _ in range(3):
    for given in GIVEN:
        outcomes = []
        for n in (cn, np):
            try:
                made = np.asarray(n.array(given))
                outcomes.append((made.dtype, made.tolist()))
            except Exception as error:
                outcomes.append("refused")
        if "refused" not in outcomes and outcomes[1][0] != object:
            assert repr(outcomes[0]) == repr(outcomes[1]), given
"""
    )


def test_methods_that_somebody_assigns_are_called() -> None:
    run_fresh(
        BEGIN
        + """
x = cn.full(8, 3.0)
y = x[1]
class Other(cn.ndarray):
    def __mul__(self, other):
        return "other's"
    __rmul__ = __mul__

other = Other.__new__(Other)
assert y * other == other * y == "other's" and 2.0 * other == "other's"

names = ("__mul__", "__getitem__", "__neg__")
own = {name: getattr(cn.ndarray, name) for name in names}
try:
    cn.ndarray.__mul__ = lambda self, other: "mine"
    cn.ndarray.__getitem__ = lambda self, key: "mine"
    cn.ndarray.__neg__ = lambda self: "mine"
    assert y * y == x[1] == -y == "mine"
    assert float(y + y) == 6.0
finally:
    for name, method in own.items():
        setattr(cn.ndarray, name, method)
assert float(y * x[1]) == 9.0 and float(-y) == -3.0
"""
    )


def test_an_operand_may_come_twice() -> None:
    run_fresh(
        BEGIN
        + """
x = cn.array([3.0, 5.0, 7.0])
CALLS = (lambda a, b: a // b, lambda a, b: a % b, cn.copysign, cn.hypot)
for call in CALLS:
    for _ in range(5):
        a, b = x[0] * 1.0, x[1] * 1.0
        float(call(a, a))
    for _ in range(5):
        a, b = x[0] * 1.0, x[1] * 1.0
        assert float(call(b, a)) == float(call(np.float64(5.0), np.float64(3.0)))
        assert float(call(a, a)) == float(call(np.float64(3.0), np.float64(3.0)))
"""
    )


def test_elements_that_are_parts_or_have_stores_are_like_others() -> None:
    """Whatever made them, or shows them as well."""
    run_fresh(
        BEGIN
        + """
def program(n):
    x = n.arange(6.0)
    found = []
    # the first has its store from the start, the second shares it, the third a part
    for a in (n.array(2.5), x[3, ...], n.squeeze(x[4:5]), x.sum()):
        for b in (a, x[3, ...], a[...], x[1] * 1.0):
            for _ in range(4):
                c = a * b
                found += [c - b, b < a, a / 2.0, 2.0 - b, c * c, a > 1.0]
                c += a
                c -= c
                found.append(c + b)
                x[3] += 1.0
                found.append(a + b)
    for each in found:
        each.dtype
    return [(str(each.dtype), each.shape, each.tolist()) for each in found]

right, made = program(np), program(cn)
assert made == right, [pair for pair in zip(right, made) if pair[0] != pair[1]][:3]

s, t = cn.array(2.5), cn.array(1.5)
before = legate_diffuse.stats()["ran_in_process"]
for _ in range(100):
    s * t
assert legate_diffuse.stats()["ran_in_process"] - before == 100
"""
    )
