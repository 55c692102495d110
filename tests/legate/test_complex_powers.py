# SPDX-License-Identifier: Apache-2.0
"""Powers of complex numbers with small whole exponents are products, as in NumPy.

NumPy's products have fused multiply-adds, so that last bits may differ from its own.
"""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

PROGRAM = """
from comparison import same, unfused

def values(n, size, dtype):
    random = np.random.default_rng(3)
    parts = random.standard_normal((2, size)) * 1.5
    return n.array((parts[0] + 1j * parts[1]).astype(dtype))

def powers(n, size, dtype):
    z = values(n, size, dtype)
    w = z.copy()
    results = [
        z**2, z**3, z**4.0, z ** np.float32(2), n.power(z, 3), 1 + z**2, z[1:] ** 2,
        z[3] ** 2, z.reshape(2, -1) ** 2, z[z.real > 0] ** 2
    ]
    w **= 2
    n.power(z, 4, out=z)
    return [*results, w, z]

def products(n, size, dtype):
    z = values(n, size, dtype)
    s = z * z
    part, one, rows, some = z[1:], z[3], z.reshape(2, -1), z[z.real > 0]
    return [
        s, z * s, s * s, s, z * s, 1 + s, part * part, one * one, rows * rows,
        some * some, s, s * s
    ]
"""


@pytest.mark.parametrize("size", [40, 60_000])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_they_have_the_bits_of_unfused_products(size: int, dtype: str) -> None:
    run_here(
        PROGRAM
        + f"""
arguments = {size}, {dtype!r}
with unfused():
    wanted = [np.asarray(each) for each in products(cn, *arguments)]
for _ in range(2):
    found = powers(cn, *arguments)
    for one, other, numpy in zip(found, wanted, powers(np, *arguments), strict=True):
        same(one, other)
        np.testing.assert_allclose(one, numpy, 16 * np.finfo({dtype!r}).eps)
"""
    )


def test_others_are_those_of_libm() -> None:
    run_here(
        PROGRAM
        + """
z = values(cn, 1000, complex)
program = lambda: [z**2, z**2.5, 2**z, z ** (2 + 1j)]
with unfused():
    wanted = [np.asarray(each) for each in program()]
for one, other in zip(program(), wanted, strict=True):
    same(one, other)
""",
        LEGATE_DIFFUSE_MATH="libm",
    )
