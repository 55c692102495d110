# SPDX-License-Identifier: Apache-2.0
"""What holds in all tests, and in the processes that they start."""

from __future__ import annotations

import os

# Every plan is proven before it is used, so that all programs are cases of the proof.
os.environ.setdefault("LEGATE_DIFFUSE_PROOF", "all")
