# SPDX-License-Identifier: Apache-2.0
import re

import pytest
from kernel_reader import parse_kernel

from legate_diffuse.kernel import (
    Argument,
    InvalidKernelError,
    Kernel,
    Scalar,
    print_kernel,
    verify_kernel,
)

HEAD = """kernel
argument 0 float64 read
argument 1 float64 write
argument 2 int32 read
argument 3 float64 reduce add
scalar 0 float64
"""

VALID = (
    HEAD
    + """%0: float64 = load 0
%1: float64 = scalar 0
%2: float64 = add %0 %1
store 1 %2
reduce 3 %2
"""
)

INVALID = {
    "reads argument 1, which it may not read": "%0: float64 = load 1\nstore 1 %0",
    "names no argument": "%0: float64 = scalar 0\nstore 7 %0",
    "uses %1 too early": "%0: float64 = load 0\n%1: float64 = neg %1\nstore 1 %1",
    "unknown operator plus": "%0: float64 = load 0\n%1: float64 = plus %0\nstore 1 %1",
    "add takes 2 operands, not 1": (
        "%0: float64 = load 0\n%1: float64 = add %0\nstore 1 %1"
    ),
    "add cannot give float64 from float64, int32": (
        "%0: float64 = load 0\n%1: int32 = load 2\n%2: float64 = add %0 %1\nstore 1 %2"
    ),
    "exp cannot give int32 from int32": (
        "%0: int32 = load 2\n%1: int32 = exp %0\n%2: float64 = load 0\nstore 1 %2"
    ),
    "lt cannot give float64": (
        "%0: float64 = load 0\n%1: float64 = lt %0 %0\nstore 1 %1"
    ),
    "constant 0 does not fit its type": (
        "%0: int8 = constant 0x100\n%1: float64 = load 0\nstore 1 %1"
    ),
    "constant 0 is not 0 or 1": (
        "%0: bool = constant 0x2\n%1: float64 = load 0\nstore 1 %1"
    ),
    "writes argument 0, which it may not write": (
        "%0: float64 = load 0\nstore 0 %0\nstore 1 %0"
    ),
    "value of another type": "%0: int32 = load 2\nstore 1 %0",
    "names no value": "%0: float64 = load 0\nstore 1 %1",
    "argument 1 is stored to twice": "%0: float64 = load 0\nstore 1 %0\nstore 1 %0",
    "instruction 2 follows a store or reduction": (
        "%0: float64 = load 0\nstore 1 %0\n%2: float64 = load 0"
    ),
    "argument 1 is written but never stored to": "%0: float64 = load 0",
    "argument 3 reduces but is never reduced to": "%0: float64 = load 0\nstore 1 %0",
    "argument 3 is reduced to twice": (
        "%0: float64 = load 0\nstore 1 %0\nreduce 3 %0\nreduce 3 %0"
    ),
    "reduction 1 to argument 0, which does not reduce": (
        "%0: float64 = load 0\nreduce 0 %0"
    ),
    "store 1 writes argument 3, which it may not write": (
        "%0: float64 = load 0\nstore 3 %0"
    ),
    "load 0 reads argument 3, which it may not read": "%0: float64 = load 3",
    "reduction 1 has a value of another type": "%0: int32 = load 2\nreduce 3 %0",
    "instruction 0 names no dimension": "%0: int64 = index 6\nstore 1 %0",
    "reduction 1 names no value": "%0: float64 = load 0\nreduce 3 %1",
    "reduction 1 names no argument": "%0: float64 = load 0\nreduce 4 %0",
    "instruction 3 follows a store or reduction": (
        "%0: float64 = load 0\nstore 1 %0\nreduce 3 %0\n%3: float64 = load 0"
    ),
}


def test_accepts_a_valid_kernel():
    verify_kernel(parse_kernel(VALID))


@pytest.mark.parametrize(("message", "body"), INVALID.items(), ids=list(INVALID))
def test_says_which_rule_is_broken(message, body):
    with pytest.raises(InvalidKernelError, match=re.escape(message)):
        verify_kernel(parse_kernel(HEAD + body))


def test_rejects_a_scalar_that_does_not_exist():
    kernel = Kernel((), (), (Scalar(0),))
    with pytest.raises(InvalidKernelError, match="names no scalar"):
        verify_kernel(kernel)


def test_rejects_an_argument_without_use():
    kernel = Kernel((Argument("float64", reads=False, writes=False),), (), ())
    with pytest.raises(InvalidKernelError, match="neither read nor written"):
        verify_kernel(kernel)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("float64 reduce sub", "sub cannot reduce float64"),
        ("complex128 reduce mul", "mul cannot reduce complex128"),
        ("int32 reduce or", "or cannot reduce int32"),
        ("bool reduce max", "max cannot reduce bool"),
        ("int32 read reduce add", "cannot be read or written"),
        ("int32 write reduce add", "cannot be read or written"),
    ],
)
def test_rejects_arguments_that_cannot_reduce(argument, message):
    dtype = argument.split()[0]
    text = f"kernel\nargument 0 {argument}\nscalar 0 {dtype}\n"
    with pytest.raises(InvalidKernelError, match=message):
        verify_kernel(parse_kernel(text + f"%0: {dtype} = scalar 0\nreduce 0 %0"))


ROW_SUM = """kernel
argument 0 float64 write
argument 1 rect1 read
argument 2 int32 read whole
argument 3 float64 read whole
argument 4 float64 read whole
argument 5 float64 read
%0: rect1 = load 1
%1: int32 = load 2
%2: float64 = load 3
%3: float64 = load 4
%4: float64 = row_sum %0 %1 %2 %3
%5: float64 = load 5
%6: float64 = add %4 %5
store 0 %6
"""


def test_sums_over_rows():
    kernel = parse_kernel(ROW_SUM)
    verify_kernel(kernel)
    assert print_kernel(kernel) == ROW_SUM


def test_elements_of_rows():
    text = ROW_SUM.replace("row_sum %0 %1 %2 %3", "row_element %0 %1 %2 %3")
    text = text.replace("%3: float64 = load 4", "%3: int64 = index 0")
    text = text.replace("argument 4 float64 read whole", "argument 4 float64 read")
    kernel = parse_kernel(text)
    verify_kernel(kernel)
    assert print_kernel(kernel) == text
    for right, wrong in (
        ("%1 %2 %3", "%1 %3 %2"),
        ("float64 read whole", "float64 read"),
    ):
        with pytest.raises(InvalidKernelError, match=r"cannot give|finds other arg"):
            verify_kernel(parse_kernel(text.replace(right, wrong)))


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("argument 4 float64 read whole", "argument 4 float64 read", "finds other arg"),
        ("= add %4 %5", "= add %4 %3", "instruction 6 finds other arguments"),
        ("row_sum %0 %1 %2 %3", "row_sum %2 %1 %2 %3", "row_sum cannot give float64"),
        ("row_sum %0 %1 %2 %3", "row_sum %0 %2 %2 %3", "row_sum cannot give float64"),
        ("store 0 %6", "store 0 %3", "store 7 has no value"),
        ("argument 5 float64 read", "argument 5 rect1 read write", "not only read"),
        ("= add %4 %5", "= row_sum %4 %5", "row_sum takes 4 operands"),
    ],
)
def test_what_is_no_sum_over_rows(right, wrong, message):
    text = ROW_SUM.replace(right, wrong)
    with pytest.raises(InvalidKernelError, match=message):
        verify_kernel(parse_kernel(text))
