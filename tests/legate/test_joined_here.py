# SPDX-License-Identifier: Apache-2.0
"""Few elements that are here are joined by native code."""

from __future__ import annotations

from test_small_arrays import run_begun, run_fresh

PROGRAM = """
JOINED = (
    "n.concatenate((x, y))", "n.concatenate([x[2:5], y[::1], x])",
    "n.concatenate([A, B], 1)",
    "n.concatenate((A, C), axis=0)", "n.concatenate((A.T, B.T), axis=-1)",
    "n.concatenate([A[:, 1:3], A[:, :1]], axis=1)", "n.concatenate((D, D), axis=1)",
    "n.stack((x, y))", "n.stack([x, y], 1)", "n.stack([A, B], axis=-1)",
    "n.stack((A.T, B.T), axis=1)", "n.stack([D, D * D])", "n.stack([x[3:4], y[:1]])",
    "n.vstack((x, y))", "n.vstack([A, C])", "n.vstack((D, D))", "n.hstack([x, x[4:]])",
    "n.hstack((A, B))", "n.hstack([D, D])", "n.array([x, y])", "n.array((A.T, B.T))",
    "n.array([-x, x * y, x + y])", "n.array([n.ones_like(x), x])",
)
# of other shapes and types, or of no or one array
OTHERS = (
    "n.concatenate([x, A])", "n.concatenate([A, C], 1)", "n.stack([x, x[1:]])",
    "n.concatenate([A, B], axis=2)", "n.stack([A, B], axis=4)",
    "n.concatenate([A, B], None)",
    "n.vstack([A, x])", "n.vstack([A, B[:, 1:]])", "n.array([x, 2 * x[:2]])",
    "n.concatenate(())",
    "n.concatenate([x])", "n.stack([x])", "n.array([x])", "n.concatenate((x[:0], y))",
    "n.concatenate((x, z))", "n.array([x, z])", "n.stack([x, z])",
    "n.hstack([x[0], y[1]])",
    "n.array([x[0], y[1]])", "n.concatenate([x, [1, 2]])", "n.array([x, [1] * 9])",
    "n.concatenate([A, B], axis=1.0)", "n.concatenate(A)", "n.stack(A)",
    "n.vstack((x[1], x[2]))",
)
def given(n, dtype):
    x = n.array((np.arange(9) % 5 - 2).astype(dtype))
    A = n.array((np.arange(12) % 7 - 3).astype(dtype).reshape(3, 4))
    B = n.array((np.arange(12) % 4).astype(dtype).reshape(3, 4))
    C = n.array((np.arange(20) % 3).astype(dtype).reshape(5, 4))
    D = n.array((np.arange(24) % 5).astype(dtype).reshape(2, 3, 4))
    z = n.array(np.arange(9).astype("int16"))
    return {"n": n, "x": x, "y": x[::1] * x, "A": A, "B": B, "C": C, "D": D, "z": z}
TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128",
         "complex64")
"""


def test_what_is_joined_is_what_numpy_joins() -> None:
    run_fresh(
        PROGRAM
        + """
import sys
for dtype in TYPES:
    statements = [each for each in JOINED if dtype != "bool" or "-x" not in each]
    ours, theirs = given(cn, dtype), given(np, dtype)
    for _ in range(2):
        found = [eval(each, ours) for each in statements]
    for each, one in zip(statements, found, strict=True):
        other = eval(each, theirs)
        assert one.dtype == other.dtype and one.shape == other.shape, (each, dtype)
        np.testing.assert_array_equal(one, other)
    made = cn.concatenate((ours["x"], ours["y"]))
    made[:] = 0
    assert ours["x"][0] == theirs["x"][0]
called = set()
ours = given(cn, "float64")
code = [compile(each, each, "eval") for each in JOINED if "ones" not in each]
for _ in range(2):
    sys.setprofile(lambda frame, event, _: called.add(frame.f_code.co_name))
    for each in code:
        eval(each, ours)
    sys.setprofile(None)
assert called.isdisjoint({"join", "array", "joined_later", "concatenate",
"stack"}), called
"""
    )


def test_others_are_joined_as_before() -> None:
    program = (
        PROGRAM
        + """
import warnings
warnings.simplefilter("ignore")
for dtype in ("float64", "int64"):
    ours = given(cn, dtype)
    for each in OTHERS:
        try:
            made = eval(each, ours)
            print(each, made.dtype, made.shape, np.asarray(made).tolist())
        except Exception as error:
            print(each, type(error).__name__, error)
"""
    )
    fused, unfused = run_begun(program), run_begun(program, LEGATE_DIFFUSE="0")
    assert fused.returncode == unfused.returncode == 0, fused.stderr + unfused.stderr
    assert fused.stdout == unfused.stdout and fused.stdout.count("\n") >= 50
