# SPDX-License-Identifier: Apache-2.0
"""Finds the helpers of the tests of applications."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "apps"))
