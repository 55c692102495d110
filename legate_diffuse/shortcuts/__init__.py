# SPDX-License-Identifier: Apache-2.0
"""Short ways from cuPyNumeric's operators to the window.

May import interpose, launch, libraries, stores, ir and kernel.
"""
