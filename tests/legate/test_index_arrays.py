# SPDX-License-Identifier: Apache-2.0
"""Arrays of places lead to the elements of any type, however an array shows them."""

from __future__ import annotations

import pytest
from shown_statements import TYPES
from test_small_arrays import run_here

# each has rows of one byte or more, in order, across, or with others between them
SHOWN = (
    "a",
    "a.T",
    "a[:, 1:]",
    "a[1:].T",
    "a[:, :1]",
    "a.T[:, :1]",
    "a[0]",
    "a[:, 0]",
    "a.reshape(2, -1, 4).transpose((1, 2, 0))",
    "a.reshape(2, -1, 4)[:, :, 1:3]",
)


@pytest.mark.parametrize("dtype", TYPES)
def test_places_of_any_type_and_layout(dtype: str) -> None:
    run_here(
        f"""
def program(n):
    found = []
    for rows in (2, 4, 8, 16):
        for shown in {SHOWN!r}:
            for places in ([1, 0, -1, 1], [0], []):
                a = n.array((np.arange(8 * rows) * 7 % 11 - 3).astype("{dtype}"))
                a = a.reshape(rows, 8)
                b = eval(shown)
                each = np.array(places, dtype=int)
                i, *others = [n.array(each % k) for k in b.shape]
                key = i, *others
                if b.shape[0] > 1:
                    i = n.array(each)
                found += [b[i], n.take(b, i, axis=0)]
                found.append(b[key])
                b[i] = b[i][::-1] if n is np else n.flip(b[i], 0)
                found.append(b.copy())
                if places:
                    b[i] = 1
                    b[i[:1]] = b[:1]
                b[key] = 0
                found.append(b.copy())
    return found
agree(program)
agree(program)
""",
        fuses=False,
    )
