# SPDX-License-Identifier: Apache-2.0
"""What is added to one element time and again is added there."""

from __future__ import annotations

from test_small_arrays import run_fresh


def test_parts_of_one_element_change_in_place() -> None:
    """Where their arrays share memory with others, too."""
    run_fresh(
        """
def program(n, reshaped):
    x = n.arange(6000.0)
    found = []
    for a in (n.array(2.5), n.zeros(()), x[3, ...], n.squeeze(x[4:5])):
        for b in (x[3, ...], x[5, ...], a[...], n.array(1.5)):
            for _ in range(4):
                shape = reshaped(x)
                whole = x * 1.0
                a += 1.0
                a -= b
                b *= 0.5
                a /= b + 3.0
                a += a
                n.add(a, b, out=a)
                n.multiply(b, 2.0, out=b)
                found += [a * 1.0, b * 1.0, x[3:6] - whole[3:6], shape[0, 3:6] * 1.0]
                x[4] = a
    return [np.asarray(each).tobytes() for each in found]

right = program(np, lambda x: x.reshape(60, 100).copy())
assert program(cn, lambda x: x.reshape(60, 100)) == right

total, x = cn.zeros(()), cn.arange(50.0)
held = total
for _ in range(5):
    for i in range(50):
        total += x[i]
assert total is held and float(held) == 5 * 1225.0
"""
    )
