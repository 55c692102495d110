# SPDX-License-Identifier: Apache-2.0
"""Every element-wise kind that the table covers, against NumPy on edge values."""

import math

import numpy as np
import pytest
from every import every

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Argument, Builder
from legate_diffuse.kernel.dtypes import COMPLEX
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS, OPERATIONS


def edge_values(dtype):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 127, -1, -2, -3, -100]
        numbers += [limits.max, limits.max - 1, limits.min, limits.min + 1]
        held = [n for n in numbers if limits.min <= n <= limits.max]
        return np.array(held, dtype)
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    limits = np.finfo(part)
    numbers = [0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 100.7, 300.2, 40000.3, 2147483647.5]
    numbers += [2.0**31, 2.0**32 + 5, 1e10, 2.0**62, 2.0**63, 1.5 * 2.0**63, 2.0**64]
    numbers += [limits.smallest_subnormal, limits.tiny, limits.max, math.inf, math.nan]
    with np.errstate(over="ignore"):
        numbers = np.array(numbers).astype(part)
    numbers = np.concatenate([numbers, -numbers])
    if dtype not in COMPLEX:
        return numbers
    return (numbers + np.zeros(1, dtype)).astype(dtype)


def complex_values(dtype):
    numbers = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan])
    result = np.empty((7, 7), dtype)
    result.real, result.imag = numbers[:, None], numbers[None, :]
    return result.ravel()


def moderate_values(dtype):
    """Complex numbers on which NumPy and upstream agree but for rounding."""
    numbers = np.array([0.3, -0.7, 1.5, -2.0, 3.25])
    result = np.empty((5, 5), dtype)
    result.real, result.imag = numbers[:, None], numbers[None, :]
    return result.ravel()


def values_of(kind, dtype):
    if dtype not in COMPLEX:
        return edge_values(dtype)
    return moderate_values(dtype) if is_rounded(kind) else complex_values(dtype)


def is_rounded(kind):
    """Return whether NumPy's result for complex numbers has other bits."""
    return kind.inputs[0] in COMPLEX and kind.code in COMPLEX_ARITHMETIC | MATHS


def choices_of(kind):
    """Conditions or an index, then choices."""
    dtype = kind.inputs[-1]
    number = kind.inputs.count(dtype)
    if kind.task == "SELECT":
        number = len(kind.inputs) // 2
    elif dtype == "int64":
        number -= 1
    values = complex_values(dtype) if dtype in COMPLEX else edge_values(dtype)
    places = np.arange(values.size)
    choices = [np.roll(values, place) for place in range(number)]
    if kind.task == "CHOOSE":
        return [places % number, *choices]
    return [*(places % (place + 2) == 0 for place in range(number)), *choices]


def operands_of(kind):
    if kind.task in ("CHOOSE", "SELECT"):
        return choices_of(kind)
    values = [values_of(kind, dtype) for dtype in kind.inputs]
    masked = kind.task in ("WHERE", "PUTMASK")
    place = ("WHERE", "PUTMASK").index(kind.task) if masked else 0
    if masked:
        del values[place]
    grids = np.meshgrid(*values, indexing="ij")
    operands = [np.ascontiguousarray(grid.ravel()) for grid in grids]
    if masked:
        operands.insert(place, np.arange(operands[0].size) % 3 == 0)
    return operands


SCALARS = {"ROUND": [(0, 1), (2, 100), (-1, 10)], "ANGLE": [(False,), (True,)]}
SCALARS["ISCLOSE"] = [(1e-5, 1e-8), (0.1, 0.0)]


def scalars_of(kind):
    if kind.task == "SELECT":
        return [(edge_values(kind.scalars[0])[1],)]
    if kind.code == "CLIP" and kind.inputs[0] in COMPLEX:
        return [(-1 + 1j, 1 - 1j)]
    if kind.code == "CLIP":
        ordered = np.sort(edge_values(kind.inputs[0]))
        middle = ordered.size // 2
        return [(ordered[0], ordered[middle]), (ordered[middle], ordered[1])]
    return SCALARS.get(kind.code, [()])


def wide(x):
    return x if x.dtype.kind in "fc" else x.astype("float64")


def truth(x):
    return (x.real if x.dtype.kind == "c" else x) != 0


def reciprocal(x):
    if x.dtype.kind in "fc":
        return np.where(x != 0, 1 / x, 0).astype(x.dtype)
    return np.where((x == 1) | (x.astype("float64") == -1), x, x.dtype.type(0))


def sign(x):
    if x.dtype.kind == "c":
        return x / abs(x)
    return (x > 0).astype(x.dtype) - ((x < 0) if x.dtype.kind in "if" else 0)


