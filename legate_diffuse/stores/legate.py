# SPDX-License-Identifier: Apache-2.0
"""The real Legate, for the layers below the stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Legate:
    """What these layers use of ``legate.core``, and the native part.

    ``legate.core`` itself hands out stand-ins. Attributes with a capital are the
    real classes of that name.
    """

    runtime: Any
    native: Any
    Scalar: Any
    Type: Any
    Scope: Any
    ReductionOpKind: Any
