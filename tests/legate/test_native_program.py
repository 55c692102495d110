# SPDX-License-Identifier: Apache-2.0
"""Programs, reductions and the launch policy of ``legate_diffuse._native``.

Stores are Legate's own here, without stand-ins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from native_programs import (
    FLOAT,
    MEBI,
    READ,
    READ_WRITE,
    REDUCE,
    RUNTIME,
    WRITE,
    filled,
    kernel,
    lc,
    nest,
    operand,
    program,
    random,
    read,
    reduction,
    register,
    scalars,
    scratch,
    store_of,
    submit,
    submit_program,
    values_of,
    whole,
    words,
    write,
)

from legate_diffuse import _native
from legate_diffuse.interpose.originals import real
from legate_diffuse.ir.nest import Margin
from legate_diffuse.ir.privilege import OPERATORS
from legate_diffuse.kernel import Argument, Builder

# -- what programs compute -------------------------------------------------------


def test_nests_run_in_order_over_views_of_arguments_and_scratch() -> None:
    x = random(6, 4)
    source, target = store_of(x), store_of(np.zeros((4, 6)))
    submit_program(
        [source, target],
        [READ, READ_WRITE],
        program(
            # the scratch buffer is the transpose, and is written to again
            nest(kernel("copy"), (4, 6), whole(~0, 2), operand(0, (1, 0), (0, 0))),
            nest(kernel("double"), (2, 3), operand(~0, (0, 1), (1, 2))),
            # a part of the argument, which keeps its other elements
            nest(
                kernel("add"),
                (3, 5),
                operand(1, (0, 1), (1, 1)),
                operand(~0, (0, 1), (0, 0)),
                operand(~0, (0, 1), (1, 1)),
            ),
            buffers=(scratch(0, 2, (4, 6)),),
        ),
    )
    buffer = x.T.copy()
    buffer[1:3, 2:5] *= 2.0
    expected = np.zeros((4, 6))
    expected[1:, 1:] = buffer[:3, :5] + buffer[1:, 1:]
    np.testing.assert_array_equal(values_of(target), expected)
    np.testing.assert_array_equal(values_of(source), x)


def test_an_operand_repeats_along_dimensions() -> None:
    row, column, corner = random(5), random(3), random(3, 5)
    stores = [filled((3, 5), 0.0), *map(store_of, (row, column, corner))]
    submit_program(
        stores,
        [WRITE, READ, READ, READ],
        program(
            nest(
                kernel("add"),
                (3, 5),
                whole(0, 2),
                operand(1, (-1, 0), (0,)),
                operand(2, (0, -1), (0,)),
            ),
            nest(
                kernel("accumulate"),
                (3, 5),
                whole(0, 2),
                operand(3, (-1, -1), (2, 4)),
            ),
        ),
    )
    expected = row + column[:, None] + corner[2, 4]
    np.testing.assert_array_equal(values_of(stores[0]), expected)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("longest", [1, 70])
def test_any_view_of_any_dimensionality(seed: int, longest: int) -> None:
    """Kernels run along the longest dimension if the last one is short."""
    generator = np.random.default_rng(seed)
    dim = 1 + seed % 4
    extents = generator.integers(1, 6, dim)
    extents[generator.integers(dim)] *= longest
    shape = tuple(int(extent) for extent in extents)
    operands, arrays, views = [], [], []
    for number in range(3):
        dims = tuple(int(axis) for axis in generator.permutation(dim))
        low = tuple(int(start) for start in generator.integers(0, 3, dim))
        extents = [0] * dim
        for axis, extent in zip(dims, shape, strict=True):
            extents[axis] = extent + low[axis] + int(generator.integers(0, 2))
        arrays.append(random(*extents))
        part = tuple(
            slice(start, start + shape[dims.index(axis)])
            for axis, start in enumerate(low)
        )
        views.append(arrays[-1][part].transpose(dims))
        operands.append(operand(number, dims, low))
    stores = [store_of(array) for array in arrays]
    submit_program(
        stores,
        [READ_WRITE, READ, READ],
        program(nest(kernel("add"), shape, *operands)),
    )
    views[0][...] = views[1] + views[2]
    np.testing.assert_array_equal(values_of(stores[0]), arrays[0])


def test_partitions_before_and_after_do_not_matter() -> None:
    x = random(40, 30)
    store, other = store_of(x), filled((40, 30), 0.0)
    for _ in range(3):
        submit(kernel("copy"), [other, store], [WRITE, READ])
        submit_program(
            [store, other],
            [READ_WRITE, READ],
            program(nest(kernel("accumulate"), (40, 30), whole(0, 2), whole(1, 2))),
        )
        submit(kernel("double"), [store], [READ_WRITE])
    np.testing.assert_array_equal(values_of(store), x * 64.0)


def test_scalars_of_each_nest() -> None:
    store = filled((7,), 1.0)
    submit_program(
        [store],
        [READ_WRITE],
        program(
            *[
                nest(
                    kernel("scale and shift"),
                    (7,),
                    whole(0, 1),
                    block=scalars(factor, 1.0),
                )
                for factor in (2.0, 3.0, 5.0)
            ]
        ),
    )
    np.testing.assert_array_equal(values_of(store), np.full(7, 51.0))


def test_one_element_stores_keep_and_change_their_values() -> None:
    future, one = filled((), 5.0, scalar=True), filled((1,), 3.0, scalar=True)
    region, untouched = filled((), 7.0), filled((), 9.0, scalar=True)
    fresh = RUNTIME.create_store(lc.float64, (), optimize_scalar=True)
    submit_program(
        [future, one, region, untouched, fresh],
        [READ_WRITE, READ, READ_WRITE, READ_WRITE, WRITE],
        program(
            nest(kernel("double"), (), operand(0, (), ())),
            nest(kernel("double"), (1,), operand(2, (-1,), ())),
            nest(
                kernel("add"),
                (1, 1),
                operand(4, (-1, -1), ()),
                operand(2, (-1, -1), ()),
                operand(1, (0, -1), (0,)),
            ),
        ),
    )
    stores = (future, one, region, untouched, fresh)
    values = [values_of(store).item() for store in stores]
    assert values == [10.0, 3.0, 14.0, 9.0, 17.0]


def test_nothing_to_do() -> None:
    empty, store = filled((0, 5), 1.0), filled((3,), 2.0)
    submit_program([], [], program())
    submit_program(
        [empty, store],
        [READ_WRITE, READ_WRITE],
        program(
            nest(kernel("double"), (0, 5), whole(0, 2)),
            nest(kernel("double"), (0,), operand(1, (0,), (3,))),
            nest(kernel("double"), (0,), operand(~0, (-1,), (0, 0))),
            nest(kernel("double"), (3,), whole(1, 1)),
            buffers=(scratch(1, 3, (4, 0)),),
        ),
    )
    np.testing.assert_array_equal(values_of(store), np.full(3, 4.0))


@pytest.mark.parametrize("elements", [5, 1000, MEBI, 20 * MEBI])
def test_scratch_is_used_again_when_its_life_is_over(elements: int) -> None:
    """Threads keep memory for small sizes, a store is kept for the third one."""
    x = random(elements)
    source, target = store_of(x), filled((elements,), 0.0)
    shape, all_ = (elements,), whole
    double, add, copy = kernel("double"), kernel("add"), kernel("copy")
    for _ in range(3):
        submit_program(
            [source, target],
            [READ, WRITE],
            program(
                nest(copy, shape, all_(~0, 1), all_(0, 1)),
                nest(copy, shape, all_(~1, 1), all_(~0, 1)),
                nest(double, shape, all_(~1, 1)),
                nest(copy, (), operand(~3, (), ()), operand(~0, (), (2,))),
                nest(add, shape, all_(~2, 1), all_(~1, 1), operand(~3, (-1,), ())),
                nest(add, shape, all_(1, 1), all_(~2, 1), all_(~2, 1)),
                buffers=(
                    scratch(0, 3, shape),
                    scratch(1, 4, shape),
                    scratch(4, 5, shape),
                    scratch(3, 4, ()),
                ),
            ),
        )
        np.testing.assert_array_equal(values_of(target), 2.0 * (2.0 * x + x[2]))


def test_scratch_that_is_kept_grows_and_shrinks() -> None:
    double, copy = kernel("double"), kernel("copy")
    for elements in (MEBI, 3 * MEBI, *[1000] * 70, MEBI, *[MEBI] * 70, 2 * MEBI):
        x = random(elements)
        source, target = store_of(x), filled((elements,), 0.0)
        shape = (elements,)
        submit_program(
            [source, target],
            [READ, WRITE],
            program(
                nest(copy, shape, whole(~0, 1), whole(0, 1)),
                nest(double, shape, whole(~0, 1)),
                nest(copy, shape, whole(1, 1), whole(~0, 1)),
                buffers=(scratch(0, 2, shape),),
            ),
        )
        np.testing.assert_array_equal(values_of(target), 2.0 * x)


def test_a_nest_reads_what_was_reduced_before() -> None:
    x = random(20, 30)
    source, target = store_of(x), filled((20, 30), 0.0)
    total = reduction("add", FLOAT)
    submit_program(
        [source, target],
        [READ, WRITE],
        program(
            # the cells that are reduced to start from elements of the argument
            nest(kernel("copy"), (), operand(~0, (), ()), operand(0, (), (2, 3))),
            nest(kernel("copy"), (30,), whole(~1, 1), operand(0, (1,), (4, 0))),
            nest(total, (20, 30), operand(~0, (-1, -1), ()), whole(0, 2)),
            nest(total, (20, 30), operand(~1, (-1, 0), (0,)), whole(0, 2)),
            nest(
                kernel("add"),
                (20, 30),
                whole(1, 2),
                operand(~0, (-1, -1), ()),
                operand(~1, (-1, 0), (0,)),
            ),
            buffers=(scratch(0, 4, ()), scratch(1, 4, (30,))),
        ),
    )
    expected = np.broadcast_to(x[2, 3] + x.sum() + x[4] + x.sum(0), (20, 30))
    np.testing.assert_array_equal(values_of(target), expected)


# -- programs that are refused ---------------------------------------------------

INVALID: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "no nests": lambda: words(0, 0, 1),
    "negative counts": lambda: words(-1, -1, -1),
    "part of a word": lambda: program()[:-1],
    "words left": lambda: program() + words(0),
    "unknown kernel": lambda: program(nest(1 << 30, (3, 4), whole(0, 2))),
    "negative kernel": lambda: program(nest(-1, (3, 4), whole(0, 2))),
    "no operands": lambda: program(nest(kernel("double"), (3, 4))),
    "unknown argument": lambda: program(nest(kernel("double"), (3,), whole(1, 1))),
    "unknown scratch": lambda: program(nest(kernel("double"), (3,), whole(~0, 1))),
    "wrong dimensionality": lambda: program(
        nest(kernel("double"), (3,), whole(0, 1)),
    ),
    "unknown dimension": lambda: program(
        nest(kernel("double"), (3, 4), operand(0, (0, 2), (0, 0)))
    ),
    "negative extent": lambda: program(nest(kernel("double"), (-3, 4), whole(0, 2))),
    "too many dimensions": lambda: program(
        nest(kernel("double"), (1,) * 40, operand(0, (-1,) * 40, (0, 0)))
    ),
    "too far": lambda: program(nest(kernel("double"), (3, 5), whole(0, 2))),
    "too low": lambda: program(
        nest(kernel("double"), (3, 4), operand(0, (0, 1), (0, -1)))
    ),
    "too far along a diagonal": lambda: program(
        nest(kernel("double"), (3, 2), operand(0, (0, 0), (0, 0)))
    ),
    "overflow": lambda: program(
        nest(kernel("double"), (1 << 62, 4), operand(0, (0, 1), (1 << 62, 0)))
    ),
    "scratch too short": lambda: program(
        nest(kernel("double"), (4,), whole(~0, 1)), buffers=(scratch(0, 0, (3,)),)
    ),
    "scratch before its life": lambda: program(
        nest(kernel("double"), (3,), whole(~0, 1)),
        nest(kernel("double"), (3,), whole(~0, 1)),
        buffers=(scratch(1, 1, (3,)),),
    ),
    "a life without an end": lambda: program(
        nest(kernel("double"), (3,), whole(~0, 1)), buffers=(scratch(0, 1, (3,)),)
    ),
    "scratch too large": lambda: program(
        nest(kernel("double"), (3,), whole(~0, 1)), buffers=(scratch(0, 0, (1 << 61,)),)
    ),
    "bands without nests": lambda: words(0, 1, 0, 0),
    "too few nests in bands": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), bands=(0,)
    ),
    "too many nests in bands": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), bands=(1, 1)
    ),
    "rows along no dimension": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), turns=((2, 0, None, [0]),)
    ),
    "what moves without rows": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), turns=((-2, 0, None, [0]),)
    ),
    "a margin without rows": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)),
        turns=((-2, 0, Margin(0, 0), [None]),),
    ),
    "what moves along another dimension": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), turns=((1, 0, None, [0]),)
    ),
    "a shift that is too large": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), turns=((0, 1 << 40, None, [0]),)
    ),
    "a distance that is too large": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), turns=((0, 0, None, [1 << 40]),)
    ),
    "no item size": lambda: program(
        nest(kernel("double"), (3,), whole(~0, 1)), buffers=(scratch(0, 0, (3,), 0),)
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_program_is_refused_and_does_nothing(name: str) -> None:
    store = filled((3, 4), 1.0)
    before = program(nest(kernel("double"), (3, 4), whole(0, 2)))
    submit_program([store], [READ_WRITE], before)
    with pytest.raises(ValueError):
        submit_program([store], [READ_WRITE], INVALID[name]())
    np.testing.assert_array_equal(values_of(store), np.full((3, 4), 2.0))


INVALID_PARTITIONED: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "no nest": program,
    "two nests": lambda: program(*[nest(kernel("double"), (3, 4), whole(0, 2))] * 2),
    "scratch": lambda: program(
        nest(kernel("double"), (3, 4), whole(0, 2)), buffers=(scratch(0, 0, (3,)),)
    ),
    "words left": lambda: (
        program(nest(kernel("double"), (3, 4), whole(0, 2))) + words(0)
    ),
    "unknown kernel": lambda: program(nest(1 << 30, (3, 4), whole(0, 2))),
    "too many operands": lambda: program(
        nest(kernel("copy"), (3, 4), whole(0, 2), whole(1, 2))
    ),
    "no operands": lambda: program(nest(kernel("double"), (3, 4), written=0)),
    "an operand in scratch": lambda: program(
        nest(kernel("double"), (3, 4), whole(~0, 2))
    ),
    "wrong dimensionality": lambda: program(
        nest(kernel("double"), (3,), whole(0, 1)),
    ),
    "transposed": lambda: program(
        nest(kernel("double"), (4, 3), operand(0, (1, 0), (0, 0)))
    ),
    "repeated": lambda: program(
        nest(kernel("double"), (3, 4), operand(0, (0, -1), (0, 0)))
    ),
    "a part": lambda: program(
        nest(kernel("double"), (2, 4), operand(0, (0, 1), (1, 0)))
    ),
}


@pytest.mark.parametrize("name", INVALID_PARTITIONED)
def test_an_invalid_partitioned_program_is_refused(name: str) -> None:
    store = filled((3, 4), 1.0)
    with pytest.raises(ValueError):
        submit_program([store], [READ_WRITE], INVALID_PARTITIONED[name](), True)
    np.testing.assert_array_equal(values_of(store), np.ones((3, 4)))


def test_a_partitioned_program_leaves_no_array() -> None:
    store = filled((30, 40), 1.0)
    submit_program(
        [store],
        [READ_WRITE],
        program(nest(kernel("double"), (31, 50), whole(0, 2))),
        partitioned=True,
    )
    np.testing.assert_array_equal(values_of(store), np.full((30, 40), 2.0))


@pytest.mark.parametrize("privilege", [0, REDUCE, 255])
def test_a_program_reduces_to_no_argument(privilege: int) -> None:
    with pytest.raises(ValueError):
        submit_program([filled((), 0.0)], [privilege], program())


def test_reading_a_scalar_store_without_a_value_is_refused() -> None:
    future = RUNTIME.create_store(lc.float64, (), optimize_scalar=True)
    with pytest.raises(RuntimeError, match="uninitialized"):
        submit_program([future], [READ_WRITE], program())


# -- reductions of partitioned programs -------------------------------------------


def reduce(operator: str, target: Any, source: Any, *, kind: str | None = None) -> None:
    """Reduce a store to another; ``target`` is a view of the shape of ``source``."""
    code = int(getattr(real.ReductionOpKind, kind or operator.upper()))
    dtype = "bool" if source.type == lc.bool_ else FLOAT
    submit(reduction(operator, dtype), [target, source], [REDUCE + code, READ])


@pytest.mark.parametrize("scalar", [True, False])
@pytest.mark.parametrize(
    ("operator", "start", "function"),
    [("add", 5.0, np.sum), ("max", -3.0, np.max), ("min", 99.0, np.min)],
)
def test_reduction_to_one_element(
    operator: str, start: float, function: Callable[..., Any], scalar: bool
) -> None:
    x = random(37, 53)
    source, target = store_of(x), filled((1,), start, scalar=scalar)
    view = target.project(0, 0).promote(0, 37).promote(1, 53)
    reduce(operator, view, source)
    reduce(operator, view, source)
    # what the store held before is part of the result
    expected = function([start, *[function(x)] * 2])
    np.testing.assert_array_equal(values_of(target), [expected])


def test_reduction_by_multiplication() -> None:
    x = np.where(np.arange(300) % 60 == 0, 3.0, 1.0)
    target = filled((), 2.0, scalar=True)
    reduce("mul", target.promote(0, 300), store_of(x))
    assert float(values_of(target)) == 2.0 * 3.0**5


@pytest.mark.parametrize("trues", [0, 1, 300])
def test_reduction_of_bools(trues: int) -> None:
    source = store_of(np.arange(300) >= 300 - trues)
    any_, all_ = filled((), False, scalar=True), filled((), True, scalar=True)
    reduce("or", any_.promote(0, 300), source, kind="ADD")
    reduce("and", all_.promote(0, 300), source, kind="MUL")
    assert (bool(values_of(any_)), bool(values_of(all_))) == (trues > 0, trues == 300)


def test_operators_have_the_numbers_of_legate() -> None:
    for name, number in OPERATORS.items():
        alias = {"or": "ADD", "and": "MUL"}.get(name, name.upper())
        assert number == int(getattr(real.ReductionOpKind, alias))


def test_bools_are_not_reduced_with_or() -> None:
    """Legion registers no such operator, and would end the process."""
    target = filled((), False, scalar=True)
    with pytest.raises(RuntimeError, match="ADD"):
        reduce("or", target.promote(0, 300), store_of(np.ones(300, bool)))


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)])
def test_reduction_along_axes(axes: tuple[int, ...]) -> None:
    x = random(7, 9, 11)
    shape = tuple(extent for axis, extent in enumerate(x.shape) if axis not in axes)
    source, target = store_of(x), filled(shape, 2.0)
    view = target
    for axis in axes:
        view = view.promote(axis, x.shape[axis])
    reduce("add", view, source)
    np.testing.assert_array_equal(values_of(target), 2.0 + x.sum(axes))


def test_reduction_of_a_part_to_a_part() -> None:
    x = random(40, 50)
    source, target = store_of(x), filled((50,), 1.0)
    reduce(
        "add",
        target.slice(0, slice(2, 12)).promote(0, 20),
        source.slice(0, slice(10, 30)).slice(1, slice(5, 15)),
    )
    expected = np.ones(50)
    expected[2:12] += x[10:30, 5:15].sum(0)
    np.testing.assert_array_equal(values_of(target), expected)


@pytest.mark.parametrize("scalar", [True, False])
@pytest.mark.parametrize("extent", [0, 1, 300])
def test_reduction_of_few_elements(extent: int, scalar: bool) -> None:
    target = filled((1,), 1.0, scalar=scalar)
    reduce("add", target.project(0, 0).promote(0, extent), filled((extent,), 2.0))
    np.testing.assert_array_equal(values_of(target), [1.0 + 2.0 * extent])


def test_reduction_and_writing_in_one_task() -> None:
    x, y = random(30, 40), random(30, 40)
    arguments = [
        write(),
        *[
            Argument(FLOAT, reads=False, writes=False, reduces=operator)
            for operator in ("add", "max")
        ],
        read(),
        read(),
    ]
    builder = Builder(arguments, [])
    product = builder.op("mul", FLOAT, builder.load(3), builder.load(4))
    builder.store(0, product)
    builder.reduce(1, product)
    builder.reduce(2, builder.load(4))
    target, total = filled((30, 40), 0.0), filled((), 0.0, scalar=True)
    greatest = filled((40,), 0.0)
    views = [total.promote(0, 30).promote(1, 40), greatest.promote(0, 30)]
    kinds = real.ReductionOpKind
    submit(
        register(builder),
        [target, *views, store_of(x), store_of(y)],
        [WRITE, REDUCE + int(kinds.ADD), REDUCE + int(kinds.MAX), READ, READ],
    )
    np.testing.assert_array_equal(values_of(target), x * y)
    assert float(values_of(total)) == (x * y).sum()
    np.testing.assert_array_equal(values_of(greatest), y.max(0))


def test_reduction_to_a_scalar_store_without_a_value_is_refused() -> None:
    future = RUNTIME.create_store(lc.float64, (), optimize_scalar=True)
    with pytest.raises(RuntimeError, match="uninitialized"):
        reduce("add", future.promote(0, 300), filled((300,), 1.0))


# -- the launch policy -----------------------------------------------------------


def test_launch_policy() -> None:
    pieces, threshold = _native.launch_policy()
    target = RUNTIME.machine.preferred_target
    assert pieces == RUNTIME.machine.count(target)
    policy = lc.ParallelPolicy(
        overdecompose_factor=3, partitioning_threshold={target: threshold + 7}
    )
    with real.Scope(parallel_policy=policy):
        assert _native.launch_policy() == (3 * pieces, threshold + 7)
    with real.Scope(machine=RUNTIME.machine.slice(slice(0, 1))):
        assert _native.launch_policy() == (1, threshold)
    assert _native.launch_policy() == (pieces, threshold)


def test_threads_are_as_many_as_cpus() -> None:
    before = _native.set_num_threads(0)
    try:
        count = RUNTIME.machine.count(RUNTIME.machine.preferred_target)
        assert _native.num_threads() == count > 1
        with real.Scope(machine=RUNTIME.machine.slice(slice(0, 1))):
            assert _native.num_threads() == 1
        assert _native.set_num_threads(1) == 0
        assert _native.num_threads() == 1
    finally:
        _native.set_num_threads(before)
