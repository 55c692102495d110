# SPDX-License-Identifier: Apache-2.0
"""Proves plans: runs a window and the words of its launches on symbols, and compares.

May import ir and kernel.
"""
