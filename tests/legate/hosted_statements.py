# SPDX-License-Identifier: Apache-2.0
"""Statements that NumPy runs on small arrays, and the arrays that they use."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

# Expressions over the functions of the package and the arrays of ``arrays``.
CALLS: Final = """
sort(x)
sort(x, axis=None)
sort(A)
sort(A, axis=0)
sort(A, 0)
argsort(x)
argsort(A, axis=0)
argsort(r)
argsort(R, axis=1)
x.argsort()
argmax(x)
argmax(A, axis=0)
argmin(A, axis=1)
argmax(A)
x.argmax()
A.argmin(axis=0)
A.argmax(axis=1, keepdims=True)
argmax(T, axis=3)
cumsum(x)
cumsum(A)
cumsum(A, axis=0)
cumsum(A, axis=1)
cumprod(r)
cumsum(x, dtype=int)
cumsum(A, axis=0, dtype=float)
cumsum(x, dtype='float32')
cumsum(x > 1)
cumsum(A > 1, axis=1)
cumprod(A > 1, axis=0, dtype=int)
x.cumsum()
x.cumprod()
nancumsum(x)
take(x, i)
take(A, i3, axis=0)
take(A, i3, axis=1)
take(A, i)
take(x, 3)
take(x, [1, 2])
take(x, I)
x.take(i)
take_along_axis(A, A.argsort(axis=0), axis=0)
diag(A)
diag(A, 1)
diag(A, -2)
diag(x)
diag(x, k=1)
diagonal(A)
diagonal(A, 1)
A.diagonal()
A.diagonal(offset=-1)
A.diagonal(axis2=-1)
A.T.diagonal(2)
A[1:, :3].diagonal(offset=-2)
(-(A - A)).diagonal()
diagonal(-(R - R), 3)
diagonal(A, 4)
diagonal(A, -7)
diagonal(A, True)
diagonal(A, offset=i[1])
diagonal(A, 1, 0, 1)
diagonal(A, 1, 1, 0)
diagonal(x)
diag(-(A - A))
diag(A.T, k=1)
diag(R, 5)
diag(R, 6)
diag(A[:, 0], -1)
diagonal(T, 0, -2, -1)
diagonal(T)
A.min(dtype=None)
A.max(axis=0, dtype=None)
A.any(dtype=None)
unpackbits(x, bitorder="bad")
trace(A)
trace(A, 1)
A.trace()
tril(A)
triu(A, 1)
tril(A, k=-1)
tril(T)
eye(5)
eye(4, 6)
eye(4, 6, 1)
eye(4, k=-1)
eye(4, dtype=int)
identity(3)
tri(4)
tri(3, 4, 1)
concatenate((x, x))
concatenate([A, A], axis=1)
concatenate((A, A), 0)
concatenate((A, A), axis=None)
concatenate((x, i))
concatenate((x, [1, 2]))
stack((x, x))
stack([A, A], axis=2)
stack((x, x), -1)
vstack((x, x))
hstack((x, x))
hstack((A, A))
dstack((A, A))
column_stack((x, x))
column_stack((A[:, 0], A))
column_stack((2.0, x[:1]))
append(x, x)
append(x, 3)
append(A, A, axis=0)
insert(x, 2, 5)
insert(x, [1, 3], 7)
delete(x, 2)
delete(x, [1, 3])
delete(A, 1, axis=0)
tile(x, 2)
tile(A, (2, 3))
tile(x, (2, 2))
repeat(x, 3)
repeat(A, 2, axis=0)
repeat(A, 2)
repeat(A, [1, 2, 0, 1], axis=0)
repeat(x, r % 3)
flip(x)
flip(A)
flip(A, 0)
flip(A, axis=1)
flipud(A)
fliplr(A)
rot90(A)
rot90(A, 2)
roll(x, 3)
roll(A, 3)
roll(A, (1, 2), axis=(0, 1))
roll(A, 1, axis=1)
pad(x, 2)
pad(A, 1)
pad(A, ((1, 2), (0, 3)))
pad(x, (1, 2), mode='edge')
pad(A, 1, 'edge')
pad(x, 2, constant_values=5)
pad(x, 2, mode='reflect')
pad(x, 2, mode='wrap')
where(x > 3)
where(A > 3)
nonzero(x)
nonzero(A)
flatnonzero(A)
argwhere(A)
argwhere(x)
count_nonzero(x)
count_nonzero(A)
count_nonzero(A, axis=0)
x.nonzero()
unique(x / x)
unique(w / w)
histogram(w, bins=s / (s - 1))
histogram(w / w, bins=s)
digitize(w, s / (s - s))
digitize(w / (w - w), s)
clip(w, float('nan'), 0.5)
clip(w, 0.25, float('nan'))
clip(x, float('nan'), 2)
linalg.norm(A / A, ord=1)
linalg.norm(A / A)
linalg.norm(x / x, ord=float('inf'))
percentile(w, [3, 17, 33, 71, 99])
percentile(c, 37, axis=0)
percentile(w, [[10, 20], [30, 40]])
quantile(w, 0.37)
quantile(c, [0.1, 0.9], axis=1)
quantile(A, 0.77, axis=-1)
quantile(w, 1.5)
quantile(w, [])
clip(x / (x - x), 1, None)
clip(-x / (x - x), None, 2)
clip(w, 0.75, 0.25)
clip(c, 2, 1)
histogram(x.astype('float32'))
histogram(x.astype('float32'), bins=3, range=(0, 5), weights=x)
histogram(x, bins=3, range=(0, 5), weights=x.astype('float32'))
gradient(x, 0.37)
gradient(x.astype('float32'), 0.37)
digitize(r, s * 0 + 1)
digitize(r, s * 0 + 1, right=True)
digitize(r, s[:1])
digitize(r, s[:1], True)
digitize(r, s[::1] * 0)
histogram(w, bins=w * 0)
histogram(w, bins=w[:3] * 0 + s[:3])
searchsorted(s, float('nan'))
searchsorted(s, w * float('nan'))
searchsorted(s, w, side='right')
searchsorted(s, x)
searchsorted(s, x, 'right')
searchsorted(s, x, side='right')
searchsorted(s, 3)
bincount(b)
bincount(b, minlength=40)
bincount(b, weights=w)
histogram(w)
histogram(w, bins=5)
histogram(w, 7, range=(0.0, 1.0))
histogram(w, bins=s)
histogram(w, bins=s, density=True)
histogram(w, bins=5, range=(0.0, 1.0), density=True)
histogramdd(c)
histogramdd(c, 3)
histogramdd(c, bins=(2, 3, 4))
histogramdd(c[:, :2], (2, 3), ((0, 2), (0.5, 1.5)))
histogramdd(c[:, 1:], 4, range=((0, 2), None))
histogramdd(c[:, :2], 4, range=((2, 0), (0, 1)))
histogramdd(c[:, :2], 4, density=True)
histogramdd(c[:, :2], 4, weights=w[:5])
histogramdd(c / (c - c))
histogramdd(A[:, :2] * 0)
histogramdd(A.T, 2)
histogramdd(R, 2)
histogramdd(c[:, :1])
histogramdd(x)
histogram2d(w[:10], w[10:])
histogram2d(w[:10], w[10:], (3, 4))
histogram2d(x, r, 3)
histogram(w, bins=4, weights=w * 0 + 0.5, density=True)
histogram(x, bins=3, range=(0, 5), weights=x, density=False)
unique(x)
unique(A)
unique(r, return_counts=True)
isin(x, s)
isin(A, [1, 2, 3])
median(x)
median(A, axis=0)
percentile(x, 50)
percentile(x, [25, 50, 75])
percentile(A, 30, axis=0)
quantile(x, 0.3)
var(x)
var(A, axis=0)
var(x, ddof=1)
x.var()
mean(A, axis=0)
mean(A, 1)
A.mean(axis=1)
mean(x)
nanmean(x)
cov(A)
dot(A, A)
dot(x, x)
dot(A, x4)
matmul(A, A)
inner(x, x)
inner(A, A)
outer(x, x)
outer(x, r)
outer(x, i)
outer(A, x4)
outer(o, x)
outer(x, 2)
outer(A[:, 1], A[1])
array([x, r])
array([x, i, 1])
array((x4, i4), dtype=float)
array([[x4, x4], [x4, x4]])
mean(z)
z.mean()
mean(x[:1])
x[1:2].mean()
x[1:2].mean(keepdims=True)
mean(T * z[0], axis=1)
tensordot(A, A)
tensordot(A, A, 1)
tensordot(A, A, axes=([0], [0]))
vdot(x, x)
vdot(x, r)
vdot(x, i4)
vdot(x4, i4)
vdot(z, z)
vdot(x[:1], x)
vdot(A, A)
vdot(x[3], x[4])
inner(x, r)
inner(x4, i4)
inner(x[::1], r[:3])
inner(z, z)
inner(x[:1], r)
inner(x > 1, x > 2)
inner(A, x4)
inner(x, 2)
inner(x4, [1, 2, 3, 4])
inner(x, r, out=zeros((), x.dtype))
einsum('ij->j', x[None])
einsum('ij->i', A[:, :1])
einsum('ij,j->i', A, x4)
einsum('ij,jk->ik', A, A)
einsum('ii', A)
einsum('ii->i', A)
einsum('kii->ki', T)
einsum('kii->ik', T)
einsum('ij->ji', A)
einsum('i,j->ij', x, x)
einsum('ijk,jk->i', T, A)
cross(c, c)
linalg.norm(x)
linalg.norm(A)
linalg.norm(A, axis=1)
linalg.norm(x, 1)
linalg.norm(A, ord=1)
linalg.norm(A, 'fro')
linalg.solve(P, x4)
linalg.solve(P, A)
linalg.inv(P)
linalg.det(P)
linalg.cholesky(P)
linalg.qr(P)
linalg.svd(P)
linalg.eigh(P)
linalg.eigvalsh(P)
linalg.eigvals(P)
linalg.eigvals(A)
linalg.eig(P)[0]
linalg.eig(A)[0]
linalg.eigvals(A[0])
iscomplex(x)
iscomplex(z)
iscomplex(A[1:, :2])
isreal(x)
isreal(z)
isreal(x[2])
imag(x)
imag(A.T)
imag(z)
x.imag
x[3].imag
x.tobytes()
A.T.tobytes()
A.tobytes('F')
A[1:, :2].tobytes()
any(x)
all(x)
any(x[2:3])
any(x * 0)
all(x + 1)
any(A[1:, :2] - A[1:, :2])
A.T[1:].all()
(x > 2).any()
(A > -1).all()
any(w * float('nan'))
linalg.matrix_power(P, 3)
linalg.multi_dot([A, A, A])
linalg.pinv(P)
linalg.lstsq(P, x4)
linalg.slogdet(P)
linalg.matrix_rank(P)
clip(x, 1, 3)
clip(A, 0.0, 2.0)
clip(x, 1, None)
x.clip(1, 3)
round(x)
round(w, 2)
x.round()
diff(x)
diff(A)
diff(A, axis=0)
diff(x, 2)
diff(x, n=2)
allclose(x, x)
allclose(x, r)
array_equal(x, x)
array_equal(x, r)
array_equal(x, A)
isclose(x, x)
zeros_like(x)
zeros_like(A)
ones_like(A)
empty_like(x) * 0
full_like(x, 7)
full_like(x, 7.5)
zeros_like(x, dtype=int)
zeros_like(x, int)
zeros_like(x, bool)
zeros_like(A, dtype='f4')
ones_like(x, dtype='complex')
full(3, 2, dtype='f8')
full(3, 2, float)
full((2, 3), 1j)
full(3, True)
full(3, False, dtype=bool)
full(3, True, dtype=int)
full(3, 5, dtype=bool)
full(3, 2.5, dtype=int)
full(3, 300, dtype='uint8')
full(3, 1j, dtype=float)
full(3, -1, dtype='u4')
full(3, 1e300, dtype='f4')
full(3, 2, None)
full_like(x, 2, dtype='i4')
full_like(x, 2.5, 'double')
full_like(x, True)
full_like(A, 3, dtype=complex)
full_like(x, 2.5, dtype=int)
full_like(x, 7, None)
full_like(x, 1j)
array([])
array([], dtype='i4')
array(())
array([], dtype='U3')
array([[]])
array(3)
array(2.5)
array(True)
array(1j)
array(2, dtype='f4')
array(2.5, dtype=int)
array(x, dtype='f4')
x.astype('f4')
x.astype('single')
x.astype('<f8')
x.astype('int')
x.astype(bool, copy=False)
x.astype(float, copy=False)
A.astype('i4', copy=True)
x.astype('U3')
x[x.__array__() > 2]
A[A.__array__() > 2]
A[x[:4].__array__() > 2]
A[1:][A[1:].__array__() > 2]
x[x.__array__() > 200]
x[i.__array__()]
list(reversed(x))
list(reversed(A))
copy(x)
copy(A)
x.conj()
z.conj()
nan_to_num(f)
nan_to_num(x)
convolve(x, x4, mode='same')
convolve(x, x4, 'same')
convolve(x, x4)
tril_indices(4)
triu_indices(4, 1)
diag_indices(4)
unravel_index(i, (10, 10))
unravel_index(i3, (2, 10))
unravel_index(7, (4, 4))
meshgrid(x, x4)
meshgrid(x4, x, indexing='ij')
meshgrid(x4, x4, x4)
meshgrid(x, x4, sparse=True)
zeros([4, 6])
zeros([])
zeros([3], int)
zeros([2, -1])
zeros([2.5])
ones([2, 3])
full([2, 3], 2.5)
full([], 2)
reshape(A, [-1, 2])
A.reshape([-1])
A.reshape([A.size, 1])
A.reshape([7, 11, 13])
A.reshape([[1], -1])
A.transpose([1, 0])
transpose(A, [1, 0])
transpose(A, [-1, 0])
transpose(A, [1, 1])
transpose(T, [2, 0, 1])
transpose(T, [1, 0])
mgrid[0:3, 0:4]
mgrid[1:3:0.3, 0:4]
mgrid[0:3, 0:4, 5:1:-1]
mgrid[:3, 0.1:4.7:0.7]
mgrid[0:3, 2:2]
mgrid[0:3, 4:2]
mgrid[0:3, 1:]
mgrid[0:3, 0:4:0]
mgrid[0:3]
mgrid[0:3, 0:x4.size]
mgrid[0:3, x4[0]:4]
gradient(x)
gradient(x, 0.5)
gradient(A)
gradient(A, axis=1)
digitize(x, sort(x4))
digitize(x, sort(x4), right=True)
arange(3, 40, 7)
arange(40, 3, -7)
arange(0.5, 40, 3)
arange(2, 40.25, 3)
arange(2, 40, 3, dtype=float)
arange(5, 5, 2)
arange(1)
arange(4, 6, 3)
arange(0.5, 1, 3)
arange(1, dtype="int32")
arange(5, 2, 2)
arange(0, 1, 0.01)
arange(0, 1, 0.1, dtype='float32')
arange(0, 1, 0.01, 'float32')
arange(10, dtype='float32')
arange(-3.5, 7.25, 0.375)
arange(10, 1, -0.3)
arange(1e300, 2e300, 1e298)
arange(5, dtype='int32')
arange(0, 2**33, 2**30, dtype='int32')
arange(0, 2**52, 2**50)
arange(2**60, 2**60 + 5)
arange(0, 1e17, 1e16)
arange(3, 9, dtype='int16')
arange(3, 9, dtype='uint64')
arange(3, 9, dtype=complex)
arange(3, 9, dtype='uint8')
arange(250, 300, dtype='uint8')
arange(9, -9, -3, dtype='int8')
arange(9, -9, -3, dtype='uint32')
arange(0, 2**20, 2**15, dtype='int16')
arange(0, 2**20, 2**15, dtype='uint16')
arange(2)
arange(1)
arange(0.5)
arange(2.5, dtype=int)
arange(3, stop=9)
arange(3, 9, step=2)
arange(stop=9, start=2, step=3, dtype=float)
arange(3, None, 1)
arange(0, 5, 0)
arange(0, float('inf'))
arange(True, 5)
arange(0, 5, True)
arange('3')
arange(x[2], 9)
asarray(3.5)
asarray(300)
asarray(3j)
asarray(True)
asarray(3, dtype='float32')
ravel_multi_index((i3, i3), (4, 4))
choose(b % 2, [b, b])
select([x > 3, x > 1], [x, x])
select([x > 3, x > 1], [x, 2])
select([x > 3, x > 1], [x, x], 300)
1 << r
True >> b
r << 1
x == None
max(x, dtype='float32')
amin(x, dtype='int64')
any(x, initial=2)
ravel(x, 'C')
clip(x)
choose(x > 2, [x, x])
extract(i, x)
isin(x, None)
isin(x, 'text')
logical_and(x, 'text')
searchsorted(x, 'text')
take(x, [True, False])
take(x, [0.0, 1.0])
take_along_axis(x, i)
tile(x, [True, False])
pad(A, (4, 3))
pad(A, [0, 1])
pad(A, ((1, 2), (0, 1)))
pad(x, (1, 2))
triu(A, k=1.5)
tril(A, k=-1)
copy(x[None, None])
extract(x > 2, x)
compress(x > 2, x)
x.compress(x > 2)
A.compress([True, False, True], 0)
A.compress(A[1] > 2, axis=1)
x.compress(A > 2)
i.compress(x > 2)
x.choose([x, x])
r.clip(1, 2)
packbits(b.astype('uint8'))
lexsort((x, r))
cumsum(x, dtype=float)
maximum.reduce(x)
add.reduce(A)
add.reduce(A, axis=1)
A.T.copy()
A.flatten()
A.tolist()
x.tolist()
x[i]
x[I]
x[[1, 2]]
A[[0, -1], [2, 3]]
A[[0, 1], i4[:2]]
A[[0, 1], [2, 5]]
A[[0, 1], [2.0, 1.0]]
A[[0, 1], [True, False]]
A[[0, 1], 2]
A[i3]
A[i3, i3]
A[:, i3]
A[i3, 1]
A[1, i3]
A[:, [0, 2]]
T[:, i3, :]
T[i3[:2], :, 1]
A[i3[:, None], i3[None, :]]
x[x > 2]
A[A > 2]
A[A[:, 0] > 2]
A[A[:, 0] > 2, 1]
A[A[:, 0] > 100, 1]
A[A[:3, 0] > 2, 1]
A[A[:, 0] > 2, 1:3]
A[A[:, 0] > 2, A[0] > 2]
A[A[:, 0] > 2, i3[:1]]
A[1, A[0] > 2]
A[:, A[0] > 2]
T[1, A[0] > 2]
T[1, :, A[0] > 2]
T[:, A[0] > 2, 1]
T[T[:, 0, 0] > 2, :, i3[:1]]
T[T[:, 0, 0] > 2, i3[0]]
T[1, A > 2]
T[:, A > 2]
T[A[:3] > 2, 1]
x[(x > 1) & (x < 4)]
x[-i - 1]
sort(z)
sort(f)
argmax(f)
argmin(f)
median(f)
sort(e)
cumsum(e)
concatenate((e, x))
flip(e)
take(e, [])
nonzero(e)
diag(e)
unique(e)
argmax(o)
cumsum(o)
sort(o)
take(o, 0)
searchsorted(o, o)
trace(o.reshape(1, 1))
sum(A, axis=0)
sum(A, axis=1)
sum(A, 1)
sum(A, axis=(0, 1))
sum(T, axis=(0, 2))
sum(T, axis=-1)
sum(T, axis=(1, 2), keepdims=True)
sum(A, axis=0, keepdims=True)
sum(A, keepdims=True)
A.sum(1)
A.sum(0, keepdims=True)
A.sum(axis=None)
A.sum(axis=())
A.sum(axis=2)
A.sum(axis=(0, 0))
sum(A, initial=[3])
sum(A, where=1)
A.sum(axis=0, where=0)
A.max(initial=0, where='a')
sum(A, where=[True, False, True, True])
sum(A, where=[1, 0, 1, 1])
any(A > 2, where=1)
prod(A, initial=[3])
prod(A, axis=0, initial=[3])
prod(r, initial=[2, 3])
mean(A, initial=None)
mean(r, initial=None)
sum(e)
sum(o, axis=0)
sum(o, keepdims=True)
sum(x, axis=0)
sum(A[:, 1:2], axis=1)
max(A, axis=0)
max(A, axis=1, keepdims=True)
amax(A, 1)
A.max(0)
A.max(axis=(0, 1))
T.sum(axis=(0, 1))
T.sum(axis=(0, 2))
T.sum((1, -1))
T.sum((1, 1))
T[:, 1:3].sum(axis=(1, 2))
T[:, :0].sum(axis=(1, 2))
T[:1, :, :1].sum(axis=(0, 2))
T.transpose((2, 0, 1)).sum(axis=(0, 1))
T.max(axis=(0, 2))
T.min(axis=(-1, 0))
T.sum(axis=(0, 1), keepdims=True)
T.sum(axis=(0, 1, 2))
T.sum(axis=(2, 0, 1), keepdims=True)
T.max(axis=(0, 2), keepdims=True)
T.mean(axis=(0, 1))
T.mean(axis=(-1, 0), keepdims=True)
T.mean(axis=(0, 1, 2))
T.mean(axis=(0, 0))
T.mean(axis=(0, 3))
T.mean(axis=())
mean(T, axis=(1, 2))
T[:, :0].mean(axis=(0, 2))
T[:1].max(axis=(0, 1))
max(T, axis=(0, 1))
max(A, keepdims=True)
max(f, keepdims=True)
max(f, axis=0)
min(A, axis=0)
min(A, axis=-1, keepdims=True)
A.min(1)
min(T, axis=(1, 2))
max(z, axis=0, keepdims=True)
any(A > 2, axis=0)
any(A > 2, axis=1, keepdims=True)
all(A > 2, axis=0)
mean(A > 2)
(A > 2).mean()
r.mean()
b.mean()
mean(A > 2, axis=0)
where(A > 2, 1, -1)
where(A > 2, 1.5, 0.0)
where(A > 2, 1, 0.5)
where(A > 2, 3, 3)
where(A > 2, -0.0, 0)
where(A > 2, float('nan'), 1)
where(A > 2, 2**62 + 1, 0)
where(A > 2, 2**62 + 1, 0.5)
where((A > 2)[0, 0], 1, 0)
where(A > 2, True, False)
where(A > 2, A, A * 2)
where(A > 2, A, 0)
where(A > 2, 0, A)
where(A > 2, z[0], z[1])
where(A > 2, A, x4)
where(A, 1, 0)
where(x > 2, x, i[0])
where(z != 0, z, -z)
zeros(5, dtype=bool)
ones((2, 3), dtype=bool)
zeros((2, 3), dtype='int8')
zeros(0, dtype=bool)
zeros((), dtype=bool)
ones((2, 2), 'float16')
zeros(3, dtype='complex64')
zeros(-1, dtype=bool)
zeros(3, dtype='S3')
zeros(True, dtype=bool)
array([x[0], x[1]])
array((x[0] + x[1], A[1, 2]))
array([x[0], True])
array([x[0]])
array([x[0], x4])
array([x[0], x[1], -1])
array([x[0], 2.0])
asarray([x[0], x[1]])
asarray((x[0], 3))
array([x[0], 1])
array([x[0], 1.5])
array([[x[0], x[1]], [x[2], x[3]]])
array([x, r])
array((x[0], 2))
array([A[0], x4])
array([True, False])
array([1, 2.5])
array([1, 2], dtype=float)
array([1, 2], dtype='float32')
array([1.7, 2], dtype=int)
array([x[0], x[1]], dtype='float32')
array([])
array([[], []])
array([[1, 2], [3]])
array(['a', 'b'])
array([None])
array([x[:2], x[:3]])
array([300, -1], dtype='uint8')
array([x.sum(), x.max()])
array(3)
array(3.5, dtype='float32')
asarray([1.0, 2.0])
asarray([1, 2])
asarray((1, x[0]))
asarray([x, r])
asarray([1, 2], dtype=float)
asarray([True])
asarray([])
asarray(x)
asarray(3)
A[A[:, 0] > 2]
T[T[:, 0, 0] > 2]
T[T[:, :, 0] > 2]
linalg.svd(P, full_matrices=False)
linalg.svd(c, full_matrices=False)
linalg.svd(c, False)
linalg.svd(A[:2])
linalg.svd(stack([P, P]))
linalg.qr(stack([P, P]))
linalg.eigh(P + P.T)
linalg.eigh(A[:, :3] @ A[:, :3].T)
linalg.matrix_power(P, -1)
linalg.norm(A, 'nuc')
linalg.norm(A, 2)
linalg.norm(x, -1)
diag(T)
diag(A, 9)
diag(A, k=-9)
diag(A, array(1))
trace(A, offset=-9)
diff(x, n=0)
diff(x, n=0) is x
var(A, axis=(0, 1))
var(x, ddof=100)
cov(A, ddof=100)
count_nonzero(T, axis=(0, 1))
isclose(x, x, equal_nan=True)
allclose(x, x, equal_nan=True)
stack([x, x], axis=True)
repeat(A, 2, axis=True)
insert(x, True, 0)
histogram(x, range=(1, 1))
nanmedian(w / (w - w))
round(i, 20)
x.argmin(axis=True)
cross(A[:, :2], A[:, :2])
compress([True, False], 'x')
(x > 2) // (x > 3)
A @ P
P @ A
A @ x4.astype('int8')
dot(i4, A)
A[:, :2] @ x4[:2]
A[:2] @ x4
x4[:2] @ A[:2]
x4 @ A
A[:1] @ x4
A[0, :1] @ A[:1, 0]
A[:, :1] @ x4[:1]
x4[:3] * z
concat((x, x))
row_stack((A, A))
partition(x, 3)
partition(A, 2, axis=0)
partition(A, 2, None)
argpartition(x, 3)
argpartition(A, 2, 0)
argpartition(r, kth=2)
x.argpartition(3)
partition(f, 2)
lexsort((r, x))
lexsort((x, i))
lexsort((f, f))
lexsort(A)
lexsort((A, A), axis=0)
lexsort(())
sort_complex(x)
sort_complex(z)
sort_complex(b.astype('int8'))
diagflat(x4)
diagflat(A, 1)
ravel_multi_index((i3, i3), (4, 5), order='F')
ravel_multi_index((i3, i4[:3]), (3, 3), mode='wrap')
ravel_multi_index((i3, i4[:3]), (3, 3), mode='clip')
ravel_multi_index((i3, i4[:3]), (3, 3))
ravel_multi_index((i3.astype('int32'), i3), (4, 4))
indices((3, 2))
indices((3,), dtype=float)
indices((3, 2), sparse=True)
nanargmax(f)
nanargmin(f)
nanargmax(A, axis=1)
nanmax(f)
nanmin(f)
nanmax(x)
nanmin(A, axis=0)
nanmax(A, axis=1, keepdims=True)
nansum(f[:2])
nansum(x)
nansum(A, axis=0)
nanprod(x4)
nanmean(f[:2])
nanmean(A, axis=0)
nanmedian(f)
nanmedian(x)
nanmedian(A, axis=1)
nanmax(f[1:2])
nanmean(f[1:2])
nanmedian(f[1:2])
nanargmax(f[1:2])
cov(x, r)
cov(A, rowvar=False)
cov(A, bias=True)
cov(A, ddof=0)
einsum('ij->j', A)
einsum('ij->', A)
einsum('ij', A)
einsum('ii->i', A)
choose(b % 2, (b, b + 1))
(b % 3).choose([b, b, b])
any(x)
all(x)
x.any()
x.all()
A.all(axis=0)
A.any(axis=1, keepdims=True)
any(f)
all(z)
all(e)
max(x, initial=3)
max(x, initial=100.5)
min(A, axis=0, initial=1)
sum(x, initial=3)
sum(x, where=x > 2)
sum(A, axis=0, where=A > 2)
max(x, where=x < 4, initial=0)
max(x, where=x < 4)
sum(x, dtype='float32')
sum(x, dtype='int64')
sum(A, axis=0, dtype='float64')
sum(b, dtype='int8')
prod(x4, dtype='float64')
any(x, where=x > 2)
linspace(0, 1, 5, endpoint=False)
linspace(0, 1, 7, False)
linspace(-3, 10, 13, endpoint=False)
linspace(0, 1, 9, dtype='float32')
linspace(-2.0, 0.5, 37, dtype='float32')
linspace(0, 10, 11, dtype=int)
linspace(-7, 9, 12, dtype=int)
linspace(3, -7.5, 12, endpoint=False, dtype='int64')
linspace(0, 1e6, 12, dtype='uint8')
linspace(0, 1, 9, dtype=complex)
linspace(0, 1, 9, dtype=None)
linspace(0, 1, 9, True, False, 'float32')
linspace(0, 1, 9, retstep=True)[1]
linspace(0, 1, 1, endpoint=False)
linspace(2, 2, 5)
linspace(x[0], 9, 5)
hanning(1)
hanning(2)
hanning(37)
hamming(12)
bartlett(2)
bartlett(12)
bartlett(13)
blackman(12)
blackman(-1)
blackman(13.0)
nanquantile(x, 0.3)
nanquantile(x, [0.25, 0.5, 1.0])
nanquantile(A, 0.7)
nanquantile(A, 0.7, axis=0)
nanquantile(A, [0.1, 0.5], axis=1)
nanquantile(f, 0.5)
nanquantile(f[:2], 0.5)
nanquantile(w / (w > 0.5), 0.5)
nanquantile(sqrt(w - 0.5), 0.25)
nanquantile(c / c, 0.25, axis=0)
nanquantile(c / c, 0.25)
nanpercentile(w, 30)
nanpercentile(sqrt(w - 0.5), [10, 50, 90])
nanpercentile(c, 30, axis=1)
nanpercentile(c, 130)
frexp(x)
frexp(A.T)
frexp(-x / 3)
frexp(x / (x - x))
frexp(x)[1]
modf(x)
modf(A.T / 3)
modf(-x / (x - x))
modf(x, out=(zeros_like(x), zeros_like(x)))
ldexp(x, 2)
ldexp(A, i4[:1])
ldexp(x / 3, frexp(x)[1])
ldexp(A, (A > 1).astype('int32'))
ldexp(A, (A > 1).astype('int64'))
ldexp(x, 2000)
ldexp(x, 2.5)
clip(x, 300, 1)
clip(x, -1, 2)
clip(x, None, 2)
clip(x, 1, 2.5)
clip(x, 0, 2**40)
clip(A, x[:1], 3)
A.clip(1, 2)
A.clip(max=2)
diff(x, prepend=0)
diff(x, prepend=0.5)
diff(x, append=x[:2])
diff(A, axis=0, prepend=0)
diff(A, axis=0, append=A[:1])
diff(A, prepend=A[:, :1], append=A[:, 1:3])
diff(x, n=2, prepend=x[3], append=2)
diff(x, prepend=A)
diff(x, prepend=r)
x @ x
x.dot(x)
dot(x, x[:2])
dot(x, r)
x @ (x > 1)
A[0] @ A[:, 0]
A[0].dot(A[1])
T @ x
dot(T, x)
T.dot(x)
dot(T, T)
T @ T
dot(T, [1, 2, 3])
A @ [1, 2, 3, 4]
x @ [1, 2]
logspace(0, 1, 5)
mask_indices(3, triu)
ix_(i3, i3)
diag_indices(3)
block([[A, A], [A, A]])
histogram2d(w, w)
roots(x4)
average(x, weights=r)
atleast_3d(x)
broadcast_arrays(x, A[0, :1])
vsplit(A, 2)
copyto(x, r)
x[2]
x[..., 2]
x[2, ...]
A[1]
A[1, ...]
A[1, 2]
A[..., 1, 2]
A[1, ..., 2]
A[..., 1]
T[1, 2, 3]
T[1, ..., 3]
T[1, 2, ..., 3]
T.T[..., 3, 2, 1]
A[1][2]
A[1][..., 2]
A[None, 1, 2]
x[None]
x[2:3]
A[1:2, 1]
A[()]
A[...]
o[0]
o[..., 0]
o[()]
x[2:3].squeeze()
x[2:3].reshape(())
x[2:3].reshape(1, 1)
A.reshape(16)
A.reshape(2, 8)
A.T.reshape(16)
A[:, :2].reshape(8)
A.ravel()
A.T.ravel()
ravel(A)
reshape(x, (2, 5))
x.squeeze()
A[None].squeeze()
A.T
A.swapaxes(0, 1)
transpose(T, (2, 0, 1))
moveaxis(T, 0, 2)
expand_dims(x, 0)
atleast_1d(x)
atleast_2d(x)
broadcast_to(x, (2, 10))
broadcast_to(x, (10,))
split(x, 2)[1]
hsplit(A, 2)[0]
array_split(x, 3)[0]
array(x)
array(x, copy=False)
asarray(x)
asarray(A[1])
copy(x)
x.astype(x.dtype)
x.astype(x.dtype, copy=False)
x.real
x.conj()
real(x)
z.real
z.imag
x.flatten()
A[1].flatten()
diag(A)
+x
abs(x)
x.view()
A.T[1]
A[1:3, 1:3]
A[1:3][1]
""".strip().split("\n")

# Functions of one array, and what is behind it: "{}" stands for the array again.
_PLAIN: Final = """
sort argsort argmax argmin cumsum cumprod nancumsum nansum nanmax nanmin nanprod nanmean
nanargmax median mean sum prod max min any all amax count_nonzero nonzero flatnonzero
argwhere where unique diag diagonal trace tril triu diagflat flip flipud fliplr rot90
ravel squeeze transpose copy round abs sqrt isnan sign square conj real imag ndim shape
size atleast_1d atleast_2d atleast_3d diff gradient nan_to_num average cov histogram
bincount sort_complex zeros_like ones_like asarray array linalg.norm
""".strip()
_OF_ONE: Final = {
    **dict.fromkeys(_PLAIN.split(), ""),
    **dict.fromkeys(("repeat", "tile", "searchsorted"), ", 2"),
    **dict.fromkeys(("delete", "expand_dims", "partition"), ", 0"),
    **dict.fromkeys(("append", "pad", "roll"), ", 1"),
    **dict.fromkeys(("allclose", "isclose", "array_equal", "outer", "dot"), ", {}"),
    **{"reshape": ", -1", "clip": ", 0, 2", "insert": ", 0, 1", "take": ", [0]"},
    **{"broadcast_to": ", (3, 4)"},
}
# Those that have an axis, and methods.
_ALONG: Final = """
sort argsort argmax argmin cumsum sum prod max min any all mean flip nanmax nansum
count_nonzero unique median squeeze diff
""".strip()
_METHODS: Final = """
sum max min mean prod any all argmax argmin argsort cumsum sort copy flatten ravel
squeeze tolist item round nonzero trace diagonal conj
""".strip()
_REDUCING: Final = (
    *("add", "multiply", "maximum", "minimum", "logical_and", "logical_or"),
    # which cuPyNumeric refuses
    *("subtract", "true_divide", "hypot"),
)
# Arrays of no axes, one element, and none.
_SMALLEST: Final = "x[2]", "x[2:3]", "o", "e", "A[2:2]"
# What functions and methods make of them.
EDGES: Final = [
    *(
        f"{name}({each}{rest.format(each)})"
        for name, rest in _OF_ONE.items()
        for each in _SMALLEST
    ),
    *(
        f"{name}({each}, axis={axis})"
        for name in _ALONG.split()
        for each in _SMALLEST
        for axis in (0, -1, 1)
    ),
    *(
        f"{each}.{name}({axis})"
        for name in _METHODS.split()
        for each in _SMALLEST
        for axis in (("", "axis=0", "0") if name in _ALONG.split() else ("",))
    ),
    *(
        f"{name}.reduce({each})"
        for name in _REDUCING
        for each in (*_SMALLEST, "x", "A", "r", "A > 2", "A, axis=1")
    ),
    *(
        f"{name}(({each}, {each}))"
        for name in ("concatenate", "stack", "vstack", "hstack", "column_stack")
        for each in _SMALLEST
    ),
]

# Statements that change some of the arrays.
CHANGES: Final = """
x[i] = 1
x[i] = 2.5
x[i] = x[i] + 1
x[I] = 3
x[[1, 2]] = 7
x[[1, -2, 1]] = x[[4, 5, 6]]
x[[1, 2]] = [3, 4]
x[[1, 2]] += 1
x[[1, 20]] = 7
x[[1.0, 2.0]] = 7
x[[True, False]] = 7
x[[True] * 10] = 7
x[[0, True]] = 7
x[[]] = 7
x[[3]] = 7
x[[[1, 2], [3, 4]]] = 7
A[[0, 1]] = A[[1, 0]]
A[[0, 3]] = x4
A[:, [0, 3]] = 2.5
A[:, [0, 3, 0]] = x4[:3]
A[:, [0, 3]] = x4[:2, None]
A[:, [0, 3]] = A[:, :1]
A[:, i3] = A[:, 1:]
A[:, i3] = A[:, :3] + 1
A[1:3][:, i3] = 4
A.T[:, i3] = c[:4] + 1
A[i3, :] = x4
A[i3, :, :] = 5
A[:, :, i3] = 5
A[:, i4] = 5
A[:, A[0] > 2] = 5
A[A[:, 0] > 2, 1] = 5
A[A[:, 0] > 100, 1] = 5
A[A[:, 0] > 2, 1] = x4
A[A[:, 0] > 2, 1] = A[A[:, 0] > 2, 2]
A[A[:, 0] > 2, 1] += 1
A[A[:, 0] > 2, 1:3] = x4[:2]
A[1, A[0] > 2] = 5
A[A[:, 0] > 2, A[0] > 2] = 5
T[1, A[0] > 2] = x4
T[:, A[0] > 2, 1] = 5
T[1, A > 2] = 5
T[1, A > 2] = T[0, A > 2]
T[:, A > 2] += 1
T[A[:3] > 2, 1] = 5
T[:, i3] = c[:3, :1]
T[:, :, i3] = A[:, :3]
T[i3[:2], :, :] = A
T[:, i3] = T[:, i3] + 1
T.transpose((2, 0, 1))[:, i3[:2]] = 3
A[[0, 3]] = 2.5
A[[0, -1], [2, 3]] = 5
A[[0, 1], [2, 3]] = x4[:2]
A[[0, 1], i4[:2]] = 3
A[[[0], [2]], [1, 3]] = 5
A[[0, 1], 2] = 5
A[1, [2, 3]] = 5
A[[0, 1], [2, 5]] = 5
A[[0, 1], [2, 3, 1]] = 5
A[[1, 2], [True, False]] = 5
A[i3] = 0
A[i3, i3] = 5
A[:, i3] = 1
A[i3, 1] = x4[0]
A[:, [0, 2]] = A[:, [1, 3]]
x[x > 2] = 0
A[A > 2] = -1
A[A[:, 0] > 2] = 9
x[x > 2] = x[x > 2] * 2
x[3] = 1
x[3] = 1.5
x[3] = True
x[2:5] = 1
x[2:5] = 1.5
x[2:5] = True
x[2:5] = [1, 2, 3]
x[2:5] = (1, 2, 3)
A[0, :] = 1
A[:, 0] = 2
A[1] = [1, 2, 3, 4]
A[...] = 3
A[1:3, 1:3] = A[0:2, 0:2]
A[::1] = 4
T[:, i3, :] = 1
x[-i - 1] = 4
A[1:3] = x4
A[:, 1] = x4
A[:, 1] = i4
x[i] = i
A[A[:, 0] > 2, 1] = 3
x[:] = r
x[:] = w[:10]
x.fill(3)
x.fill([3.0])
x[:2].fill([1, 2])
A.fill(x[:4])
A.fill(x[2])
x.sort()
A.sort(axis=0)
x[3:3] = 1
fill_diagonal(A, 1)
fill_diagonal(A, 1.5)
fill_diagonal(A, x4)
fill_diagonal(A, True)
fill_diagonal(x, 1)
fill_diagonal(A[1:, 1:], 2)
fill_diagonal(A[:, :2], 2, True)
fill_diagonal(A[:, :2], 2)
fill_diagonal(A.T, 3.0)
fill_diagonal(T, 1)
A[A[:, 0] > 2] = x4
A[A[:, 0] > 2] = x[:1]
A[A[:, 0] > 2] *= 2
A[A[:, 0] > 200] = x4
A[x[:4] > 2] = A[x[:4] > 2]
T[x[:3] > 2] = A
T[T[:, :, 0] > 2] = x4
A[A[:, 0] > 2] += 1
A[A[:, 0] > 2] *= 2
put(x, i, x[:4])
put(x, i, 3)
put(x, i, 2.5)
put(x, i, x[:2])
put(x, I, x4)
put(x, -i - 1, x[:4])
put(x, [30], x[:1])
put(x, [1, 2], [3, 4])
put(x, [1, 2], [3.5, 4.5])
put(x, [1], [True])
put(x, i, i4)
put(x, i, x4 + 1)
put(x, i, f[:4])
x.put([1, 2], [3, 4])
put(x, i + 20, x[:4], 'wrap')
put(x, i + 20, x[:4], 'clip')
put(A, i, A[0])
put(x, i, i)
x.put(i, 3)
x.put(i, x[:4])
put(A[1:], i, A[0])
place(x, x > 2, x4)
place(x, x > 2, x[:1])
place(A, A > 2, x)
place(x, x > 2, 3)
place(x, x > 2, [1, 2])
place(x, x > 2, i4)
putmask(x[:4], x4 > 2, i4)
put_along_axis(A, A[:1].argsort(axis=0), i4[None], 0)
put_along_axis(A, A[:1].argsort(axis=0), [[1, 2, 3, 4]], 0)
x[x.__array__() > 2] = 1
place(x, x > 200, x[:0])
place(x, r, x4)
putmask(x, x > 2, r)
putmask(x, x > 2, x4)
putmask(x, x > 2, 3)
putmask(x, x > 2, 3.5)
putmask(x, x > 2, x)
putmask(A, A > 2, A + 1)
putmask(A[1:], A[1:] > 2, A[:-1])
putmask(A, A[0] > 2, A)
putmask(x, x, x)
putmask(A, A > 2, x4)
putmask(A, A > 2, A[:, :1])
putmask(A, A > 2, x[:3])
putmask(x, x > 2, i4)
put_along_axis(A, A.argsort(axis=0), A, 0)
put_along_axis(A, i4[None] - 1, A[1:2], axis=0)
put_along_axis(A, A[:1].argsort(axis=0), 3, 0)
x.partition(3)
A.partition(2, axis=0)
A.partition(1, 0)
copyto(x, r)
copyto(A, x4)
copyto(x, i[0])
copyto(A, A.T)
copyto(A, A * 2, where=A > 2)
copyto(x, x[::1])
x.sort(axis=0)
x.sort(kind='stable')
v = x[2]; v += 1
v = x[..., 2]; v += 1
v = x[..., 2]; v[...] = 1
v = x[..., 2]; v.fill(1)
v = A[1, ..., 2]; v *= 2
v = A[..., 1, 2]; multiply(v, 3, out=v)
v = A[1, 2, ...]; v += x[..., 1]; v += x[2]
v = A[1][..., 2]; v += 1; x[..., 3] = v
v = x[..., 2]; x += 1; A[0] = v
v = x[2]; x += 1; A[0] = v
add(x[..., 1], x[..., 2], out=x[..., 3])
x[..., 1] += x[..., 2]
x[..., 4] = x[..., 5] = 2
""".strip().split("\n")

REAL: Final = ("bool", "uint8", "int32", "int64", "float32", "float64")
# What may differ in the order of sums, by how it begins.
ROUNDED: Final = (
    *(
        "var",
        "x.var",
        "A.var",
        "mean",
        "A.mean",
        "T.mean",
        "T[:, :0].mean",
        "nanmean",
        "cov",
        "nansum",
        "nanprod",
        "prod(",
        "average",
        "roots",
        "logspace",
        "inner",
        "vdot",
        "dot",
    ),
    *(
        "multiply.reduce",
        "einsum",
        "matmul",
        "tensordot",
        "linalg",
        "convolve",
        "add.reduce",
        "trace",
    ),
    *("hanning", "hamming", "blackman"),
    *("x @", "T @", "x.dot", "T.dot", "A[0] @", "A[0].dot"),
    *("A @", "P @", "T.sum", "T[:, 1:3].sum", "T.transpose((2, 0, 1)).sum"),
    *("A.trace", "sum", "A.sum", "A[:, :2] @", "A[:2] @", "A[:1] @", "A[0, :1] @"),
    *("x4[:2] @", "x4 @", "A[:, :1] @", "r.mean", "b.mean", "array([x.sum", "power(r"),
)
# What they return is what cuPyNumeric takes for the number from then on.
CACHED: Final = ("asarray(3", "array(3", "array(2", "array(True", "array(1j")
# cuPyNumeric ends the process, but for such types: its variance takes a float64 of 4
# bytes, and complex numbers have no truth along an axis.
CRASHING: Final = {
    "var": ("float32", "float64"),
    "x.var": ("float32", "float64"),
    **dict.fromkeys(("A.all(", "A.any(", "any(", "all(", "logical_"), REAL),
    **{f"{each}.{name}": REAL for each in _SMALLEST for name in ("any", "all")},
    # where cuPyNumeric asserts: see test_masks_of_rows
    "A[A[:, 0] > 2] = 9": (),
    "A[A[:, 0] > 2] = x[:1]": (),
}


def arrays(package: Any, name: str) -> dict[str, Any]:
    """Return arrays of a type, and of others that go with them."""
    rng = np.random.default_rng(5)

    def made(values: Any) -> Any:
        values = np.asarray(values)
        return values > 2 if name == "bool" else values.astype(name)

    square = rng.random((4, 4))
    square = square @ square.T + 4 * np.eye(4)
    inexact = name in ("float32", "float64", "complex64", "complex128")
    single = name in ("float32", "complex64")
    found = {
        "x": made((rng.random(10) * 6).round(2)),
        "r": made([3, 1, 2, 3, 3, 0, 2, 1, 1, 0]),
        "A": made((rng.random((4, 4)) * 5).round(1)),
        "R": made(rng.integers(0, 3, (4, 6))),
        "T": made((rng.random((3, 4, 4)) * 5).round(1)),
        "i": np.array([0, 3, 5, 2]),
        "i3": np.array([0, 2, 3]),
        "I": np.array([[0, 1], [2, 3]]),
        "i4": np.array([4, 3, 2, 1]),
        "s": made([1, 2, 3, 5]),
        "b": np.array([1, 5, 2, 5, 0, 9, 2]),
        "w": rng.random(20),
        "x4": made(rng.random(4) * 4),
        "c": made(rng.random((5, 3)) * 3),
        "P": square.astype(name) if inexact else square,
        "z": np.array([1 + 2j, -1j, 3.0], "complex64" if single else "complex128"),
        "f": np.array([1.0, np.nan, -np.inf, np.inf, -0.0, 0.0, 3.0]),
        "e": made(np.zeros(0)),
        "o": made(np.ones(1)),
    }
    return {key: package.array(values) for key, values in found.items()}
