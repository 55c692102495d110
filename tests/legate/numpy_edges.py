# SPDX-License-Identifier: Apache-2.0
"""Random programs that do what people do with the edges of grids.

A few rows or columns are copied between near and far places, are kept in temporaries
of which a part is read later, wrap around, or reflect; between them are stencils,
masks, rolls, and reductions whose results are used again, in loops of several rounds.
All values are small integers in floats, so that results compare by bits in whatever
order sums are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Sums of integers up to this one are exact in float64, with some to spare.
_EXACT = 2.0**50
# Remainders of it are what products and sums become that would grow.
_MODULUS = "97.0"
SHAPES = (
    *((60,), (229,), (31, 24), (41, 13), (27, 30), (70, 11), (60, 20), (9, 40)),
    *((14, 7, 6), (25, 5, 4), (8, 9, 10)),
)


def integers(package: Any, seed: int, shape: tuple[int, ...]) -> Any:
    """Return an array of small integers in float64, the same one for each package."""
    values = np.random.default_rng(seed).integers(0, 90, shape).astype(float)
    return package.array(values)


class Choices:
    """Numbers that stand for choices; when they run out, for the first one."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def below(self, limit: int) -> int:
        return next(self._numbers, 0) % max(1, limit)

    def of(self, items: Sequence[Any]) -> Any:
        return items[self.below(len(items))]


@dataclass(slots=True)
class Edges:
    """A program of this kind on its way: its lines, and what arrays there are.

    Attributes:
        shape: the extents of the arrays in ``full``.
        bounded: whether every result is a remainder.
        full: the names of arrays of all of the shape.
        few: of each temporary of one to three rows how many it has.
        own: the names that the body of the loop has made, which it may delete.
    """

    shape: tuple[int, ...]
    bounded: bool
    lines: list[str] = field(default_factory=list)
    full: list[str] = field(default_factory=list)
    few: dict[str, int] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    count: int = 0

    @property
    def rows(self) -> int:
        return self.shape[0]

    def write(self, line: str) -> None:
        self.lines.append(f"    {line}")

    def new(self) -> str:
        self.count += 1
        name = f"x{self.count}"
        self.own.append(name)
        return name

    def value(self, choices: Choices, text: str) -> str:
        """Return an expression that does not grow without a bound."""
        if self.bounded or choices.below(3) == 0:
            return f"np.remainder({text}, {_MODULUS})"
        return text


def _rows(low: int, high: int, rest: str = "") -> str:
    return f"[{low}:{high}{rest}]"


def _place(edges: Edges, choices: Choices, count: int) -> int:
    """Return where so many rows begin: near an end, or anywhere."""
    last = edges.rows - count
    near = choices.of((0, 0, 0, 1, 1, 2, 3))
    return (
        min(near, last),
        max(last - near, 0),
        min(near, last),
        max(last - near, 0),
        choices.below(last + 1),
    )[choices.below(5)]


def _columns(edges: Edges, choices: Choices) -> str:
    """Return the indices behind that of rows: often all of them, or inner ones."""
    rest = len(edges.shape) - 1
    if not rest or choices.below(3) == 0:
        return ""
    return "".join(
        (", 1:-1", ", :", ", :-1", ", 1:")[choices.below(4)] for _ in range(rest)
    )


def _moved(text: str, choices: Choices) -> str:
    """Return other columns, as many as these, now and then."""
    if choices.below(4):
        return text
    return (
        text.replace(", :-1", ", *").replace(", 1:", ", :-1").replace(", *", ", 1:")
        if "1:-1" not in text
        else text
    )


def _operator(choices: Choices) -> str:
    return str(choices.of("++-*"))


