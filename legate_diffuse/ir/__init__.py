# SPDX-License-Identifier: Apache-2.0
"""The scale-free IR: stores, views, index tasks and windows of them.

Nothing in it depends on the number of processors or on concrete extents
(Diffuse, section 3).

May import kernel.
"""

from legate_diffuse.ir.kind import OperationKind
from legate_diffuse.ir.privilege import Privilege
from legate_diffuse.ir.store import Points, Store, View
from legate_diffuse.ir.task import Access, IndexTask
from legate_diffuse.ir.window import Window

__all__ = (
    "Access",
    "IndexTask",
    "OperationKind",
    "Points",
    "Privilege",
    "Store",
    "View",
    "Window",
)
