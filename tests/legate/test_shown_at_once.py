# SPDX-License-Identifier: Apache-2.0
"""What shows, fills, searches or takes apart small arrays is native, as upstream is.

Each result is compared with NumPy's, or with what cuPyNumeric is known to do where it
differs; counts say that no task was needed, and that no thunk was made.
"""

from __future__ import annotations

import pytest
from test_rearranged_at_once import MANY_SHAPES
from test_small_arrays import run_here

# Whether an array has no thunk yet: what shows it was found by native code.
LAZY = """
def is_lazy(array):
    return "_thunk" not in vars(array)
"""


@pytest.mark.parametrize(
    "make",
    [
        "a.T",
        "a.transpose()",
        "a.T.T",
        "a.transpose(tuple(range(1, a.ndim)) + (0,))",
        "n.transpose(a)",
        "a.swapaxes(0, a.ndim - 1)",
        "n.swapaxes(a, -1, 0)",
        "a.squeeze()",
        "n.squeeze(a)",
        "n.expand_dims(a, 0)",
        "n.expand_dims(a, -1)",
        "a.T[1:]",
        "a.T + 1",
        "a.ravel()",
        "a.T.ravel()",
        "a.T.copy()",
        "n.copy(a)",
        "n.zeros_like(a)",
        "n.ones_like(a)",
        "n.zeros_like(a, dtype=n.int32)",
        "n.full_like(a, 1)",
        "a.T.shape + (a.ndim, a.size, len(a))",
        "(a.itemsize, *(n.ones(a.shape).strides if a.size else ()))",
        "n.count_nonzero(a)",
        "n.asarray(a)",
    ],
)
def test_what_shows_arrays(make: str) -> None:
    run_here(
        MANY_SHAPES
        + f"""
def outcome(call):
    try:
        made = call()
        found = np.asarray(made)
    except (ValueError, TypeError, IndexError, NotImplementedError) as error:
        return type(error)
    # cuPyNumeric counts in uint64
    kind = found.dtype.kind.replace("u", "i") if found.ndim == 0 else found.dtype
    return kind, found.shape, found.tolist()
# cuPyNumeric has other views of one element and of none
same(lambda n, a: {make}, lambda a: a.size > 1)
"""
    )


def test_parts_of_complex_arrays() -> None:
    run_here(
        MANY_SHAPES
        + """
TYPES = ["complex64", "complex128"]
same(lambda n, a: a.real)
same(lambda n, a: a.T.imag)
for dtype in TYPES:
    z = cn.arange(6.0).astype(dtype)
    z.real[1:] = 7.0
    # cuPyNumeric copies them
    assert z.tolist() == list(range(6))
x = cn.arange(3.0)
assert x.real is x and x.imag.tolist() == [0.0] * 3
assert x.conj() is x and x[1:].conjugate().tolist() == [1.0, 2.0]
assert (1j * x).conj().tolist() == [0j, -1j, -2j]
"""
    )


def test_diagonals_have_no_negative_zeros() -> None:
    # cuPyNumeric adds them to zeros
    run_here(
        MANY_SHAPES
        + """
for k in (0, 1, -1, 3, -3):
    same(lambda n, a: a.diagonal(k), lambda a: a.ndim == 2 and np.diagonal(a, k).size)
    same(lambda n, a: n.diag(a, k), lambda a: a.ndim == 2 and np.diagonal(a, k).size)
    # without elements, cuPyNumeric's are of another shape and type
    same(lambda n, a: a.diagonal(k, 0, 2),
         lambda a: a.ndim == 3 and np.diagonal(a, k, 0, 2).size)
for dtype in ("float32", "float64", "complex128"):
    a = cn.array([[-0.0, 1.0], [2.0, -0.0]]).astype(dtype)
    for found in (a.diagonal(), cn.diag(a), a[None].diagonal(0, 1, 2)):
        found = np.asarray(found)
        assert not np.signbit(found.view(found.real.dtype)).any()
a = cn.arange(12.0).reshape(3, 4)
a.diagonal()[:] = 7.0
assert a.tolist() == np.arange(12.0).reshape(3, 4).tolist()
"""
    )