# -- statements ----------------------------------------------------------------------
def copy_rows(edges: Edges, choices: Choices) -> None:
    """One to three rows from elsewhere, of the same array or of another one."""
    count = 1 + choices.below(3)
    target, source = choices.of(edges.full), choices.of(edges.full)
    to, at = _place(edges, choices, count), _place(edges, choices, count)
    columns = _columns(edges, choices)
    right = f"{source}{_rows(at, at + count, columns)}"
    form = choices.below(4)
    if form == 1:
        right = f"{right} * 2.0"
    elif form == 2:
        other = _place(edges, choices, count)
        right = (
            f"{right} + {choices.of(edges.full)}{_rows(other, other + count, columns)}"
        )
    elif source == target and abs(to - at) < count:
        right += " + 0.0"
    if form in (1, 2):
        right = edges.value(choices, right)
    sign = "+=" if choices.below(6) == 0 and form else "="
    edges.write(f"{target}{_rows(to, to + count, columns)} {sign} {right}")


def wrap(edges: Edges, choices: Choices) -> None:
    """Edges that are periodic, or reflect, along some dimension."""
    name = choices.of(edges.full)
    dim = choices.below(len(edges.shape))
    before = ":, " * dim
    wide = 1 + choices.below(2)
    if edges.shape[dim] < 4 * wide:
        return
    pairs = choices.of(
        (
            (f":{wide}", f"-{2 * wide}:-{wide}", f"-{wide}:", f"{wide}:{2 * wide}"),
            ("0", "-2", "-1", "1"),
            ("0", "1", "-1", "-2"),
            ("0", "-1", "-1", "0"),
            (f":{wide}", f"{wide}:{2 * wide}", f"-{wide}:", f"-{2 * wide}:-{wide}"),
        )
    )
    source = name if choices.below(3) else choices.of(edges.full)
    edges.write(f"{name}[{before}{pairs[0]}] = {source}[{before}{pairs[1]}]")
    if choices.below(3):
        edges.write(f"{name}[{before}{pairs[2]}] = {source}[{before}{pairs[3]}]")


def keep_rows(edges: Edges, choices: Choices) -> None:
    """A temporary of one to three rows."""
    count = 1 + choices.below(3)
    one, other = _place(edges, choices, count), _place(edges, choices, count)
    left = f"{choices.of(edges.full)}{_rows(one, one + count)}"
    right = f"{choices.of(edges.full)}{_rows(other, other + count)}"
    text = (
        f"{left}.copy()"
        if choices.below(4) == 0
        else edges.value(choices, f"{left} {_operator(choices)} {right}")
    )
    name = edges.new()
    edges.write(f"{name} = {text}")
    edges.few[name] = count


def use_rows(edges: Edges, choices: Choices) -> None:
    """A part of such a temporary."""
    if not edges.few:
        return keep_rows(edges, choices)
    name = choices.of(list(edges.few))
    count = 1 + choices.below(edges.few[name])
    first = choices.below(edges.few[name] - count + 1)
    to = _place(edges, choices, count)
    columns = _columns(edges, choices)
    sign = ("=", "=", "+=")[choices.below(3)]
    right = f"{name}{_rows(first, first + count, columns)}"
    target = choices.of(edges.full)
    form = choices.below(4)
    if form == 0:
        at = _place(edges, choices, count)
        right = f"{right} + {choices.of(edges.full)}{_rows(at, at + count, columns)}"
        right = edges.value(choices, right)
    elif form == 1 and len(edges.few) < 6:
        at = _place(edges, choices, count)
        made = edges.new()
        text = f"{name}{_rows(first, first + count)} + {target}{_rows(at, at + count)}"
        edges.write(f"{made} = {edges.value(choices, text)}")
        edges.few[made] = count
        return
    edges.write(f"{target}{_rows(to, to + count, columns)} {sign} {right}")


def change_rows(edges: Edges, choices: Choices) -> None:
    """Change a part of a temporary of few rows."""
    if not edges.few:
        return keep_rows(edges, choices)
    name = choices.of(list(edges.few))
    at = _place(edges, choices, edges.few[name])
    columns = _columns(edges, choices)
    source = f"{choices.of(edges.full)}{_rows(at, at + edges.few[name], columns)}"
    text = edges.value(choices, f"{source} + {source}")
    edges.write(f"{name}[:{columns}] = {text}")


