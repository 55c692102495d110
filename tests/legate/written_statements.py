# SPDX-License-Identifier: Apache-2.0
"""Statements that say where their result is written, or in which type it is."""

from __future__ import annotations

from typing import Final

_TYPES: Final = ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128")
_ROUNDED: Final = ("float64", "float32", "complex128")

# Calls that end where ``out`` goes, and the shape of their results.
_CALLS: Final = (
    ("add(x, r", "10"),
    ("add(x, 1", "10"),
    ("add(2.5, x", "10"),
    ("add(A, x4", "(4, 4)"),
    ("add([1, 2, 3, 4], x4", "4"),
    ("subtract(i4, x4", "4"),
    ("true_divide(s, x4 + 1", "4"),
    ("sqrt(r", "10"),
    ("floor(x", "10"),
    ("negative(i4", "4"),
    ("square(r", "10"),
    ("power(r, 2", "10"),
    ("less(x, r", "10"),
    ("equal(x, 3", "10"),
    ("maximum(i4, s", "4"),
    ("logical_not(r", "10"),
    ("isnan(x", "10"),
    ("left_shift(i4, 1", "4"),
    ("ldexp(x4, i4", "4"),
    ("sum(R", "()"),
    ("sum(R, axis=0", "6"),
    ("sum(R, axis=1, keepdims=True", "(4, 1)"),
    ("sum(R, where=R > 1", "()"),
    ("R.sum(axis=(0, 1)", "()"),
    ("R.prod(0", "6"),
    ("add.reduce(R", "6"),
    ("add.reduce(R, axis=None", "()"),
    ("multiply.reduce(R, 1", "4"),
    ("cumsum(R", "24"),
    ("cumsum(R, axis=0", "(4, 6)"),
    ("r.cumprod(", "10"),
    ("nancumsum(R, 1", "(4, 6)"),
    ("R.mean(", "()"),
    ("mean(R, axis=1", "4"),
    ("matmul(R.T, R", "(6, 6)"),
)
# Those that take no type.
_UNTYPED: Final = (
    ("max(R", "()"),
    ("R.min(axis=0", "6"),
    ("amax(R, 1", "4"),
    ("R.max(axis=1, initial=2", "4"),
    ("maximum.reduce(R", "6"),
    ("any(x", "()"),
    ("A.all(axis=0", "4"),
    ("argmax(R", "()"),
    ("R.argmin(axis=1", "4"),
    ("clip(x, 1, 3", "10"),
    ("round(x", "10"),
    ("take(A, i3, axis=1", "(4, 3)"),
    ("x.take(i", "4"),
    ("choose(i3 - i3, (x[:3], r[:3])", "3"),
    ("compress(x > 2, r", "10"),
    ("compress([True, False, True], r", "2"),
    ("dot(R, R.T", "(4, 4)"),
    ("R.dot(R[0]", "4"),
    ("dot(r, r", "()"),
    ("inner(R, R", "(4, 4)"),
    ("nansum(R, axis=0", "6"),
    ("nanmax(R", "()"),
)


def _written(call: str, shape: str) -> list[str]:
    separator = "" if call.endswith("(") else ", "
    targets = [f"zeros({shape}, '{each}')" for each in _TYPES]
    return [f"{call}{separator}out={each})" for each in targets]


def _typed(call: str) -> list[str]:
    separator = "" if call.endswith("(") else ", "
    return [f"{call}{separator}dtype='{each}')" for each in _TYPES]


