# SPDX-License-Identifier: Apache-2.0
"""Runs a task on single elements, to find out how its library was compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from legate_diffuse.stores.legate import Legate


def compute(
    legate: Legate,
    library: Any,
    task: int,
    inputs: Sequence[float],
    scalars: Sequence[bool],
) -> float:
    """Run a task at once, and return the one element that it writes.

    It gets a store of one float64 for each input. The last one is its output as well.
    """
    from legate.core import types

    runtime = legate.runtime
    submitted = runtime.create_auto_task(library, task)
    stores = []
    for value in inputs:
        store = runtime.create_store(types.float64, (1,))
        runtime.issue_fill(store, legate.Scalar(value, types.float64))
        submitted.add_input(store)
        stores.append(store)
    submitted.add_output(stores[-1])
    for flag in scalars:
        submitted.add_scalar_arg(flag, types.bool_)
    submitted.execute()
    physical = stores[-1].get_physical_store()
    return float(np.asarray(physical.get_inline_allocation())[0])
