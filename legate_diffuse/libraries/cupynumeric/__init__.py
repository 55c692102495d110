# SPDX-License-Identifier: Apache-2.0
"""What cuPyNumeric's tasks are, and what they mean."""
