# SPDX-License-Identifier: Apache-2.0
"""NumPy's arrays and integers in the place of arrays and of Python's integers."""

from __future__ import annotations

from pathlib import Path

from statements_compared import compare
from test_small_arrays import run_here

OPERANDS = "N", "S", "F", "R", "I", "T", "Q", "H", "O", "P", "Z"
# What runs without a task.
QUICK = (
    [
        form.format(each)
        for each in OPERANDS
        for form in (
            "a + {}",
            "{} - a",
            "A * {}",
            "np.maximum({}, a)",
            "{} < a",
            "a == {}",
        )
        # NumPy's function makes a number of one without dimensions
        if (form[0], each) not in {("{", "O"), ("n", "O")}
    ]
    + """
minimum(N, a)
arctan2(N, N)
a ** N
N // a
N @ a
a @ N
A @ N
K @ a
K @ A
A @ K
K.T @ a
N @ A
F.T @ a
dot(K, a)
dot(a, N)
np.dot(K, a)
np.matmul(K, a)
np.add(N, a)
np.hypot(a, N)
np.multiply(N, a[:, None])
N - a.mean()
sum(N)
amax(K, axis=0)
sqrt(N)
exp(K)
where(T, a, 0.0)
where(N > 1, N, a)
where(a > 1, N, a)
a[1:] * N[:2]
A + K[0]
A - K[:, :1]
K[:, None] * a
zeros(n)
ones((n, n))
zeros((n, 2), dtype="int32")
empty(cn.array(3)).shape
full(n, 2.5)
full((n, cn.array(2)), a[1])
arange(n)
arange(np.int64(1), n)
arange(0.0, np.float64(2), 0.5)
A.reshape(n, -1)
A.reshape((cn.array(9),))
roll(A, np.int64(1), axis=1)
roll(A, cn.array(-1), axis=0)
roll(A, cn.array([1, 2]), (0, 1))
roll(A, [1, -1], [0, 1])
roll(a, cn.arange(5)[2])
""".strip().splitlines()
)
REST = """
a.item(np.int64(1))
A.item(n - 1, np.uint8(0))
a + E
E + a
E @ a
N @ a[:2]
a + K[:2]
a + U
U + a
a + B
U @ a
a + N[:2]
N[:2] * a
np.add(N, a, dtype="float32")
np.add(N, a, where=T)
np.subtract.outer(N, a)
np.add.reduce(a)
a + np.array(["a", "b", "c"])
a + np.array([None, 1, 2])
a + np.matrix([1.0, 2.0, 3.0])
np.array(5.0) + a
np.maximum(np.array(2), a)
5 @ a
np.float64(5) @ a
zeros(np.float64(3))
zeros(np.bool_(True))
zeros(-n)
zeros(np.array([2, 3]))
arange(np.int32(3))
arange(np.float32(3))
roll(a, np.int8(1))
roll(a, cn.array(1.0))
roll(a, cn.array(True))
roll(A, cn.array([[1, 2]]), 0)
roll(A, 1, np.array([0, 1]))
A.reshape(np.float64(9))
A.reshape(np.True_, 9)
""".strip().splitlines()
CHANGES = """
a += N
a -= S
A *= N
A += K
A /= F
i += I
i += N
a += Q
a += E
a[1:] += N[:2]
add(a, N, a)
add(N, a, out=y)
np.add(N, a, out=y)
np.add(a, a, out=N)
N += a
N @= A
A @= K
""".strip().splitlines()
ARRAYS = """
hidden.add("U")
def arrays():
    numbers = np.array([3.0, 1.0, 2.5])
    fixed = numbers.copy()
    fixed.flags.writeable = False
    return {
        "a": cn.array([1.0, 2.5, -3.0]), "A": cn.arange(9.0).reshape(3, 3) - 2.0,
        "i": cn.array([3, 1, 2]), "y": cn.zeros(3), "np": np, "cn": cn,
        "n": np.int64(3), "N": numbers, "S": np.arange(6.0)[::-2], "R": fixed,
        "F": np.asfortranarray(np.arange(9.0).reshape(3, 3) + 1), "O": np.array(2.5),
        "I": np.array([1, -2, 3], "int32"), "T": np.array([True, False, True]),
        "Q": np.array([1j, 2.0, -1.0]), "H": np.array([1.5, 2.0, 3.0], "float32"),
        "P": np.array([0.5]), "Z": np.array([[1], [2], [3]], "uint8"),
        "K": np.arange(9.0).reshape(3, 3) / 7, "E": np.zeros(0),
        "U": np.array([1, 2, 3], ">f8"), "B": np.array([1, 2, 3], "float16"),
    }
"""


def test_they_are_what_the_original_makes_of_them(tmp_path: Path) -> None:
    compare(ARRAYS, QUICK, REST, CHANGES, tmp_path)


def test_what_numpy_writes_afterwards_is_not_seen() -> None:
    run_here(
        """
for extent in 3, 1000, 40_000, 300_000:
    for make in (
        lambda x, a: x + a, lambda x, a: a * x, lambda x, a: np.maximum(a, x),
        lambda x, a: cn.where(x > 1, a, x), lambda x, a: cn.sqrt(a),
        lambda x, a: cn.dot(a, x), lambda x, a: a @ x, lambda x, a: x - a[:1],
    ):
        a, x = np.linspace(1.0, 2.0, extent), np.linspace(0.0, 3.0, extent)
        own = cn.array(x)
        wanted, before = make(own, cn.array(a)).copy(), a.copy()
        found = make(own, a)
        assert np.array_equal(a, before)
        a[:] = 7.0
        assert np.allclose(found, wanted, 1e-12)
        found[...] = 5.0
        assert (a == 7.0).all()
"""
    )
