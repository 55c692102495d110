# SPDX-License-Identifier: Apache-2.0
"""The kernels of some loop nests, as text.

The stores and views are those of ``window_golden.STORES``: 4 and 5 are dead
arrays, 6 is a live and 7 and 8 are dead replicated stores, 9 is a constant.
"""

from __future__ import annotations

from inspect import cleandoc

import pytest
from window_golden import lowered, window_of
from window_reader import parse

from legate_diffuse.fusion.lowering import lower_nest
from legate_diffuse.fusion.pipeline import make_plan
from legate_diffuse.ir.nest import ConstantSource, Nest, TaskScalarSource
from legate_diffuse.ir.privilege import READ, REDUCE, WRITE
from legate_diffuse.kernel import print_kernel, verify_kernel
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

BOTH = READ | WRITE


def check(
    text: str,
    kernel: str,
    arguments: dict[int, int],
    scalars: tuple[ConstantSource | TaskScalarSource, ...] = (),
) -> None:
    """Compare the kernel of tasks that form one nest; see ``check_nest``."""
    check_nest(lowered(text), kernel, arguments, scalars)


def check_nest(
    nest: Nest | None,
    kernel: str,
    arguments: dict[int, int],
    scalars: tuple[ConstantSource | TaskScalarSource, ...] = (),
) -> None:
    """Compare a nest's kernel; ``arguments`` are view ids with privileges."""
    assert nest is not None
    assert print_kernel(nest.kernel).rstrip() == cleandoc(kernel)
    assert dict(zip(nest.arguments, nest.privileges, strict=True)) == arguments
    assert nest.arguments == tuple(arguments)
    assert nest.scalars == scalars
    _check_shape(nest)


def _check_shape(nest: Nest) -> None:
    verify_kernel(nest.kernel)
    assert len(nest.kernel.arguments) == len(nest.arguments)
    assert len(nest.kernel.scalars) == len(nest.scalars)
    kinds = []
    for argument, privilege in zip(nest.kernel.arguments, nest.privileges, strict=True):
        assert argument.reads == bool(privilege & READ)
        assert argument.writes == bool(privilege & WRITE)
        assert bool(argument.reduces) == bool(privilege & REDUCE)
        kinds.append(0 if privilege & WRITE else 1 if privilege & REDUCE else 2)
    assert kinds == sorted(kinds), "what is written comes first, then reductions"
    assert kinds[0] < 2


def test_a_temporary_stays_in_a_register() -> None:
    check(
        """
        BINARY_OP.MULTIPLY(int8, int8) -> (int8) shape 0: write %4.4, read %0.0, read %1.1
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %4.4, read %0.0
        """,  # noqa: E501
        """
        kernel
        argument 0 int8 write
        argument 1 int8 read prefetch
        argument 2 int8 read prefetch
        %0: int8 = load 1
        %1: int8 = load 2
        %2: int8 = mul %0 %1
        %3: int8 = add %2 %0
        store 0 %3
        """,
        {2: WRITE, 0: READ, 1: READ},
    )


def test_what_outlives_the_group_is_stored_but_not_loaded_again() -> None:
    check(
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %1.1, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %1.1
        """,
        """
        kernel
        argument 0 int8 write
        argument 1 int8 write
        argument 2 int8 read prefetch
        %0: int8 = load 2
        %1: int8 = neg %0
        %2: int8 = add %1 %1
        store 0 %1
        store 1 %2
        """,
        {1: WRITE, 2: WRITE, 0: READ},
    )


def test_in_place_is_one_argument() -> None:
    check(
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.0, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %0.0, read %0.0, read %1.1
        """,
        """
        kernel
        argument 0 int8 read write prefetch
        argument 1 int8 write
        %0: int8 = load 0
        %1: int8 = neg %0
        %2: int8 = add %1 %1
        store 0 %2
        store 1 %1
        """,
        {0: BOTH, 1: WRITE},
    )


