# SPDX-License-Identifier: Apache-2.0
"""What NumPy makes of selections that wait, and of many elements at places."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

WAITING = """
def program(n):
    x = n.array(np.arange(60000.0).reshape(6, 10000) % 97)
    found = []
    for k in range(4):
        y = (x * 0.5)[k] - 3.0
        chosen = y[y > 20]
        A = n.stack([n.ones_like(chosen), chosen, chosen * chosen], axis=1)
        y = (x * 0.5)[k] - 3.0
        chosen = y[y > 20]
        found += [PRODUCT]
    return found
program(cn), program(cn)
counted = counts(lambda: program(cn))
assert counted["tasks_submitted"] == 0, counted
for one, other in zip(program(cn), program(np)):
    one = np.asarray(one)
    assert (one.dtype, one.shape) == (other.dtype, np.shape(other))
    np.testing.assert_allclose(one, other, rtol=1e-13)
"""


@pytest.mark.parametrize(
    "product",
    ["A.T @ chosen", "chosen @ A", "chosen.dot(chosen)", "n.dot(A.T, chosen)"],
)
def test_products_with_what_a_mask_selects_need_no_task(product: str) -> None:
    run_here(WAITING.replace("PRODUCT", product))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool", "complex128"])
def test_many_elements_at_places(dtype: str) -> None:
    run_here(f"""
def program(n):
    x = n.array((np.arange(120000) * 7 % 251).astype({dtype!r}))
    A = x.reshape(400, 300)
    found = []
    for name in ("int64", "int32", "uint8"):
        most = 120000 if name != "uint8" else 256
        places = n.array((np.arange(70000) * 31 % most).astype(name))
        rows = n.array((np.arange(210) * 3 % 256).astype(name))
        found += [x[places], (x + x)[places], A[rows], A.T[rows], x[places[:0]],
                  x[places.reshape(700, 100)], A[1:-1][rows], A[:, 1:][rows]]
        if name != "uint8":
            found += [x[-1 - places], A[-1 - rows]]
    return found
here(program)
# what the original says
for array, place, message in (
    (cn.zeros(120000), 120000, "index is out of bounds in index array"),
    (cn.zeros((400, 300)), -401, "invalid entry in indices array"),
):
    try:
        array[cn.array([0, place] * 40000)]
    except IndexError as error:
        assert str(error) == message, error
    else:
        raise AssertionError
""")
