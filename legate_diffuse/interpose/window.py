# SPDX-License-Identifier: Apache-2.0
"""The window of this process, in which the operations of stand-ins wait.

It is made over the originals, so it is imported after they were kept.
"""

from __future__ import annotations

from typing import Final

from legate_diffuse.interpose.originals import real
from legate_diffuse.launch.window import LaunchWindow
from legate_diffuse.libraries.cupynumeric import meanings
from legate_diffuse.libraries.cupynumeric.recognize import CupynumericRecognizer

window: Final = LaunchWindow(real.legate, CupynumericRecognizer(real.legate), meanings)
