# SPDX-License-Identifier: Apache-2.0
"""Factorizations by the LAPACK that cuPyNumeric's tasks call, as they call it.

Which signs and which order results have is LAPACK's choice, and NumPy's calls other
routines of another LAPACK. Here the same routines of the same library get the same
arguments: the bits are those of the tasks.

Follows: cuPyNumeric (src/cupynumeric/matrix/{svd,qr,syev,geev}_cpu.inl)
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CDLL, byref, c_char_p, c_int32
from functools import cache
from typing import Any, Final

import numpy as np
from threadpoolctl import ThreadpoolController

from legate_diffuse.shortcuts.elements import UnsuitableError

# In the path of cuPyNumeric's own library.
_OWNER: Final = "cupynumeric"
_LETTERS: Final = {"f": "s", "d": "d", "F": "c", "D": "z"}


def svd(a: Any, full_matrices: Any = True) -> Any:
    """Return the singular values of a matrix, and both of its bases."""
    m, n = a.shape if a.ndim == 2 else (0, 1)
    if m < n or type(full_matrices) is not bool:
        raise UnsuitableError
    u = _matrix(m, m if full_matrices else n, a.dtype)
    vh, s = _matrix(n, n, a.dtype), np.empty(n, _real(a))
    _worked(
        "gesvd",
        (b"A" if full_matrices else b"S", b"A", m, n, _copy(a), m, s, u, m, vh, n),
        a.dtype,
        5 * n,
    )
    return u, s, vh


def qr(a: Any) -> Any:
    """Return an orthonormal and a triangular matrix whose product a matrix is."""
    if a.ndim != 2:
        raise UnsuitableError
    m, n = a.shape
    k = min(m, n)
    q, tau, work = _copy(a), np.empty(k, a.dtype), np.empty(n, a.dtype)
    _call(_routine("geqrf", a.dtype), m, n, q, m, tau, work, n)
    r = np.triu(q[:k])
    is_complex = a.dtype.kind == "c"
    _call(
        _routine("ungqr" if is_complex else "orgqr", a.dtype),
        *(m, k, k, q, m, tau, work, n),
    )
    return q[:, :k], r


def eigh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803
    """Return the eigenvalues and eigenvectors of a Hermitian matrix."""
    m = _order(a)
    if UPLO not in ("L", "U"):
        raise UnsuitableError
    vectors, values = _copy(a), np.empty(m, _real(a))
    is_complex = a.dtype.kind == "c"
    if is_complex:
        np.fill_diagonal(vectors.imag, 0)
    _worked(
        "heev" if is_complex else "syev",
        (b"V", UPLO.encode(), m, vectors, m, values),
        a.dtype,
        3 * m - 2,
    )
    return values, vectors


def eig(a: Any) -> Any:
    """Return the eigenvalues and eigenvectors of a matrix, which are complex."""
    return _general(a, b"V")


def eigvals(a: Any) -> Any:
    """Return the eigenvalues of a matrix, which are complex."""
    return _general(a, b"N")[0]


def _general(a: Any, job: bytes) -> Any:
    m = _order(a)
    vectors = _matrix(m, m, a.dtype)
    if a.dtype.kind == "c":
        values = np.empty(m, a.dtype)
        complex_given = b"N", job, m, _copy(a), m, values, None, m, vectors, m
        _worked("geev", complex_given, a.dtype, 2 * m)
        return values, vectors
    real, imaginary = np.empty(m, a.dtype), np.empty(m, a.dtype)
    given = b"N", job, m, _copy(a), m, real, imaginary, None, m, vectors, m
    _worked("geev", given, a.dtype)
    values = np.empty(m, np.result_type(a.dtype, np.complex64))
    values.real, values.imag = real, imaginary
    return values, _of_pairs(vectors, imaginary, values.dtype)


def _of_pairs(vectors: Any, imaginary: Any, dtype: Any) -> Any:
    """Return complex vectors: LAPACK has both parts of two that are conjugate."""
    made = vectors.astype(dtype)
    at = 0
    while at < len(imaginary):
        if imaginary[at] == 0:
            at += 1
            continue
        made.imag[:, at] = vectors[:, at + 1]
        made[:, at + 1] = made[:, at].conj()
        at += 2
    return made


def _order(a: Any) -> int:
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise UnsuitableError
    return int(a.shape[0])


def _real(a: Any) -> Any:
    return a.real.dtype


def _matrix(rows: int, columns: int, dtype: Any) -> Any:
    return np.empty((rows, columns), dtype, order="F")


def _copy(a: Any) -> Any:
    return np.array(a, order="F")


def _worked(name: str, given: tuple[Any, ...], dtype: Any, reals: int = 0) -> None:
    """Call a routine once to ask how much memory it needs for its work, and with it."""
    routine = _routine(name, dtype)
    real = [np.empty(reals, dtype.type(0).real.dtype)] if dtype.kind == "c" else []
    size = np.zeros(1, dtype)
    _call(routine, *given, size, -1, *real)
    needed = int(size[0].real)
    _call(routine, *given, np.empty(needed, dtype), needed, *real)


def _call(routine: Callable[..., Any], *given: Any) -> None:
    """Call a routine with references to what is given.

    Raises:
        UnsuitableError: it has failed. The original says how.
    """
    failed = c_int32()
    routine(*map(_reference, given), byref(failed))
    if failed.value:
        raise UnsuitableError


def _reference(given: Any) -> Any:
    if type(given) is int:
        return byref(c_int32(given))
    if type(given) is bytes:
        return c_char_p(given)
    return None if given is None else given.ctypes


@cache
def _library() -> Any:
    """Return cuPyNumeric's library, or None. It uses the processors that it found."""
    for each in ThreadpoolController().lib_controllers:
        if each.user_api == "blas" and _OWNER in each.filepath:
            return CDLL(each.filepath)
    return None


@cache
def _routine(name: str, dtype: Any) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(
        _library(), f"{_LETTERS[dtype.char]}{name}_", None
    )
    if found is None:
        raise UnsuitableError
    return found
