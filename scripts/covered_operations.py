#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which operations and types of the installed cuPyNumeric are fused.

Writes the page `COVERAGE.md` beside what cuPyNumeric's tasks mean.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel.dtypes import ALL, COMPLEX, FLOATS, HALF
from legate_diffuse.libraries.cupynumeric.meanings import OPERATIONS
from legate_diffuse.libraries.cupynumeric.unary import REAL

_FOLDER: Final = Path(__file__).parents[1] / "legate_diffuse/libraries/cupynumeric"
PAGE: Final = _FOLDER / "COVERAGE.md"

_ORDERED: Final = (*REAL, HALF)
_NOT_COMPLEX128: Final = tuple(dtype for dtype in ALL if dtype != "complex128")

_UNARY_OPS: Final = {
    **dict.fromkeys(("ANGLE", "CLIP", "COPY", "ROUND"), ALL),
    **dict.fromkeys(("IMAG", "REAL"), COMPLEX),
    "GETARG": _ORDERED,
}
_BINARY_OPS: Final = {"ISCLOSE": ALL}
_REDUCTIONS: Final = {
    **dict.fromkeys(("ALL", "ANY", "PROD"), _NOT_COMPLEX128),
    **dict.fromkeys(("ARGMAX", "ARGMIN", "MAX", "MIN"), _ORDERED),
    **dict.fromkeys(("NANARGMAX", "NANARGMIN", "NANMAX", "NANMIN"), FLOATS),
    **dict.fromkeys(("COUNT_NONZERO", "SUM", "SUM_SQUARES"), ALL),
    "NANPROD": (*FLOATS, "complex64"),
    "NANSUM": (*FLOATS, *COMPLEX),
}
_ONLY_TO_SCALAR: Final = dict.fromkeys(("CONTAINS", "VARIANCE"), ALL)
_CONVERSIONS: Final = {
    "NOOP": ALL,
    **dict.fromkeys(("PROD", "SUM"), (*FLOATS, *COMPLEX)),
}
_OF_TWO: Final = dict.fromkeys(("EQUAL", "ISCLOSE"), ALL)
"""By code that no ufunc has: the types that upstream computes it for (`valid`)."""

_WITHOUT_CODE: Final = (
    *("WHERE", "PUTMASK", "DOT", "ARANGE", "EYE", "TRILU", "FLIP"),
    *("NONZERO", "ARGWHERE", "SELECT", "CHOOSE", "READ", "WRITE"),
)


class Unsupported(Enum):
    """Why the table has no meaning for an operation kind."""

    TASK = "the task is not an operation that fusion covers"
    CODE = "the operation is not covered by fusion"
    COMPLEX = "the operation is not covered by fusion for complex numbers"
    TYPES = "the operation is not covered by fusion for these types"
    ELSEWHERE = "elements move to other places"
    NUMBER = "the number of results depends on the values"
    OPERANDS = "the operation has more operands than fusion covers"
    UPSTREAM = "cuPyNumeric's task does not compute the operation for these types"
    ORDER = "the result depends on the order of the elements if there are NaNs"
    PLACE = "reductions that find the place of a value are not covered by fusion"


_UNARY_REDUCTIONS: Final = ("SCALAR_UNARY_RED", "UNARY_RED")
_REFUSED_TASKS: Final = {
    "ARGWHERE": Unsupported.NUMBER,
    "FLIP": Unsupported.ELSEWHERE,
    "NONZERO": Unsupported.NUMBER,
}
_REFUSED_CODES: Final = {
    **{
        (task, code): Unsupported.PLACE
        for task in _UNARY_REDUCTIONS
        for code in ("ARGMAX", "ARGMIN", "NANARGMAX", "NANARGMIN")
    },
    ("UNARY_OP", "GETARG"): Unsupported.PLACE,
    ("CHOOSE", ""): Unsupported.OPERANDS,
    ("SELECT", ""): Unsupported.OPERANDS,
}
_NOT_UPSTREAM: Final = {
    *((code, dtype) for code in ("FLOOR_DIVIDE", "TRUNC") for dtype in COMPLEX),
    *((code, "complex128") for code in ("ALL", "ANY", "NANPROD", "PROD")),
}
"""Operations and types that the front end takes and the tasks do not."""

_IN_ORDER: Final = ("MIN", HALF)
"""Code and type of the reduction of which upstream's results depend on the order."""


def unsupported(kind: OperationKind) -> Unsupported | None:
    """Return None when the table covers `kind`, else why it does not."""
    if kind in OPERATIONS:
        return None
    codes = _codes().get(kind.task)
    if codes is None:
        return _REFUSED_TASKS.get(kind.task, Unsupported.TASK)
    if (kind.task, kind.code) in _REFUSED_CODES:
        return _REFUSED_CODES[kind.task, kind.code]
    types = {*kind.inputs, *kind.outputs}
    if kind.code not in codes:
        return Unsupported.CODE
    if (kind.code, *kind.inputs[:1]) in _NOT_UPSTREAM:
        return Unsupported.UPSTREAM
    if kind.task in _UNARY_REDUCTIONS and (kind.code, *kind.inputs[:1]) == _IN_ORDER:
        return Unsupported.ORDER
    return Unsupported.COMPLEX if types & {*COMPLEX} else Unsupported.TYPES


