# SPDX-License-Identifier: Apache-2.0
"""Every element-wise operation kind that fusion covers has the bits of upstream.

That is with `LEGATE_DIFFUSE_MATH=libm`; functions of the maths library may differ in
the last bit otherwise.
"""

import ctypes

import cupynumeric as cn
import numpy as np
import pytest
import upstream_tasks
from comparison import counts, differential
from compiled_kernels import run_rows
from tiers import examples

from legate_diffuse.codegen import Compiler
from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import COMPLEX
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS, OPERATIONS
from legate_diffuse.maths.libm import MathMode

DIVISIONS = {"FLOOR_DIVIDE", "FMOD", "MOD", "GCD", "LCM"}
SCALARS = {"ROUND": [(0, 1), (2, 100), (-1, 10)], "ANGLE": [(False,), (True,)]}
SCALARS["ISCLOSE"] = [(1e-5, 1e-8), (0.1, 0.0)]


def is_run_by_upstream(kind):
    """Upstream's front end copies, fills and puts in other ways."""
    if kind.task in ("COPY", "FILL", "PUTMASK", "CHOOSE", "SELECT"):
        return False
    if kind.task in ("READ", "WRITE"):  # of one element, see test_elements.py
        return False
    if MEANINGS.depends_on_index(kind):  # see test_indexed_operations.py
        return False
    return kind.task != "CONVERT" or kind.inputs != kind.outputs


def operations():
    found = {}
    for kind in OPERATIONS:
        if MEANINGS.reduction(kind) is None and is_run_by_upstream(kind):
            found.setdefault((kind.task, kind.code), []).append(kind)
    return found


