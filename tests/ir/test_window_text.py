# SPDX-License-Identifier: Apache-2.0
"""The text form of windows."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from window_reader import parse

from legate_diffuse.ir import (
    Access,
    IndexTask,
    OperationKind,
    Points,
    Privilege,
    Store,
    View,
    Window,
)
from legate_diffuse.ir.region import (
    BEGIN,
    END,
    REPEATED,
    SINGLE,
    WHOLE,
    Endpoint,
    Interval,
    Region,
    Zones,
    point,
)
from legate_diffuse.ir.text import render

HEADER = """
store %0 float64 live
store %1 float64 replicated constant
view %0.0 shape 0 many [:]
view %1.1 shape 0 many [] as (*)
"""
ADD = "BINARY_OP.ADD(float64, float64) -> (float64) shape 0: write %0.0, read %1.1"


ENDS = st.one_of(
    st.builds(Endpoint, st.just(BEGIN), st.integers(0, 9)),
    st.builds(Endpoint, st.just(END), st.integers(-9, 0)),
    st.builds(Endpoint, st.integers(0, 60), st.integers(-20, 20)),
)
INTERVALS = st.one_of(
    st.tuples(ENDS, ENDS).map(lambda ends: Interval(*ends)), st.builds(point, ENDS)
)
ZONES = st.lists(
    st.lists(st.integers(0, 60), min_size=1, max_size=3).map(tuple),
    min_size=2,
    max_size=4,
).map(Zones)


@st.composite
def regions(draw: st.DrawFn) -> tuple[Region | None, tuple[int, ...]]:
    """Draw a region and a view's dimensions, or none."""
    if draw(st.integers(0, 5)) == 0:
        return None, ()
    region = tuple(draw(st.lists(INTERVALS, max_size=3)))
    along = draw(st.permutations(range(len(region))))
    dims = along[: draw(st.integers(0, len(region)))]
    beside = draw(st.lists(st.sampled_from((REPEATED, SINGLE)), max_size=2))
    return region, tuple(draw(st.permutations([*dims, *beside])))


@st.composite
def views_of(draw: st.DrawFn, stores: list[Store]) -> View:
    """Draw a view of one of the stores."""
    region, dims = draw(regions())
    return View(
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from(stores)),
        draw(st.integers(0, 9)),
        draw(st.sampled_from(Points)),
        region,
        dims,
    )


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """Draw windows that need not make sense, but that the IR can hold."""
    numbers = st.integers(0, 10**6)
    flags = st.booleans()
    dtypes = st.sampled_from(("bool", "int8", "float32", "complex128"))
    names = st.text("ABZ019_", min_size=1, max_size=9)
    stores = draw(
        st.lists(
            st.builds(
                Store,
                numbers,
                dtypes,
                *[flags] * 5,
                zones=st.just(()) | st.lists(ZONES, min_size=1, max_size=2).map(tuple),
            ),
            min_size=1,
            max_size=5,
            unique_by=lambda store: store.id,
        )
    )
    views = draw(
        st.lists(
            views_of(stores),
            min_size=1,
            max_size=8,
            unique_by=lambda view: view.id,
        )
    )
    types = st.lists(dtypes, max_size=3).map(tuple)
    kinds = st.builds(OperationKind, names, st.just("") | names, types, types, types)
    accesses = st.lists(
        st.builds(
            Access,
            st.sampled_from((Privilege.READ, Privilege.WRITE, Privilege.REDUCE)),
            st.sampled_from(views),
            st.sampled_from(("", "add", "max", "and")),
        ),
        min_size=1,
        max_size=4,
    ).map(tuple)
    tasks = st.lists(
        st.builds(IndexTask, kinds, st.integers(0, 9), accesses), max_size=6
    )
    return Window(tuple(draw(tasks)), draw(st.integers(0, 3)))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(windows())
def test_text_reads_back_as_the_same_window(window: Window) -> None:
    assert parse(render(window)) == window


