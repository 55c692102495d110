# SPDX-License-Identifier: Apache-2.0
"""Statements of the rest of cuPyNumeric's functions, methods and forms of an index."""

from __future__ import annotations

# Arrays that they use beside those of ``statements_side.SETUP``.
SETUP = """
import io, math
sink = io.StringIO()
p = (np.arange(n) % 97) / 97.0
pn = p.copy()
pn[3] = float("nan")
j = np.arange(n) % 7
A3 = np.arange(8.0 * 8 * 8).reshape(8, 8, 8)
L = np.tril(C)
bits = np.arange(n).astype(np.uint8)
i8 = (np.arange(n) % 2).astype(bool)
sq = p[: s * s].reshape(s, s)
jj = np.arange(s) % s
tk = np.argsort(sq, axis=1)
"""
_OF_ONE = """
absolute acos acosh amin angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh
atan atanh ceil conjugate cos cosh deg2rad degrees exp2 expm1 fabs imag iscomplex
isfinite isinf isneginf isposinf isreal isrealobj iscomplexobj log10 log1p log2 modf
frexp negative positive rad2deg radians real_if_close reciprocal rint signbit sinh tan
trunc nanmax nanmin nansum nanprod nanmean nanargmax nanargmin nanmedian nancumsum
nancumprod atleast_1d atleast_2d atleast_3d gradient ndim shape
""".strip()
_OF_TWO = """
copysign divide equal float_power fmax fmin fmod greater greater_equal less less_equal
logaddexp logaddexp2 logical_or logical_xor nextafter not_equal remainder subtract
true_divide
""".strip()
_OF_INTEGERS = """
bitwise_and bitwise_or bitwise_xor gcd lcm left_shift right_shift
""".strip()
STATEMENTS = [
    *(f"np.{name}(p)" for name in _OF_ONE.split()),
    *(f"np.{name}(p,y)" for name in _OF_TWO.split()),
    *(f"np.{name}(j,j)" for name in _OF_INTEGERS.split()),
]
STATEMENTS += """
np.invert(j)
np.bitwise_not(j)
np.ldexp(p,j)
np.argpartition(p,5)
np.partition(p,5)
np.array_split(x,3)
np.bartlett(50)
np.blackman(50)
np.hamming(50)
np.hanning(50)
np.kaiser(50,2.0)
np.broadcast_arrays(x,y)
np.broadcast_to(b,(s,s))
np.choose(j%2,(x,y))
np.compress(m,x)
np.concat((x,y))
np.copyto(y,x)
np.diag_indices(10)
np.diag_indices_from(A)
np.diagflat(b)
np.digitize(p,b)
np.dsplit(A3,2)
np.einsum_path('ij,j->i',A,b)
np.empty(1000)
np.fill_diagonal(A,1.0)
np.flipud(A)
np.histogramdd(sq[:,:2])
np.hsplit(A3,2)
np.vsplit(A3,2)
np.identity(32)
np.in1d(i,idx)
np.isscalar(x)
np.ix_(jj,jj)
np.lexsort((x,y))
np.logspace(0,1,100)
np.mask_indices(10,np.triu)
np.moveaxis(A3,0,2)
np.nanpercentile(pn,50)
np.nanquantile(pn,0.5)
np.packbits(i8)
np.unpackbits(bits)
np.permute_dims(A,(1,0))
np.place(y,m,b)
np.put(y,idx,1.0)
np.put_along_axis(sq,tk,1.0,axis=1)
np.putmask(y,m,x)
np.ravel_multi_index((jj,jj),(s,s))
np.unravel_index(jj,(s,s))
np.roots(np.array([1.0,-3.0,2.0]))
np.row_stack((x,y))
np.select([m,~m],[x,y])
np.sort_complex(z)
np.take_along_axis(sq,tk,axis=1)
np.tri(32)
np.tril_indices(10)
np.tril_indices_from(A)
np.triu_indices(10)
np.triu_indices_from(A)
np.linalg.eig(C)
np.linalg.eigvals(C)
np.linalg.eigvalsh(C)
np.linalg.expm(sq)
np.linalg.matrix_power(sq,3)
np.linalg.multi_dot((A,B,A))
np.linalg.pinv(A)
np.linalg.norm(A)
np.linalg.norm(A,axis=1)
np.linalg.norm(x,ord=1)
np.linalg.solve_triangular(L,b)
np.linalg.cho_factor(C)
np.fft.fftshift(x)
np.fft.ifftshift(x)
np.random.randn(100)
np.random.randint(0,9,100)
np.random.random((10,10))
np.random.normal(0.0,1.0,100)
np.random.uniform(0.0,1.0,100)
np.random.exponential(1.0,100)
np.random.poisson(3.0,100)
x.argpartition(5)
x.partition(5)
(j%2).choose((x,y))
x.compress(m)
z.conjugate()
z.imag
x.flags
x.nbytes
x.strides
x.size
x.itemsize
x.dtype
x.flat
A.mT
x.put(idx,1.0)
x.tobytes()
x.astype(bool)
x.any()
x.all()
m.sum()
A.trace()
A.diagonal().sum()
A.swapaxes(0,1)
x.take(idx)
x.sort()
x.searchsorted(3.0)
x.squeeze()
A.reshape(-1)
A.T.copy()
A.min(axis=0)
A.argmax(axis=0)
A.cumsum(axis=1)
A.prod(axis=0)
A.all(axis=0)
A.mean()
A.mean(axis=(0,1))
A3.sum(axis=(0,2))
A3[:,0,:]
A3[...,0]
A3[0]
A3[1,2,3]
A3[:,:,None]
np.einsum('ij,jk->ik',A,B)
np.einsum('ii',A)
np.einsum('ij->j',A)
np.einsum('i,j->ij',b,b)
np.einsum('ijk,k->ij',A3,A3[0,0])
np.matmul(A3,A3)
A[A>2]
A[A>2]=0
A[jj,jj]
A[jj,jj]=0.0
A[jj,3]
A[3,jj]
A[[1,2],[3,4]]
A[1:3,[1,2]]
A[m[:s]]
A[:,m[:s]]
x[idx]+=1
x[m]+=1
x[k]+=1.0
A[k,3]+=1.0
A[k]+=b
A[:,3]*=2
A[1:-1,1:-1]=0
A[1:-1,1:-1]+=A[2:,1:-1]
A[:]=B
A[...]=0
x[:]=y
x[-1]
x[-3:]
x[1:-1]
x[None]
x[...,None]
x[()]
float(x.sum())
int(x.argmax())
bool(m.any())
x.sum()+y.sum()
x.mean()*2.0
x/x.sum()
x@y
x.dot(y)*2.0
np.sqrt((x*x).sum())
np.sum(x*y)
np.sum(A*B,axis=1)
np.exp(-x).sum()
A-A.mean(axis=0)
A/A.sum(axis=1,keepdims=True)
np.max(np.abs(x-y))
np.where(x>3,x,0)
np.where(x>3,1,0)
x if x[0]>1 else y
[float(e) for e in x[:5]]
list(x[:5])
for e in x[:5]: pass
for r in A[:5]: r.sum()
sum(x[:5])
max(x[:5])
x[0]==1.0
x[0]+x[1]
x[0]*y
math.sqrt(x[3])
round(float(x[3]),2)
f"{x[3]}"
repr(x[:3])
print(x[:3],file=sink)
np.array([x[0],x[1]])
np.array([[1,2],[3,4]])
np.array(x)
np.array([1,2,3],dtype=np.float32)
np.zeros((s,s))
np.zeros(s,dtype=int)
np.empty((s,s))
np.ones(n,dtype=bool)
np.full((s,s),3)
np.arange(0,1,0.01)
np.arange(10,dtype=np.float32)
np.linspace(0,1,50,endpoint=False)
np.meshgrid(b,b,indexing='ij')
np.indices((5,5))
np.stack((A,B),axis=2)
np.concatenate((A,B),axis=1)
np.concatenate([x[:1],x[1:]])
np.block([[A,B],[B,A]])
np.tile(b,(2,1))
np.repeat(A,2,axis=0)
np.roll(A,1,axis=0)
np.roll(A,(1,2),axis=(0,1))
np.diff(A,axis=0)
np.diff(x,n=2)
np.argmax(A)
np.var(A,axis=1)
np.median(A,axis=0)
np.percentile(A,[25,75])
np.cov(x,y)
np.average(x,weights=y)
np.histogram(p,bins=b)
np.bincount(j,weights=p)
np.bincount(j,minlength=10)
np.searchsorted(x,3.0)
np.logical_and.reduce(m)
np.round(x,2)
np.clip(A,0,1,out=A)
np.add(x,y,out=y)
np.min(A,axis=0)
np.max(x,initial=0.0)
np.sum(x,where=m)
np.sum(x,dtype=np.float32)
x.astype(complex)
i.astype(float)
i/3
i*i
i**2
i%7==0
-i
m.astype(int)
m|(x>3)
m^m
x+1j
z*z
abs(z)
z.real+z.imag
np.angle(z)
x//y
x%y
x**y
2**x*0
1/y
1-x
x<y
x.shape
A.shape[0]
A.ndim
A.size
len(A)
A.T@A
A@A.T
(A@b)@b
b@A
np.linalg.norm(x-y)
np.triu(A,1)
np.diag(b)
np.diag(A,1)
np.nan_to_num(pn)
np.isnan(pn).sum()
pn[~np.isnan(pn)]
np.cumsum(x)[-1]
np.all(x>=0)
np.any(A>3,axis=0)
np.copy(A)
np.float64(3)*x
np.float32(3)*x
np.pi*x
""".strip().split("\n")
