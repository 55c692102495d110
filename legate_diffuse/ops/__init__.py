# SPDX-License-Identifier: Apache-2.0
"""What each library's tasks mean, in terms of kernel operators."""

from legate_diffuse.ops.cupynumeric import kinds, lower, reduction, supported
from legate_diffuse.ops.registry import OperationKind, Refusal

__all__ = ["OperationKind", "Refusal", "kinds", "lower", "reduction", "supported"]