@cache
def _codes() -> dict[str, set[str]]:
    """Return the operation codes that the table has, by task."""
    found: dict[str, set[str]] = defaultdict(set)
    for kind in OPERATIONS:
        found[kind.task].add(kind.code)
    return found


@dataclass(frozen=True, slots=True)
class Pair:
    """An operation and a type of its operands.

    `unsupported` is None when the table covers every operation kind of that pair.
    """

    task: str
    code: str
    dtype: str
    unsupported: Unsupported | None


def pairs() -> list[Pair]:
    """Return every pair of the installed cuPyNumeric, which is imported.

    Raises:
        LookupError: an operation code of the package is not known here.
    """
    from cupynumeric import config

    found = {(pair.task, pair.code, pair.dtype): pair for pair in _of_ufuncs()}
    tables: dict[str, tuple[Any, Mapping[str, tuple[str, ...]]]] = {
        "UNARY_OP": (config.UnaryOpCode, _UNARY_OPS),
        "BINARY_OP": (config.BinaryOpCode, _BINARY_OPS),
        "CONVERT": (config.ConvertCode, _CONVERSIONS),
        "SCALAR_UNARY_RED": (config.UnaryRedCode, _REDUCTIONS | _ONLY_TO_SCALAR),
        "UNARY_RED": (config.UnaryRedCode, _REDUCTIONS),
    }
    of_ufuncs = {(task, code) for task, code, _ in found}
    for task, (codes, types) in tables.items():
        for code in (member.name for member in codes):
            known = code in types or (task, code) in of_ufuncs
            if not known and not (task == "UNARY_RED" and code in _ONLY_TO_SCALAR):
                raise LookupError(f"{task} {code} is not known")
            for dtype in types.get(code, ()):
                found.setdefault((task, code, dtype), _pair(task, code, dtype))
    for code, dtypes in _OF_TWO.items():
        for dtype in dtypes:
            found["BINARY_RED", code, dtype] = _pair("BINARY_RED", code, dtype)
    for dtype in (HALF, *FLOATS, *COMPLEX):
        found["MATVECMUL", "", dtype] = _pair("MATVECMUL", "", dtype)
    for task in _WITHOUT_CODE:
        for dtype in ALL:
            found[task, "", dtype] = _pair(task, "", dtype)
    return list(found.values())


def _of_ufuncs() -> Iterator[Pair]:
    import cupynumeric
    import numpy as np
    from cupynumeric._ufunc.ufunc import ufunc
    from cupynumeric.config import UnaryOpCode

    for value in vars(cupynumeric).values():
        if not isinstance(value, ufunc):
            continue
        function: Any = value
        for inputs, outputs in function._types.items():
            code = getattr(function, "_overrides", {}).get(inputs, function._op_code)
            names = [
                tuple(np.dtype(each).name for each in types)
                for types in (inputs, outputs)
            ]
            task = "UNARY_OP" if isinstance(code, UnaryOpCode) else "BINARY_OP"
            kind = OperationKind(task, code.name, *names)
            yield Pair(task, code.name, names[0][0], unsupported(kind))


def _pair(task: str, code: str, dtype: str) -> Pair:
    covered = _covered().get((task, code, dtype), 0)
    wanted = len(ALL) if task == "CONVERT" else 1
    if covered >= wanted:
        return Pair(task, code, dtype, None)
    kind = OperationKind(task, code, (dtype,), ("none",))
    return Pair(task, code, dtype, unsupported(kind))


@cache
def _covered() -> Counter[tuple[str, str, str]]:
    """Return the number of operation kinds by task, code and type of operand."""
    return Counter((kind.task, kind.code, _subject(kind)) for kind in OPERATIONS)


def _subject(kind: OperationKind) -> str:
    """Return the type of the first operand that is no condition or index.

    Of an operation without operands, return that of the result.
    """
    conditional = kind.task in ("CHOOSE", "SELECT", "WHERE")
    return (kind.inputs or kind.outputs)[-1 if conditional else 0]


def page(found: Iterable[Pair]) -> str:
    """Return the page that lists `found`, in Markdown."""
    rows: dict[tuple[str, str], list[Pair]] = {}
    for pair in found:
        rows.setdefault((pair.task, pair.code), []).append(pair)
    every = [pair for row in rows.values() for pair in row]
    covered = sum(pair.unsupported is None for pair in every)
    lines = [
        "# What is fused",
        "",
        "Made by `scripts/covered_operations.py`.",
        "A pair is an operation of cuPyNumeric's tasks and a type of its operands that",
        "cuPyNumeric accepts.",
        "",
        f"{covered} of {len(every)} pairs are covered.",
        "",
        "| task | operation | types | of | the others |",
        "|---|---|---:|---:|---|",
    ]
    for (task, code), row in sorted(rows.items()):
        fused = sum(pair.unsupported is None for pair in row)
        lines.append(f"| {task} | {code} | {fused} | {len(row)} | {_reasons(row)} |")
    return "\n".join([*lines, ""])


def _reasons(row: list[Pair]) -> str:
    by_reason: dict[Unsupported, list[str]] = {}
    for pair in row:
        if pair.unsupported is not None:
            by_reason.setdefault(pair.unsupported, []).append(pair.dtype)
    return "; ".join(
        reason.value
        if len(dtypes) == len(row)
        else f"{', '.join(dtypes)}: {reason.value}"
        for reason, dtypes in by_reason.items()
    )


if __name__ == "__main__":
    PAGE.write_text(page(pairs()))