def test_a_window_prints_what_its_tasks_use_in_order_of_appearance() -> None:
    x = Store(4, "int32")
    mask = Store(1, "bool", live=False, single=True, undefined=True)
    total = Store(2, "int64", replicated=True)
    limit = Store(0, "int32", live=False, replicated=True, constant=True)
    whole = View(7, x, 0, Points.MANY, (WHOLE,), (0,))
    spread = View(2, limit, 0, Points.MANY, (), (REPEATED,))
    part = Interval(Endpoint(0, 2), Endpoint(END, -1))
    marked = View(5, mask, 0, Points.MANY, (part,), (0,))
    listed = View(3, x, 1, Points.ONE)
    result = View(8, total, 2, Points.ONE, ())
    less = OperationKind("BINARY_OP", "LESS", ("int32", "int32"), ("bool",))
    add_up = OperationKind("SCALAR_UNARY_RED", "SUM", ("int32",), ("int64",))
    clip = OperationKind("UNARY_OP", "CLIP", ("int32",), ("int32",), ("int32", "int32"))
    window = Window(
        (
            IndexTask(
                less,
                0,
                (
                    Access(Privilege.WRITE, marked),
                    Access(Privilege.READ, whole),
                    Access(Privilege.READ, spread),
                ),
            ),
            IndexTask(
                clip,
                1,
                (Access(Privilege.WRITE, listed), Access(Privilege.READ, listed)),
            ),
            IndexTask(
                add_up,
                0,
                (
                    Access(Privilege.REDUCE, result, "add"),
                    Access(Privilege.READ, whole),
                ),
            ),
        ),
        carried=1,
    )
    assert window.stores == (mask, x, limit, total)
    assert window.views == (marked, whole, spread, listed, result)
    assert render(window) == (
        "store %1 bool single undefined\n"
        "store %4 int32 live\n"
        "store %0 int32 replicated constant\n"
        "store %2 int64 live replicated\n"
        "view %1.5 shape 0 many [a+2:-1]\n"
        "view %4.7 shape 0 many [:]\n"
        "view %0.2 shape 0 many [] as (*)\n"
        "view %4.3 shape 1 one nonaffine\n"
        "view %2.8 shape 2 one []\n"
        "BINARY_OP.LESS(int32, int32) -> (bool) shape 0: "
        "write %1.5, read %4.7, read %0.2\n"
        "UNARY_OP.CLIP(int32)[int32, int32] -> (int32) shape 1: "
        "write %4.3, read %4.3\n"
        "SCALAR_UNARY_RED.SUM(int32) -> (int64) shape 0: "
        "reduce(add) %2.8, read %4.7\n"
        "carried 1\n"
    )


def test_reads_and_writes_keep_the_order_of_the_arguments() -> None:
    text = HEADER + "WHERE(int8) -> (int8) shape 0: read %1.1, write %0.0, read %0.0"
    (task,) = parse(text).tasks
    assert [view.id for view in task.reads] == [1, 0]
    assert [view.id for view in task.writes] == [0]


def test_comments_blank_lines_and_indentation_do_not_count() -> None:
    commented = f"# a window\n\n{HEADER}\n   {ADD}  # the sum\n  # end\n"
    assert parse(commented) == parse(HEADER + ADD)
    assert len(parse(commented).tasks) == 1


def test_nothing_is_an_empty_window() -> None:
    assert parse("") == parse("# nothing\n") == Window(())
    assert render(Window(())).strip() == ""


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("COPY(int8) -> (int8) shape 0: write %0.0, read %7.7", "%7.7 is not declared"),
        ("COPY(int8) -> (int8) shape 0: write %1.0", "%1.0 is not declared"),
        ("COPY(int8) -> (int8) shape 0: write %0.0, reed %1.1", "'reed %1.1' is not"),
        ("COPY(int8) -> (int8) shape 0: write %0.0, ", "'' is not an access"),
        ("COPY(int8) -> (int8): write %0.0", "neither a store, a view nor a task"),
        ("COPY(int8) shape 0: write %0.0", "neither a store, a view nor a task"),
        ("store %2 float64 alive", "neither a store, a view nor a task"),
        ("store %2", "neither a store, a view nor a task"),
        ("store two float64", "neither a store, a view nor a task"),
        ("store %0 float64", "store number 0 is declared already"),
        ("view %2.2 shape 0 many []", "store %2 is not declared"),
        ("view %0.1 shape 0 many []", "view number 1 is declared already"),
        ("view %0.2 shape 0 many [1:b:]", "'b:' is not a position"),
        ("view %0.2 shape 0 many [x y]", "'x y' is not a position"),
        ("view %0.2 shape 0 many [:] as (1)", "(1) are not dimensions of [:]"),
        ("view %0.2 shape 0 many [:] as (0, 0)", "(0, 0) are not dimensions of [:]"),
        ("view %0.2 shape 0 many [:] as (i)", "(i) are not dimensions of [:]"),
        ("store %2 int8 where a < B", "'B' is not a landmark"),
        ("view %0.2 shape 0 few []", "neither a store, a view nor a task"),
        ("view %0.2 shape 0 many affine", "neither a store, a view nor a task"),
        ("view %0.2 shape 0 many", "neither a store, a view nor a task"),
        ("view %0.2 shape 0 many [1:", "neither a store, a view nor a task"),
        ("COPY(int8) -> (int8) shape 0: reduce(+) %0.0", "'reduce(+) %0.0' is not"),
        ("COPY(int8) -> (int8) shape 0: write %0.0 tiled", "'write %0.0 tiled' is not"),
        ("view %0.2 many []", "neither a store, a view nor a task"),
        ("viewpoint", "neither a store, a view nor a task"),
    ],
)
def test_an_error_quotes_the_line_and_says_why(line: str, why: str) -> None:
    with pytest.raises(ValueError, match="cannot read this line of a window") as raised:
        parse(HEADER + line)
    assert repr(line.strip()) in str(raised.value)
    assert why in str(raised.value)
