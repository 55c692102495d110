# SPDX-License-Identifier: Apache-2.0
import sys
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from covered_operations import Unsupported, unsupported

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Argument, Builder, print_kernel
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS
from legate_diffuse.libraries.operations import (
    Operation,
    Operations,
    OperationTable,
)
from legate_diffuse.libraries.table import call


def unary(code, dtype, result=None, scalars=()):
    return OperationKind("UNARY_OP", code, (dtype,), (result or dtype,), scalars)


def binary(code, dtype, result=None, scalars=()):
    return OperationKind("BINARY_OP", code, (dtype, dtype), (result or dtype,), scalars)


def to_scalar(code, dtype, result=None, mask=(), scalars=()):
    inputs = (dtype, *mask)
    return OperationKind("SCALAR_UNARY_RED", code, inputs, (result or dtype,), scalars)


def along_axis(code, dtype, result=None):
    return OperationKind("UNARY_RED", code, (dtype,), (result or dtype,))


def dot(dtype):
    return OperationKind("DOT", "", (dtype, dtype), (dtype,))


@pytest.mark.parametrize(
    "kind",
    [
        binary("ADD", "float64"),
        binary("LESS", "int32", "bool"),
        binary("DIVIDE", "int64", "float64"),
        binary("FLOOR_DIVIDE", "int32"),
        binary("MOD", "bool"),
        binary("FMOD", "uint64"),
        binary("GCD", "int64"),
        binary("LCM", "uint8"),
        binary("MULTIPLY", "complex128"),
        unary("EXP", "complex64"),
        binary("ISCLOSE", "float32", "bool", ("float64", "float64")),
        OperationKind("BINARY_OP", "LDEXP", ("float64", "int32"), ("float64",)),
        unary("EXP", "float32"),
        unary("EXP", "float16"),
        unary("CLIP", "float16", scalars=("float16", "float16")),
        unary("CLIP", "int16", scalars=("int16", "int16")),
        unary("ROUND", "float64", scalars=("int64", "int64")),
        unary("ROUND", "int32", scalars=("int64", "int64")),
        unary("REAL", "complex64", "float32"),
        OperationKind("WHERE", "", ("bool", "int8", "int8"), ("int8",)),
        OperationKind("CONVERT", "NOOP", ("float64",), ("uint8",)),
        OperationKind("CONVERT", "SUM", ("float64",), ("int8",)),
        OperationKind("UNARY_OP", "FREXP", ("float32",), ("float32", "int32")),
        OperationKind("UNARY_OP", "MODF", ("float16",), ("float16", "float16")),
        OperationKind("PUTMASK", "", ("int8", "bool", "int8"), ("int8",)),
        OperationKind("FILL", "", ("complex128",), ("complex128",)),
        OperationKind("COPY", "", ("bool",), ("bool",)),
    ],
)
def test_covers(kind):
    assert MEANINGS.covers(kind)
    assert MEANINGS.reduction(kind) is None


