# SPDX-License-Identifier: Apache-2.0
"""Vector functions of the maths library.

May import llvm and kernel.
"""
