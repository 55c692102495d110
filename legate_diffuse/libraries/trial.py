# SPDX-License-Identifier: Apache-2.0
"""Runs a task on single elements, to find out how its library was compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from legate_diffuse.stores.legate import Legate


def sum_row(legate: Legate, library: Any, task: int, value: float, count: int) -> float:
    """Run the product of a matrix of one row at once, and return what it writes.

    The row has ``count`` elements, which are ``value``, as the vector's are.
    """
    from legate.core import types

    runtime = legate.runtime
    submitted = runtime.create_auto_task(library, task)

    def filled(value: Any, element: Any, size: int = 1) -> Any:
        store = runtime.create_store(element, (size,))
        runtime.issue_fill(store, legate.Scalar(value, element))
        return store

    result = filled(0.0, types.float64)
    submitted.add_output(result)
    for store in (
        filled((0, count - 1), types.rect_type(1)),
        filled(0, types.int64, count),
        filled(value, types.float64, count),
        filled(value, types.float64),
    ):
        submitted.add_input(store)
        submitted.add_broadcast(store)
    submitted.execute()
    return _element(result)


def _element(store: Any) -> float:
    return float(np.asarray(store.get_physical_store().get_inline_allocation())[0])


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
    return _element(stores[-1])
