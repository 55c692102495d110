# SPDX-License-Identifier: Apache-2.0
"""Which operations can wait in a window, and what they are."""

from __future__ import annotations

from typing import Any

from legate_diffuse.libraries.kind import Kind, Recognizer
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.view import View, over


def recognize(operation: Any, recognizer: Recognizer) -> bool:
    """Tell what an operation is; False if it cannot wait.

    The one element of a fill's value repeats over its target.
    """
    views = operation.views
    is_fill = type(operation) is Fill
    if is_fill:
        kind = operation.kind or recognizer.recognize_fill(operation)
    elif not operation.holdable:
        return False
    else:
        kind = operation.kind or recognizer.recognize_task(operation)
    if kind is None or not all([view.root.fusable for view in views]):
        return False
    if is_fill:
        if not _may_fill(*views):
            return False
        if len(views) > 1 and views[0].volume > 1:
            operation.views = [views[0], over(views[1], views[0].shape)]
    elif kind.pointwise:
        shape = views[kind.changed[0]].shape
        if not all([view.shape == shape for view in views]):
            kind = _repeat_elements(operation, kind, recognizer)
            if kind is None:
                return False
    if not (kind.covered or kind is operation.kind):
        operation.check_scalars()
        if not operation.holdable:
            return False
    operation.kind = kind
    return True


def _repeat_elements(operation: Any, kind: Kind, recognizer: Recognizer) -> Kind | None:
    """Let single elements repeat over the shape of the other arguments.

    Returns the kind of the operation; it runs as it is if its shapes differ.
    """
    views = operation.views
    shape = views[kind.changed[0]].shape
    for position, view in enumerate(views):
        repeats = position in kind.repeated and view.volume == 1 and 0 not in shape
        if view.shape != shape and not repeats:
            return recognizer.recognize_opaque(operation)
    operation.views = [over(view, shape) for view in views]
    return kind


def _may_fill(target: View, value: View | None = None) -> bool:
    """Whether a fill's value is one element of the right type."""
    return value is None or (
        value.root.dtype == target.root.dtype
        and value.shape in ((), target.shape)
        and value.root.scalar_storage
    )