def sweep(edges: Edges, choices: Choices) -> None:
    """Many rows of arrays beside one another, to a new array or a part of one."""
    low, high = choices.below(4), choices.below(3)
    if edges.rows < low + high + 2:
        return
    columns = _columns(edges, choices)

    def operand() -> str:
        move = choices.below(low + high + 1) - low
        begin, end = low + move, edges.rows - high + move
        return f"{choices.of(edges.full)}{_rows(begin, end, _moved(columns, choices))}"

    terms = [operand() for _ in range(1 + choices.below(3))]
    text = terms[0]
    for term in terms[1:]:
        text = f"({text} {_operator(choices)} {term})"
    if len(terms) == 1:
        text = f"{text} + {choices.of(('1.0', text))}"
    text = edges.value(choices, text)
    target = choices.of(edges.full)
    sign = ("=", "=", "=", "+=")[choices.below(4)]
    edges.write(f"{target}{_rows(low, edges.rows - high, columns)} {sign} {text}")


def compute(edges: Edges, choices: Choices) -> None:
    """A new array of all of the shape."""
    one, other = choices.of(edges.full), choices.of(edges.full)
    name = edges.new()
    form = choices.below(7)
    shift, dim = 1 + choices.below(3), choices.below(len(edges.shape))
    text = (
        f"{one} {_operator(choices)} {other}",
        f"{one}.copy()",
        f"np.zeros({edges.shape})",
        f"{one} + np.roll({other}, {choices.of((shift, -shift))}, axis={dim})",
        f"np.where({one} > 40.0, {other}, {one} + 1.0)",
        f"np.maximum({one}, {other}) + {choices.of(edges.full)}",
        f"({one} {_operator(choices)} {other}) * 2.0",
    )[form]
    if form not in (1, 2):
        text = edges.value(choices, text)
    edges.write(f"{name} = {text}")
    edges.full.append(name)


def assign(edges: Edges, choices: Choices) -> None:
    """All of an array, by others."""
    target = choices.of(edges.full)
    one, other = choices.of(edges.full), choices.of(edges.full)
    text = edges.value(choices, f"{one} {_operator(choices)} {other}")
    edges.write(f"{target}[:] {choices.of(('=', '+='))} {text}")


def mask(edges: Edges, choices: Choices) -> None:
    one, other = choices.of(edges.full), choices.of(edges.full)
    edges.write(f"{one}[{other} > {20 + choices.below(40)}.0] = 3.0")


def reduce(edges: Edges, choices: Choices) -> None:
    """A sum or a maximum that is used again, or not."""
    name = choices.of(edges.full)
    function = choices.of(("sum", "max", "min"))
    axis = choices.below(len(edges.shape) + 2)
    result = edges.new()
    index = "" if axis < len(edges.shape) else _rows(0, 1 + choices.below(edges.rows))
    if axis >= len(edges.shape) or len(edges.shape) == 1:
        edges.write(f"{result} = {name}{index}.{function}()")
        spread = result
    else:
        edges.write(f"{result} = {name}.{function}(axis={axis})")
        around = [":"] * len(edges.shape)
        around[axis] = "None"
        spread = f"{result}[{', '.join(around)}]"
    use = choices.below(4)
    target = choices.of(edges.full)
    if use == 0:
        text = f"np.remainder({target} + {spread}, {_MODULUS})"
        edges.write(f"{target}[:] = {text}")
    elif spread == result and use == 1:
        count = 1 + choices.below(3)
        to = _place(edges, choices, count)
        rows = f"{target}{_rows(to, to + count)}"
        edges.write(f"{rows} = np.remainder({rows} * {spread}, {_MODULUS})")
    elif spread == result and use == 2 and choices.below(3) == 0:
        # the program waits for it, which ends a window
        edges.write(f"{result} = float({result})")


