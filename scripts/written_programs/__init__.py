# SPDX-License-Identifier: Apache-2.0
"""NumPy programs as people write them, from several fields: ``bench.py numpy``.

Each is one function that makes its data, computes, and returns arrays. It is given the
package and a size, and never says which package it is.
"""

from __future__ import annotations

from written_programs import (
    fitting,
    flows,
    images,
    matrices,
    motion,
    recurrences,
    signals,
)
from written_programs.program import Program

# By name, in the order of the page.
PROGRAMS: dict[str, Program] = {
    program.name: program
    for field in (flows, motion, matrices, signals, images, fitting, recurrences)
    for program in field.PROGRAMS
}
