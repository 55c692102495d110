# SPDX-License-Identifier: Apache-2.0
"""Windows of these tests have no native part that holds small arrays."""

from __future__ import annotations

import os

os.environ.setdefault("LEGATE_DIFFUSE_SMALL_BYTES", "0")