def test_which_arrays_share_elements() -> None:
    run_here(
        LAZY
        + """
for number in range(3):
    a = cn.arange(12.0).reshape(3, 4)
    for make in (lambda: a.T, lambda: a.swapaxes(0, 1), lambda: a.T[None].squeeze(),
                 lambda: cn.expand_dims(a.T, 1), lambda: a.T[:, None].reshape(4, 3)):
        shown = make()
        assert is_lazy(shown) and shown.shape[0] in (3, 4)
        before = float(a[2, 1])
        shown += 1.0
        assert float(a[2, 1]) == before + 1.0
        shown[:] = 0.5
        a[1, 2] = 9.0
        assert float(shown.max()) == 9.0
        # Python is asked once how an operation runs on such operands
        assert number == 0 or is_lazy(shown)
    # cuPyNumeric copies unless extents of one come or go
    b = a.ravel()
    b[:] = 3.0
    assert float(a[0, 0]) == 0.5
    x = cn.arange(4.0)
    assert x.ravel() is x and x.T is x and x.transpose() is x and cn.asarray(x) is x
    assert x.reshape(4) is x and a.reshape((3, 4)) is a and a.squeeze() is a
    f = x.flatten()
    f[:] = 0.0
    assert float(x[3]) == 3.0
    row = x[None]
    row.flatten()[0] = 5.0
    assert float(x[0]) == 5.0
    c = x.copy()
    c[0] = 6.0
    assert float(x[0]) == 5.0
"""
    )


def test_shown_arrays_have_thunks_when_somebody_asks() -> None:
    run_here("""
a = cn.arange(24.0).reshape(2, 3, 4)
for shown, want in ((a.T, (4, 3, 2)), (a.swapaxes(0, 1), (3, 2, 4)),
                    (a[1].T[1:], (3, 3)), (a.transpose((2, 0, 1))[0], (2, 3)),
                    (cn.expand_dims(a, 1).squeeze(), (2, 3, 4))):
    again = np.asarray(shown)
    assert again.shape == want == shown.shape
    assert shown._thunk.shape == want
    shown[...] = 1.0
    assert np.asarray(shown).tolist() == np.ones(want).tolist()
    assert type(shown.shape) is tuple and shown.dtype == np.float64
assert legate_diffuse.stats()["failures"] == 0
""")


def test_read_only_arrays_stay_so() -> None:
    run_here(
        """
a = np.ones((2, 3))
a.flags.writeable = False
b = cn.asarray(a)
for change in (lambda: b.T.__setitem__(0, 1.0), lambda: b.fill(1.0)):
    try:
        change()
    except ValueError:
        continue
    raise AssertionError
""",
        fuses=False,
    )


def test_fills_and_elements() -> None:
    run_here("""
for dtype in ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128"):
    for value in (0, 1, 2.5, True, -0.0, 7, -1, 300, 1e300, 3 + 1j, np.float64(2.0)):
        def program(n):
            a = n.arange(6).reshape(2, 3).astype(dtype)
            try:
                with np.errstate(all="ignore"):
                    assert a.T.fill(value) is None
            except (OverflowError, TypeError, ValueError) as error:
                return type(error)
            return repr(np.asarray(a).tolist())
        if not (dtype == "uint8" and value == 1e300):
            assert program(cn) == program(np), (dtype, value, program(cn), program(np))
    a, b = cn.arange(6).reshape(2, 3).astype(dtype), np.arange(6).reshape(2, 3)
    b = b.astype(dtype)
    for index in ((3,), (1, 2), (-1, -2), (0,)):
        one, other = a.T.T.item(*index), b.item(*index)
        assert (type(one), one) == (type(other), other)
    for index in ((6,), (2, 0), ("a",), (0, 0, 0), ()):
        try:
            a.item(*index)
        except (IndexError, ValueError, TypeError, KeyError):
            continue
        raise AssertionError(index)
""")


def test_new_arrays() -> None:
    run_here("""
for shape in (5, (2, 3), (), (0,), (2, 0), [2, 2], (np.int64(3),)):
    for dtype in (float, int, bool, complex, "int8", np.float32, np.dtype("uint16")):
        for name in ("zeros", "ones"):
            one, other = (getattr(n, name)(shape, dtype) for n in (cn, np))
            assert one.shape == other.shape and one.dtype == other.dtype
            assert np.asarray(one).tolist() == other.tolist()
            one = getattr(cn, name + "_like")(one)
            assert np.asarray(one).tolist() == other.tolist()
        assert not cn.empty(shape, dtype=dtype).any()
    for value in (2.0, 3, -0.0):
        one, other = cn.full(shape, value), np.full(shape, value)
        assert one.dtype == other.dtype
        assert repr(np.asarray(one).tolist()) == repr(other.tolist())
""")