def round_to(x, decimals, factor):
    if x.dtype.kind in "biu":
        wide = x.astype("uint64" if x.dtype == "uint64" else "int64")
        scale = wide.dtype.type(factor)
        tens = (wide - np.fmod(wide, scale)) // scale
        scaled = tens.astype("float64") * factor
        if decimals >= 0:
            scaled = (wide * scale).astype("float64") / factor
        return cpp_cast(scaled, x.dtype.name)
    if x.dtype == "float16" and decimals >= 0:
        return np.rint((x * np.float16(factor)).astype("float32")) / np.float32(factor)
    if x.dtype == "float16":
        return round_to(x.astype("float32"), decimals, factor)
    if x.dtype.kind == "c":
        parts = round_to(x.real, decimals, factor), round_to(x.imag, decimals, factor)
        return parts[0] + 1j * parts[1]
    scale = x.dtype.type(factor)
    if decimals < 0:
        return np.rint(x / scale) * scale
    return np.rint(x * scale) / scale


def floor_divide(a, b):
    if a.dtype.kind == "b":
        # as upstream does, where the divisor is False, too
        return a
    return np.floor(a / b) if a.dtype.kind == "f" else np.floor_divide(a, b)


def mod(a, b):
    if a.dtype.kind != "f":
        return a & False if a.dtype.kind == "b" else np.mod(a, b)
    remainder = np.fmod(a, b)
    moved = np.where((b < 0) != (remainder < 0), remainder + b, remainder)
    return np.where(remainder != 0, moved, np.copysign(a.dtype.type(0), b))


def power(a, b):
    if a.dtype.kind == "c":
        return np.power(a, b)
    number = np.power(a.astype("float64"), b.astype("float64"))
    if a.dtype.kind == "f":
        return number
    away = np.where(
        np.isfinite(number), np.trunc(number + np.copysign(0.5, number)), number
    )
    return cpp_cast(np.where(np.abs(number) < 2.0**52, away, number), a.dtype.name)


def is_close(a, b, rtol, atol):
    if a.dtype.kind == "c":
        return abs(a - b) <= atol + rtol * abs(b)
    first, second = a.astype("float64"), b.astype("float64")
    near = np.abs(first - second) <= atol + rtol * np.abs(second)
    return np.where(np.isinf(first) | np.isinf(second), a == b, near)


def shift(function):
    def apply(a, b):
        width = max(32, 8 * a.itemsize)
        wide_type = np.dtype(f"{a.dtype.kind}{width // 8}")
        count = b.astype(wide_type) & wide_type.type(width - 1)
        result = function(a.astype(wide_type), count).astype(a.dtype)
        if function is np.left_shift:
            return np.where(b.astype("float64") >= 0, result, a.dtype.type(0))
        return result

    return apply


def clip(x, low, high):
    low, high = x.dtype.type(low), x.dtype.type(high)
    return np.where(x < low, low, np.where(x > high, high, x))


def logaddexp2(a, b):
    """NumPy adds log1p instead, which keeps more digits."""
    apart = np.fmax(a, b) + np.log2(1 + np.exp2(-abs(a - b)))
    return np.where(a == b, a + 1, apart)


def angle(x, degrees):
    radians = np.arctan2(x.imag, x.real).astype("float64")
    if x.dtype.kind != "c":
        radians = np.arctan2(0.0, x.astype("float64"))
    return radians * 180.0 / math.pi if degrees else radians


def cpp_cast(x, dtype):
    """A C++ static_cast on x86-64, including floats that an integer cannot hold."""
    target = np.dtype(dtype)
    if target.kind == "b":
        return x != 0
    if x.dtype.kind == "c" and target.kind != "c":
        x = x.real
    if x.dtype == "float16":
        x = np.where(np.isnan(x), 0, x) if target.kind in "iu" else x
    if x.dtype.kind != "f" or target.kind not in "iu":
        return x.astype(target)
    return np.array([cpp_integer(float(v), target) for v in x], target)


def cpp_integer(value, target):
    def convert(number, bits):
        limit = 2 ** (bits - 1)
        held = math.isfinite(number) and -limit <= math.trunc(number) < limit
        return math.trunc(number) if held else -limit

    if target.name == "uint64":
        if value >= 2.0**63:
            return convert(value - 2.0**63, 64) % 2**64 ^ 2**63
        return convert(value, 64) % 2**64
    through_int64 = target.itemsize == 8 or target.name == "uint32"
    number = convert(value, 64 if through_int64 else 32)
    width = 8 * target.itemsize
    wrapped = number % 2**width
    negative = target.kind == "i" and wrapped >= 2 ** (width - 1)
    return wrapped - 2**width if negative else wrapped


def per_part(function):
    def apply(*operands):
        if operands[0].dtype.kind != "c":
            return function(*operands)
        result = np.empty_like(operands[0])
        result.real = function(*(x.real for x in operands))
        result.imag = function(*(x.imag for x in operands))
        return result

    return apply


