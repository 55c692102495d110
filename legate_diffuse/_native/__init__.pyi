# SPDX-License-Identifier: Apache-2.0
"""The native part of the package (mappers/), by what its functions are about.

Import ``legate.core`` before this module: it is linked to the libraries that
``legate.core`` loads.
"""

# ruff: noqa: F403 (a stub passes on all that others have)
from legate_diffuse._native.arrays import *
from legate_diffuse._native.operations import *
from legate_diffuse._native.tasks import *
