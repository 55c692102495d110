# SPDX-License-Identifier: Apache-2.0
"""The real Legate, for what stands below its stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Legate:
    """What is used of ``legate.core``, and of the native part.

    Whoever needs the real Legate is given this, since ``legate.core`` hands out
    stand-ins. A capitalized attribute is the class of that name.
    """

    runtime: Any
    native: Any
    Scalar: Any
    Type: Any
    Scope: Any
    ReductionOpKind: Any
