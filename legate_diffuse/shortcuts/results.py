# SPDX-License-Identifier: Apache-2.0
"""The results of functions that Numba compiles, and the tasks that compute them."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any, Final

import numpy as np

from legate_diffuse.kernel.functions import ScalarFunction
from legate_diffuse.libraries.compiled import is_compiled

_tasks: Final[dict[tuple[ScalarFunction, int], Any]] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A result of a function of elements of some types.

    Attributes:
        name: what people call the function.
        inputs: the types of the arguments, as NumPy names them.
        function: the scalar function.
        number: which of its results it is.
        task: computes it unfused, given arrays of these types and one for the result.
    """

    name: str
    inputs: tuple[str, ...]
    function: ScalarFunction
    number: int
    task: Any

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return np.dtype(self.function.outputs[self.number])


def ufuncs_of(function: Any, inputs: int, outputs: int) -> tuple[Any, ...]:
    """Return a universal function of Numba's for each result of a function."""
    import numba

    if outputs == 1:
        return (numba.vectorize(function),)
    inner = function
    if not is_compiled(function):
        inner = numba.njit(error_model="numpy")(function)
    names = ", ".join(f"x{n}" for n in range(inputs))
    made = []
    for number in range(outputs):
        scope = {"inner": inner}
        exec(f"def part({names}):\n return inner({names})[{number}]", scope)
        made.append(numba.vectorize(scope["part"]))
    return tuple(made)


def task_of(name: str, function: ScalarFunction, number: int, ufunc: Any) -> Any:
    """Return a Python task of Legate's for a result of a function.

    It runs a universal function. Legate keeps a task for good, so that equal functions
    share one.
    """
    key = (function, number)
    if key not in _tasks:
        _tasks[key] = _new_task(name, ufunc, len(function.inputs))
    return _tasks[key]


def _new_task(name: str, ufunc: Any, inputs: int) -> Any:
    from legate.core import align
    from legate.core.task import InputStore, OutputStore, task

    names = [f"x{n}" for n in range(inputs)]

    def body(**stores: Any) -> None:
        out = np.asarray(stores["out"])
        # what repeats along an axis is not cut to the tile there
        tile = tuple(map(slice, out.shape))
        operands = [np.asarray(stores[each])[tile] for each in names]
        with np.errstate(all="ignore"):
            ufunc(*operands, out=out)

    kind = Parameter.POSITIONAL_OR_KEYWORD
    parameters = [Parameter(each, kind, annotation=InputStore) for each in names]
    parameters.append(Parameter("out", kind, annotation=OutputStore))
    body.__name__ = body.__qualname__ = name
    body.__signature__ = Signature(  # type: ignore[attr-defined]
        parameters, return_annotation=None
    )
    return task(constraints=tuple(align(each, "out") for each in names))(body)
