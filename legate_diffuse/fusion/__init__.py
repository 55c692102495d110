# SPDX-License-Identifier: Apache-2.0
"""Analyses over a window: what may run as one task, and what need not exist."""
