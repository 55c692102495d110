# SPDX-License-Identifier: Apache-2.0
"""How far a fused program may be from the unfused one.

Only four things may differ: functions whose routines give other bits than libm
(``Routine.ulps``), complex functions that use them, powers that are computed as simpler
functions, and sums and products of floats, whose terms are combined in another order.
Two ways to add n numbers x_i differ by at most 2 n eps (|x_1| + ... + |x_n|)
(N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002,
section 4.2); two products by 2 n eps times the product. What is computed from such a
result may differ as well. To see by how much, the operation is computed again with its
operands moved up and down by their tolerances. Tolerances are known for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.check.elements import Array, part, read, seen
from legate_diffuse.ir import OperationKind
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.ir.store import OTHER
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS
from legate_diffuse.maths.calls import routines_of
from legate_diffuse.maths.registry import ROUTINES
from legate_diffuse.maths.simple_powers import SIMPLER_POWERS

_UNKNOWN: Final = np.inf
# Operands of one operation that are moved independently.
_MAX_MOVED: Final = 3

Function = Callable[..., Array]


class Tolerances:
    """The tolerances of the elements of roots, while operations run one by one."""

    def __init__(self) -> None:
        self._of: dict[Any, Array] = {}

    def of(self, root: Any) -> Array:
        """Return the tolerance of each element of a root."""
        found = self._of.get(root)
        return np.zeros(root.shape) if found is None else found

    def run(self, operation: Any, run: Callable[[], None]) -> None:
        """Run an original operation, and learn the tolerance of its results."""
        inputs, targets = _split(operation)
        if not operation.kind.repeatable:
            run()
            for _, view in targets:
                # the fused run takes over its results
                if view.affine:
                    self._set(view, np.zeros(()))
            return
        if not all(view.affine for view in operation.views):
            run()
            self._spread(operation, inputs, targets)
            return
        uncertain = any(self._of_view(view).any() for view in inputs)
        own_error = _own_error(operation.kind.operation)
        inexact = own_error is not None or any(_is_inexact(*each) for each in targets)
        if not uncertain and not inexact:
            run()
            for privilege, view in targets:
                if privilege == WRITE:
                    self._set(view, np.zeros(()))
            return
        operands = [seen(read(view.root), view) for view in inputs]
        errors = [self._of_view(view) for view in inputs]
        zero = np.zeros(())
        before = [
            part(read(view.root), view) if privilege >= REDUCE else None
            for privilege, view in targets
        ]
        run()
        for (_, target), old in zip(targets, before, strict=True):
            with np.errstate(all="ignore"):
                if old is not None:
                    found = self._reduce(operation, target, operands, errors, old)
                else:
                    found = _move(operation, operands, errors) if uncertain else zero
                    if own_error is not None:
                        result = np.abs(part(read(target.root), target))
                        found = found + own_error(operands, result.astype(float))
            self._set(target, np.asarray(found))

    def _spread(
        self, operation: Any, inputs: list[Any], targets: list[tuple[int, Any]]
    ) -> None:
        """Learn the tolerance where a view does not say which elements it shows."""
        worst = max(
            (float(self.of(view.root).max(initial=0)) for view in inputs), default=0.0
        )
        if worst and operation.kind.operation.code != "COPY":
            worst = _UNKNOWN
        for privilege, view in targets:
            found = _UNKNOWN if _is_inexact(privilege, view) else worst
            root = view.root
            self._of[root] = np.maximum(self.of(root), found)

    def _of_view(self, view: Any) -> Array:
        return seen(self.of(view.root), view)

    def _set(self, target: Any, values: Array) -> None:
        root = target.root
        if root not in self._of:
            if not values.any():
                return
            self._of[root] = np.zeros(root.shape)
        tolerances = part(self._of[root], target)
        tolerances[...] = np.broadcast_to(_known(values), tolerances.shape)

    def _reduce(
        self,
        operation: Any,
        target: Any,
        operands: list[Array],
        errors: list[Array],
        before: Array,
    ) -> Array:
        """Return the tolerance of a reduction's results, in the target's dimensions."""
        operator = _operator(operation)
        function = _terms(operation)
        if operator is None or function is None:
            return np.array(_UNKNOWN)
        terms = function(*operands)
        moved = _move_function(function, operands, errors)
        axes = _reduced_axes(target, terms)
        count = prod(terms.shape[axis] for axis in axes) + 1
        eps = _eps(before.dtype)

        def fold(ufunc: Any, values: Array) -> Array:
            return np.asarray(
                ufunc.reduce(values, axis=axes, keepdims=target.shape == terms.shape)
            )

        carried = np.broadcast_to(moved, terms.shape)
        if operator == "add":
            size = fold(np.add, np.abs(terms)) + np.abs(before)
            rounding = 2 * count * eps * size
            return np.asarray(
                rounding + fold(np.add, carried) + part(self.of(target.root), target)
            )
        if operator == "mul":
            size = np.abs(fold(np.multiply, terms) * before)
            relative = np.where(carried > 0, carried / np.abs(terms), 0.0)
            return np.asarray(size * (2 * count * eps + fold(np.add, relative)))
        widest = np.maximum(
            fold(np.maximum, carried), part(self.of(target.root), target)
        )
        # 0 and -0 are the same to the operator
        return np.asarray(np.maximum(widest, np.finfo(float).tiny if eps else 0.0))


def _split(operation: Any) -> tuple[list[Any], list[tuple[int, Any]]]:
    """Return the views that are read, and privileges and views of what is changed."""
    pairs = list(zip(operation.privileges, operation.views, strict=True))
    return (
        [view for privilege, view in pairs if privilege == READ],
        [pair for pair in pairs if pair[0] != READ],
    )


def _is_inexact(privilege: int, view: Any) -> bool:
    dtype = view.root.dtype
    return privilege >= REDUCE and dtype != OTHER and np.dtype(dtype).kind in "fc"


def _eps(dtype: Any) -> float:
    return float(np.finfo(dtype).eps) if np.dtype(dtype).kind in "fc" else 0.0


_OwnError = Callable[[list[Array], Array], Array]
"""`(operands, size)`: by how much results of a size may differ."""


@cache
def _own_error(kind: OperationKind) -> _OwnError | None:
    """Return by how much an operation's results may differ, None if they may not."""
    relative = _relative_error(kind)
    if kind.code == "POWER" and kind.inputs[0] in FLOATS:
        return lambda operands, size: relative * size + _power_error(operands, size)
    return (lambda _, size: relative * size) if relative else None