def test_searches() -> None:
    run_here(
        MANY_SHAPES
        + """
TYPES = ["bool", "int32", "int64", "uint8", "float32", "float64"]
for name in ("argmax", "argmin"):
    same(lambda n, a: getattr(n, name)(a), lambda a: a.size)
    same(lambda n, a: getattr(a.T, name)(), lambda a: a.size > 1)
for name in ("argmax", "argmin"):
    for dtype in ("float32", "float64"):
        x = np.random.default_rng(3).integers(0, 9, 77).astype(dtype)
        assert int(getattr(cn.array(x), name)()) == getattr(x, name)()
        for place in (0, 5, 70, 76):
            y = x.copy()
            y[place] = -100.0 if name == "argmin" else 100.0
            assert int(getattr(cn.array(y), name)()) == place
"""
    )


def test_lists_of_places() -> None:
    run_here(
        MANY_SHAPES
        + """
for places in ([0, 1], [1, -1, 0, 0], [0], [3, 99], [-99, 0], [], [0.0, 1.0],
               [True, False], [[0, 1], [1, 0]]):
    same(lambda n, a: a[places], lambda a: a.size and a.ndim == 2 and len(a) > 3
         and places not in ([], [True, False], [0.0, 1.0]))
"""
    )


def test_copies_within_an_array() -> None:
    run_here("""
def program(n, steps):
    u = n.arange(48.0).reshape(6, 8)
    for _ in range(steps):
        u[0] = u[-1]
        u[:, 0] = u[:, 1]
        u[1:3, 2:4] = u[3:5, 4:6]
        u[0, 1:] = u[1:, 0].sum()
        u[2:4] = u[0]
        u[4] = u[2, ::-1] if n is np else n.flip(u[2])
    return np.asarray(u).tolist()
assert program(cn, 3) == program(np, 3)
u = cn.arange(48.0).reshape(6, 8)
def steps():
    u[0] = u[-1]
    u[:, 0] = u[:, 1]
    u[2:4] = u[0]
steps()
found = counts(steps)
assert (found["ran_in_process"], found["tasks_submitted"]) == (3, 0), found
""")


def test_all_of_it_is_native() -> None:
    run_here(
        LAZY
        + """
a = cn.arange(12.0).reshape(3, 4)
z = a + 1j
g = np.float64(2.0)
def program():
    made = [a.T, a.swapaxes(0, 1), a.ravel(), a.copy(), cn.copy(a), a.diagonal(),
            z.real, z.imag, cn.zeros_like(a), cn.ones((3, 4)), cn.full(5, 2.0),
            a.argmax(), cn.argmin(a), cn.count_nonzero(a), a.reshape(4, 3),
            a.reshape(3, 1, 4), a @ a.T, g * a, np.exp(a), cn.concatenate((a, a)),
            cn.where(a > 2.0)[0], a.round(), a[[0, 2]]]
    a.fill(2.0)
    assert a.item(3) == a.item(1, 2) == 2.0 and len(a) == 3 and a.shape == (3, 4)
    return made
for _ in range(3):
    program()
called = []
import sys
sys.setprofile(lambda frame, kind, _: kind == "call" and called.append(frame.f_code))
made = program()
sys.setprofile(None)
ours = {code.co_qualname if hasattr(code, "co_qualname") else code.co_name
        for code in called if "legate" in code.co_filename
        or "cupynumeric" in code.co_filename}
# what refuses NaN, arrays without axes or many elements, or converts
assert ours <= {"_are_many", "as_type.<locals>.converted",
                "unless.<locals>.checked", "ordered.<locals>.<lambda>", "<lambda>",
                "sized.<locals>.checked", "has_nan", "nonzero", "_refuse_nan",
                "extreme.<locals>.place", "along_one.<locals>.<lambda>"}, ours
assert all(is_lazy(each) for each in made)
assert counts(program)["tasks_submitted"] == 0
"""
    )
