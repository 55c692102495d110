# SPDX-License-Identifier: Apache-2.0
"""Compares programs fused, unfused and in NumPy; counts what fusion did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import cupynumeric as cn
import numpy as np

import legate_diffuse
from legate_diffuse.check.elements import same_bits
from legate_diffuse.interpose.window import window

# How many elements :func:`numbers` has.
N = 1000


@contextmanager
def unfused() -> Iterator[None]:
    """Run every task as it was submitted."""
    window.flush("test")
    examine, at_once = window._examine, window.runs_at_once
    window._examine = lambda _: None  # type: ignore[method-assign]
    window.runs_at_once = False
    try:
        yield
        window.flush("test")
    finally:
        window._examine = examine  # type: ignore[method-assign]
        window.runs_at_once = at_once


def counts(program: Callable[[], Any]) -> dict[str, Any]:
    """Return what the counters say of a program, including its flush at the end."""
    window.flush("test")
    before = legate_diffuse.stats()
    result = program()
    window.flush("test")
    after = legate_diffuse.stats()
    del result
    return {
        key: after[key] - before[key]
        for key, value in after.items()
        if not isinstance(value, dict)
    }


def same(left: Any, right: Any, name: str = "result") -> None:
    """Assert that two arrays have one shape, one dtype and the same bits.

    Only the signs and payloads of NaNs may differ.
    """
    left, right = np.asarray(left), np.asarray(right)
    assert left.dtype == right.dtype, name
    assert left.shape == right.shape, name
    wrong = ~same_bits(left, right)
    if wrong.any():
        np.testing.assert_array_equal(left, right, name)
        # array_equal takes -0.0 for 0.0
        raise AssertionError(f"{name}: signs of zeros differ:\n{left}\n{right}")


def agree(program: Callable[[], Any]) -> Any:
    """Assert that a program gives the same bits unfused; return what it gives."""
    found = np.asarray(program())
    with unfused():
        original = np.asarray(program())
    same(found, original)
    return found


def same_but_for_rounding(left: Any, right: Any, scale: Any, terms: int) -> None:
    """Assert that two results differ by no more than the rounding of ``terms`` terms.

    Two ways to add n numbers x_i differ by at most 2 n eps (|x_1| + ... + |x_n|)
    (N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM
    2002, section 4.2). Where the scale or partial results may not be finite,
    results may be anything.
    """
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    limits = np.finfo(left.dtype)
    with np.errstate(all="ignore"):
        error = np.abs(left.astype("float64") - right.astype("float64"))
        near = error <= 2 * terms * limits.eps * scale
        anything = ~(scale < limits.max / 2)
    right_enough = near | same_bits(left, right) | anything
    assert right_enough.all(), (
        f"{left} and {right} differ by more than {scale} explains"
    )


def differential(
    program: Callable[..., Any],
    *arguments: Any,
    numpy_too: bool = True,
    originals: int | None = 0,
) -> None:
    """Assert that a program gives the same results fused, unfused and in NumPy.

    ``program(np, *arguments)`` returns an array or a tuple of arrays. NumPy's
    results may differ in the last digits of transcendental functions. For
    ``originals`` see :func:`fused`.
    """
    found = fused(lambda: _results(program, cn, arguments), originals)
    with unfused():
        original = _results(program, cn, arguments)
    assert len(found) == len(original)
    for left, right in zip(found, original, strict=True):
        same(left, right)
    if numpy_too:
        for left, right in zip(found, _results(program, np, arguments), strict=True):
            assert left.dtype == right.dtype
            assert left.shape == right.shape
            np.testing.assert_allclose(
                left, right, rtol=1e-5 if left.dtype.itemsize == 4 else 1e-12
            )


def numbers() -> Any:
    """Return the array of 0.0 to N - 1.0, with nothing pending."""
    x = cn.arange(float(N))
    window.flush("test")
    return x


def counted_differential(program: Callable[[Any], Any]) -> dict[str, Any]:
    """Assert that a program is fused and gives the same bits unfused.

    ``program(x)`` gets :func:`numbers` and returns an array. Returns what fusion did.
    """
    results: list[Any] = []
    x = numbers()
    found = counts(lambda: results.append(program(x)))
    assert found["groups"] > 0, "nothing was fused"
    with unfused():
        same(results[0], program(numbers()))
    return found


def fused(program: Callable[[], Any], originals: int | None = 0) -> Any:
    """Run a program, and assert that it was fused; return its result.

    All operations must run in fused tasks, but for fills and for exactly ``originals``
    tasks, which run as they were submitted. With None, nothing needs to be fused.
    """
    if originals is None:
        return program()
    results: list[Any] = []
    found = counts(lambda: results.append(program()))
    alone = found["tasks_submitted"] - found["fills_submitted"] - found["groups"]
    assert found["groups"] > 0, "nothing was fused"
    assert alone == originals, f"{alone} tasks ran as they were submitted"
    return results[0]


def _results(
    program: Callable[..., Any], package: Any, arguments: tuple[Any, ...]
) -> list[np.ndarray[Any, Any]]:
    with np.errstate(all="ignore"):
        results = program(package, *(package.array(a) for a in arguments))
    if not isinstance(results, tuple):
        results = (results,)
    return [np.asarray(result) for result in results]