def values(dtype, random):
    """Edge values in front of random ones."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.random(2000) < 0.5
    if kind in "iu":
        limits = np.iinfo(dtype)
        numbers = random.integers(limits.min, limits.max, 2000, dtype, endpoint=True)
        numbers[::2] %= 17
        edges = [limits.min, limits.min + 1, limits.max, 0, 1, 2, 3, 63, 64, 100]
        numbers[:10] = edges
        return random.permutation(numbers)
    if kind == "c":
        part = np.empty(0, dtype).real.dtype.name
        result = np.empty(2000, dtype)
        result.real, result.imag = values(part, random), values(part, random)
        return result
    scale = {"float16": 3, "float32": 30, "float64": 250}[dtype]
    digits = random.integers(-4, 4, 2000).astype("float64")
    digits[::10] = random.integers(-scale, scale, 200)
    numbers = (random.standard_normal(2000) * 10.0**digits).astype(dtype)
    limits = np.finfo(dtype)
    edges = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 100.0, np.inf, np.nan, limits.max]
    edges += [limits.tiny, limits.smallest_subnormal]
    numbers[:48] = np.concatenate([edges, np.negative(edges)] * 2)
    return random.permutation(numbers)


def operands_of(kind):
    random = np.random.default_rng(len(kind.inputs))
    operands = [values(dtype, random) for dtype in kind.inputs]
    if kind.code in DIVISIONS and operands[0].dtype.kind in "biu":
        return [x[~traps(*operands)] for x in operands]
    return operands


def traps(a, b):
    """Where upstream's process ends: fused programs give NumPy's results there."""
    if a.dtype.kind != "i":
        return b == 0
    lowest = np.iinfo(a.dtype).min
    negative = ((a == lowest) & (b == -1)) | ((b == lowest) & (a == -1))
    return (b == 0) | negative


def scalars_of(kind):
    if kind.code == "CLIP" and kind.inputs[0] in COMPLEX:
        return [(-1 + 1j, 1 - 1j), (1, 0)]
    if kind.code == "CLIP":
        return [(0, 1), (1, 0)]
    return SCALARS.get(kind.code, [()])


def kernel_of(kind: OperationKind):
    reads = [Argument(dtype, reads=True, writes=False) for dtype in kind.inputs]
    writes = [Argument(dtype, reads=False, writes=True) for dtype in kind.outputs]
    builder = Builder(reads + writes, kind.scalars)
    operands = [builder.load(number) for number in range(len(reads))]
    operands += [builder.scalar(number) for number in range(len(kind.scalars))]
    for number, value in enumerate(MEANINGS.lower(kind, builder, operands)):
        builder.store(len(reads) + number, value)
    return builder.build()


def computed(compiler, kind, operands, scalars):
    results = [np.empty(operands[0].shape, dtype) for dtype in kind.outputs]
    arrays = [np.ascontiguousarray(x) for x in operands] + results
    block = b"".join(
        np.dtype(dtype).type(value).tobytes().ljust(16, b"\0")
        for value, dtype in zip(scalars, kind.scalars, strict=True)
    )
    strides = [stride for x in arrays for stride in (0, x.itemsize)]
    run_rows(
        compiler.compile(kernel_of(kind)).address,
        (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays)),
        (ctypes.c_int64 * len(strides))(*strides),
        (ctypes.c_int64 * 3)(1, arrays[0].size, arrays[0].size),
        ctypes.create_string_buffer(block, max(1, len(block))),
    )
    return results


def unlike(left, right):
    """Where bits differ; only the signs and payloads of NaNs may."""
    if left.dtype.kind == "c":
        return unlike(left.real, right.real) | unlike(left.imag, right.imag)
    if left.dtype.kind != "f":
        return left != right
    same = (left == right) & (np.signbit(left) == np.signbit(right))
    return ~(same | (np.isnan(left) & np.isnan(right)))


@pytest.fixture(scope="module")
def compiler():
    return Compiler(MathMode.LIBM)


@pytest.mark.parametrize(("task", "code"), operations())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_has_the_bits_of_upstream(compiler, task, code):
    # tests/codegen compares all types with NumPy
    for kind in operations()[task, code][:: examples(2, 1)]:
        operands = operands_of(kind)
        for scalars in scalars_of(kind):
            expected = upstream_tasks.run(kind, operands, scalars)
            results = computed(compiler, kind, operands, scalars)
            for left, right in zip(results, expected, strict=True):
                differ = np.flatnonzero(unlike(left, right))
                wrong = [
                    (*(x[place] for x in operands), left[place], right[place])
                    for place in differ[:3]
                ]
                assert not wrong, f"{kind} {scalars}"


def test_integer_division_in_a_program():
    def program(n, a, b):
        quotient, remainder = a // b, a % b
        return quotient + 1, remainder * 2, n.gcd(a, b) * n.lcm(a, b)

    random = np.random.default_rng(0)
    a = random.integers(-1000, 1000, (50, 6))
    differential(program, a, random.integers(1, 9, (50, 6)))


def test_complex_numbers_in_a_program():
    def program(n, a, b):
        product = a * b
        quotient = product / b
        return product - 1, n.square(quotient), n.where(a.real > 0, a, b), b.conj() * 2

    random = np.random.default_rng(0)
    a = random.standard_normal((2, 50, 6)) + 1j * random.standard_normal((2, 50, 6))
    differential(program, a[0], a[1])


def test_half_precision_in_a_program():
    def program(n, a, b):
        c = a * b + a
        d = n.exp(c * n.float16(0.01))
        return c, d, n.where(a > b, c, d), c.astype("float64") + 1, c.max(axis=0)

    random = np.random.default_rng(0)
    a = (random.standard_normal((2, 50, 6)) * 10).astype("float16")
    differential(program, a[0], a[1], numpy_too=False)


def test_two_results_in_a_program():
    def program(n, a):
        fraction, exponent = n.frexp(a * 2)
        rest, whole = n.modf(a * 3)
        return fraction * 2, exponent + 1, rest + 1, whole * 2

    differential(program, np.random.default_rng(0).standard_normal((50, 6)))


def test_choices_in_a_program():
    def program(n, a, b):
        index = (a > 0).astype("int64") + (b > 0)
        return n.choose(index, (a, b + 1, a * b)) * 2

    a = np.random.default_rng(0).standard_normal((2, 50, 6))
    differential(program, a[0], a[1])


def test_selections_in_a_program():
    def program(n, a, b):
        chosen = n.select([a > 0.5, b > 0, a + b > 0], [a, b + 1, a * b], -3.0)
        return chosen * 2, n.select([a > 0], [a > 1], True), n.select([a > 0], [b])

    a = np.random.default_rng(0).standard_normal((2, 50, 6))
    differential(program, a[0], a[1])


def test_a_selection_shares_a_task():
    a = cn.ones((50, 6))

    def program():
        return cn.select([a > 0.5, a < -1], [a + 1, a * 2], -3.0) * 2

    program()
    found = counts(program)
    assert found["tasks_seen"] == 6
    assert found["tasks_submitted"] == 1


def test_products_of_complex_numbers_in_a_program():
    def program(n, a):
        b = a * n.complex64(1j)
        return n.prod(b), n.prod(b, axis=0), n.nanprod(a + b, axis=1)

    random = np.random.default_rng(0)
    units = random.choice([1, -1, 1j, -1j, np.nan], (40, 6), p=[0.24] * 4 + [0.04])
    differential(program, units.astype("complex64"))
