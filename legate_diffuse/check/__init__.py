# SPDX-License-Identifier: Apache-2.0
"""Runs windows fused and unfused, and compares the results.

May import launch, observe, libraries, fusion, codegen, maths, stores, ir and kernel.
"""
