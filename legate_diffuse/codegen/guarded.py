# SPDX-License-Identifier: Apache-2.0
"""Values that are computed in a short way, which is wrong for rare operands.

What is rare is found out for several values at once, before the first of them is used.
"""

from dataclasses import dataclass
from typing import Final

from legate_diffuse.llvm.lines import Lines

_RARELY: Final = "!1"
METADATA: Final = f'{_RARELY} = !{{!"branch_weights", i32 1, i32 10000}}'
"""What marks the branch to the long way."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A vector of type `kind`, and an instruction that computes it for all operands.

    `rare` is a mask of half as many lanes: each is true if the value may be wrong in
    one of two lanes.
    """

    kind: str
    value: str
    rare: str
    exact: str


def checked(lines: Lines, values: list[Guarded]) -> list[str]:
    """Emit the long way for all values if one may be wrong, and return them."""
    half = lines.lanes // 2
    flags = f"<{half} x i1>"
    rare = values[0].rare
    for other in values[1:]:
        rare = lines.let(f"or {flags} {rare}, {other.rare}")
    bits = lines.let(f"bitcast {flags} {rare} to i{half}")
    some = lines.let(f"icmp ne i{half} {bits}, 0")
    before = lines.label
    then, joined = lines.new_label("rare"), lines.new_label("joined")
    lines.do(f"br i1 {some}, label %{then}, label %{joined}, !prof {_RARELY}")
    lines.block(then)
    exact = [lines.let(each.exact) for each in values]
    lines.do(f"br label %{joined}")
    lines.block(joined)
    return [
        lines.let(f"phi {each.kind} [ {each.value}, %{before} ], [ {right}, %{then} ]")
        for each, right in zip(values, exact, strict=True)
    ]
