# SPDX-License-Identifier: Apache-2.0
"""Where the largest and the smallest element of an array are."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here


@pytest.mark.parametrize(
    "dtype",
    ["float64", "float32", "int64", "int32", "uint8", "bool", "int16", "uint64"],
)
def test_the_first_of_several_is_found(dtype: str) -> None:
    run_here(f"""
random = np.random.RandomState(3)
numbers = [np.array(random.randint(0, high, size).astype({dtype!r}))
           for size in (1, 2, 63, 64, 65, 1000, 1023, 1025, 2500) for high in (2, 120)]
numbers += [np.ones(70, {dtype!r}), np.zeros((3, 50), {dtype!r})]
numbers += [np.ones(1500, {dtype!r})]
for each in range(0, 1500, 111):
    numbers[-1][each] = 0
def program(n):
    found = []
    for each in numbers:
        x = n.array(each)
        found += [n.argmax(x), n.argmin(x), x.argmax(), x.argmin(axis=None)]
        A = n.array(np.tile(each.reshape(-1), 4).reshape(4, -1))
        found += [n.argmax(A, None), A[1:].argmin(), A.T.argmax(), A[:, :1].argmax()]
        found += [A[2].argmin(), A[1:3, -A.shape[1] // 2:].argmax()]
    return found
here(program)
""")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_signs_of_zeros_and_infinities(dtype: str) -> None:
    run_here(f"""
def program(n):
    found = []
    for values in ([-0.0, 0.0], [0.0, -0.0, -0.0], [-np.inf] * 3, [1.0, np.inf, np.inf],
                   [-1.0] * 100 + [-0.0, 0.0] * 40, [np.inf, -np.inf] * 600):
        x = n.array(np.array(values, {dtype!r}))
        found += [x.argmax(), x.argmin(), n.argmax(-x), n.argmin(x + 1)]
    return found
here(program)
""")


def test_results_are_arrays_and_options_are_the_originals() -> None:
    run_here("""
def program(n):
    A = n.arange(12.0).reshape(3, 4) % 5
    found = [n.argmax(A, axis=0), A.argmin(1), A.argmax(axis=1, keepdims=True),
             A.argmax(keepdims=True)]
    place = n.argmax(A)
    found += [place, place + 1, A.ravel()[place], divmod(int(place), 4)[0]]
    return found
agree(program)
x = cn.arange(4.0)
assert type(x.argmax()) is cn.ndarray and x.argmax().dtype == np.int64
for call in (lambda: x.argmax(1), lambda: cn.argmax(x, 0, None, False), cn.argmax):
    try:
        call()
    except (TypeError, ValueError):
        continue
    raise AssertionError
""")


def test_nan_is_left_to_the_original() -> None:
    run_here(
        """
for place in (0, 5, 99, 1500):
    values = np.arange(2000.0)
    values[place] = np.nan
    x = cn.array(values)
    whole = np.array([int(x.argmax()), int(cn.argmin(x))])
    for _ in range(2):
        assert (whole == [int(x.argmax()), int(cn.argmin(x))]).all()
""",
        fuses=False,
    )