def _power_error(operands: list[Array], size: Array) -> Array:
    """A root of -0 is -0, that of minus infinity is no number; powers are 0 and inf."""
    x, exponent = operands
    error = 2 * _eps(x.dtype) * size + np.finfo(float).tiny
    return np.where(np.isin(exponent, SIMPLER_POWERS), error, 0.0)


def _relative_error(kind: OperationKind) -> float:
    """Return by how much an operation's results may differ, relative to their size."""
    if kind.task not in _FUNCTIONS or not MEANINGS.covers(kind):
        return 0.0
    inputs = [Argument(dtype, reads=True, writes=False) for dtype in kind.inputs]
    outputs = [Argument(dtype, reads=False, writes=True) for dtype in kind.outputs]
    builder = Builder(inputs + outputs, kind.scalars)
    operands = [builder.load(number) for number in range(len(inputs))]
    operands += [builder.scalar(number) for number in range(len(kind.scalars))]
    for number, value in enumerate(MEANINGS.lower(kind, builder, operands)):
        builder.store(len(inputs) + number, value)
    units = max(
        (ROUTINES[name].ulps for name in routines_of(builder.build())), default=0
    )
    # errors grow in the functions of complex numbers that are made of these
    most = 2.0**13 if kind.inputs[0] in COMPLEX else units
    return 2 * most * _eps(kind.outputs[0]) if units else 0.0


def _operator(operation: Any) -> str | None:
    kind = operation.kind.operation
    return "add" if kind.task in _PRODUCTS else MEANINGS.reduction(kind)


def _reduced_axes(target: Any, terms: Array) -> tuple[int, ...]:
    if target.shape != terms.shape:
        return tuple(range(terms.ndim))
    return tuple(axis for axis, dim in enumerate(target.dims) if dim < 0)


def _move(operation: Any, operands: Sequence[Array], errors: Sequence[Array]) -> Array:
    """Return by how much results move if the operands move by their tolerances."""
    function = _element_wise(operation)
    if function is None:
        return np.array(_UNKNOWN)
    return _move_function(function, operands, errors)


