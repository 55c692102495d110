# SPDX-License-Identifier: Apache-2.0
"""Quotients of complex numbers at the ends of the range: each is rounded once."""

from __future__ import annotations

from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import agree

# Powers of two of dividends and divisors.
RANGES = {
    "complex128": [(-1074, 10), (-1074, 1020), (900, 1020), (-1074, -1000), (0, 1024)],
    "complex64": [(-149, 10), (-149, 120), (100, 126), (-149, -120), (0, 128)],
}


@pytest.mark.parametrize("dtype", RANGES)
def test_quotients_have_the_bits_of_the_original(dtype: str) -> None:
    rng = np.random.default_rng(7)

    def numbers(powers: tuple[int, int]) -> Any:
        parts = np.ldexp(rng.uniform(-2, 2, (2, 4000)), rng.integers(*powers, 4000))
        with np.errstate(all="ignore"):
            return cn.array((parts[0] + 1j * parts[1]).astype(dtype))

    for dividends in RANGES[dtype]:
        for divisors in RANGES[dtype]:
            one, other = numbers(dividends), numbers(divisors)
            agree(lambda one=one, other=other: -(one / other))
            agree(lambda one=one, other=other: one[:40, None] / other[:5])