@pytest.mark.parametrize(
    ("kind", "operator"),
    [
        (to_scalar("SUM", "float64"), "add"),
        (to_scalar("SUM", "int8", "int64"), "add"),
        (to_scalar("SUM", "bool", "int64", mask=("bool",)), "add"),
        (to_scalar("SUM", "uint32", "uint64"), "add"),
        (to_scalar("SUM", "complex128"), "add"),
        (to_scalar("PROD", "int16", "int64"), "mul"),
        (to_scalar("MAX", "float32", mask=("bool",)), "max"),
        (to_scalar("MIN", "bool"), "and"),
        (to_scalar("ANY", "complex64", "bool"), "or"),
        (to_scalar("COUNT_NONZERO", "complex128", "uint64"), "add"),
        (to_scalar("CONTAINS", "int32", "bool", scalars=("int32",)), "or"),
        (to_scalar("VARIANCE", "float64", scalars=("float64",)), "add"),
        (along_axis("SUM_SQUARES", "float64"), "add"),
        (along_axis("ALL", "float64", "bool"), "and"),
        (along_axis("NANMIN", "float32"), "min"),
        (OperationKind("BINARY_RED", "EQUAL", ("int8",) * 2, ("bool",)), "and"),
        (dot("float64"), "add"),
        (dot("complex64"), "add"),
        (to_scalar("SUM", "float16"), "add"),
        (OperationKind("DOT", "", ("float16",) * 2, ("float32",)), "add"),
        (dot("bool"), "or"),
    ],
)
def test_covers_reductions(kind, operator):
    assert MEANINGS.covers(kind)
    assert MEANINGS.reduction(kind) == operator


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (OperationKind("MATMUL", "", ("float64",) * 2, ("float64",)), Unsupported.TASK),
        (binary("NEW_OPERATION", "float64"), Unsupported.CODE),
        (unary("GETARG", "float64", "int64"), Unsupported.PLACE),
        (unary("FREXP", "float64"), Unsupported.TYPES),
        (unary("CBRT", "complex64"), Unsupported.COMPLEX),
        (unary("EXP", "int32", "int32"), Unsupported.TYPES),
        (binary("ADD", "float64", "float32"), Unsupported.TYPES),
        (unary("CLIP", "int16"), Unsupported.TYPES),
        (to_scalar("ARGMAX", "float64", "int64"), Unsupported.PLACE),
        (along_axis("NANARGMIN", "float64", "int64"), Unsupported.PLACE),
        (along_axis("CONTAINS", "float64", "bool"), Unsupported.CODE),
        (along_axis("VARIANCE", "float64"), Unsupported.CODE),
        (to_scalar("SUM", "int32"), Unsupported.TYPES),
        (to_scalar("ALL", "complex128", "bool"), Unsupported.UPSTREAM),
        (binary("FLOOR_DIVIDE", "complex64"), Unsupported.UPSTREAM),
        (OperationKind("FLIP", "", ("int8",), ("int8",)), Unsupported.ELSEWHERE),
        (OperationKind("ARANGE", "", (), ("int8",), ("int8",)), Unsupported.TYPES),
        (OperationKind("CHOOSE", "", ("int64",) * 9, ("int64",)), Unsupported.OPERANDS),
        (to_scalar("PROD", "complex128"), Unsupported.UPSTREAM),
    ],
)
def test_refuses_with_a_reason(kind, reason):
    assert unsupported(kind) is reason
    assert reason.value[0].islower() and not reason.value.endswith(".")


def test_refused_kinds_cannot_be_lowered():
    builder = Builder([Argument("float64", reads=True, writes=True)], [])
    with pytest.raises(KeyError):
        MEANINGS.lower(unary("FREXP", "float64"), builder, [builder.load(0)])


def test_lowers_to_the_documented_kernel():
    """C++ computes the maximum as a < b ? b : a."""
    builder = Builder(
        [
            Argument("float64", reads=True, writes=False),
            Argument("float64", reads=True, writes=True),
        ],
        [],
    )
    operands = [builder.load(0), builder.load(1)]
    (value,) = MEANINGS.lower(binary("MAXIMUM", "float64"), builder, operands)
    builder.store(1, value)
    assert print_kernel(builder.build()).splitlines()[3:] == [
        "%0: float64 = load 0",
        "%1: float64 = load 1",
        "%2: bool = lt %0 %1",
        "%3: float64 = select %2 %1 %0",
        "store 1 %3",
    ]


def test_operations_are_made_when_one_of_their_code_is_asked_for() -> None:
    asked: list[str] = []

    def make(code: str) -> dict[OperationKind, Operation]:
        asked.append(code)
        return {binary(code, "float64"): Operation(call("add"))}

    codes = {("BINARY_OP", code): partial(make, code) for code in ("ADD", "POWER")}
    table = OperationTable(codes)
    operations = Operations(table)
    assert operations.covers(binary("ADD", "float64"))
    assert not operations.covers(binary("ADD", "int8"))
    assert not operations.covers(binary("MAXIMUM", "float64"))
    assert asked == ["ADD"]
    assert [kind.code for kind in table] == ["ADD", "POWER"]
    assert len(table) == 2


def test_what_is_added_goes_before_what_is_there() -> None:
    kind = binary("ADD", "float64")
    operations = Operations({kind: Operation(call("add"))})
    assert operations.reduction(kind) is None
    operations.add({kind: Operation(call("add"), "add")})
    assert operations.reduction(kind) == "add"
    with pytest.raises(KeyError):
        operations.lower(binary("MAXIMUM", "float64"), Builder([], ()), [])
