# SPDX-License-Identifier: Apache-2.0
"""From recorded operations to submitted tasks.

May import proof, observe, libraries, fusion, codegen, stores, ir and kernel.
"""
