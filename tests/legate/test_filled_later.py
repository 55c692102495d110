# SPDX-License-Identifier: Apache-2.0
"""New arrays of one number and rolled ones that wait, as arrays of many elements do."""

from __future__ import annotations

from test_small_arrays import run_fresh, run_here
from test_waiting_operations import WAIT

ARRAYS = """
TYPES = ("float64", "float32", "complex64", "int32", "uint8", "bool", "float16")

def arrays(n, *shape):
    numbers = np.arange(np.prod(shape)).reshape(shape) * 7 % 251
    return [n.array(numbers.astype(dtype)) for dtype in TYPES]
"""


def test_rolls() -> None:
    run_here(
        ARRAYS
        + """
SHIFTS = (
    (0, 0), (3, 1), (-2, 0), (-500, -1), (7, None), ((1, -2), (0, 1)), (4, (0, 1)),
    ((1, 2), 1), ((5, -5), (1, 1)), ((3,), None), (0, None),
)
def rolls(n):
    return [n.roll(x + x, *each) for x in arrays(n, 23, 31) for each in SHIFTS]

def vectors(n):
    found = [n.roll(x + x, k) for x in arrays(n, 60) for k in (0, 5, -3, 10**6 + 1)]
    return found + [n.roll(x, 3, 2) * x for x in arrays(n, 2, 5, 3, 2)]

def changes(n):
    x, *_ = arrays(n, 23, 31)
    y = x + 1.0
    z = n.roll(y, 1, axis=0)
    y[:] = 0.0
    z[0] += n.roll(z, 2, axis=1)[1]
    return n.roll(z, -1, axis=0) + y, z

for program in (rolls, vectors, changes):
    agree(program)
""",
        **WAIT,
    )


def test_what_cannot_be_rolled_raises_what_it_raises_unfused() -> None:
    run_here(
        """
x, original = cn.ones((5, 6)) + 1, cn.roll
while hasattr(original, "__wrapped__"):
    original = original.__wrapped__

def raised(roll, *arguments):
    try:
        roll(x, *arguments)
    except Exception as error:
        return type(error), str(error)

WRONG = ((1, 2), ((1, 2, 3), (0, 1)), (1.5, 0), (1, (0, -3)), ("1", 0))
for each in WRONG:
    assert raised(original, *each) == raised(cn.roll, *each) != None, each
float(x[0, 0])
""",
        **WAIT,
    )


def test_new_arrays() -> None:
    run_here(
        ARRAYS
        + """
def filled(n):
    found = []
    for x in arrays(n, 23, 31):
        for name in ("zeros", "ones", "empty"):
            like = getattr(n, name + "_like")
            for y in (getattr(n, name)(x.shape, x.dtype), like(x)):
                if name == "empty":
                    y[:] = x
                y[3:] = x[:-3]
                y[1, 1] = y[5, 5]
                found.append(y)
    return found

def converted(n):
    *_, x = arrays(n, 23, 31)
    types = "int8", np.float32, np.dtype("complex128"), bool, int, float
    found = [n.ones_like(x, dtype=each) for each in types]
    found += [n.zeros(30, each) for each in types] + [n.ones((4, 3, 2)), n.zeros([5])]
    return [each + each for each in found]

for program in (filled, converted):
    agree(program)

def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return type(error), str(error)

original = cn.zeros
while hasattr(original, "__wrapped__"):
    original = original.__wrapped__
for each in ((-1,), ((2, -3),), ("3",), (3, "what"), (2.5,)):
    assert raised(cn.zeros, *each) == raised(original, *each) != None, each
""",
        **WAIT,
    )


def test_cupynumeric_fills_none_of_them() -> None:
    run_fresh(
        """
import sys
x = cn.arange(40).reshape(5, 8) + 1.0
def program():
    y = cn.zeros_like(x) + cn.ones((5, 8))
    return cn.roll(y + x, 1, axis=0), cn.roll(x, (2, 3), axis=(0, 1))

called = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and "/cupynumeric/" in code.co_filename:
        called.add(code.co_name)

program()
sys.setprofile(note)
program()
sys.setprofile(None)
assert not called & {"fill", "issue_fill", "create_deferred_thunk", "full"}, called
""",
        **WAIT,
    )


def test_rows_of_many_zeros_do_not_wait() -> None:
    """New arrays like others are here at once, as those of a shape are."""
    run_here("""
MAKERS = (
    lambda n, c: n.zeros_like(c), lambda n, c: n.zeros(c.shape, c.dtype),
    lambda n, c: n.zeros_like(c, dtype="float32"), lambda n, c: n.zeros_like(c.T).T,
)

def rows(n, make, dtype):
    c = n.array((np.arange(70000) % 251).reshape(70, 1000).astype(dtype))
    o = make(n, c)
    float(c[3, 3].real), float(o[-1, -1].real)
    for k in range(1, 40):
        o[k] = c[k] + o[k - 1]
    if n is cn:
        assert not window.state.operations
    o[:, 2] += 1
    o[50:, 3:] = o[:20, 3:]
    empty = n.empty_like(c)
    empty[1:] = c[:-1]
    empty[0] = o[0]
    return o, empty, o + c, n.zeros_like(c) + empty

for make in MAKERS:
    for dtype in ("float64", "int16", "complex64"):
        if dtype == "float64" or make is not MAKERS[2]:
            agree(lambda n: rows(n, make, dtype))
""")
