# SPDX-License-Identifier: Apache-2.0
"""Programs for ``legate_diffuse._native``, over Legate's own stores."""

from __future__ import annotations

import math
from functools import cache
from struct import pack
from typing import Any

import legate.core
import numpy as np

from legate_diffuse import _native
from legate_diffuse.codegen import Compiler
from legate_diffuse.interpose.originals import real
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.reductions import identity_bytes

lc: Any = legate.core
RUNTIME: Any = real.runtime
READ, WRITE, READ_WRITE, REDUCE = 1, 2, 3, 4
FLOAT = "float64"
MEBI = 1 << 20

# -- kernels ---------------------------------------------------------------------


@cache
def _compiler() -> Compiler:
    return Compiler()


def register(builder: Builder) -> int:
    return _native.register_kernel(_address(builder))


def _address(builder: Builder) -> int:
    return _compiler().compile(builder.build()).address


def read() -> Argument:
    return Argument(FLOAT, reads=True, writes=False)


def write() -> Argument:
    return Argument(FLOAT, reads=False, writes=True)


@cache
def kernel(name: str) -> int:
    """Return the number of a kernel; what it writes is its first argument."""
    changed = Argument(FLOAT, reads=True, writes=True)
    if name == "add":
        builder = Builder([write(), read(), read()], [])
        value = builder.op("add", FLOAT, builder.load(1), builder.load(2))
    elif name == "copy":
        builder = Builder([write(), read()], [])
        value = builder.load(1)
    elif name == "accumulate":
        builder = Builder([changed, read()], [])
        value = builder.op("add", FLOAT, builder.load(0), builder.load(1))
    elif name == "double":
        builder = Builder([changed], [])
        value = builder.op("add", FLOAT, builder.load(0), builder.load(0))
    else:
        assert name == "scale and shift"
        builder = Builder([changed], [FLOAT, FLOAT])
        product = builder.op("mul", FLOAT, builder.load(0), builder.scalar(0))
        value = builder.op("add", FLOAT, product, builder.scalar(1))
    builder.store(0, value)
    return register(builder)


@cache
def reduction(operator: str, dtype: str) -> int:
    """Return the number of a kernel that reduces its second argument to its first.

    Threads may share its points.
    """
    target = Argument(dtype, reads=False, writes=False, reduces=operator)
    builder = Builder([target, Argument(dtype, reads=True, writes=False)], [])
    builder.reduce(0, builder.load(1))
    address = _address(builder)
    combine = _native.register_kernel(address)
    start = identity_bytes(operator, dtype)
    return _native.register_kernel(address, [(0, combine, start)])


# -- programs --------------------------------------------------------------------


def words(*values: int) -> bytes:
    return pack(f"={len(values)}q", *values)


def scalars(*values: float) -> bytes:
    return b"".join(pack("=dq", value, 0) for value in values)


def operand(base: int, dims: tuple[int, ...], low: tuple[int, ...]) -> bytes:
    return words(base, len(low), *dims, *low)


def whole(base: int, dim: int) -> bytes:
    """Return the operand for all of a root."""
    return operand(base, tuple(range(dim)), (0,) * dim)


def nest(
    number: int,
    shape: tuple[int, ...],
    *operands: bytes,
    block: bytes = b"",
    written: int = 1,
) -> bytes:
    head = words(number, len(operands), written, len(shape), len(block) // 16, *shape)
    return head + block + b"".join(operands)


def scratch(first: int, last: int, shape: tuple[int, ...], itemsize: int = 8) -> bytes:
    return words(itemsize, first, last, len(shape), *shape)


def program(*nests: bytes, buffers: tuple[bytes, ...] = ()) -> bytes:
    return words(len(buffers), len(nests)) + b"".join(buffers) + b"".join(nests)


def submit_program(
    stores: list[Any], privileges: list[int], text: bytes, partitioned: bool = False
) -> None:
    handles = tuple(store.raw_handle for store in stores)
    _native.submit_program(handles, bytes(privileges), text, partitioned, None)


def submit(number: int, stores: list[Any], privileges: list[int]) -> None:
    """Submit a kernel over stores of one shape, which Legate may partition."""
    shape = tuple(stores[0].shape)
    operands = [whole(base, len(shape)) for base in range(len(stores))]
    submit_program(
        stores, privileges, program(nest(number, shape, *operands)), partitioned=True
    )


# -- stores ----------------------------------------------------------------------


def filled(shape: tuple[int, ...], value: Any, *, scalar: bool = False) -> Any:
    """Return a store; one of one element is a future if ``scalar`` is set."""
    type_ = getattr(lc, "bool_" if isinstance(value, bool) else FLOAT)
    store = RUNTIME.create_store(type_, shape, optimize_scalar=scalar)
    RUNTIME.issue_fill(store, real.Scalar(value, type_))
    assert store.has_scalar_storage == scalar
    return store


def store_of(values: Any) -> Any:
    """Return a store that Legate has partitioned, if it can."""
    values = np.ascontiguousarray(values)
    type_ = getattr(lc, "bool_" if values.dtype == bool else values.dtype.name)
    source = RUNTIME.create_store_from_buffer(type_, values.shape, values, False)
    store = RUNTIME.create_store(type_, values.shape)
    RUNTIME.issue_copy(store, source)
    return store


def values_of(store: Any) -> Any:
    return np.array(np.asarray(store.get_physical_store()))


def counted(*shape: int) -> Any:
    return np.arange(float(math.prod(shape))).reshape(shape)


def random(*shape: int) -> Any:
    """Return small whole numbers: their sums and products are exact."""
    return np.random.default_rng(len(shape)).integers(1, 9, shape).astype(FLOAT)
