# SPDX-License-Identifier: Apache-2.0
"""The compiler: from a window to planned launches.

May import ir and kernel.
"""
