# SPDX-License-Identifier: Apache-2.0
"""Roots, layouts and views: the data model under interpose and launch."""
