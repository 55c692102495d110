# SPDX-License-Identifier: Apache-2.0
"""Every kind of reduction that the table covers, against NumPy on edge values."""

import numpy as np
import pytest
from every import every
from test_operations import edge_values, is_close, name

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import COMPLEX, FLOATS
from legate_diffuse.kernel.reductions import identity
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS, OPERATIONS

REDUCTIONS = [kind for kind in OPERATIONS if MEANINGS.reduction(kind) is not None]


def kernel_of(kind: OperationKind):
    arguments = [Argument(dtype, reads=True, writes=False) for dtype in kind.inputs]
    (result,) = kind.outputs
    arguments.append(Argument(result, False, False, True, MEANINGS.reduction(kind)))
    builder = Builder(arguments, kind.scalars)
    operands = [builder.load(number) for number in range(len(kind.inputs))]
    operands += [builder.scalar(number) for number in range(len(kind.scalars))]
    (value,) = MEANINGS.lower(kind, builder, operands)
    builder.reduce(len(kind.inputs), value)
    return builder.build()


def ordinary(dtype):
    """Values whose sums, squares and products are exact."""
    if dtype == "bool":
        return np.array([True, False, True, True])
    if np.dtype(dtype).kind in "iu":
        return edge_values(dtype)
    numbers = np.array([1.0, -2.0, 0.5, 4.0, -0.25, 2.0, 0.0] * 4, dtype)
    return numbers * (1 + 2j) if dtype in COMPLEX else numbers


def inputs_of(kind):
    """Lists of inputs without the mask."""
    dtype = kind.inputs[0]
    plain = ordinary(dtype).astype(dtype)
    if kind.task in ("BINARY_RED", "DOT", "MATVECMUL"):
        yield plain, plain
        yield plain, np.roll(plain, 1)
        return
    yield (plain,)
    yield (plain[:0:-1],)
    yield (np.zeros(9, dtype),)
    if dtype in FLOATS and kind.code not in ("SUM", "PROD", "SUM_SQUARES", "VARIANCE"):
        yield (np.array([np.nan, 1.0, 0.0, np.nan, -3.0], dtype),)
        yield (np.array([np.nan, np.nan], dtype),)
    if dtype in COMPLEX and kind.code == "NANSUM":
        yield (np.array([1 + 2j, complex(np.nan, 1), complex(1, np.nan), 5j], dtype),)


def scalars_of(kind, x):
    if kind.code == "ISCLOSE":
        return [(1e-5, 1e-8), (100.0, 1e300)]
    if kind.scalars:
        return [(x[0],), (x.dtype.type(3),)]
    return [()]


def masked(operator, x, mask):
    return x if mask is None else np.where(mask, x, identity(operator, x.dtype.name))


def reference(kind, inputs, mask, scalars):
    """The value at each point, then the reduction, in the types of C++."""
    x, result = inputs[0], np.dtype(kind.outputs[0])
    operator = MEANINGS.reduction(kind)
    if kind.code in ("ALL", "ANY"):
        value = x != 0
    elif kind.code == "COUNT_NONZERO":
        value = (x != 0).astype("uint64")
    elif kind.code == "CONTAINS":
        value = x == scalars[0]
    elif kind.code == "ISCLOSE":
        value = is_close(*inputs, *scalars)
    elif kind.code == "EQUAL":
        value = inputs[0] == inputs[1]
    elif kind.task in ("DOT", "MATVECMUL"):
        value = inputs[0] * inputs[1]
    elif kind.code == "VARIANCE" and x.dtype == "bool":
        value = x ^ scalars[0]
    elif kind.code == "SUM_SQUARES":
        value = x * x
    elif kind.code == "VARIANCE":
        value = (x - scalars[0]) * (x - scalars[0])
    elif kind.code.startswith("NAN"):
        value = np.where(np.isnan(x), identity(operator, result.name), x)
    else:
        value = x.astype(result)
    value = masked(operator, value.astype(result), mask)
    ufunc = {
        "add": np.add,
        "mul": np.multiply,
        "min": np.fmin,
        "max": np.fmax,
        "and": np.logical_and,
        "or": np.logical_or,
    }[operator]
    start = result.type(identity(operator, result.name))
    return ufunc.reduce(value, dtype=result, initial=start)


@every("kind", REDUCTIONS, ids=name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_agrees_with_numpy(run, kind):
    kernel = kernel_of(kind)
    (dtype,) = kind.outputs
    has_mask = kind.task.endswith("UNARY_RED") and len(kind.inputs) == 2
    for inputs in inputs_of(kind):
        mask = np.arange(inputs[0].size) % 3 != 0 if has_mask else None
        arrays = [*inputs, mask] if has_mask else list(inputs)
        for scalars in scalars_of(kind, inputs[0]):
            result = np.full(1, identity(MEANINGS.reduction(kind), dtype), dtype)
            run(kernel, [*arrays, result], scalars)
            expected = reference(kind, inputs, mask, scalars)
            np.testing.assert_array_equal(result[0], expected)
