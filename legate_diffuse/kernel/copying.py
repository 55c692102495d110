# SPDX-License-Identifier: Apache-2.0
"""The kernel that copies."""

from __future__ import annotations

from legate_diffuse.kernel.builder import Builder
from legate_diffuse.kernel.ir import Argument, Kernel


def copying(dtype: str) -> Kernel:
    """Return a kernel that writes to its first argument what it reads of the other."""
    builder = Builder(
        (
            Argument(dtype, reads=False, writes=True),
            Argument(dtype, reads=True, writes=False),
        ),
        (),
    )
    builder.store(0, builder.load(1))
    return builder.build()
