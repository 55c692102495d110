# SPDX-License-Identifier: Apache-2.0
"""Small arrays of different types meet without a way through cuPyNumeric."""

from __future__ import annotations

from test_at_once import MANY_OPERANDS
from test_small_arrays import run_here


def test_operands_of_different_types() -> None:
    run_here(
        MANY_OPERANDS
        + """
import operator as op
del ARRAYS["complex128"]
for one, values in ARRAYS.items():
    for other, others in ARRAYS.items():
        a, b = np.array(values, one), np.array(others[::-1], other)
        x, y = cn.array(a), cn.array(b)
        for apply in (op.add, op.mul, op.lt, op.eq, op.truediv):
            for _ in range(3):
                assert outcome(lambda: apply(x, y)) == outcome(lambda: apply(a, b)), (
                    one, other, apply)
        for number in (2.5, -0.0, float("inf"), 3):
            if one[0] in "iu" and type(number) is float and number:
                for _ in range(3):
                    assert outcome(lambda: x * number) == outcome(lambda: a * number)
                    assert outcome(lambda: number - x) == outcome(lambda: number - a)
"""
    )


def test_results_have_the_type_of_where_they_are_written() -> None:
    run_here("""
def program(n):
    x, i, m, s = n.arange(6.0), n.arange(6), n.arange(6) > 2, n.ones(6, "float32")
    found = []
    for k in range(3):
        x += i
        x *= m
        x[1:] -= i[:-1]
        x += x[:1, None].astype("int64")[0]
        i += m
        n.add(x, i, out=x)
        for wrong in (lambda: i.__iadd__(x), lambda: i.__imul__(2.5)):
            try:
                wrong()
            except TypeError:
                found.append(float(k))
        s = s + i[2] * 0.5
        found += [x.copy(), i.copy(), s, x + i[3], (i * 0.5)[m]]
        found += [i[:, None] * x, m / (i + 1)]
    return found
agree(program)
""")


def test_arrays_that_become_ones_of_another_type() -> None:
    run_here(
        MANY_OPERANDS
        + """
TYPES = [float, int, bool, "float32", np.float64, np.dtype("int32"), "uint8", "f8"]
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name, values in ARRAYS.items():
        if name == "complex128":
            continue
        # what is out of the other type's range has any value
        a = np.abs(np.nan_to_num(np.array(values, name), posinf=3, neginf=4)) % 100
        x = cn.array(a)
        for to in TYPES:
            for _ in range(3):
                assert outcome(lambda: x.astype(to)) == outcome(lambda: a.astype(to))
                assert outcome(lambda: x[2:5].astype(to, copy=True)) == outcome(
                    lambda: a[2:5].astype(to))
    try:
        cn.ones(3).astype("no type")
    except TypeError:
        pass
    else:
        raise AssertionError
"""
    )


def test_where_chooses_as_before() -> None:
    run_here("""
def program(n):
    x, y, i, j = n.arange(6.0), -n.arange(6.0), n.arange(6), n.arange(6) * 2
    m, rows = x > 2.0, n.arange(3) > 0
    found = []
    for _ in range(3):
        found += [n.where(m, x, y), n.where(m, x, 0.5), n.where(m, 2, y)]
        found += [n.where(m, i, j), n.where(m, i, -3), n.where(rows[:, None], x, y)]
        found += [n.where(m, 1.0, 0.0), n.where(m, 1, 0), n.where(m[2], x, y)]
        found += [n.where(m, x[3], y), n.where(m, x, i), n.where(m, i, 0.5)]
        found += [n.where(i, x, y), n.where(m[:0], x[:0], 1.0), n.where(m, x, -0.0)]
        found += [n.where(m)[0], n.where(x[:3] > 1.0, x[3:], y[2:5])]
        try:
            n.where(m, x, y[:4])
        except ValueError:
            found.append(1.0)
        x[1:] = n.where(m[1:], x[:-1], x[1:])
    return found
agree(program)
""")


