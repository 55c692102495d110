# SPDX-License-Identifier: Apache-2.0
"""LLVM assembly as text: types, numbers, blocks.

May import kernel.
"""
