# SPDX-License-Identifier: Apache-2.0
"""The programs through torch.compile, which takes their own steps as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import peer
import torch
from harness import State


def step_of(name: str, program: Any) -> Callable[[State], None]:
    """Return the program's step, compiled: torch has NumPy's names for it."""
    compiled = torch.compile(program.step, fullgraph=True)
    return lambda state: compiled(torch, state)


if __name__ == "__main__":
    # OMP_NUM_THREADS has set the number of threads
    peer.run(step_of, torch.from_numpy)