def swap(edges: Edges, choices: Choices) -> None:
    one, other = choices.of(edges.full), choices.of(edges.full)
    edges.write(f"{one}, {other} = {other}, {one}")


def delete(edges: Edges, choices: Choices) -> None:
    """A name that the loop has made."""
    names = [
        name for name in edges.own if len(edges.full) > 2 or name not in edges.full
    ]
    if not names:
        return
    name = choices.of(names)
    edges.own.remove(name)
    edges.few.pop(name, None)
    if name in edges.full:
        edges.full.remove(name)
    edges.write(f"del {name}")


Statement = Callable[[Edges, Choices], None]
# Those that come more often are named more than once.
STATEMENTS: tuple[Statement, ...] = (
    *(copy_rows, copy_rows, copy_rows, copy_rows, wrap, wrap, keep_rows, keep_rows),
    *(use_rows, use_rows, use_rows, change_rows, sweep, sweep, sweep, sweep, compute),
    *(compute, assign, mask, reduce, swap, delete),
)
# How many numbers a statement chooses with, at most.
NUMBERS = 16


def kinds_of(numbers: Sequence[int]) -> tuple[Statement, ...]:
    """Return the kinds of statement that a program has.

    With few of them each is likely to meet another one of its kind (swarm testing:
    Groce et al., ISSTA 2012).
    """
    return tuple(STATEMENTS[number % len(STATEMENTS)] for number in numbers)


@dataclass(frozen=True, slots=True)
class EdgeProgram:
    """A program of this kind.

    Attributes:
        lines: its text, in which ``np`` is the package and ``integers`` the function.
        results: what NumPy's arrays are in the end, by name.
    """

    lines: tuple[str, ...]
    results: dict[str, Array]

    def run(self, package: Any) -> dict[str, Array]:
        """Return what the arrays are in the end."""
        space = run_lines(self.lines, package)
        return {name: np.asarray(space[name]) for name in self.results}

    def __repr__(self) -> str:
        return "\n".join(("", *self.lines, ""))


def run_lines(lines: Sequence[str], package: Any) -> dict[str, Any]:
    """Run the lines of a program, and return its variables."""
    space: dict[str, Any] = {"np": package, "integers": integers}
    exec("\n".join(lines), space)
    return space


def write_edges(
    shape: tuple[int, ...],
    arrays: int,
    rounds: int,
    kinds: Sequence[int],
    statements: Sequence[tuple[int, Sequence[int]]],
) -> EdgeProgram:
    """Return a program of a loop of statements.

    Args:
        shape: the extents of its arrays.
        arrays: how many there are before the loop.
        rounds: how often the loop runs.
        kinds: numbers of the kinds of statement that it has.
        statements: of each its number, and the numbers that it chooses with.
    """
    for bounded in (False, True):
        edges = Edges(shape, bounded)
        before = []
        for number in range(arrays):
            before.append(f"a{number} = integers(np, {number}, {shape})")
            edges.full.append(f"a{number}")
        own = kinds_of(kinds)
        for number, numbers in statements:
            own[number % len(own)](edges, Choices(numbers))
        edges.write("pass")
        lines = (*before, f"for _ in range({rounds}):", *edges.lines)
        names = (*edges.full, *edges.few, *(n for n in edges.own if n not in edges.few))
        space = run_lines(lines, np)
        results = {name: np.asarray(space[name]) for name in dict.fromkeys(names)}
        if all(_is_exact(value) for value in results.values()):
            break
    return EdgeProgram(lines, results)


def _is_exact(values: Array) -> bool:
    return bool((np.abs(values) < _EXACT).all())


def differing(program: EdgeProgram, package: Any) -> Iterator[str]:
    """Yield the names of the arrays that are not what NumPy's are."""
    for name, result in program.run(package).items():
        if not np.array_equal(result, program.results[name]):
            yield name
