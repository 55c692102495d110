# SPDX-License-Identifier: Apache-2.0
"""What a task does with an argument."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Privilege(IntEnum):
    """What a task does with an argument (Diffuse, section 3.3).

    In the IR an access has one of them. A launch names each array once, with the
    privileges of all its accesses: READ | WRITE is both. REDUCE plus the number of
    one of Legate's operators reduces with that.
    """

    READ = 1
    WRITE = 2
    REDUCE = 4


READ: Final = Privilege.READ
WRITE: Final = Privilege.WRITE
REDUCE: Final = Privilege.REDUCE
