# SPDX-License-Identifier: Apache-2.0
"""Products of matrices in compressed rows on several processors.

``test_sparse_products.py`` runs this file on several machines.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import cupynumeric as cn
import numpy as np
import other_library as other
import other_package
import pytest
from comparison import counts, same, unfused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tiers import all_is_run, some

import legate_diffuse
from legate_diffuse.interpose.window import window

legate_diffuse.register("other", other_package.register())

TYPES = ("float32", "float64", "complex128")
INDICES = ("int32", "int64")
# lengths of rows: points without elements, without rows, and odd numbers of rows
STRUCTURES = {
    "random": [3, 0, 1, 5, 2, 0, 0, 4] * 8,
    "no element at the beginning": [0] * 30 + [2] * 31,
    "no element at the end": [2] * 31 + [0] * 30,
    "elements in the middle": [0] * 20 + [3] * 7 + [0] * 20,
    "one row has all": [0] * 5 + [40] + [0] * 5,
    "two rows": [1, 2],
    "three rows": [0, 5, 0],
}
# the types take turns: each structure and each type is in the first tier
KINDS = [(n, i, t) for n in STRUCTURES for i in INDICES for t in TYPES]


def matrix_of(lengths: list[int], width: int, dtype: str, index: str) -> Any:
    """Return a SciPy matrix with rows of these lengths."""
    rng = np.random.default_rng(sum(lengths))
    columns = rng.integers(0, width, sum(lengths)).astype(index)
    values = rng.random(len(columns)) - 0.5
    if dtype.startswith("complex"):
        values = values * (1 + 0.7j)
    begins = np.concatenate([[0], np.cumsum(lengths)])
    found = csr_array((values.astype(dtype), columns, begins), (len(lengths), width))
    found.indices = columns
    return found


def in_legate(matrix: Any) -> other.Matrix:
    begins = cn.array(matrix.indptr.astype("int64"))
    return other.Matrix(begins, cn.array(matrix.indices), cn.array(matrix.data))


def near(y: Any) -> Any:
    """Return sums of what lies beside each element."""
    sums = cn.zeros_like(y)
    sums[1:-1] = y[:-2] + y[2:]
    return sums


def the_vector_is_changed_before(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    x *= 2
    a.product(x, y)
    return y - z


def the_vector_is_changed_afterwards(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    a.product(x, y)
    x *= 2
    a.product(x, z)
    return y + z


def neighbours_are_read(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    a.product(x, y)
    return near(y) * z


def the_vector_is_read_with_neighbours(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    a.product(near(x), y)
    return near(y) + z


def the_vector_is_made_before(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    """As in conjugate gradients; the factor is a future."""
    p = w + (cn.dot(w, w) / 3) * x
    a.product(p, y)
    return y * 2 - z, p


def the_vector_is_updated_before(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    x *= cn.dot(w, w) / 3
    x += w
    a.product(x, y)
    return y, x


def the_old_vector_is_read_as_well(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    before, beside = x * 3, near(x)
    x += w
    a.product(x, y)
    return y, before, beside, x


def both_vectors_are_read_with_neighbours(
    a: Any, x: Any, w: Any, y: Any, z: Any
) -> Any:
    beside = near(x)
    x += w
    a.product(x, y)
    return y, beside, near(x)


def the_new_vector_is_read_with_neighbours(
    a: Any, x: Any, w: Any, y: Any, z: Any
) -> Any:
    p = w - x
    a.product(p, y)
    return y, near(p)


def the_vector_is_updated_twice(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    x += w
    a.product(x, y)
    x *= 2
    a.product(x, z)
    return x, y, z


def the_vector_is_updated_in_two_loops(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    x += w
    beside = near(x)
    x *= beside
    a.product(x, y)
    return x, y, beside


def the_vector_is_made_from_what_changes(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    w += 1
    p = x + w
    w *= 2
    a.product(p, y)
    w -= x
    return y, p, w


def what_the_vector_is_made_from_changes_later(
    a: Any, x: Any, w: Any, y: Any, z: Any
) -> Any:
    p = x - w
    a.product(p, y)
    w += p
    x *= 3
    return y, p, w, x


def others_are_made_with_the_vector(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    doubled = w * 2
    p = doubled - x
    w += 1
    a.product(p, y)
    return y, doubled, w, p


def two_vectors_are_gathered(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    p, q = x + w, x - w
    a.product(p, y)
    a.product(q, z)
    r = p * q
    a.product(r, y)
    return y + z, p, q


def one_vector_is_gathered_twice(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    p = x + w
    a.product(p, y)
    s = y - 1
    a.product(p, z)
    return s * z, p


def the_vector_depends_on_the_position(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    p = cn.arange(len(x)) + x
    a.product(p, y)
    return y, p


def the_vector_is_filled(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    x.fill(3)
    a.product(x, y)
    return y, x


def the_vector_is_filled_beside_others(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    x.fill(3)
    doubled = w * 2
    a.product(x, y)
    return y, x, doubled


def two_matrices_gather_one_vector(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    twice = copy(a)
    columns = np.arange(a.columns.shape[0]) % 2
    twice.columns = other.store_of(cn.array(columns))
    p = x - w
    a.product(p, y)
    twice.product(p, z)
    return y + z, p


def the_vector_is_made_in_parts(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    p = x + w
    p[1:] = w[:-1]
    a.product(p, y)
    return y, p


def the_vector_is_not_kept(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    a.product(x * 3 - w, y)
    return y - z


def values_are_made_before(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    p, changed = x + w, copy(a)
    values = cn.arange(a.values.shape[0]).astype(x.dtype)
    changed.values = other.store_of(values * 2)
    changed.product(p, y)
    return y, p


def iterations(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    """Several steps, in each of which the vector of the one before is read."""
    small = w + 0
    for step in range(4):
        p = w + (cn.dot(small, small) / (2000 + step)) * x
        a.product(p, y)
        w = w - x
        x = p
    return x, w, y


def a_factor_changes_afterwards(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    factor = cn.dot(w, w)
    a.product(x, y)
    z = y * factor
    factor *= 2
    return z, factor


PROGRAMS = (
    lambda a, x, w, y, z: (a.product(x, y), y)[1],
    lambda a, x, w, y, z: (a.product(x + 1, y), y * z - y)[1],
    lambda a, x, w, y, z: (a.product(x, y), a.product(x, z), y * 2 + z)[2],
    the_vector_is_changed_before,
    the_vector_is_changed_afterwards,
    neighbours_are_read,
    the_vector_is_read_with_neighbours,
    a_factor_changes_afterwards,
)


def each_row_uses_its_own_element(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    p = w - x
    a.product(p, y)
    return y * p - z, p


def old_elements_are_used_beside(a: Any, x: Any, w: Any, y: Any, z: Any) -> Any:
    q = x * 2
    x += w
    a.product(x, y)
    q += y
    z = z * q
    return q, x, z


# in which the vector is made by other operations
MAKERS = (
    the_vector_is_made_before,
    the_vector_is_updated_before,
    the_old_vector_is_read_as_well,
    both_vectors_are_read_with_neighbours,
    the_new_vector_is_read_with_neighbours,
    the_vector_is_updated_twice,
    the_vector_is_updated_in_two_loops,
    the_vector_is_made_from_what_changes,
    what_the_vector_is_made_from_changes_later,
    others_are_made_with_the_vector,
    two_vectors_are_gathered,
    one_vector_is_gathered_twice,
    the_vector_depends_on_the_position,
    the_vector_is_filled,
    the_vector_is_filled_beside_others,
    two_matrices_gather_one_vector,
    the_vector_is_made_in_parts,
    the_vector_is_not_kept,
    values_are_made_before,
    iterations,
)


def run(
    matrix: other.Matrix,
    shape: tuple[int, int],
    dtype: str,
    program: Any,
    apart: bool = False,
) -> Any:
    """Run a program, perhaps in another window than what it begins with is made."""
    height, width = shape
    x, z = ((cn.arange(n) % 7 - 3).astype(dtype) for n in (width, height))
    w = (cn.arange(width) % 5 - 1).astype(dtype)
    if dtype.startswith("complex"):
        w *= 1 - 2j
    y = cn.empty(height, dtype)
    if apart:
        window.flush("test")
    found = program(matrix, x, w, y, z)
    return [np.asarray(each) for each in (found if type(found) is tuple else (found,))]


def check(
    lengths: list[int],
    width: int,
    dtype: str,
    index: str,
    program: Any,
    times: int = 1,
) -> None:
    """Assert that a program gives the same bits unfused."""
    check_matrix(matrix_of(lengths, width, dtype, index), dtype, program, times)


def check_matrix(given_matrix: Any, dtype: str, program: Any, times: int) -> None:
    """Assert that a program gives the same bits unfused, each of some times."""
    arguments = in_legate(given_matrix), given_matrix.shape, dtype, program
    # the second time points look at the columns, which they know from then on
    runs = [run(*arguments, apart=times > 1) for _ in range(times)]
    with unfused():
        expected = run(*arguments)
    for found in runs:
        for one, another in zip(found, expected, strict=True):
            same(one, another)


@pytest.mark.parametrize(("name", "index", "dtype"), some(KINDS, 5))
def test_points_agree(name: str, index: str, dtype: str) -> None:
    lengths = STRUCTURES[name]
    widths = [max(len(lengths) - 3, 2), len(lengths), len(lengths) + 9]
    if not all_is_run():
        # they take turns, too
        widths = widths[KINDS.index((name, index, dtype)) % 3 :][:1]
    for width in widths:
        for program in PROGRAMS:
            check(lengths, width, dtype, index, program)


@pytest.mark.parametrize(
    "program", [each_row_uses_its_own_element, old_elements_are_used_beside]
)
def test_points_use_what_they_gather_in_rows(program: Any) -> None:
    for number, name in enumerate(STRUCTURES):
        lengths = STRUCTURES[name]
        dtype = TYPES[number % len(TYPES)]
        check(lengths, len(lengths), dtype, "int64", program, times=3)
    # each row has columns near its own number
    matrix = matrix_of([3] * 90, 90, "float64", "int64")
    columns = np.clip(np.repeat(np.arange(90), 3) + np.arange(270) % 5 - 2, 0, 89)
    matrix.indices = columns
    check_matrix(matrix, "float64", program, times=3)


@pytest.mark.parametrize("program", MAKERS)
def test_points_make_what_they_gather(program: Any) -> None:
    for number, name in enumerate(STRUCTURES):
        lengths = STRUCTURES[name]
        dtype = TYPES[number % len(TYPES)]
        widths = max(len(lengths) - 3, 2), len(lengths), len(lengths) + 9
        for width in widths if all_is_run() else widths[number % 3 :][:1]:
            check(lengths, width, dtype, "int64", program, times=3)
    check(STRUCTURES["random"], 64, "float64", "int32", program)


def change_by_operation(columns: Any, new: Any) -> None:
    columns[:] = cn.array(new)


def change_in_numpy(columns: Any, new: Any) -> None:
    np.asarray(columns)[:] = new


@pytest.mark.parametrize("change", [change_by_operation, change_in_numpy])
def test_columns_change_after_points_have_looked(change: Any) -> None:
    n = 60
    given_matrix = matrix_of([2] * n, n, "float64", "int64")
    begins, values = (cn.array(e) for e in (given_matrix.indptr, given_matrix.data))
    columns = cn.array(given_matrix.indices).copy()
    matrix = other.Matrix(begins.astype("int64"), columns, values)
    y, w = cn.empty(n), cn.arange(float(n))
    x = cn.ones(n)
    expected = np.ones(n)
    near_rows = np.repeat(np.arange(n), 2)
    # first each row has itself, then others, and then in the end itself again
    for distance in (0, 1, 0, n // 2, 7, 0):
        new = (near_rows + distance) % n
        change(columns, new)
        given_matrix.indices = new
        for _ in range(4):
            x = w - 0.5 * x
            matrix.product(x, y)
            expected = np.arange(float(n)) - 0.5 * expected
            same(np.asarray(x), expected)
            by_rows = given_matrix.data * expected[new]
            same(np.asarray(y), by_rows[::2] + by_rows[1::2])


def test_columns_change_beside_products() -> None:
    n = 60
    given_matrix = matrix_of([2] * n, n, "float64", "int64")
    begins, values = (cn.array(e) for e in (given_matrix.indptr, given_matrix.data))
    w = cn.arange(float(n))

    def program() -> Any:
        columns = cn.array(np.repeat(np.arange(n), 2)).copy()
        matrix = other.Matrix(begins.astype("int64"), columns, values)
        x, y, z = cn.ones(n), cn.empty(n), cn.empty(n)
        found = []
        for _ in range(6):
            x = w - 0.5 * x
            matrix.product(x, y)
            columns += 1
            columns %= n
            x = w - 0.5 * x
            matrix.product(x, z)
            found.append(y - z)
        return [np.asarray(each) for each in found]

    found = program()
    with unfused():
        for one, another in zip(found, program(), strict=True):
            same(one, another)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=70).filter(lambda n: sum(n) > 1),
    st.integers(2, 90),
    st.sampled_from(TYPES),
    st.sampled_from(INDICES),
    st.sampled_from(PROGRAMS + MAKERS),
)
def test_random_matrices_agree(
    lengths: list[int], width: int, dtype: str, index: str, program: Any
) -> None:
    check(lengths, width, dtype, index, program)


@pytest.mark.parametrize("index", INDICES)
def test_a_product_agrees_with_scipy(index: str) -> None:
    given_matrix = matrix_of([3, 0, 1, 5, 2] * 20, 100, "float64", index)
    x = np.cos(np.arange(100.0))
    y = cn.empty(100)
    in_legate(given_matrix).product(cn.array(x), y)
    np.testing.assert_allclose(np.asarray(y), given_matrix @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("program", "tasks"),
    [
        (the_vector_is_made_before, 3),
        (the_vector_is_updated_before, 3),
        (the_old_vector_is_read_as_well, 2),
        (both_vectors_are_read_with_neighbours, 2),
        (the_new_vector_is_read_with_neighbours, 2),
        (what_the_vector_is_made_from_changes_later, 2),
        (others_are_made_with_the_vector, 2),
        (two_vectors_are_gathered, 3),
        (one_vector_is_gathered_twice, 2),
        (the_vector_depends_on_the_position, 2),
        (the_vector_is_not_kept, 2),
        (the_vector_is_filled, 1),
        (values_are_made_before, 3),
    ],
)
def test_what_makes_the_vector_is_in_a_task_before(program: Any, tasks: int) -> None:
    matrix = in_legate(matrix_of([3, 0, 1, 5, 2] * 20, 100, "float64", "int64"))
    x, w = cn.arange(100.0), cn.ones(100) * 2
    y, z = cn.empty(100), cn.arange(100.0)
    found = counts(lambda: program(matrix, x, w, y, z))
    assert found["tasks_submitted"] - found["fills_submitted"] == tasks


@pytest.mark.parametrize(("name", "index", "dtype"), some(KINDS, 5))
def test_diagonals_agree(name: str, index: str, dtype: str) -> None:
    """Compare with NumPy: unfused such tasks end the process on four points."""
    lengths = STRUCTURES[name]
    height = len(lengths)
    for width in (max(height - 3, 2), height + 9):
        given_matrix = matrix_of(lengths, width, dtype, index)
        matrix = in_legate(given_matrix)
        x, y, z = (
            cn.ones(width, dtype),
            cn.empty(height, dtype),
            cn.empty(height, dtype),
        )
        matrix.product(x, y)
        matrix.diagonal(z)
        expected = np.zeros(height, dtype)
        for row in range(height):
            for k in range(*given_matrix.indptr[row : row + 2]):
                if given_matrix.indices[k] == row:
                    expected[row] = given_matrix.data[k]
        # what follows is aligned with the rows
        same(np.asarray(z + z), expected + expected)


def test_what_is_aligned_with_rows_is_in_one_task() -> None:
    matrix = in_legate(matrix_of([3, 0, 1, 5, 2] * 20, 100, "float64", "int64"))
    x, y, z = cn.ones(100), cn.empty(100), cn.arange(100.0)

    def program() -> Any:
        matrix.product(x, y)
        scaled = y * z - y
        return cn.dot(x, y), scaled

    expected = np.asarray(program()[1])
    found = counts(program)
    assert found["groups"] == found["tasks_submitted"] - found["fills_submitted"] == 1
    with unfused():
        same(expected, program()[1])
