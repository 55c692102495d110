# SPDX-License-Identifier: Apache-2.0
"""The originals of everything that is replaced in ``legate.core``."""

from __future__ import annotations

from types import SimpleNamespace

# Filled once by install(), before any stand-in is made.
real = SimpleNamespace()