UNARY = {
    "ABSOLUTE": lambda x: np.hypot(x.real, x.imag) if x.dtype.kind == "c" else abs(x),
    "ANGLE": angle,
    "ARCCOS": np.arccos,
    "ARCCOSH": np.arccosh,
    "ARCSIN": np.arcsin,
    "ARCSINH": np.arcsinh,
    "ARCTAN": np.arctan,
    "ARCTANH": np.arctanh,
    "CBRT": np.cbrt,
    "CEIL": np.ceil,
    "CLIP": clip,
    "CONJ": lambda x: x.conj(),
    "COPY": lambda x: x,
    "COS": np.cos,
    "COSH": np.cosh,
    "DEG2RAD": lambda x: x * x.dtype.type(math.pi / 180),
    "EXP": lambda x: np.exp(wide(x)),
    "EXP2": np.exp2,
    "EXPM1": np.expm1,
    "FLOOR": np.floor,
    "FREXP": np.frexp,
    "IMAG": lambda x: x.imag,
    "INVERT": np.invert,
    "ISFINITE": np.isfinite,
    "ISINF": np.isinf,
    "ISNAN": np.isnan,
    "LOG": np.log,
    "LOG10": np.log10,
    "LOG1P": np.log1p,
    "LOG2": np.log2,
    "LOGICAL_NOT": lambda x: ~truth(x),
    "MODF": np.modf,
    "NEGATIVE": lambda x: x if x.dtype.kind == "b" else -x,
    "POSITIVE": lambda x: x,
    "RAD2DEG": lambda x: (x.astype("float64") * 180.0 / math.pi).astype(x.dtype),
    "REAL": lambda x: x.real,
    "RECIPROCAL": reciprocal,
    "RINT": per_part(lambda x: np.rint(wide(x))),
    "ROUND": round_to,
    "SIGN": lambda x: x if x.dtype.kind == "b" else sign(x),
    "SIGNBIT": np.signbit,
    "SIN": np.sin,
    "SINH": np.sinh,
    "SQRT": lambda x: np.sqrt(wide(x)),
    "SQUARE": lambda x: x * x,
    "TAN": np.tan,
    "TANH": np.tanh,
    "TRUNC": np.trunc,
}
BINARY = {
    "ADD": np.add,
    "ARCTAN2": np.arctan2,
    "BITWISE_AND": np.bitwise_and,
    "BITWISE_OR": np.bitwise_or,
    "BITWISE_XOR": np.bitwise_xor,
    "COPYSIGN": np.copysign,
    "DIVIDE": lambda a, b: wide(a) / wide(b),
    "EQUAL": np.equal,
    "FLOAT_POWER": np.power,
    "FLOOR_DIVIDE": floor_divide,
    "FMOD": np.fmod,
    "GCD": np.gcd,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
    "HYPOT": np.hypot,
    "ISCLOSE": is_close,
    "LCM": lambda a, b: abs(np.lcm(a, b)),
    "LDEXP": np.ldexp,
    "LEFT_SHIFT": shift(np.left_shift),
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "LOGADDEXP": np.logaddexp,
    "LOGADDEXP2": logaddexp2,
    "LOGICAL_AND": lambda a, b: truth(a) & truth(b),
    "LOGICAL_OR": lambda a, b: truth(a) | truth(b),
    "LOGICAL_XOR": lambda a, b: truth(a) ^ truth(b),
    "MAXIMUM": lambda a, b: np.where(a < b, b, a),
    "MINIMUM": lambda a, b: np.where(b < a, b, a),
    "MOD": mod,
    "MULTIPLY": np.multiply,
    "NEXTAFTER": np.nextafter,
    "NOT_EQUAL": np.not_equal,
    "POWER": power,
    "RIGHT_SHIFT": shift(np.right_shift),
    "SUBTRACT": lambda a, b: a ^ b if a.dtype.kind == "b" else a - b,
}
COMPLEX_ARITHMETIC = {"CLIP", "DIVIDE", "ISCLOSE", "MULTIPLY", "RECIPROCAL", "SIGN"}
COMPLEX_ARITHMETIC |= {"GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"}
COMPLEX_ARITHMETIC |= {"MAXIMUM", "MINIMUM", "ROUND", "SQRT", "SQUARE"}
MATHS = {"ABSOLUTE", "ANGLE", "ARCTAN2", "HYPOT", "FLOAT_POWER", "POWER"}
MATHS |= {"ARCCOS", "ARCCOSH", "ARCSIN", "ARCSINH", "ARCTAN", "ARCTANH", "CBRT"}
MATHS |= {"COS", "COSH", "SIN", "SINH", "TAN", "TANH", "LOGADDEXP", "LOGADDEXP2"}
MATHS |= {"EXP", "EXP2", "EXPM1", "LOG", "LOG10", "LOG1P", "LOG2"}
"""Where NumPy has routines of its own that differ from libm in the last bits."""


