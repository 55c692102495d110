# SPDX-License-Identifier: Apache-2.0
"""What operations compute, of all libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel.builder import Builder, Value
from legate_diffuse.kernel.dtypes import ALL
from legate_diffuse.libraries.table import Emitter, Lowering, LoweringToSeveral


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operation computes.

    Attributes:
        lowering: emits its values; of a reduction, the value to combine at each point.
        operator: what a reduction combines values with, None if it is none.
        copies: its output is its input, bit by bit.
        indexed: its values depend on the index of a point.
        rows: it sums over rows of elements, which its first input tells, or finds one
            in each.
        traps: the original task ends the process on some values, a kernel does not.
    """

    lowering: Lowering | LoweringToSeveral
    operator: str | None = None
    copies: bool = False
    indexed: bool = False
    traps: bool = False
    rows: bool = False


def _same(_: Emitter, x: Value) -> Value:
    return x


FILLS: Final = {
    OperationKind("FILL", "", (dtype,), (dtype,)): Operation(_same) for dtype in ALL
}
"""Legate's own fills. The value that a fill writes is its input."""

_UNKNOWN: Final = Operation(_same)
"""Nothing is known of an operation that no kernel can express."""


class OperationTable(Mapping[OperationKind, Operation]):
    """Operations by their kinds, which are made when one of their code is asked for.

    A library has thousands, of which a program uses some ten.

    Args:
        codes: what makes all operations of a task and a code.
    """

    def __init__(
        self,
        codes: Mapping[tuple[str, str], Callable[[], dict[OperationKind, Operation]]],
    ) -> None:
        self._codes = codes
        self._made: dict[tuple[str, str], dict[OperationKind, Operation]] = {}

    def __getitem__(self, kind: OperationKind) -> Operation:
        return self._of((kind.task, kind.code))[kind]

    def __iter__(self) -> Iterator[OperationKind]:
        for code in self._codes:
            yield from self._of(code)

    def __len__(self) -> int:
        return sum(len(self._of(code)) for code in self._codes)

    def _of(self, code: tuple[str, str]) -> dict[OperationKind, Operation]:
        if code not in self._made:
            self._made[code] = self._codes[code]()
        return self._made[code]


class Operations:
    """The operations that kernels can express."""

    def __init__(self, known: Mapping[OperationKind, Operation] = FILLS) -> None:
        self._libraries = [known]
        # None stands for what none has
        self._looked_up: dict[OperationKind, Operation | None] = {}
        self._advisers: list[Callable[[str], str]] = []

    def add(self, known: Mapping[OperationKind, Operation]) -> None:
        """Take in operations of a library, which may be found when they are asked for.

        They go before those that are here.
        """
        self._libraries.insert(0, known)
        self._looked_up.clear()

    def add_adviser(self, advise: Callable[[str], str]) -> None:
        """Take in what says what to write instead of a library's tasks."""
        self._advisers.append(advise)

    def covers(self, kind: OperationKind) -> bool:
        """Return whether a kernel can express an operation."""
        return self._find(kind) is not None

    def lower(
        self, kind: OperationKind, builder: Builder, operands: list[Value]
    ) -> list[Value]:
        """Emit an operation over its inputs, then its scalars; return its outputs.

        Of a reduction that is the value to combine at each point.

        Raises:
            KeyError: no kernel can express it.
        """
        found = self._find(kind)
        if found is None:
            raise KeyError(kind)
        result = found.lowering(Emitter(builder), *operands)
        return list(result) if isinstance(result, tuple) else [result]

    def reduction(self, kind: OperationKind) -> str | None:
        """Return the operator with which an operation reduces, None if it does not."""
        return self._of(kind).operator

    def copies(self, kind: OperationKind) -> bool:
        """Return whether an operation's output is its input, bit by bit."""
        return self._of(kind).copies

    def depends_on_index(self, kind: OperationKind) -> bool:
        """Return whether the values of an operation depend on a point's index."""
        return self._of(kind).indexed

    def sums_rows(self, kind: OperationKind) -> bool:
        """Return whether an operation sums over rows of elements, or finds one in each.

        Its first input says where the rows lie; of the others it reads any element.
        """
        return self._of(kind).rows

    def traps(self, kind: OperationKind) -> bool:
        """Return whether an original task ends the process on some values."""
        return self._of(kind).traps

    def advise(self, task: str) -> str:
        """Return what to write instead of a task that is not fused, '' for nothing.

        ``task`` is Legate's name of it.
        """
        return next(filter(None, (each(task) for each in self._advisers)), "")

    def _of(self, kind: OperationKind) -> Operation:
        return self._find(kind) or _UNKNOWN

    def _find(self, kind: OperationKind) -> Operation | None:
        if kind not in self._looked_up:
            found = [known[kind] for known in self._libraries if kind in known]
            self._looked_up[kind] = found[0] if found else None
        return self._looked_up[kind]
