# SPDX-License-Identifier: Apache-2.0
"""Splits launches that would take far more memory than their operations one by one.

A launch may do the same work for many arrays, in one loop after another, so that it has
many temporaries at once, where the program frees one before it makes the next. Most of
what that saves is saved with a few at a time already. Memory that is used for the first
time has to be cleared, and what Legate has memory for must not fail fused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.launch.policy import length_of_body
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# Temporaries may always take so many bytes.
_LEAST: Final = 2**26
# So many times the memory of the operations one by one, within a share of Legate's.
_TIMES: Final = 4
_SHARE: Final = 8


def parts(operations: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Return about so many parts of a launch's operations, alike if these repeat."""
    length = -(-len(operations) // count)
    repeats = length_of_body(operations)
    if 0 < repeats < length:
        length -= length % repeats
    starts = range(0, len(operations), length)
    return [operations[start : start + length] for start in starts]


def num_parts(
    planned: PlannedLaunch,
    operations: Sequence[Any],
    views: Sequence[View],
    program: bytes,
    native: Any,
) -> int:
    """Return into how many parts a launch is to be split, 1 if it is not.

    That is if it has far more temporaries than its operations one by one.

    Args:
        planned: the launch, which is not partitioned.
        operations: the window's operations, by position.
        views: the window's views, by number.
        program: the launch's words.
        native: the native part.
    """
    roots = [views[n].root for n in planned.arguments]
    shapes = [(root.shape, int(root.type.size)) for root in roots]
    taken = int(native.scratch_bytes(shapes, program))
    if taken <= _LEAST:
        return 1
    layouts = [views[n].layout for n in planned.temporaries]
    # a loop of the program has the same ones in most iterations
    if planned.in_use is None or planned.in_use[0] != layouts:
        temporaries = {views[n].root for n in planned.temporaries}
        own = [operations[n] for n in planned.tasks]
        planned.in_use = layouts, _bytes_at_once(own, temporaries)
    needed = planned.in_use[1]
    share = int(native.memory_of_kernels()) // _SHARE
    most = max(needed, min(_TIMES * needed, max(share, _LEAST)), 1)
    # scalars and rows that are computed again do not count
    return min(-(-taken // (most + most // 8)), len(planned.tasks))


def may_take_much(planned: PlannedLaunch, views: Sequence[View]) -> bool:
    """Whether to ask for ``num_parts``, which takes as long as to submit the launch."""
    if planned.partitioned or len(planned.tasks) < 2:
        return False
    sizes = [views[buffer.view].root.nbytes for buffer in planned.scratch]
    return sum(sizes) > _LEAST


def _bytes_at_once(operations: Sequence[Any], temporaries: set[Root]) -> int:
    """Return how many bytes temporaries take if operations run in their order."""
    last: dict[Root, int] = {}
    for position, operation in enumerate(operations):
        last |= {view.root: position for view in operation.views}
    begun: set[Root] = set()
    in_use = most = 0
    for position, operation in enumerate(operations):
        used = {view.root for view in operation.views} & temporaries
        in_use += sum([root.nbytes for root in used - begun])
        begun |= used
        most = max(most, in_use)
        in_use -= sum([root.nbytes for root in used if last[root] == position])
    return most