def test_a_value_read_before_the_write_is_the_old_one() -> None:
    check(
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.0, read %2.2
        """,
        """
        kernel
        argument 0 int8 write
        argument 1 int8 read write prefetch
        argument 2 int8 read prefetch
        %0: int8 = load 1
        %1: int8 = load 2
        %2: int8 = neg %1
        store 0 %0
        store 1 %2
        """,
        {1: WRITE, 0: BOTH, 2: READ},
    )


def test_only_the_last_of_several_writes_is_stored() -> None:
    check(
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %1.1, read %3.3
        """,
        """
        kernel
        argument 0 int8 write
        argument 1 int8 write
        argument 2 int8 read prefetch
        argument 3 int8 read prefetch
        %0: int8 = load 2
        %1: int8 = load 3
        %2: int8 = neg %1
        store 0 %2
        store 1 %0
        """,
        {1: WRITE, 2: WRITE, 0: READ, 3: READ},
    )


def test_views_of_one_store_are_arguments_of_their_own() -> None:
    check(
        """
        BINARY_OP.SUBTRACT(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %0.10
        """,  # noqa: E501
        """
        kernel
        argument 0 int8 write
        argument 1 int8 read
        argument 2 int8 read prefetch
        %0: int8 = load 1
        %1: int8 = load 2
        %2: int8 = sub %0 %1
        store 0 %2
        """,
        {1: WRITE, 0: READ, 10: READ},
    )


@pytest.mark.parametrize(
    ("one", "other", "prefetched"),
    [
        ("[1:-1, :-2]", "[1:-1, 2:]", [False, True]),
        ("[1:-1, 2:]", "[1:-1, :-2]", [True, False]),
        # other rows
        ("[:-2, 1:-1]", "[2:, 1:-1]", [True, True]),
        ("[:-2, :-2]", "[2:, 2:]", [True, True]),
        # the last dimension of the loop runs along the first one of the store
        ("[:-2, 1:-1] as (1, 0)", "[2:, 1:-1] as (1, 0)", [False, True]),
        ("[1:-1, :-2] as (1, 0)", "[1:-1, 2:] as (1, 0)", [True, True]),
        # a row apart, as the rows' points are other ones
        ("[1, :-2] as (*, 1)", "[2, 2:] as (*, 1)", [True, True]),
        # nobody knows how far
        ("[:-2, 1:-1]", "[1:-1, :-2] as (1, 0)", [True, True]),
    ],
)
def test_of_views_in_one_row_the_foremost_is_prefetched(
    one: str, other: str, prefetched: list[bool]
) -> None:
    window = parse(
        f"""store %0 int8 live single
store %1 int8 live single
view %0.0 shape 0 many {one}
view %0.10 shape 0 many {other}
view %1.1 shape 0 many [:, :]
BINARY_OP.SUBTRACT(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %0.10
"""
    )
    (nest,) = make_plan(window, MEANINGS).launches[0].nests
    reads = [a.prefetch for a in nest.code.arguments if a.reads]
    assert reads == prefetched


def test_a_constant_goes_by_value() -> None:
    check(
        """
        BINARY_OP.MULTIPLY(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %9.19
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %1.1, read %9.19
        """,  # noqa: E501
        """
        kernel
        argument 0 int8 write
        argument 1 int8 read prefetch
        scalar 0 int8
        %0: int8 = load 1
        %1: int8 = scalar 0
        %2: int8 = mul %0 %1
        %3: int8 = add %2 %1
        store 0 %3
        """,
        {1: WRITE, 0: READ},
        (ConstantSource(19),),
    )


def test_a_constant_seen_through_two_views_is_one_scalar() -> None:
    check(
        """
        COPY(int8) -> (int8) shape 2: write %7.7, read %9.9
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %1.1, read %7.17, read %9.19
        """,
        """
        kernel
        argument 0 int8 write
        scalar 0 int8
        %0: int8 = scalar 0
        %1: int8 = add %0 %0
        store 0 %1
        """,
        {1: WRITE},
        (ConstantSource(9),),
    )


def test_scalar_arguments_count_from_the_end() -> None:
    check(
        """
        FILL(int8) -> (int8) shape 0: write %4.4
        UNARY_OP.CLIP(int8)[int8, int8] -> (int8) shape 0: write %1.1, read %4.4
        """,
        """
        kernel
        argument 0 int8 write
        scalar 0 int8
        scalar 1 int8
        scalar 2 int8
        %0: int8 = scalar 0
        %1: int8 = scalar 1
        %2: int8 = scalar 2
        %3: bool = gt %0 %2
        %4: int8 = select %3 %2 %0
        %5: bool = lt %0 %1
        %6: int8 = select %5 %1 %4
        store 0 %6
        """,
        {1: WRITE},
        (TaskScalarSource(0, -1), TaskScalarSource(1, -2), TaskScalarSource(1, -1)),
    )