def in_single(kind, x):
    """As upstream converts float16, which takes the signs of NaNs away."""
    if x.dtype != "float16" or kind.code == "ROUND":
        return x
    return np.where(np.isnan(x), np.float32(np.nan), x.astype("float32"))


def reference(kind, operands, scalars):
    if kind.inputs[0] == "float16" and kind.task in ("UNARY_OP", "BINARY_OP"):
        operands = [in_single(kind, x) for x in operands]
    if kind.task == "UNARY_OP":
        return UNARY[kind.code](*operands, *scalars)
    if kind.task == "BINARY_OP":
        return BINARY[kind.code](*operands, *scalars)
    if kind.task == "WHERE":
        return np.where(*operands)
    if kind.task == "CHOOSE":
        return np.choose(operands[0], operands[1:])
    if kind.task == "SELECT":
        number = len(operands) // 2
        return np.select(operands[:number], operands[number:], scalars[0])
    if kind.task == "PUTMASK":
        return np.where(operands[1], operands[2], operands[0])
    if kind.code in ("SUM", "PROD"):
        (x,) = operands
        neutral = x.dtype.type(kind.code == "PROD")
        x = np.where(np.isnan(x), neutral, x)
        operands = [x.real if kind.outputs == ("bool",) else x]
    if kind.task == "CONVERT" and kind.outputs[0] in COMPLEX:
        result = np.zeros(operands[0].shape, kind.outputs[0])
        result.real, result.imag = operands[0].real, operands[0].imag
        return result
    return cpp_cast(operands[0], kind.outputs[0])


def kernel_of(kind: OperationKind):
    reads = [Argument(dtype, reads=True, writes=False) for dtype in kind.inputs]
    writes = [Argument(dtype, reads=False, writes=True) for dtype in kind.outputs]
    builder = Builder(reads + writes, kind.scalars)
    operands = [builder.load(number) for number in range(len(reads))]
    operands += [builder.scalar(number) for number in range(len(kind.scalars))]
    for number, value in enumerate(MEANINGS.lower(kind, builder, operands)):
        builder.store(len(reads) + number, value)
    return builder.build()


def name(kind):
    return "-".join([kind.task, kind.code, *kind.inputs, "to", *kind.outputs])


def operation(kind):
    return f"{kind.task}-{kind.code}"


ELEMENT_WISE = [
    kind
    for kind in OPERATIONS
    if MEANINGS.reduction(kind) is None and not MEANINGS.depends_on_index(kind)
]


def some_kinds(one_in):
    """Return kinds of all operations: one in so many types of each."""
    groups = {}
    for kind in ELEMENT_WISE:
        groups.setdefault(operation(kind), []).append(kind)
    return [
        kind
        for number, kinds in enumerate(groups.values())
        for kind in kinds[number % min(one_in, len(kinds)) :: one_in]
    ]


@every("kind", ELEMENT_WISE, ids=name, by=operation)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_agrees_with_numpy(run, kind):
    operands = operands_of(kind)
    for scalars in scalars_of(kind):
        results = [np.empty(operands[0].shape, dtype) for dtype in kind.outputs]
        run(kernel_of(kind), [*operands, *results], scalars)
        with np.errstate(all="ignore"):
            expected = reference(kind, operands, scalars)
        if len(results) == 1:
            expected = [expected]
        for result, values in zip(results, expected, strict=True):
            with np.errstate(all="ignore"):
                values = np.asarray(values).astype(result.dtype)
            assert_agrees(kind, result, values)


def assert_agrees(kind, result, expected):
    """Agree but for rounding where NumPy has routines of its own."""
    rounded = kind.code in MATHS or is_rounded(kind)
    if not rounded or not np.issubdtype(result.dtype, np.inexact):
        assert_same(result, expected)
        return
    types = {*kind.inputs, *kind.outputs}
    single = "float32" if types & {"float32", "complex64"} else "float64"
    eps = np.finfo("float16" if "float16" in types else single).eps
    ulps = 64 if is_rounded(kind) else 8
    tiny = np.finfo(result.dtype).tiny
    np.testing.assert_allclose(result, expected, rtol=ulps * eps, atol=tiny)


def assert_same(result, expected):
    """Equal with the signs of zeros; a NaN equals any NaN."""
    if result.dtype.kind == "c":
        assert_same(result.real, expected.real)
        assert_same(result.imag, expected.imag)
        return
    np.testing.assert_array_equal(result, expected)
    if result.dtype.kind == "f":
        zero = result == 0
        signs = np.signbit(expected[zero])
        np.testing.assert_array_equal(np.signbit(result[zero]), signs)
