# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from every import every

from legate_diffuse.kernel import Argument, Builder, InvalidKernelError, print_kernel
from legate_diffuse.kernel.dtypes import ALL, bits_of

READ = Argument("float64", reads=True, writes=False)
WRITE = Argument("float64", reads=False, writes=True)
BOTH = Argument("float64", reads=True, writes=True)


def test_equal_instructions_are_one_value():
    builder = Builder([READ, WRITE], ["float64"])
    first = builder.op("add", "float64", builder.load(0), builder.scalar(0))
    second = builder.op("add", "float64", builder.load(0), builder.scalar(0))
    assert first == second
    builder.store(1, builder.op("mul", "float64", first, second))
    assert len(builder.build().body) == 5


def test_indices_are_those_that_values_need():
    """A kernel lists the dimensions along which it uses the index of a point."""
    builder = Builder([Argument("int64", reads=False, writes=True)], [])
    unused, last = builder.index(1), builder.index(0)
    assert unused.number != last.number == builder.index(0).number
    builder.store(0, builder.op("mul", "int64", last, builder.index(3)))
    assert builder.build().indices == (0, 3)


def test_values_that_no_store_needs_are_left_out():
    builder = Builder([READ, WRITE], [])
    x = builder.load(0)
    builder.op("exp", "float64", x)
    builder.store(1, builder.op("neg", "float64", x))
    assert print_kernel(builder.build()).splitlines()[3:] == [
        "%0: float64 = load 0",
        "%1: float64 = neg %0",
        "store 1 %1",
    ]


def test_a_load_after_a_store_gives_the_stored_value():
    builder = Builder([BOTH], [])
    negated = builder.op("neg", "float64", builder.load(0))
    builder.store(0, negated)
    assert builder.load(0) == negated
    builder.store(0, builder.op("abs", "float64", builder.load(0)))
    assert print_kernel(builder.build()).splitlines()[2:] == [
        "%0: float64 = load 0",
        "%1: float64 = neg %0",
        "%2: float64 = abs %1",
        "store 0 %2",
    ]


def test_reductions_follow_the_stores():
    total = Argument("float64", reads=False, writes=False, reduces="add")
    builder = Builder([READ, total, WRITE], [])
    x = builder.load(0)
    builder.reduce(1, builder.op("mul", "float64", x, x))
    builder.store(2, builder.op("neg", "float64", x))
    builder.op("exp", "float64", x)
    assert print_kernel(builder.build()).splitlines()[4:] == [
        "%0: float64 = load 0",
        "%1: float64 = mul %0 %0",
        "%2: float64 = neg %0",
        "store 2 %2",
        "reduce 1 %1",
    ]
    with pytest.raises(ValueError, match="argument 1 is reduced to twice"):
        builder.reduce(1, x)


def test_operands_of_wrong_types_are_refused():
    builder = Builder([READ, WRITE], ["int32"])
    with pytest.raises(TypeError, match="add cannot give float64 from float64, int32"):
        builder.op("add", "float64", builder.load(0), builder.scalar(0))


def test_an_argument_that_is_never_written_is_refused():
    with pytest.raises(InvalidKernelError, match="never stored to"):
        Builder([READ, WRITE], []).build()


@every("dtype", ALL)
@every("value", [0, 1, True, 3, 100])
def test_constants_have_numpy_bits(dtype, value):
    expected = int.from_bytes(np.dtype(dtype).type(value).tobytes(), "little")
    assert bits_of(dtype, value) == expected


def test_constants_round_and_wrap_around():
    assert bits_of("int8", -1) == 0xFF
    assert bits_of("uint16", 0x12345) == 0x2345
    assert bits_of("float32", 1e300) == bits_of("float32", math.inf)
    assert bits_of("float64", -0.0) == 1 << 63
    assert bits_of("complex64", 1 - 2j) == 0xC0000000_3F800000
    with pytest.raises(TypeError):
        bits_of("float64", 1j)
