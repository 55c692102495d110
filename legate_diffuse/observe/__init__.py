# SPDX-License-Identifier: Apache-2.0
"""What fusion did, in numbers and in words.

May import fusion, ir and kernel.
"""
