# SPDX-License-Identifier: Apache-2.0
"""Counters and reports."""
