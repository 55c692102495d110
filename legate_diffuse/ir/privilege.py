# SPDX-License-Identifier: Apache-2.0
"""What a task does with an argument."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Privilege(IntEnum):
    """What a task does with an argument (Diffuse, section 3.3).

    An access of a task has READ, WRITE or REDUCE. A nest and a launch name each array
    once, and combine the privileges of what they do with it. REDUCE plus the number of
    one of Legate's operators stands for a reduction with that operator.
    """

    READ = 1
    WRITE = 2
    READ_WRITE = 3
    REDUCE = 4

    @property
    def text(self) -> str:
        """The privilege in words."""
        return self.name.lower().replace("_", " ")


READ: Final = Privilege.READ
WRITE: Final = Privilege.WRITE
REDUCE: Final = Privilege.REDUCE

OPERATORS: Final = {
    "add": 0,
    "mul": 2,
    "max": 4,
    "min": 5,
    # of truth values
    "or": 0,
    "and": 2,
}
"""The numbers of the operators in ``legate.core.ReductionOpKind``."""
