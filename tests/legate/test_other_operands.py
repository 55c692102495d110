# SPDX-License-Identifier: Apache-2.0
"""Objects of other classes have their say in operations on arrays (NEP 13 and 18)."""

from __future__ import annotations

from test_small_arrays import run_here


def test_others_take_over() -> None:
    run_here(
        """
class Other:
    def __array_function__(self, *args, **kwargs):
        return "function"

    def __array_ufunc__(self, *args, **kwargs):
        return "ufunc"

    def __radd__(self, array):
        return "reflected"


other = Other()
for a in cn.ones(3), cn.ones((2, 3)), cn.ones(1):
    assert np.add(a, other) == np.add(other, a) == "ufunc"
    assert np.add(a, a, out=other) == np.add(a, a, where=other) == "ufunc"
    assert np.hypot(a, other) == np.multiply(other, a) == "ufunc"
    assert np.concatenate([a, other]) == "function"
    assert np.dot(a, other) == "function"
    assert np.add(a, a).tolist() == (a + a).tolist()
"""
    )


def test_arrays_stand_for_integers() -> None:
    run_here(
        """
for n in np, cn:
    a, one = n.arange(12.0).reshape(3, 4), n.array(1)
    assert n.diag(a, one).tolist() == [1.0, 6.0, 11.0]
    assert n.diag(n.arange(2.0), one).shape == (3, 3)
    assert n.transpose(a, n.array([1, 0])).tolist() == a.T.tolist()
"""
    )


def test_what_is_no_operand_is_refused() -> None:
    """NumPy compares with it, as with objects of which it knows nothing."""
    run_here(
        """
a = cn.ones(3) + 1.0
for other in np.dtype("float64"), int, slice(1):
    for compare in a.__eq__, a.__ne__, a.__add__:
        try:
            compare(other)
        except TypeError:
            continue
        raise AssertionError(other)
"""
    )
