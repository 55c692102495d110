# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for what ``legate.core`` hands out.

May import check, launch, libraries, stores, ir and kernel.
"""