def test_replicated_values_are_loaded_and_folded_but_never_stored() -> None:
    check(
        """
        BINARY_OP.ADD(int8, int8) -> (int8) shape 2: write %6.6, read %8.8, read %9.9
        BINARY_OP.MULTIPLY(int8, int8) -> (int8) shape 0: write %1.1, read %0.0, read %6.16
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %2.2, read %1.1, read %8.18
        """,  # noqa: E501
        """
        kernel
        argument 0 int8 write
        argument 1 int8 write
        argument 2 int8 read broadcast
        argument 3 int8 read prefetch
        scalar 0 int8
        %0: int8 = load 2
        %1: int8 = scalar 0
        %2: int8 = add %0 %1
        %3: int8 = load 3
        %4: int8 = mul %3 %2
        %5: int8 = add %4 %0
        store 0 %4
        store 1 %5
        """,
        {1: WRITE, 2: WRITE, 18: READ, 0: READ},
        (ConstantSource(9),),
    )


def test_a_broadcast_view_is_told_to_the_kernel() -> None:
    group = lowered("COPY(int8) -> (int8) shape 0: write %1.1, read %0.40")
    assert group is not None
    assert [a.broadcast for a in group.kernel.arguments] == [False, True]


@pytest.mark.parametrize(("points", "is_told"), [("many", True), ("short", False)])
def test_in_short_rows_it_is_told_only_if_it_never_moves(
    points: str, is_told: bool
) -> None:
    window = parse(
        f"""
        store %0 int8 live
        store %1 int8 live
        store %2 int8 live
        view %0.0 shape 0 {points} [:, :]
        view %1.1 shape 0 {points} [:] as (0, *)
        view %2.2 shape 0 {points} [3] as (*, *)
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %0.0, read %1.1, read %2.2
        """
    )
    nest = lower_nest(dict(enumerate(window.tasks)), frozenset(), MEANINGS.lower)
    assert nest is not None
    told = [argument.broadcast for argument in nest.kernel.arguments]
    assert told == [False, is_told, True]


def test_work_that_feeds_only_dropped_stores_is_left_out() -> None:
    check(
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %4.4, read %0.0
        COPY(int8) -> (int8) shape 0: write %1.1, read %2.2
        """,
        """
        kernel
        argument 0 int8 write
        argument 1 int8 read prefetch
        %0: int8 = load 1
        store 0 %0
        """,
        {1: WRITE, 2: READ},
    )


def test_scalar_work_that_only_other_groups_need_is_left_out() -> None:
    check(
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 2: write %6.6, read %8.8, read %9.9
        COPY(int8) -> (int8) shape 0: write %2.2, read %1.1
        """,
        """
        kernel
        argument 0 int8 write
        argument 1 int8 write
        argument 2 int8 read prefetch
        %0: int8 = load 2
        store 0 %0
        store 1 %0
        """,
        {1: WRITE, 2: WRITE, 0: READ},
    )


def test_what_is_overwritten_before_it_is_read_is_not_computed() -> None:
    check(
        """
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %1.1, read %0.0
        FILL(int8) -> (int8) shape 0: write %1.1
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %1.1, read %1.1
        """,
        """
        kernel
        argument 0 int8 write
        scalar 0 int8
        %0: int8 = scalar 0
        %1: int8 = neg %0
        store 0 %1
        """,
        {1: WRITE},
        (TaskScalarSource(1, -1),),
    )


def test_a_nest_of_which_nothing_outlives_has_no_kernel() -> None:
    text = """
        COPY(int8) -> (int8) shape 2: write %6.6, read %8.8
        COPY(int8) -> (int8) shape 0: write %4.4, read %0.0
        BINARY_OP.ADD(int8, int8) -> (int8) shape 0: write %5.5, read %4.4, read %6.16
    """
    assert lowered(text) is None


