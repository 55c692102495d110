# SPDX-License-Identifier: Apache-2.0
"""Statements that move, choose and change elements, on arrays that show them otherwise.

Each gives what NumPy's gives, to the bit, for every type: what native code copies in
pieces of some bytes depends on the type, and on how the pieces lie.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

# Over arrays ``b`` and ``c`` of two dimensions that are shown alike, the first column
# ``v``, a mask ``m``, and places ``i`` in columns, ``j`` in rows, ``k`` beside ``i``.
CALLS: Final = """
b + b
b * 2
b==c
b + v
v + b
b[1:] + b[:-1]
b[:, 1:] * 2
b.sum(axis=0)
b.sum(axis=1)
n.where(m, b, c)
n.nonzero(b)
n.flatnonzero(b)
n.argwhere(b)
b[m]
b[:, (b[0]>1)]
b[m[:, 0]]
b[:, m[0]]
b[None][:, :, m[0]]
b[i]
b[:, j]
b[:, j[:, None]]
b[i[:, None]]
b[i][:, j]
b[i, k]
b[0, j]
b[i, 0]
b[1]
b[:, 1]
b[-1]
b[1, None]
b[..., 0]
n.take(b, i)
n.take(b, i, axis=0)
n.take(b, j, axis=1)
n.repeat(b, 2)
n.repeat(b, 2, axis=0)
n.repeat(b, 2, axis=1)
n.tile(b, (2, 1))
n.concatenate([b, c])
n.concatenate([b, c], axis=1)
n.stack([b, c])
n.stack([v, v], axis=1)
n.hstack([b, c])
n.column_stack([v, v])
n.flip(b)
n.flip(b, 0)
n.fliplr(b)
n.flipud(b)
n.rot90(b)
n.roll(b, 1)
n.roll(b, 1, axis=0)
n.roll(b, 2, axis=1)
b.T.copy()
b.copy()
b.flatten()
n.ravel(b)
b.reshape(-1)
b.T.reshape(-1)
b.reshape(1, -1)
b.swapaxes(0, 1) + 0
n.diagonal(b)
b.diagonal(1)
n.diag(v)
n.tril(b)
n.triu(b, 1)
n.pad(b, 1)
n.pad(v, (1, 2), constant_values=1)
n.diff(b)
n.diff(b, axis=0)
n.square(b)
n.split(b, 2, axis=1)
n.expand_dims(b, 0) + 0
n.squeeze(b[None]) + 0
n.broadcast_to(v, (2, len(v))) + 0
n.full_like(b, 1)
n.zeros_like(b)
n.ones_like(b.T)
n.compress(v>0, v)
n.extract(m, b)
n.einsum('ij->ji', b) + 0
n.nan_to_num(b)
n.real(b) + 0
n.imag(b) + 0
n.conj(b)
n.array(b)
b[None].sum(axis=(0, 2))
n.meshgrid(v, v)[0]
n.append(v, b)
n.array_split(v, 3)
n.dstack([b, c])
n.moveaxis(b[None], 0, 2) + 0
n.select([m], [b], 0)
n.ravel(b.T)
b.astype(bool)
""".strip().splitlines()

# Those that change ``x``.
CHANGES: Final = """
x = b.copy(); x[0] = 1
x = b.copy(); x[m] = 0
x = b.copy(); x[m] = c[m]
x = b.copy(); x[i] = 1
x = b.copy(); x[:, j] = 0
x = b.copy(); x[:, j] = c[:, j]
x = b.copy(); x[m[:, 0]] = c[m[:, 0]]
x = b.copy(); x[:, m[0]] = c[:, m[0]]
x = b.copy(); x[i, k] = 2
x = b.copy(); x += c
x = b.copy(); x[1:] = x[:-1]
x = b.copy(); x[:-1] = x[1:]
x = b.copy(); x[:, 1:] = x[:, :-1]
x = b.copy(); x[0], x[1] = x[1].copy(), x[0].copy()
x = b.copy(); x.fill(3)
x = b.copy(); n.fill_diagonal(x, 5)
x = b.copy(); x.T[1] = 7
x = b.copy(); n.putmask(x, m, 1)
x = c.T.copy(); x[...] = b.T
x = n.zeros_like(b); x[...] = b[::1]
x = n.zeros(b.shape, dtype='complex128'); x[...] = b
x = b.copy(); n.add(b, c, out=x)
x = b.T.copy().T; x *= 2
x = b.copy(); y = x[1:]; y += 1
x = b.copy(); x[0, 1] = 9; x[1, 0] = x[0, 1]
""".strip().splitlines()

SHOWN: Final = {
    "plain": lambda a: a,
    "across": lambda a: a.T,
    "part": lambda a: a[1:, 1:],
    "part across": lambda a: a[:, 2:].T,
    "columns": lambda a: a[:, :2],
    "columns across": lambda a: a[:, :2].T,
    "rows across": lambda a: a[:2].T,
    "one row": lambda a: a[1:2],
}
TYPES: Final = (
    "bool",
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


def names(package: Any, dtype: str, shown: str) -> Any:
    """Return the names that statements use."""

    def made(values: Any) -> Any:
        values = values % 2 if dtype == "bool" else values
        whole = package.array(np.asarray(values).reshape(4, 8).astype(dtype))
        return SHOWN[shown](whole)

    numbers = np.arange(32) * 7 % 13
    if dtype[0] in "if":
        numbers -= 3
    if dtype[0] in "fc":
        numbers = numbers * (0.5 - 0.25j if dtype[0] == "c" else 0.5)
    b, c = made(numbers), made(np.roll(numbers, 3))
    rows, columns = b.shape
    mask = np.arange(rows * columns).reshape(rows, columns) % 3 == 1
    places = {
        "m": mask,
        "i": np.array([rows - 1, 0, 0]),
        "j": np.array([columns - 1, 0]),
        "k": np.array([0, columns - 1, 0]),
    }
    arrays = {name: package.array(values) for name, values in places.items()}
    return {"n": package, "b": b, "c": c, "v": b[:, 0], **arrays}


def outcome(package: Any, statement: str, *chosen: Any) -> Any:
    """Return what a statement gives as arrays of NumPy's, None if it is refused."""
    found = names(package, *chosen)
    try:
        if statement in CHANGES:
            exec(statement, found)
            return [np.array(found["x"].__array__())]
        made = eval(statement, found)
    except (TypeError, ValueError, IndexError, NotImplementedError):
        return None
    made = made if isinstance(made, (list, tuple)) else [made]
    return [np.array(each.__array__()) for each in made]


def same(one: Any, other: Any) -> bool:
    """Whether two outcomes are, to the bit."""
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(
        (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        for a, b in zip(one, other, strict=True)
    )
