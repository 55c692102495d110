# SPDX-License-Identifier: Apache-2.0
"""Reads the text of kernels, which ``kernel/text.py`` writes."""

from __future__ import annotations

import re

from legate_diffuse.kernel.ir import (
    Argument,
    Constant,
    Index,
    Instruction,
    Kernel,
    Load,
    Op,
    Pure,
    Reduce,
    Scalar,
    Store,
)

_HEADER = "kernel"
_ASSIGNMENT = re.compile(r"%(\d+): (\w+) = (\w+) (.+)")


class KernelSyntaxError(ValueError):
    """The text is not the text form of a kernel."""


def parse_kernel(text: str) -> Kernel:
    """Return the kernel that `text` describes. The result is not verified.

    Raises:
        KernelSyntaxError: a line cannot be read; the message quotes it.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or lines[0] != _HEADER:
        raise KernelSyntaxError(f"a kernel starts with the line '{_HEADER}'")
    arguments: list[Argument] = []
    scalars: list[str] = []
    body: list[Instruction] = []
    for line in lines[1:]:
        words = line.split()
        try:
            if words[0] == "argument":
                _expect(int(words[1]) == len(arguments))
                arguments.append(_parse_argument(words[2], words[3:]))
            elif words[0] == "scalar":
                _expect(int(words[1]) == len(scalars))
                scalars.append(words[2])
            elif words[0] == "store":
                body.append(Store(int(words[1]), _parse_value(words[2])))
            elif words[0] == "reduce":
                body.append(Reduce(int(words[1]), _parse_value(words[2])))
            else:
                body.append(_parse_pure(line, len(body)))
        except (ValueError, IndexError) as error:
            raise KernelSyntaxError(f"cannot read the line '{line}'") from error
    return Kernel(tuple(arguments), tuple(scalars), tuple(body))


def _expect(condition: bool) -> None:
    if not condition:
        raise ValueError


def _parse_argument(dtype: str, flags: list[str]) -> Argument:
    operator = None
    if len(flags) > 1 and flags[-2] == "reduce":
        *flags, _, operator = flags
    names = ("read", "write", "broadcast", "prefetch", "whole")
    _expect(set(flags) <= set(names))
    reads, writes, broadcast, prefetch, whole = (word in flags for word in names)
    return Argument(dtype, reads, writes, broadcast, operator, prefetch, whole)


def _parse_value(word: str) -> int:
    _expect(word.startswith("%"))
    return int(word[1:])


def _parse_pure(line: str, number: int) -> Pure:
    found = _ASSIGNMENT.fullmatch(line)
    if found is None or int(found[1]) != number:
        raise ValueError
    dtype, name, operands = found[2], found[3], found[4].split()
    if name == "load":
        return Load(int(operands[0]))
    if name == "scalar":
        return Scalar(int(operands[0]))
    if name == "index":
        _expect(dtype == "int64")
        return Index(int(operands[0]))
    if name == "constant":
        return Constant(dtype, int(operands[0], 16))
    return Op(name, dtype, tuple(_parse_value(operand) for operand in operands))
