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


# with slices, numbers and new dimensions between them, of several shapes and kinds
KEYS = (
    "(i,)",
    "(i, j)",
    "(i, j, i)",
    "(slice(None), j)",
    "(slice(1, 3), j, slice(2, 4))",
    "(slice(None), slice(None), j)",
    "(i, slice(None), j)",
    "(0, slice(None), j)",
    "(i, slice(None), 2)",
    "(slice(None), j, 2)",
    "(i, 0, j)",
    "(None, i, j)",
    "(i, None)",
    "(i[:, None], j)",
    "(i[:, None], slice(None), j)",
    "([1, 2], slice(None), [0, 1])",
    "(numpy.array([1, 2]), slice(None), 1)",
    "numpy.array([2, 0])",
    "a > 50",
)


@pytest.mark.parametrize(
    "shown", ["a", "a.transpose((2, 0, 1))[:, :, :4]", "a[1:, :, 1:]"]
)
def test_places_beside_slices_and_numbers(shown: str) -> None:
    run_here(
        f"""
import numpy
def program(n):
    found = []
    for key in {KEYS!r}:
        a = n.arange(210.0).reshape(5, 6, 7)
        i, j = n.array([2, 0, -1]), n.array([1, 3, -2])
        a = {shown}
        key = eval(key)
        part = a[key]
        found.append(part)
        a[key] = 3.5
        found.append(a.copy())
        a[key] = n.arange(float(part.shape[-1])) * 1000.0
        found.append(a.copy())
        a[key] = a[key] * 2.0
        found.append(a.copy())
    rows = n.array([True, False, True, True])
    a = n.arange(12).reshape(4, 3)
    found += [a[rows], a.T[:, rows], a[rows & False]]
    return found
agree(program)
agree(program)
""",
        fuses=False,
    )
