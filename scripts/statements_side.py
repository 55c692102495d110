# SPDX-License-Identifier: Apache-2.0
"""Times everyday statements on one package, each by itself, and prints JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from typing import Any

import api_statements

# Before each statement; ``n`` elements, a multiple of ``ROW``, and square matrices of
# as many.
SETUP = """
x = np.arange(float(n))
y = np.ones(n)
i = np.arange(n)
q = np.ones(n)
m = x > n / 2
idx = np.arange(0, n, 3)
k = 7
z = x + 1j * y
s = int(n ** 0.5)
A = np.arange(float(s * s)).reshape(s, s) / s + np.eye(s) * s
B = np.ones((s, s))
C = np.eye(s) * s + B
b = np.ones(s)
u = np.zeros((s, s))
"""

STATEMENTS = """
x+y
x[k]
float(x[k])
x[k]=1.0
x[k]=1
u[0,:]=1.0
u[0,:]=1
u[:,0]=u[:,1]
u[0]=u[-1]
x[idx]
x[idx]=1.0
x[m]
x[m]=0
q[q>2]=0
x.argmax()
x.reshape(4,-1)
x.reshape(-1,100)
x.ravel()
A.ravel()
np.sort(x)
np.argsort(x)
x.cumsum()
np.diff(x)
A.diagonal()
np.diag(A)
np.trace(A)
np.concatenate((x,y))
np.stack((x,y))
np.hstack((x,y))
np.dot(A,B)
A@B
A@b
A.T
A.T@b
np.linalg.solve(A,b)
np.linalg.norm(x)
np.zeros_like(x)
np.zeros(n)
np.ones((3,4))
np.arange(n)
np.linspace(0,1,n)
x.copy()
x.astype(np.float32)
x.astype(int)
x.sum()
x.max()
x.mean()
A.sum(axis=0)
A.max(axis=1)
np.where(m,x,y)
np.where(m)
np.nonzero(m)
np.roll(x,1)
np.flip(x)
np.outer(b,b)
np.repeat(x,2)
np.tile(x,2)
np.unique(i)
np.searchsorted(x,y)
np.bincount(i)
np.histogram(x)
np.clip(x,0,1)
np.abs(x)
np.sqrt(x)
np.exp(x*0.001)
np.power(x,2)
x**2
x**0.5
x//3
x%3
i+1
i*2.0
i//3
x>500
(x>500).any()
np.all(m)
m&m
~m
np.sum(m)
np.minimum(x,y)
np.maximum(x,0)
np.allclose(x,x)
np.array_equal(x,y)
np.take(x,idx)
np.pad(x,1)
np.meshgrid(b,b)
np.einsum('ij,j->i',A,b)
np.tensordot(A,B)
np.cross(np.ones((5,3)),np.ones((5,3)))
z.real
z.conj()
np.array([1.0,2.0,3.0])
np.full(n,2.0)
np.eye(s)
x[1:]-x[:-1]
A[1:-1,1:-1]
A[3]
A[:,3]
A[:,3].copy()
A[3]=b
A[:,3]=b
x+=y
x-=1
x*=2
x/=y
np.split(x,4)
np.expand_dims(x,0)
x[None,:]
x[:,None]+y[None,:10]
np.isnan(x).any()
np.random.rand(n)
np.transpose(A)
np.swapaxes(A,0,1)
np.squeeze(A)
np.median(x)
np.var(x)
np.percentile(x,50)
np.cov(A)
x.item(3)
len(x)
x.fill(0.0)
np.copy(x)
np.empty_like(x)
np.tril(A)
np.vstack((x,y))
np.logical_and(m,m)
np.mean(A,axis=0)
np.prod(b)
np.amax(A)
np.cumsum(A,axis=0)
np.argmin(A,axis=1)
np.count_nonzero(m)
np.isin(i,idx)
np.sign(x)
np.floor(x)
np.round(x)
np.arctan2(x,y)
np.hypot(x,y)
np.mod(i,7)
np.add.reduce(x)
np.multiply(x,y,out=y)
str(x[:3])
np.convolve(x, b, mode='same')
x.tolist()
A[k]
A[k,3]
A[k,:]=b
A[k,3]=2
A[:k,k]
x[k:]
x[k:]=y[k:]
x[m]=y[m]
x[i]
x[i]=y
x[[1,2,3]]
A[[1,2]]
A[:,[1,2]]
i[k]=3
i[1:5]=7
x[1:5]=True
np.exp(x)
np.sin(x)
np.log(y)
abs(x)
-x
x==y
x!=y
x<=y
i&i
i<<1
np.floor_divide(i,3)
np.nan_to_num(x)
np.full_like(x,2.0)
np.ones_like(x)
np.triu(A)
np.inner(b,b)
np.vdot(x,y)
np.matmul(A,B)
np.linalg.inv(A)
np.linalg.qr(A)
np.linalg.svd(A)
np.linalg.cholesky(C)
np.linalg.eigh(C)
np.delete(x,3)
np.insert(x,3,1.0)
np.append(x,y)
np.column_stack((x,y))
np.dstack((x,y))
np.fliplr(A)
np.rot90(A)
np.argwhere(m)
np.flatnonzero(m)
np.extract(m,x)
np.unique(x)
np.cumprod(y)
np.ptp(x)
np.quantile(x,0.5)
np.average(x)
np.isclose(x,y)
np.logical_not(m)
np.square(x)
np.cbrt(x)
np.tanh(y)
np.maximum.reduce(x)
x.min()
x.prod()
A.sum()
A.sum(axis=1)
A.mean(axis=1)
x.dot(y)
x.nonzero()
x.clip(0,1)
x.round()
x.flatten()
A.flatten()
A.transpose()
x.astype(np.int32)
np.asarray(x)
x.argsort()
x.var()
""".strip().split("\n")

# Some statements show the elements in rows of so many, or in four parts.
ROW = 100
# A cube of the elements, or arrays of as many squared, are too large.
NOT_LARGE = ("np.linalg", "A@B", "np.dot(A", "np.matmul", "np.cov", "np.outer(", "x.to")
NOT_LARGE += ("np.searchsorted", "np.isin", "x[i]=", "np.convolve")
# The least time that is measured, in seconds: then a fence does not count.
LEAST = 0.01
WARM = 30


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", choices=("numpy", "cupynumeric"))
    parser.add_argument("elements", type=int)
    options = parser.parse_args()
    np = importlib.import_module(options.package)
    elements = max(ROW, options.elements - options.elements % ROW)
    times: dict[str, float | None] = {}
    for statement in [*STATEMENTS, *api_statements.STATEMENTS]:
        is_more = statement not in STATEMENTS
        if elements > 100_000 and (is_more or statement.startswith(NOT_LARGE)):
            continue
        setup = SETUP + api_statements.SETUP if is_more else SETUP
        times[statement] = timed(np, setup, statement, elements)
    print(json.dumps({"times": times}))


def timed(np: Any, setup: str, statement: str, elements: int) -> float | None:
    """Return microseconds of a statement, None if the package has not what it needs."""
    names = {"np": np, "n": elements}
    exec(setup, names)
    code = compile(statement, statement, "exec")
    wait = fence(np)
    try:
        exec(code, names)
    except (AttributeError, NotImplementedError, TypeError):
        return None
    for _ in range(WARM if elements <= 100_000 else 2):
        exec(code, names)
    wait()
    best, count = float("inf"), 1
    for _ in range(3):
        while True:
            start = time.perf_counter()
            for _ in range(count):
                exec(code, names)
            wait()
            taken = time.perf_counter() - start
            if taken > LEAST:
                break
            count *= 3
        best = min(best, taken / count)
    return best * 1e6


def fence(np: Any) -> Any:
    """Return what waits for all that was submitted."""
    if np.__name__ == "numpy":
        return lambda: None
    core = sys.modules["legate.core"]
    return lambda: core.get_legate_runtime().issue_execution_fence(block=True)


if __name__ == "__main__":
    main()