def test_types_follow_the_stores() -> None:
    text = """
        store %160 float64
        view %160.160 shape 0 many [:]
        store %161 bool live
        view %161.161 shape 0 many [:]
        CONVERT.NOOP(int8) -> (float64) shape 0: write %160.160, read %0.0
        BINARY_OP.LESS(float64, float64) -> (bool) shape 0: write %161.161, read %160.160, read %160.160
    """  # noqa: E501
    check(
        text,
        """
        kernel
        argument 0 bool write
        argument 1 int8 read prefetch
        %0: int8 = load 1
        %1: float64 = cast %0
        %2: bool = lt %1 %1
        store 0 %2
        """,
        {161: WRITE, 0: READ},
    )


def test_a_reduction_combines_a_value_that_need_not_be_stored() -> None:
    check(
        """
        BINARY_OP.MULTIPLY(int8, int8) -> (int8) shape 0: write %4.4, read %0.0, read %1.1
        FILL(int8) -> (int8) shape 2: write %6.6
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %4.4
        """,  # noqa: E501
        """
        kernel
        argument 0 int8 broadcast reduce max
        argument 1 int8 read prefetch
        argument 2 int8 read prefetch
        %0: int8 = load 1
        %1: int8 = load 2
        %2: int8 = mul %0 %1
        reduce 0 %2
        """,
        {6: REDUCE, 0: READ, 1: READ},
    )


def test_several_reductions_share_one_pass() -> None:
    check(
        """
        COPY(int8) -> (int8) shape 0: write %1.1, read %0.0
        SCALAR_UNARY_RED.MAX(int8) -> (int8) shape 0: reduce(max) %6.6, read %1.1
        SCALAR_UNARY_RED.SUM(int8) -> (int64) shape 0: reduce(add) %60.60, read %0.0
        DOT(int8, int8) -> (int8) shape 0: reduce(add) %8.8, read %0.0, read %2.2
        """,
        """
        kernel
        argument 0 int8 write
        argument 1 int8 broadcast reduce max
        argument 2 int64 broadcast reduce add
        argument 3 int8 read prefetch
        %0: int8 = load 3
        %1: int64 = cast %0
        store 0 %0
        reduce 1 %0
        reduce 2 %1
        """,
        {1: WRITE, 6: REDUCE, 60: REDUCE, 0: READ},
    )


def test_a_reduction_along_an_axis_names_the_repeating_view() -> None:
    check(
        "UNARY_RED.SUM(int64) -> (int64) shape 5: reduce(add) %63.84, read %64.85",
        """
        kernel
        argument 0 int64 reduce add
        argument 1 int64 read prefetch
        %0: int64 = load 1
        reduce 0 %0
        """,
        {84: REDUCE, 85: READ},
    )


def test_two_halves_are_two_arguments() -> None:
    check(
        """
        COPY(int8) -> (int8) shape 0: write %0.41, read %0.42
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %0.42, read %0.41
        """,
        """
        kernel
        argument 0 int8 write
        argument 1 int8 read write prefetch
        %0: int8 = load 1
        %1: int8 = neg %0
        store 0 %0
        store 1 %1
        """,
        {41: WRITE, 42: READ | WRITE},
    )


def test_scalar_work_by_itself_stores_its_results() -> None:
    window = window_of("""
        BINARY_OP.ADD(int8, int8) -> (int8) shape 2: write %7.7, read %8.8, read %9.9
        FILL(int8) -> (int8) shape 2: write %6.6
        UNARY_OP.NEGATIVE(int8) -> (int8) shape 2: write %7.7, read %7.7
    """)
    tasks = {position + 10: task for position, task in enumerate(window.tasks)}
    check_nest(
        lower_nest(tasks, frozenset(), MEANINGS.lower, scalar=True),
        """
        kernel
        argument 0 int8 write broadcast
        argument 1 int8 write broadcast
        argument 2 int8 read broadcast
        scalar 0 int8
        scalar 1 int8
        %0: int8 = load 2
        %1: int8 = scalar 0
        %2: int8 = add %0 %1
        %3: int8 = scalar 1
        %4: int8 = neg %2
        store 0 %4
        store 1 %3
        """,
        {7: WRITE, 6: WRITE, 8: READ},
        (ConstantSource(9), TaskScalarSource(11, -1)),
    )
    assert lower_nest(tasks, frozenset(), MEANINGS.lower) is None
