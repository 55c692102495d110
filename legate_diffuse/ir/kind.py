# SPDX-License-Identifier: Apache-2.0
"""Which operation a task performs, on which types."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OperationKind:
    """What decides on the meaning of an element-wise task or a reduction.

    Attributes:
        task: the task's name, for instance `BINARY_OP`.
        code: the name of its operation code, for instance `ADD`; '' if it has none.
        inputs: types of the input stores.
        outputs: types of the output stores; of a reduction, the type of its result.
        scalars: types of the scalar arguments that the operation computes with.
    """

    task: str
    code: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    scalars: tuple[str, ...] = ()
