# SPDX-License-Identifier: Apache-2.0
"""What it costs to issue operations on small arrays: a chain of ten, over and over.

The operations are those of chain.py, on the values that the chain before has
left. Two times are taken for each operation: until the program has issued all
chains, and until they have run ("in all"). Both with nothing between chains,
and with a fence after each.

Under legate_diffuse batches of four modes take turns, so that their times can
be compared; without it there is one, ``unfused``.

- ``stand-ins``: every operation is submitted at once (``LaunchWindow.submit``
  is replaced by ``submit_now``).
- ``fused``: everything.
- ``planned``: as fused, but programs are neither handed to Legate nor run here
  (``submit_program`` and ``run_program`` of the native module do nothing), so that no
  chain runs.
- ``built``: operations are built and dropped (``LaunchWindow.submit`` does
  nothing), so that no chain runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

OPERATIONS = 10
MODES = ("stand-ins", "fused", "planned", "built")


def main() -> None:
    """Time the chain in all modes, and print one line of JSON."""
    options = _parse()
    import cupynumeric as np
    from legate.core import get_legate_runtime

    fence = get_legate_runtime().issue_execution_fence
    start = (np.arange(options.size, dtype=options.dtype) * 0.6180339887498949) % 1.0
    fence(block=True)
    fused = "legate_diffuse.launch.window" in sys.modules
    record: dict[str, Any] = {"size": options.size, "dtype": options.dtype}
    for kind, between in (("loop", _nothing), ("fenced", fence)):
        times: dict[str, list[tuple[float, float]]] = {}
        for _ in range(1 + options.batches):
            for mode in MODES if fused else ("unfused",):
                with patched(mode):
                    batch = timed(np, start, options.chains, between, fence)
                times.setdefault(mode, []).append(batch)
        # the first batch compiles
        record[kind] = {mode: batches[1:] for mode, batches in times.items()}
    print(json.dumps(record))


def patched(mode: str) -> AbstractContextManager[Any]:
    """Take out what the mode leaves out."""
    if mode in ("unfused", "fused"):
        return nullcontext()
    if mode == "planned":
        from legate_diffuse import _native

        return patch.multiple(_native, submit_program=_nothing, run_program=_nothing)
    from legate_diffuse.launch.window import LaunchWindow

    kept = LaunchWindow.submit_now if mode == "stand-ins" else _nothing
    return patch.object(LaunchWindow, "submit", kept)


def timed(
    np: Any,
    x: Any,
    chains: int,
    between: Callable[[], Any],
    fence: Callable[..., None],
) -> tuple[float, float]:
    """Return the microseconds for each operation, issued and in all."""
    begin = time.perf_counter()
    for _ in range(chains):
        y = x * (1.0 - x)
        y = y * 3.5
        y = (y + 0.25) / 1.25
        y = y * y - y + 1.0
        y = np.sqrt(y)
        x = y * x
        between()
    issued = time.perf_counter()
    fence(block=True)
    done = time.perf_counter()
    scale = 1e6 / (chains * OPERATIONS)
    return (issued - begin) * scale, (done - begin) * scale


def _nothing(*_: Any) -> None:
    pass


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--dtype", default="float64", choices=("float32", "float64"))
    parser.add_argument("--chains", type=int, default=100, help="in a timed batch")
    parser.add_argument("--batches", type=int, default=15, help="timed batches")
    return parser.parse_args()


if __name__ == "__main__":
    main()
