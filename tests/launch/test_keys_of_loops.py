# SPDX-License-Identifier: Apache-2.0
"""Loops whose views move have few plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from key_windows import array, view_of, window_of
from recorder import Machine, Recorder

from legate_diffuse.ir.text import render
from legate_diffuse.stores.view import View

SIZE = 200


def _rest(k: int) -> slice:
    return slice(k + 1, None)


def factorise(r: Recorder, a: View, k: int) -> None:
    """``A[k+1:, k] /= A[k, k]``, then the outer product is subtracted."""
    column, row = view_of(a, _rest(k), k), view_of(a, k, _rest(k))
    inner = view_of(a, _rest(k), _rest(k))
    size = inner.shape[0]
    pivot = view_of(a, k, k).promote(0, size)
    r.task("BINARY_OP.DIVIDE", [column, column, pivot])
    product = r.array(size, size, live=False, made=False)
    repeated = column.promote(1, size), row.promote(0, size)
    r.task("BINARY_OP.MULTIPLY", [product, *repeated])
    r.task("BINARY_OP.SUBTRACT", [inner, inner, product])


def shortest_paths(r: Recorder, a: View, k: int) -> None:
    """``A = minimum(A, A[:, k, None] + A[k])`` (Floyd and Warshall)."""
    whole = slice(None)
    total = r.array(SIZE, SIZE, live=False, made=False)
    column = view_of(a, whole, k).promote(1, SIZE)
    row = view_of(a, k, whole).promote(0, SIZE)
    r.task("BINARY_OP.ADD", [total, column, row])
    r.task("BINARY_OP.MINIMUM", [a, a, total])


def substitute(r: Recorder, a: View, k: int) -> None:
    """``A[k+1:] -= A[k+1:, k, None] * A[k]``: rows below the k-th."""
    below = view_of(a, _rest(k), slice(None))
    column = view_of(a, _rest(k), k).promote(1, SIZE)
    row = view_of(a, k, slice(None)).promote(0, below.shape[0])
    product = r.array(*below.shape, live=False, made=False)
    r.task("BINARY_OP.MULTIPLY", [product, column, row])
    r.task("BINARY_OP.SUBTRACT", [below, below, product])


def orthogonalise(r: Recorder, a: View, k: int) -> None:
    """The k-th column less its share of two earlier ones (Gram and Schmidt)."""
    whole = slice(None)
    column = view_of(a, whole, k)
    for j in (k // 2, k // 3):
        share = r.array(SIZE, live=False, made=False)
        r.task("BINARY_OP.MULTIPLY", [share, column, view_of(a, whole, j)])
        r.task("BINARY_OP.SUBTRACT", [column, column, share])


# and how many distinct windows their 198 iterations have
LOOPS: dict[str, tuple[Callable[[Recorder, View, int], None], int]] = {
    "LU": (factorise, 4),
    "Floyd-Warshall": (shortest_paths, 3),
    "substitution": (substitute, 4),
    "Gram-Schmidt": (orthogonalise, 2),
}


def keys_of(step: Callable[[Recorder, View, int], None]) -> Iterator[tuple[int, ...]]:
    """Yield the key of the window of each iteration."""
    recorder = Recorder(Machine())
    a = recorder.array(SIZE, SIZE)
    for k in range(1, SIZE - 1):
        step(recorder, a, k)
        yield recorder.finish()[0]


@pytest.mark.parametrize(("step", "count"), LOOPS.values(), ids=LOOPS)
def test_a_loop_over_k_has_few_plans(
    step: Callable[[Recorder, View, int], None], count: int
) -> None:
    keys = list(keys_of(step))
    assert len(set(keys)) == count
    middle = keys[SIZE // 4 : -SIZE // 4]
    assert len(set(middle)) == 1, "only where the ends are near windows differ"


def test_a_part_that_a_loop_names_twice_is_one_view() -> None:
    a = array(2_000, 2_000)
    for k in range(1, 1_900):
        rest = view_of(a, _rest(k), _rest(k))
        for others in ((k, slice(None)), (slice(None), k), (k, _rest(k))):
            view_of(a, *others)
        assert view_of(a, _rest(k), _rest(k)) is rest


def test_the_size_does_not_matter() -> None:
    def key(size: int, k: int) -> tuple[int, ...]:
        recorder = Recorder(Machine())
        factorise(recorder, recorder.array(size, size), k)
        return recorder.finish()[0]

    assert key(100, 50) == key(1_000, 600)


def test_views_of_a_stencil_are_written_as_numpy_writes_them() -> None:
    root = array(40, 30)
    views = [
        view_of(root, slice(None), slice(None)),
        view_of(root, slice(1, -1), slice(1, -1)),
        view_of(root, slice(2, None), slice(1, -1)),
        view_of(root, -1, 0),
        view_of(root, slice(20, None), 17),
        view_of(root, 20, slice(None)).promote(0, 40),
    ]
    _, window = window_of(views)
    lines = render(window).splitlines()
    assert lines[1:-1] == [
        "view %0.0 shape 0 many [:, :]",
        "view %0.1 shape 1 many [1:-1, 1:-1]",
        "view %0.2 shape 1 many [2:, 1:-1]",
        "view %0.3 shape 2 one [-1, 0]",
        "view %0.4 shape 3 many [a:, a]",
        "view %0.5 shape 0 many [a, :] as (*, 1)",
    ]
