# SPDX-License-Identifier: Apache-2.0
"""What the peers of ``bench.py peers`` share: the programs' arrays, and the timing.

A peer takes the arrays of a program in apps/ and its check, and runs the same
iteration its own way; timing and output are those of apps/harness.py. Once this
module is imported, those of apps/ can be.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

sys.path.insert(0, str(Path(__file__).parents[1] / "apps"))

import harness

# Heaps that keep their memory take about ten iterations until no block is asked of
# the system anymore.
WARM_UP = 15


def run(
    step_of: Callable[[Any, Any], Callable[[harness.State], None]],
    convert: Callable[[Any], Any] = lambda array: array,
) -> None:
    """Run the program that the first argument names, with the peer's step.

    ``step_of(name, program)`` gives the peer's step for a program, whose module
    in apps/ is ``program``, and ``convert`` makes the peer's array of a NumPy array.
    """
    name = sys.argv.pop(1)
    program = importlib.import_module(name)
    step = step_of(name, program)

    def arrays(np: Any, size: int, dtype: str) -> harness.State:
        # each its own memory: some peers write in place
        return {
            key: convert(value.copy()) if isinstance(value, numpy.ndarray) else value
            for key, value in program.setup(np, size, dtype).items()
        }

    def setup(np: Any, size: int, dtype: str) -> harness.State:
        fresh, state = arrays(np, size, dtype), arrays(np, size, dtype)
        for _ in range(WARM_UP):
            step(state)
        return fresh

    harness.run(
        harness.Program(
            name,
            1_000_000,
            setup,
            lambda _, state: step(state),
            program.results,
            lambda np, state: program.error(np, _as_numpy(state)),
        )
    )


def _as_numpy(state: harness.State) -> harness.State:
    return {
        key: value if isinstance(value, float) else numpy.asarray(value)
        for key, value in state.items()
    }
