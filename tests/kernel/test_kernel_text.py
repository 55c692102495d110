# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_reader import KernelSyntaxError, parse_kernel

from legate_diffuse.kernel import (
    Argument,
    Builder,
    Constant,
    Index,
    Kernel,
    Load,
    Op,
    Reduce,
    Scalar,
    Store,
    print_kernel,
)
from legate_diffuse.kernel.dtypes import ALL, ITEMSIZE
from legate_diffuse.kernel.reductions import REDUCTIONS

AXPY = """\
kernel
argument 0 float64 read prefetch
argument 1 float64 read write
argument 2 float64 read broadcast
scalar 0 float64
%0: float64 = load 0
%1: float64 = load 1
%2: float64 = load 2
%3: float64 = scalar 0
%4: float64 = mul %3 %0
%5: float64 = add %4 %1
%6: float64 = mul %5 %2
%7: float64 = constant 0x3ff8000000000000
%8: float64 = sub %6 %7
store 1 %8
"""


DOT = """\
kernel
argument 0 float64 read
argument 1 float64 read
argument 2 float64 broadcast reduce add
%0: float64 = load 0
%1: float64 = load 1
%2: float64 = mul %0 %1
reduce 2 %2
"""


def test_reductions_print_as_documented():
    read = Argument("float64", reads=True, writes=False)
    total = Argument("float64", False, False, broadcast=True, reduces="add")
    builder = Builder([read, read, total], [])
    product = builder.op("mul", "float64", builder.load(0), builder.load(1))
    builder.reduce(2, product)
    assert print_kernel(builder.build()) == DOT
    assert parse_kernel(DOT) == builder.build()


def axpy() -> Kernel:
    builder = Builder(
        [
            Argument("float64", reads=True, writes=False, prefetch=True),
            Argument("float64", reads=True, writes=True),
            Argument("float64", reads=True, writes=False, broadcast=True),
        ],
        ["float64"],
    )
    x, y, z = (builder.load(number) for number in range(3))
    product = builder.op("mul", "float64", builder.scalar(0), x)
    total = builder.op("add", "float64", product, y)
    scaled = builder.op("mul", "float64", total, z)
    constant = builder.constant("float64", 1.5)
    builder.store(1, builder.op("sub", "float64", scaled, constant))
    return builder.build()


def test_prints_as_documented():
    assert print_kernel(axpy()) == AXPY


def test_parses_what_it_prints():
    assert parse_kernel(AXPY) == axpy()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "argument 0 float64 read",
        "kernel\nargument 1 float64 read",
        "kernel\nargument 0 float64 reads",
        "kernel\nargument 0 float64 reduce",
        "kernel\nargument 0 float64 reduce add broadcast",
        "kernel\nreduce 0",
        "kernel\nscalar 3 float64",
        "kernel\n%1: float64 = load 0",
        "kernel\n%0 = load 0",
        "kernel\n%0: float64 = constant 1.5",
        "kernel\n%0: int32 = index 0",
        "kernel\nstore 0",
        "kernel\nstore 0 1",
    ],
)
def test_rejects_other_text(text):
    with pytest.raises(KernelSyntaxError):
        parse_kernel(text)


dtypes = st.sampled_from(ALL)


@st.composite
def kernels(draw) -> Kernel:
    """Kernels of any shape; they need not keep the rules of the IR."""
    flags = st.booleans()
    operators = st.none() | st.sampled_from(list(REDUCTIONS))
    any_argument = st.builds(Argument, dtypes, flags, flags, flags, operators)
    arguments = draw(st.lists(any_argument, min_size=1))
    scalars = draw(st.lists(dtypes))
    body: list[Load | Scalar | Index | Constant | Op | Store | Reduce] = []
    for number in range(draw(st.integers(1, 8))):
        choices = [st.builds(Load, st.integers(0, len(arguments) - 1))]
        choices.append(st.builds(Index, st.integers(0, 5)))
        if scalars:
            choices.append(st.builds(Scalar, st.integers(0, len(scalars) - 1)))
        dtype = draw(dtypes)
        bits = st.integers(0, (1 << 8 * ITEMSIZE[dtype]) - 1)
        choices.append(st.builds(Constant, st.just(dtype), bits))
        if number:
            operands = st.lists(st.integers(0, number - 1), min_size=1, max_size=3)
            names = st.sampled_from(["add", "exp", "select", "cast"])
            choices.append(st.builds(Op, names, dtypes, operands.map(tuple)))
        body.append(draw(st.one_of(choices)))
    count = len(body)
    for number in range(draw(st.integers(0, len(arguments)))):
        effect = draw(st.sampled_from([Store, Reduce]))
        body.append(effect(number, draw(st.integers(0, count - 1))))
    return Kernel(tuple(arguments), tuple(scalars), tuple(body))


# the machine may be busy
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(kernels())
def test_text_round_trip(kernel):
    assert parse_kernel(print_kernel(kernel)) == kernel