def _move_function(
    function: Function, operands: Sequence[Array], errors: Sequence[Array]
) -> Array:
    moving = [position for position, error in enumerate(errors) if error.any()]
    middle = function(*operands)
    if len(moving) > _MAX_MOVED:
        return np.array(_UNKNOWN)
    if not moving:
        return np.zeros(())
    worst = np.zeros(middle.shape)
    for corner in _corners(operands, errors, moving):
        worst = np.fmax(worst, _distance(function(*corner), middle))
    touched = np.zeros(middle.shape, bool)
    for position in moving:
        touched = touched | (errors[position] > 0)
    # the operation rounds its own result as well
    rounding = 2 * _eps(middle.dtype) * np.abs(middle)
    return np.where(touched, _known(worst + rounding), 0.0)


def _corners(
    operands: Sequence[Array], errors: Sequence[Array], moving: Sequence[int]
) -> Iterator[list[Array]]:
    for signs in product((-1, 1), repeat=len(moving)):
        corner = list(operands)
        for position, sign in zip(moving, signs, strict=True):
            value, error = operands[position], errors[position]
            if value.dtype.kind == "b":
                corner[position] = np.where(error > 0, sign > 0, value)
            elif value.dtype.kind in "iu":
                step = np.ceil(np.minimum(error, 2.0**52)).astype(value.dtype)
                corner[position] = value + step if sign > 0 else value - step
            else:
                step = error * (1 + 1j) if value.dtype.kind == "c" else error
                corner[position] = (value + sign * step).astype(value.dtype)
        yield corner


def _known(tolerances: Array) -> Array:
    return np.where(np.isnan(tolerances), _UNKNOWN, tolerances)


def _distance(one: Array, other: Array) -> Array:
    kind = "complex128" if other.dtype.kind == "c" else "float64"
    distance = np.abs(one.astype(kind) - other.astype(kind))
    return np.where(one == other, 0.0, _known(distance))


def _itself(x: Array) -> Array:
    return x


def _choose(mask: Array, x: Array, y: Array) -> Array:
    return np.asarray(np.where(mask, x, y))


_NOT_IN_NUMPY: Final[dict[str, Function]] = {
    "COPY": _itself,
    "FILL": _itself,
    "WHERE": _choose,
}
_FUNCTIONS: Final = ("UNARY_OP", "BINARY_OP")
_ELEMENT_WISE: Final = ("UNARY_OP", "BINARY_OP", "WHERE", "CONVERT", "FILL")
_PRODUCTS: Final = ("MATVECMUL_TASK", "MATMUL_TASK")


def _element_wise(operation: Any) -> Function | None:
    """Return what an operation computes, None if that is not known here."""
    kind = operation.kind.operation
    if kind.scalars or kind.task not in _ELEMENT_WISE or len(kind.outputs) > 1:
        return None
    (dtype,) = kind.outputs
    if kind.task == "CONVERT":
        function: Any = _itself
    else:
        name = kind.code or kind.task
        function = _NOT_IN_NUMPY.get(name) or getattr(np, name.lower(), None)
    if function is None:
        return None
    return lambda *operands: np.asarray(function(*operands)).astype(dtype)


def _nonzero(x: Array) -> Array:
    return np.asarray(x != 0)


_TERMS: Final[dict[str, Function]] = {
    "ALL": _nonzero,
    "ANY": _nonzero,
    "CONTAINS": np.equal,
    "COUNT_NONZERO": _nonzero,
    "DOT": np.multiply,
    "EQUAL": np.equal,
    "MATVECMUL": np.multiply,
    "MATVECMUL_TASK": np.multiply,
    "MATMUL_TASK": np.multiply,
    "NANSUM": lambda x: np.where(np.isnan(x), 0, x),
    "SUM_SQUARES": np.square,
    "VARIANCE": lambda x, mean: np.square(x - mean),
    **dict.fromkeys(("MAX", "MIN", "PROD", "SUM"), _itself),
}


def _terms(operation: Any) -> Function | None:
    """Return what a reduction combines, None if that is not known here."""
    kind = operation.kind.operation
    function = _TERMS.get(kind.code or kind.task)
    if function is None:
        return None
    own = len(operation.scalars) - len(kind.scalars)
    constants = [value.value() for value, _ in operation.scalars[own:]]
    masked = len(kind.inputs) == 2 and kind.task.endswith("UNARY_RED")

    def terms(*operands: Array) -> Array:
        if not masked:
            return np.asarray(function(*operands, *constants))
        value, mask = operands
        return np.where(mask, function(value, *constants), 0)

    return terms
