# SPDX-License-Identifier: Apache-2.0
"""What the stand-ins and the window share: roots, layouts, views, fills.

May import ir and kernel.
"""