def test_numbers_and_functions_make_operands_of_another_type() -> None:
    run_here("""
def program(n):
    x, i, m = n.arange(6.0), n.arange(6), n.arange(6) > 2
    c, u, single = x + 2j * i, n.arange(6, dtype="uint8"), n.ones(6, "float32")
    found = []
    for _ in range(3):
        found += [c * 2.5, c + 1, 2j * c, c - 1j, x * 2j, 1j - x, i * 2j, m * 1j]
        found += [m * 2.5, 1 - m, m == 1, m + 3, m > 0.5, i / 2j]
        found += [i * np.float64(2.5), m * np.float64(2), c * np.int64(3)]
        found += [single * np.float32(2), n.sqrt(i), n.exp(i[1:4]), n.sqrt(u + i)]
        found += [n.arctan2(i, i + 1), n.hypot(i, x), n.arctan2(i, 2)]
        found += [n.sqrt(i[2]), x[3] * i[2], c[1] * x[2], n.sign(m + 0)]
        x[2] = i[1]
        x[3:] = i[:3]
        x[:2] = m[2:4]
        c[1:3] = x[2:4]
        c[4] = i[3]
        i[:2] = x[2:4]
        single[:] = x
        x[m] = i[2]
        x[n.array([0, 2])] = i[1:3]
        c *= 2j
        c /= 4
        found += [x.copy(), c.copy(), i.copy(), single.copy()]
        for wrong in (lambda: x.__imul__(2j), lambda: u + 300, lambda: u.__iadd__(c)):
            try:
                wrong()
            except (TypeError, OverflowError):
                found.append(x * 1)
    return found
agree(program)
""")


def test_values_are_put_to_points_of_a_matrix() -> None:
    run_here("""
def program(n):
    a, i, j = n.zeros((5, 6)), n.array([0, 4, 2, -1]), n.array([1, 1, -6, 5])
    c, u, box = n.zeros((3, 4, 2)), n.array([2, 0], dtype="uint8"), n.arange(16.0)
    box = box.reshape(4, 4)
    found = []
    for _ in range(3):
        a[i, j] = 2.5
        a[i[:, None], j[None, :3]] += box[:, :3]
        a[n.arange(4), j] = box[1]
        a[i, 2 * i[:1]] = i
        a[i[:2], j[:2]] = a[3, 2:4]
        a[n.array([1, 1]), n.array([2, 2])] = box[0, 1:3]
        c[u, u + 1, n.array([[1], [0]])] = box[:2, :2] * 1.5
        c[u, n.array([0, 3]), u // 2] = True
        a[i[:0], j[:0]] = 7.0
        found += [a[i, j], a[i[:, None], j], c[u, u + 1, u[:, None] // 2], a.T[j, i]]
        found += [c[u, u][:, 1], a[1:, 2:][u, u], a[i[:1], j[:1]], a[i[:0], j[:0]]]
        for wrong in ((i, i[:3]), (i, j, i)):
            try:
                a[wrong] = 3.0
            except (IndexError, ValueError):
                found.append(a + 1)
        found += [a.copy(), c.copy()]
    return found
agree(program)
""")


def test_factors_of_different_types() -> None:
    run_here("""
def program(n):
    c, a, i = n.arange(16.0).reshape(4, 4) * (1 - 2j), n.ones((4, 4)), n.arange(4)
    single = n.ones((4, 3), dtype="float32") * 0.5
    found = []
    for _ in range(3):
        found += [c @ a, a @ c, c @ i, i @ a, a @ i, a @ single, i @ single, c.dot(a)]
        found += [n.dot(a, i), n.dot(i, single[:, 0]), c[1] @ a[2], single.T @ a]
        try:
            a @ single.T
        except ValueError:
            found.append(a + 1)
    return found
agree(program)
""")


def test_complex_numbers_of_single_precision() -> None:
    """Singles become such beside complex numbers, and these doubles beside doubles."""
    run_here("""
def program(n):
    x, z = n.array([3.0, 0.1, -0.0, 1e9], "float32"), n.array([1j, 2 - 1j, -3, 1e9])
    z, found = z.astype("complex64"), []
    for k in range(3):
        found += [x * 1j, 1j - x, x + z, z - x, z * x, x[:, None] + z, x == z, z != x]
        found += [z * n.arange(4), z + n.arange(4.0), x + n.arange(4) * 1j]
        found += [z.astype(complex), (z * 2.0).astype("complex128").astype("complex64")]
        z += x * 0.5j
    return [*found, z]
agree(program)
""")
