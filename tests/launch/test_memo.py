# SPDX-License-Identifier: Apache-2.0
"""Two windows share a plan if and only if the plan depends on nothing else.

For each ingredient of a window's key there are two windows that differ only in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from recorder import Machine, Recorder, part, spread
from tiers import examples

from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.ir.text import render
from legate_diffuse.stores.layout import Layout

Recording = Callable[[Recorder], object]
NEGATIVE = "UNARY_OP.NEGATIVE"
ADD = "BINARY_OP.ADD"


def _chain(r: Recorder, *, name: str = NEGATIVE, dtype: str = "float64") -> None:
    x, y, z = (r.array(8, dtype=dtype) for _ in range(3))
    r.task(NEGATIVE, [y, x])
    r.task(name, [z, y])


def _two_tasks(r: Recorder, *, order: tuple[int, int]) -> None:
    x, y = r.array(8), r.array(8)
    pairs = [x, y], [y, x]
    for number in order:
        r.task("COPY", pairs[number])


def _operands(r: Recorder, *, same: bool) -> None:
    x, y, z = (r.array(8) for _ in range(3))
    r.task(ADD, [z, x, x if same else y])


def _swapped(r: Recorder, *, swapped: bool) -> None:
    x, y, z, w = (r.array(8) for _ in range(4))
    r.task("BINARY_OP.SUBTRACT", [z, x, y])
    r.task("BINARY_OP.SUBTRACT", [w, y, x] if swapped else [w, x, y])


def _roots(r: Recorder, *, one: bool) -> None:
    """Two views of equal shape, of one array or of two."""
    x, y, z = r.array(9), r.array(9), r.array(8)
    r.task("COPY", [part(x, 0, 8), z])
    r.task("COPY", [part(x if one else y, 1, 9), z])


def _views(r: Recorder, *, shifted: bool) -> None:
    """A view that is read as it was written, or shifted."""
    x, y, z = r.array(9), r.array(8), r.array(8)
    r.task("COPY", [part(x, 0, 8), y])
    r.task("COPY", [z, part(x, 1, 9) if shifted else part(x, 0, 8)])


def _shapes(r: Recorder, *, same: bool) -> None:
    r.task("COPY", [r.array(8), r.array(8)])
    size = 8 if same else 9
    r.task("COPY", [r.array(size), r.array(size)])


def _points(r: Recorder, *, size: int) -> None:
    r.task("COPY", [r.array(size), r.array(size)])


def _broadcast(r: Recorder, *, last: bool) -> None:
    x, y = r.array(8), r.array(8, 8)
    r.task("COPY", [y, x.promote(1 if last else 0, 8)])


def _stored(r: Recorder, *, future: bool) -> None:
    x, y = r.array(scalar=future), r.array(8)
    r.task("COPY", [y, spread(x, y)])


def _constant(r: Recorder, *, constant: bool) -> None:
    x = r.scalar(constant=1.0 if constant else None)
    y = r.array(8)
    r.task("COPY", [y, spread(x, y)])


def _affine(r: Recorder, *, affine: bool) -> None:
    x, y = r.array(8), r.array(8)
    x.layout = Layout((8,), (0,), (0,), (8,), affine=affine)
    r.task("COPY", [y, x])


def _whole(r: Recorder, *, whole: bool) -> None:
    x, y = r.array(8 if whole else 9), r.array(8)
    r.task("COPY", [x if whole else part(x, 0, 8), y])


def _single(r: Recorder, *, small: bool) -> None:
    r.task("COPY", [r.array(7 if small else 8), r.array(7 if small else 8)])


def _undefined(r: Recorder, *, made: bool) -> None:
    r.task("COPY", [r.array(8, made=made), r.array(8)])


def _disjoint(r: Recorder, *, disjoint: bool) -> None:
    x, y = r.array(16), r.array(8)
    r.task("COPY", [part(x, 0, 8), y])
    r.task("COPY", [part(x, 8, 16) if disjoint else part(x, 7, 15), y])


def _read_disjoint(r: Recorder, *, disjoint: bool) -> None:
    """The disjoint view comes before the part that changes."""
    x, y = r.array(16), r.array(8)
    r.task("COPY", [y, part(x, 0, 8)])
    r.task("COPY", [part(x, 8, 16) if disjoint else part(x, 7, 15), y])


def _live(r: Recorder, *, live: bool) -> None:
    x, y, z = r.array(8), r.array(8, live=live), r.array(8)
    r.task(NEGATIVE, [y, x])
    r.task(NEGATIVE, [z, y])


def _which_lives(r: Recorder, *, first: bool) -> None:
    x, y, z = r.array(8), r.array(8, live=first), r.array(8, live=not first)
    r.task(NEGATIVE, [y, x])
    r.task(NEGATIVE, [z, y])


def _kept(r: Recorder, *, kept: bool) -> None:
    x, y = r.array(8), r.array(8, live=False)
    r.task(NEGATIVE, [y, x])
    if kept:
        r.window.state.kept = frozenset([y.root])


def _escaped(r: Recorder, *, escaped: bool) -> None:
    x, y = r.array(8), r.array(8, live=False)
    r.task(NEGATIVE, [y, x])
    y.root.escaped = escaped


def _carried(r: Recorder, *, carried: int) -> None:
    s, t = r.scalar(), r.scalar()
    r.task(NEGATIVE, [s, t])
    r.task(NEGATIVE, [t, s])
    r.finish(carried)


def _privilege(r: Recorder, *, privilege: int) -> None:
    s, x = r.scalar(), r.array(8)
    r.task("SCALAR_UNARY_RED.MAX", [s, x], [privilege, READ])


def _scalars(r: Recorder, *, dtype: str) -> None:
    r.task("FILL", [r.array(8)], scalars=(dtype,))


def _length(r: Recorder, *, tasks: int) -> None:
    x = r.array(8)
    for _ in range(tasks):
        r.task(NEGATIVE, [x, x])


INGREDIENTS: dict[str, tuple[Recording, Recording]] = {
    "operation": (_chain, lambda r: _chain(r, name="UNARY_OP.ABSOLUTE")),
    "task": (_chain, lambda r: _chain(r, name="COPY")),
    "types": (_chain, lambda r: _chain(r, dtype="float32")),
    "types of scalar arguments": (
        lambda r: _scalars(r, dtype="float64"),
        lambda r: _scalars(r, dtype="float32"),
    ),
    "privileges": (
        lambda r: _privilege(r, privilege=REDUCE),
        lambda r: _privilege(r, privilege=WRITE),
    ),
    "order of the tasks": (
        lambda r: _two_tasks(r, order=(0, 1)),
        lambda r: _two_tasks(r, order=(0, 0)),
    ),
    "number of tasks": (lambda r: _length(r, tasks=1), lambda r: _length(r, tasks=2)),
    "repeated operands": (
        lambda r: _operands(r, same=True),
        lambda r: _operands(r, same=False),
    ),
    "order of operands": (
        lambda r: _swapped(r, swapped=False),
        lambda r: _swapped(r, swapped=True),
    ),
    "which array": (lambda r: _roots(r, one=True), lambda r: _roots(r, one=False)),
    "which view": (
        lambda r: _views(r, shifted=True),
        lambda r: _views(r, shifted=False),
    ),
    "equal shapes": (
        lambda r: _shapes(r, same=True),
        lambda r: _shapes(r, same=False),
    ),
    "no elements": (lambda r: _points(r, size=0), lambda r: _points(r, size=2)),
    "one element": (lambda r: _points(r, size=1), lambda r: _points(r, size=2)),
    "the dimension that repeats": (
        lambda r: _broadcast(r, last=True),
        lambda r: _broadcast(r, last=False),
    ),
    "a future or a region": (
        lambda r: _stored(r, future=True),
        lambda r: _stored(r, future=False),
    ),
    "constants": (
        lambda r: _constant(r, constant=True),
        lambda r: _constant(r, constant=False),
    ),
    "affine": (lambda r: _affine(r, affine=True), lambda r: _affine(r, affine=False)),
    "the whole array": (
        lambda r: _whole(r, whole=True),
        lambda r: _whole(r, whole=False),
    ),
    "under the threshold": (
        lambda r: _single(r, small=True),
        lambda r: _single(r, small=False),
    ),
    "written before": (
        lambda r: _undefined(r, made=True),
        lambda r: _undefined(r, made=False),
    ),
    "parts that do not overlap": (
        lambda r: _disjoint(r, disjoint=True),
        lambda r: _disjoint(r, disjoint=False),
    ),
    "a part that does not overlap what was read": (
        lambda r: _read_disjoint(r, disjoint=True),
        lambda r: _read_disjoint(r, disjoint=False),
    ),
    "liveness": (lambda r: _live(r, live=True), lambda r: _live(r, live=False)),
    "which array is alive": (
        lambda r: _which_lives(r, first=True),
        lambda r: _which_lives(r, first=False),
    ),
    "used by what follows": (
        lambda r: _kept(r, kept=True),
        lambda r: _kept(r, kept=False),
    ),
    "escaped": (
        lambda r: _escaped(r, escaped=True),
        lambda r: _escaped(r, escaped=False),
    ),
    "waited since an earlier window": (
        lambda r: _carried(r, carried=0),
        lambda r: _carried(r, carried=1),
    ),
}


def recorded(recording: Recording) -> tuple[tuple[int, ...], str]:
    """Return the key of a window, and its text."""
    recorder = Recorder(Machine(pieces=2, threshold=8))
    recording(recorder)
    key, window = recorder.finish() if recorder._found is None else recorder._found
    return key, render(window)


@pytest.mark.parametrize(
    ("one", "other"), INGREDIENTS.values(), ids=map(str, INGREDIENTS)
)
def test_windows_that_differ_share_no_plan(one: Recording, other: Recording) -> None:
    key, text = recorded(one)
    other_key, other_text = recorded(other)
    assert text != other_text, "the plan could not tell them apart"
    assert key != other_key
    assert recorded(one) == (key, text)


@pytest.mark.parametrize("single", [False, True], ids=["several", "one processor"])
def test_the_extents_are_no_part_of_the_key(single: bool) -> None:
    def recording(size: int) -> tuple[tuple[int, ...], str]:
        recorder = Recorder(Machine(pieces=1 if single else 2))
        x, y = recorder.array(size + 1), recorder.array(size)
        recorder.task("COPY", [y, part(x, 0, size)])
        recorder.task(ADD, [part(x, 1, size + 1), y, y])
        key, window = recorder.finish()
        return key, render(window)

    assert recording(8) == recording(1 << 40)


def test_other_arrays_share_a_plan() -> None:
    recorder = Recorder()
    keys = []
    for _ in range(3):
        _chain(recorder)
        keys.append(recorder.finish())
    assert keys[0] == keys[1] == keys[2]


# -- random windows --------------------------------------------------------------
def _random_window(seed: int) -> tuple[tuple[int, ...], str]:
    """Return the key and the text of a window drawn from few possibilities."""
    rng = random.Random(seed)
    recorder = Recorder(Machine(rng.choice((1, 2)), rng.choice((0, 9))))
    arrays = [
        recorder.array(
            rng.choice((4, 9, 16)), live=rng.random() < 0.5, made=rng.random() < 0.5
        )
        for _ in range(2)
    ]
    scalars = [
        recorder.scalar(constant=rng.choice((None, None, 1.0)), live=rng.random() < 0.5)
        for _ in range(2)
    ]
    for _ in range(rng.randint(1, 2)):
        targets = [part(x, s, s + 4) for x in arrays for s in (0, x.shape[0] - 4)]
        target = rng.choice(targets)
        values = [*targets, *(spread(s, target) for s in scalars)]
        recorder.task(ADD, [target, rng.choice(values), rng.choice(values)])
    key, window = recorder.finish(carried=rng.choice((0, 0, 1)))
    return key, render(window)


def test_windows_share_a_plan_if_and_only_if_they_are_equal() -> None:
    by_key: dict[tuple[int, ...], str] = {}
    by_text: dict[str, tuple[int, ...]] = {}
    windows = examples(5_000, 20_000)
    for seed in range(windows):
        key, text = _random_window(seed)
        assert by_key.setdefault(key, text) == text
        assert by_text.setdefault(text, key) == key
    assert 100 < len(by_key) < 19 / 20 * windows, (
        "windows came again, and windows differed"
    )
