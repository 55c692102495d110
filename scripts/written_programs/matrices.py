# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, with products and loops over rows and columns."""

from __future__ import annotations

from typing import Any

from written_programs.program import Field

PROGRAMS = Field("matrices")


def _matrix(np: Any, n: int) -> Any:
    """Return a symmetric matrix with a dominant diagonal."""
    t = np.arange(n, dtype="float64")
    return 1.0 / (1.0 + abs(t[:, None] - t[None, :])) + n**0.5 * np.eye(n)


@PROGRAMS.program(32, 1000)
def power_iteration(np: Any, n: int) -> tuple[Any, ...]:
    """The largest eigenvalue, by matrix-vector products."""
    a, x = _matrix(np, n), np.ones(n)
    for _ in range(20):
        y = a.dot(x)
        x = y / np.sqrt((y * y).sum())
    return x, (x * a.dot(x)).sum()


@PROGRAMS.program(32, 1000)
def conjugate_gradients(np: Any, n: int) -> tuple[Any, ...]:
    """Solves a system, and asks each time whether it is done."""
    a, b = _matrix(np, n), np.ones(n)
    x = np.zeros(n)
    r = b.copy()
    p, rr = r.copy(), float(r.dot(r))
    for _ in range(15):
        q = a.dot(p)
        alpha = rr / float(p.dot(q))
        x += alpha * p
        r -= alpha * q
        new = float(r.dot(r))
        if new < 1e-24:
            break
        p = r + (new / rr) * p
        rr = new
    return (x,)


@PROGRAMS.program(16, 200)
def elimination(np: Any, n: int) -> tuple[Any, ...]:
    """Gauss without pivots, row by row."""
    a = _matrix(np, n)
    for k in range(n - 1):
        factors = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k:] -= factors[:, None] * a[k, k:]
    return (a,)


@PROGRAMS.program(16, 200)
def gram_schmidt(np: Any, n: int) -> tuple[Any, ...]:
    """Columns become orthogonal, one after the other."""
    q = _matrix(np, n)
    for k in range(n):
        q[:, k] /= np.sqrt((q[:, k] * q[:, k]).sum())
        if k + 1 < n:
            along = (q[:, k, None] * q[:, k + 1 :]).sum(axis=0)
            q[:, k + 1 :] -= q[:, k, None] * along
    return (q,)


@PROGRAMS.program(32, 400)
def floyd_warshall(np: Any, n: int) -> tuple[Any, ...]:
    """All shortest paths."""
    d = 10.0 / _matrix(np, n)
    for k in range(min(n, 100)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return (d,)


@PROGRAMS.program(32, 1000)
def page_rank(np: Any, n: int) -> tuple[Any, ...]:
    """A random surfer, with products of a matrix and a vector."""
    links = (_matrix(np, n) > 0.3).astype("float64")
    links = links / links.sum(axis=0)
    rank = np.full(n, 1.0 / n)
    for _ in range(20):
        rank = 0.85 * links.dot(rank) + 0.15 / n
    return (rank,)
