# SPDX-License-Identifier: Apache-2.0
"""What each library's tasks mean, in terms of kernel operators.

May import llvm, stores, ir and kernel.
"""
