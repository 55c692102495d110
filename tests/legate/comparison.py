# SPDX-License-Identifier: Apache-2.0
"""Compares programs fused, unfused and in NumPy; counts what fusion did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import cupynumeric as cn
import numpy as np

import legate_diffuse
from legate_diffuse.launch.window import window


@contextmanager
def unfused() -> Iterator[None]:
    """Run every task as it was submitted."""
    window.flush("test")
    recognizer = window.recognizer
    library, recognizer.cupynumeric = recognizer.cupynumeric, None
    fill = window._record_fill
    window._record_fill = lambda *_: False  # type: ignore[method-assign]
    try:
        yield
        window.flush("test")
    finally:
        recognizer.cupynumeric = library
        window._record_fill = fill  # type: ignore[method-assign]


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


def same(left: Any, right: Any) -> None:
    """Assert that two arrays have one shape, one dtype and the same bits."""
    left, right = np.asarray(left), np.asarray(right)
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    np.testing.assert_array_equal(left, right)
    if left.dtype.kind in "fc":
        # array_equal takes -0.0 for 0.0
        assert np.array_equal(np.signbit(left.real), np.signbit(right.real)) or (
            np.isnan(left).any()
        )


def differential(
    program: Callable[..., Any], *arguments: Any, numpy_too: bool = True
) -> None:
    """Assert that a program gives the same results fused, unfused and in NumPy.

    ``program(np, *arguments)`` returns an array or a tuple of arrays. NumPy's
    results may differ in the last digits of transcendental functions.
    """
    fused = _results(program, cn, arguments)
    with unfused():
        original = _results(program, cn, arguments)
    assert len(fused) == len(original)
    for left, right in zip(fused, original, strict=True):
        same(left, right)
    if numpy_too:
        for left, right in zip(fused, _results(program, np, arguments), strict=True):
            assert left.dtype == right.dtype
            assert left.shape == right.shape
            np.testing.assert_allclose(
                left, right, rtol=1e-5 if left.dtype.itemsize == 4 else 1e-12
            )


def _results(
    program: Callable[..., Any], package: Any, arguments: tuple[Any, ...]
) -> list[np.ndarray[Any, Any]]:
    with np.errstate(all="ignore"):
        results = program(package, *(package.array(a) for a in arguments))
    if not isinstance(results, tuple):
        results = (results,)
    return [np.asarray(result) for result in results]
