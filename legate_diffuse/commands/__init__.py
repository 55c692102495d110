# SPDX-License-Identifier: Apache-2.0
"""What a person asks of legate_diffuse at a shell, beside running a program.

May import shortcuts, interpose, check, observe, libraries and codegen.
"""
