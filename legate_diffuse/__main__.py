# SPDX-License-Identifier: Apache-2.0
"""``python -m legate_diffuse``."""

import sys

from legate_diffuse.cli import main

sys.exit(main())
