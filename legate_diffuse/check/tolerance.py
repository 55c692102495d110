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
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from legate_diffuse.check.elements import Array, part, read, seen
from legate_diffuse.check.functions import Function, Functions
from legate_diffuse.ir import OperationKind
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.kernel.dtypes import ALL, FLOATS
from legate_diffuse.kernel.ir import Op
from legate_diffuse.kernel.operators import POWER
from legate_diffuse.maths.calls import routines_of
from legate_diffuse.maths.registry import ROUTINES
from legate_diffuse.maths.simple_powers import SIMPLER_POWERS

_UNKNOWN: Final = np.inf
# Operands of one operation that are moved independently.
_MAX_MOVED: Final = 3
# Errors grow in functions that are made of several operators.
_GROWTH: Final = 2.0**13

# Their kernels need tasks of their own kind.
_PRODUCTS: Final = ("MATVECMUL_TASK", "MATMUL_TASK")


class Tolerances:
    """The tolerances of the elements of roots, while operations run one by one."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
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
        own_error = self._own_error(operation.kind.operation)
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
                    found = (
                        self._move(operation, operands, errors) if uncertain else zero
                    )
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
        kind = operation.kind.operation
        is_product = kind.task in _PRODUCTS
        operator = "add" if is_product else self._functions.operations.reduction(kind)
        function = np.multiply if is_product else self._function(operation)
        if operator is None or function is None:
            return np.array(_UNKNOWN)
        terms = function(*operands)
        moved = _move_function(function, operands, errors)
        if not is_product:
            moved = moved + self._relative_error(kind) * np.abs(terms).astype(float)
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

    def _own_error(self, kind: OperationKind) -> _OwnError | None:
        """Return by how much results of an operation may differ, None if not at all."""
        relative = self._relative_error(kind)
        if kind.code == "POWER" and kind.inputs[0] in FLOATS:
            return lambda operands, size: relative * size + _power_error(operands, size)
        return (lambda _, size: relative * size) if relative else None

    def _relative_error(self, kind: OperationKind) -> float:
        """Return by how much results may differ, relative to their size."""
        kernel = self._functions.kernel(kind)
        if kernel is None:
            return 0.0
        steps = [step.name for step in kernel.body if isinstance(step, Op)]
        operators = [name for name in steps if name != "cast"]
        units = max((ROUTINES[name].ulps for name in routines_of(kernel)), default=0)
        if POWER in operators and len(operators) > 1:
            units = max(units, 1)
        most = units if len(operators) == 1 else _GROWTH
        return 2 * most * _eps(kernel.arguments[-1].dtype) if units else 0.0

    def _function(self, operation: Any) -> Function | None:
        """Return what an operation computes of its inputs, None if that is not known.

        Of a reduction that is what it combines.
        """
        kind = operation.kind.operation
        function = self._functions.find(kind)
        if function is None or not kind.scalars:
            return function
        scalars = operation.scalars[-len(kind.scalars) :]
        values = [np.asarray(scalar.value()) for scalar, _ in scalars]
        return lambda *operands: function(*operands, *values)

    def _move(
        self, operation: Any, operands: Sequence[Array], errors: Sequence[Array]
    ) -> Array:
        """Return by how much results move if operands move by their tolerances."""
        if self._functions.operations.sums_rows(operation.kind.operation):
            return _move_rows(operands, errors)
        function = self._function(operation)
        if function is None:
            return np.array(_UNKNOWN)
        return _move_function(function, operands, errors)


def _split(operation: Any) -> tuple[list[Any], list[tuple[int, Any]]]:
    """Return the views that are read, and privileges and views of what is changed."""
    pairs = list(zip(operation.privileges, operation.views, strict=True))
    return (
        [view for privilege, view in pairs if privilege == READ],
        [pair for pair in pairs if pair[0] != READ],
    )


def _is_inexact(privilege: int, view: Any) -> bool:
    dtype = view.root.dtype
    return privilege >= REDUCE and dtype in ALL and np.dtype(dtype).kind in "fc"


def _eps(dtype: Any) -> float:
    return float(np.finfo(dtype).eps) if np.dtype(dtype).kind in "fc" else 0.0


_OwnError = Callable[[list[Array], Array], Array]
"""`(operands, size)`: by how much results of a size may differ."""


def _power_error(operands: list[Array], size: Array) -> Array:
    """A root of -0 is -0, that of minus infinity is no number; powers are 0 and inf."""
    x, exponent = operands
    error = 2 * _eps(x.dtype) * size + np.finfo(float).tiny
    return np.where(np.isin(exponent, SIMPLER_POWERS), error, 0.0)


def _reduced_axes(target: Any, terms: Array) -> tuple[int, ...]:
    if target.shape != terms.shape:
        return tuple(range(terms.ndim))
    return tuple(axis for axis, dim in enumerate(target.layout.dims) if dim < 0)


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


def _move_rows(operands: Sequence[Array], errors: Sequence[Array]) -> Array:
    """Return by how much sums over rows, or a diagonal, move: see ``Library``."""
    rows, columns, values, *vector = operands
    first, last = rows.view(np.int64).reshape(-1, 2).T
    lengths = np.maximum(last - first + 1, 0)
    row = np.repeat(np.arange(len(rows)), lengths)
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    k = np.arange(len(row)) - before + first[row]
    column = columns[k]
    found = np.zeros(len(rows))
    if not vector:
        # of elements on the diagonal the last one counts
        on_diagonal = column == row
        found[row[on_diagonal]] = errors[2][k][on_diagonal]
        return found
    (x,) = vector
    value, value_error = np.abs(values[k]), errors[2][k]
    factor, factor_error = np.abs(x[column]), errors[3][column]
    moved = value * factor_error + (factor + factor_error) * value_error
    rounding = np.where(moved > 0, 4 * lengths[row] * _eps(x.dtype) * value * factor, 0)
    np.add.at(found, row, moved + rounding)
    return found


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
