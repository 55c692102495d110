# SPDX-License-Identifier: Apache-2.0
"""Into how many parts launches are split that take more memory than they need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from legate_diffuse.launch.splitting import num_parts

SIZE = 2**20
COUNT = 400


class Array:
    """A root of a temporary, which counts who asks for its size."""

    asked = 0
    shape = (SIZE,)
    type = SimpleNamespace(size=1)

    @property
    def nbytes(self) -> int:
        """Its bytes."""
        Array.asked += 1
        return SIZE


def launch_of(uses: list[list[int]]) -> tuple[Any, list[Any], list[Any]]:
    """Return a launch whose operations use these temporaries, these, and views."""
    roots = [Array() for _ in range(1 + max(map(max, uses)))]
    views = [SimpleNamespace(root=root, layout=SIZE) for root in roots]
    operations = [SimpleNamespace(views=[views[n] for n in each]) for each in uses]
    planned = SimpleNamespace(
        arguments=(),
        temporaries=range(len(views)),
        tasks=range(len(operations)),
        in_use=None,
    )
    return planned, operations, views


@pytest.mark.parametrize("lifetime", [1, 8, 40])
def test_parts_take_few_times_what_is_in_use_at_once(lifetime: int) -> None:
    # each operation makes one, and uses one of long ago for the last time
    uses = [[n, max(n - lifetime, 0)] for n in range(COUNT)]
    planned, operations, views = launch_of(uses)
    in_use = (lifetime + 1) * SIZE
    most = max(in_use, min(4 * in_use, 2**26))
    taken = 16 * 2**26
    native = SimpleNamespace(
        scratch_bytes=lambda shapes, program: taken, memory_of_kernels=lambda: 0
    )
    # each size is needed where an array comes and where it goes, and once only
    for layout, asked in ((SIZE, 2 * COUNT), (SIZE, 0), (2 * SIZE, 2 * COUNT)):
        for view in views:
            view.layout = layout
        Array.asked = 0
        parts = num_parts(planned, operations, views, b"", native)
        assert parts == -(-taken // (most + most // 8))
        assert Array.asked == asked
