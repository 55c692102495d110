# SPDX-License-Identifier: Apache-2.0
"""The window of this process, in which the stand-ins' operations wait.

Import this module only after ``install`` has kept the originals: it uses them.
"""

from __future__ import annotations

from typing import Final

from legate_diffuse import settings
from legate_diffuse.check.checker import Checker
from legate_diffuse.interpose.originals import real
from legate_diffuse.launch.window import LaunchWindow
from legate_diffuse.libraries import legate_sparse
from legate_diffuse.libraries.cupynumeric import tasks
from legate_diffuse.libraries.recognize import TaskRecognizer

recognizer: Final = TaskRecognizer(
    real.legate,
    {"cupynumeric": tasks.register, legate_sparse.NAME: legate_sparse.register},
)

window: Final = LaunchWindow(
    real.legate,
    recognizer,
    recognizer.operations,
    Checker(recognizer.operations) if settings.flag("LEGATE_DIFFUSE_CHECK") else None,
)