# Where the array is, how often it is an operand, what is refused.
_OTHERS: Final = """
add(x, r, out=x)
add(x, r, x)
add(x, r, out=(x,))
add(x, r, out=None)
add(x, r, None)
add(x, r, out=(x, r))
add(x, r, out=[1])
add(x, r, r, out=x)
[add(x, r, out=x) is x, add(x, 1, out=w) is w]
[sum(R, axis=1, out=x4) is x4, matmul(R, R.T, out=A) is A]
add(x[1:], x[:-1], out=x[1:])
add(x[::2], 1, out=x[1::2])
add(A, 1, out=A.T)
add(A, x4, out=T[1])
add(A, x4, out=T[:, 1:2, :].transpose((1, 0, 2))[0])
add(x4, 1, out=A)
add(x4, 1, out=x)
add(A, 1, out=x4)
add(x[:1], 1, out=zeros(()))
add(x[0], 1, out=zeros(()))
add(x[0], 1, dtype='float32')
add(x, r, where=True)
add(x, r, where=x > 2)
add(x, r, where=False)
add(x, r, order='F')
add(x, r, order='what')
add(x, r, casting='unsafe')
add(x, r, casting='what')
add(x, r, dtype='int32', casting='what')
add(x, r, dtype='int32', casting='unsafe')
add(x, r, dtype='int32', casting='safe')
add(x, r, dtype=float, casting='no')
add(x, 300, dtype='uint8')
add(x, 1.5, dtype='float32')
add(x, 1.5, dtype='int32', casting='unsafe')
add(x, r, dtype='what')
add(x, r, what=1)
add(x, r, out=zeros(10, 'int32'), casting='unsafe')
add(x, r, out=zeros(10, 'float32'), casting='safe')
add(x, r, dtype='float32', out=zeros(10))
true_divide(i4, s, dtype=int)
sqrt(x, out=x)
sqrt(i4, dtype='float32')
sqrt(i4, dtype='int64')
floor(i4, out=zeros(4, int))
floor(i4, out=zeros(4, 'int32'))
floor(i4, out=i4)
isfinite(i4, out=x4 > 1)
sum(R, axis=0, out=zeros(5))
sum(R, 0, None, zeros(6))
sum(R, 0, int, zeros(6))
sum(R, 0, int, zeros(6), True)
R.sum(0, 'int64', out=zeros(6))
R.sum(0, None, None, True)
R.sum(None, None, zeros(()))
R.max(0, zeros(6))
R.max(0, None)
R.max(0, dtype=int)
max(R, 0, zeros(6))
any(R, 0, zeros(6, 'bool'))
sum(x[0], out=zeros(()))
sum(x[0], 0)
add.reduce(x[0])
add.reduce(R, 1, None, zeros(4))
add.reduce(R, initial=2)
add.reduce(R, where=R > 1)
add.reduce(R, keepdims=True)
add.reduce(R, 0, out=zeros(5))
add.reduce([1, 2, 3])
add.reduce(R, what=1)
maximum.reduce(R, dtype=float)
logical_and.reduce(R)
logical_or.reduce(R, axis=(0, 1))
subtract.reduce(R)
cumsum([1, 2, 3], dtype='float64')
nancumsum([[1, 2], [3, 4]], 1, 'float32')
mean([1, 2, 4], dtype='float64')
sum([1, 2, 4], dtype='float64')
add.reduce([1, 2, 4], dtype='float64')
cumsum(r, out=r)
cumsum(R, 0, None, zeros((4, 6)))
cumsum(R, out=zeros((4, 6)))
cumsum(R, axis=0, dtype='int32', out=zeros((4, 6)))
mean(R, 0, None, zeros(6))
mean(R, dtype=int)
R.mean(0, 'float32')
R.mean(axis=0, keepdims=True, dtype='float64')
R.mean(where=R > 1)
matmul(A, A, out=A)
matmul(A, A, A)
matmul(A, A.T, out=A.T)
matmul(A, x4, out=A[0])
matmul(A, A, dtype='float32', casting='unsafe')
matmul(A, A, out=zeros((4, 5)))
matmul(A, A, out=zeros(4))
dot(A, A, out=zeros((4, 4), 'int32'))
einsum('ij,jk', A, A, out=zeros((4, 4)))
einsum('ij,jk', A, A, out=zeros((4, 4)), casting='unsafe')
einsum('ij,jk', A, A, dtype='complex128')
einsum('ij,jk', A, A, dtype='float32')
einsum('ij->ij', A, dtype='complex128', casting='unsafe')
einsum('ij->ji', A, dtype='float32', casting='unsafe')
einsum('ij->i', A, dtype='complex128')
tensordot(A, A, 1, out=zeros((4, 4)))
tensordot(A, A, out=zeros(()))
dot(A, x[:3], out=zeros(4))
A.dot(x4, zeros(4))
dot(2, x4, out=x4)
take(x, i, mode='clip')
take(x, i * 4 - 7, mode='clip')
take(x, i * 4 - 7, mode='wrap')
take(A, i3 * 3, axis=0, mode='wrap')
take(x, i * 4, mode='raise')
take(x, i, mode='what')
take(x, i, out=zeros(3))
x.take(i, None, x4)
choose(i3, (x[:3], r[:3]), mode='wrap')
choose(i3, (x[:3], r[:3]), mode='clip')
choose(i3, (x[:3], r[:3]), mode='what')
clip(x, 1, 3, x)
clip(x, a_min=1, a_max=3)
clip(x, a_min=1)
clip(x, 1)
clip(x, 0.5, 2.5)
clip(x, 3, 1)
clip(x, None, 2)
clip(x, None, None)
clip(x, nan, 2)
clip(f, None, 2)
clip(f, 1, None)
clip(f, 0, 2)
clip(x, 1000, 2000)
clip(A, x4, 5)
clip(A, x4[:1], 5)
x.clip(1)
x.clip(max=2)
x.clip(min=1, max=2)
x.clip(min=1, what=2)
A.clip(out=A, min=1, max=2)
copyto(x, r)
isin(x, r, invert=True)
isin(x, r, kind='sort')
isin(f, f)
isin(f, f, invert=True)
isin(A, x4, invert=False)
in1d(A, x4)
in1d(x, [1, 2], invert=True)
x.astype('float64', order='F')
x.astype('int32', casting='same_kind')
x.astype('int64', 'C', 'safe')
x.astype('int64', 'C', 'what')
x.astype('float32', copy=False)
x.astype('float32', what=1)
x.astype('float32', 'C', 'unsafe', True, False, 1)
A.any(axis=(0, 1))
A.all(axis=(1, 0), keepdims=True)
any(T, axis=(0, 1))
count_nonzero(R, axis=(0, 1))
x.any()
x.all()
x.max()
A.max(0)
T.max(axis=(0, 1))
nanmax(A)
prod(r, where=r > 1)
max(R, axis=1, initial=0, where=R > 1)
where(r, x, 1)
where(r, x, 1.5)
where(r, x, r)
where(R, R, R[0])
where(R)
where(r > 1, x)
trace(T, 0, 0, 1)
trace(T, 1, 1, 2)
trace(T, -1, axis1=2, axis2=0)
trace(T, axis1=1, axis2=-1)
trace(T, axis1=1)
trace(T, axis1=1, axis2=1)
trace(T, 9, 1, 2)
trace(A, 1)
R.trace(-1, 0, 1)
R.trace(-1, 1, 0)
nancumprod(R, axis=0)
isnan(i4)
A.var(axis=0)
A.var(axis=1, keepdims=True, ddof=1)
isinf(x)
isfinite(x)
signbit(x)
isnan(x, out=x > 1)
A.min(axis=1, keepdims=True)
""".strip().split("\n")

_FILLED: Final = [
    f"{name}, {value}, dtype='{each}')"
    for name in ("full((3, 4)", "full_like(x")
    for value in ("2", "2.5", "True", "-1", "300", "nan", "1 << 40", "2j", "x[:1]")
    for each in _TYPES
]

WRITTEN: Final = [
    *(each for call in (*_CALLS, *_UNTYPED) for each in _written(*call)),
    *(each for call, _ in _CALLS for each in _typed(call)),
    *_OTHERS,
    *_FILLED,
]
