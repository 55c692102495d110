# SPDX-License-Identifier: Apache-2.0
"""Windows before and after their stores have new names."""

from __future__ import annotations

import pytest
from launch_forms import ORIGINAL, WHOLE, form_of
from window_golden import copied
from window_reader import parse

from legate_diffuse.fusion.few_rows import FEW
from legate_diffuse.fusion.pipeline import make_plan, run_passes
from legate_diffuse.fusion.renaming import Renaming, rename
from legate_diffuse.fusion.root_users import Buffer
from legate_diffuse.ir import Window
from legate_diffuse.ir.verify import verify_window
from legate_diffuse.libraries.cupynumeric.meanings import MEANINGS

# Arrays that Legate does not partition: p is live, and written in two parts, its last
# row and the others; x and y are copies of it, q and r are dead, and written in the
# same parts. The columns of one view are not near the ends.
STORES = """
store %0 int8 live single
view %0.0 shape 0 many [:, :]
view %0.1 shape 1 many [:-1, :]
view %0.2 shape 1 many [-1:, :]
view %0.3 shape 1 many [1:, :]
view %0.4 shape 1 many [:, a:]
view %0.5 shape 0 many [:, :] as (1, 0)
store %1 int8 single undefined
view %1.10 shape 0 many [:, :]
view %1.11 shape 1 many [2:, :]
view %1.12 shape 1 many [1:, :]
view %1.14 shape 1 many [:, a:]
view %1.15 shape 0 many [:, :] as (1, 0)
store %2 int8 single undefined
view %2.20 shape 0 many [:, :]
view %2.21 shape 1 many [2:, :]
store %3 int8 single
view %3.30 shape 0 many [:, :]
view %3.31 shape 1 many [:-1, :]
view %3.32 shape 1 many [-1:, :]
view %3.33 shape 1 many [1:, :]
store %4 int8 live single
view %4.40 shape 0 many [:, :]
view %4.41 shape 1 many [1:, :]
store %5 int8 live
view %5.50 shape 0 many [:, :]
store %6 int8
view %6.60 shape 0 many [:, :]
view %6.61 shape 0 many [1:, :]
store %7 int8 live single
view %7.70 shape 0 many [:, :]
view %7.71 shape 2 many [1:-1, :]
view %7.72 shape 3 many [-1, :]
view %7.73 shape 3 many [-2, :]
view %7.74 shape 3 many [0, :]
view %7.75 shape 3 many [1, :]
store %8 int8 single undefined
view %8.80 shape 0 many [:, :]
view %8.81 shape 2 many [1:-1, :]
"""
COPY = "COPY(int8) -> (int8) shape 0: write %{}, read %{}\n"
PART = "COPY(int8) -> (int8) shape 1: write %{}, read %{}\n"
FILL = "FILL(int8) -> (int8) shape 0: write %{}\n"
ADD = "BINARY_OP.ADD(int8, int8) -> (int8) shape 1: write %{}, read %{}, read %{}\n"
SUM = "UNARY_RED.SUM(int8) -> (int8) shape 1: reduce(add) %{}, read %{}\n"
SORT = "SORT(int8) -> (int8) shape 1: write %{}, read %{}\n"


def window_of(text: str) -> Window:
    """Parse tasks over the stores above."""
    window = parse(STORES + text)
    verify_window(window)
    return window


def renamed(text: str, kept: frozenset[int] = frozenset()) -> list[str]:
    """Return what each task writes and reads in the window with new names.

    ``%a.3`` is the first of the new stores, in the layout of the original's view 3.
    """
    window = window_of(text)
    found = rename(window, copied, kept)
    verify_window(found.window)
    last = max(store.id for store in window.stores)
    lines = []
    for task in found.window.tasks:
        accesses = []
        for access in task.accesses:
            store, view = access.view.store.id, access.view.recorded
            name = str(store) if store <= last else "abcdefgh"[store - last - 1]
            privilege = access.privilege.name.lower()
            accesses.append(f"{privilege} %{name}.{view}")
        lines.append(", ".join(accesses))
    return lines


def unchanged(text: str) -> bool:
    """Whether all names stay."""
    window = window_of(text)
    return rename(window, copied) == Renaming(window)


def sweep(copy: int, array: int = 0) -> str:
    """Return an update of an array from a copy of itself."""
    a = array * 10
    return (
        COPY.format(f"{copy}.{copy}0", f"{array}.{a}")
        + ADD.format(f"{array}.{a + 1}", f"{copy}.{copy}1", f"{copy}.{copy}1")
        + PART.format(f"{array}.{a + 2}", f"{array}.{a + 1}")
    )


# -- copies ------------------------------------------------------------------------
def test_two_sweeps_over_an_array_write_another_one_and_it_again() -> None:
    assert renamed(sweep(1) + sweep(2)) == [
        "write %a.10, read %0.0",
        "write %c.1, read %0.11, read %0.11",
        "write %c.2, read %c.1",
        "write %b.20, read %c.0",
        "write %0.1, read %c.21, read %c.21",
        "write %0.2, read %0.1",
    ]


def test_rows_beside_walls_may_be_copied_from_their_neighbours() -> None:
    walled = COPY.format("8.80", "7.70") + "".join(
        f"COPY(int8) -> (int8) shape {shape}: write %7.7{a}, read %{b}\n"
        for shape, a, b in ((2, 1, "8.81"), (3, 2, "7.73"), (3, 4, "7.75"))
    )
    assert renamed(2 * walled) == [
        "write %a.80, read %7.70",
        "write %c.71, read %7.71",
        "write %c.72, read %c.73",
        "write %c.74, read %c.75",
        "write %b.80, read %c.70",
        "write %7.71, read %c.71",
        "write %7.72, read %7.73",
        "write %7.74, read %7.75",
    ]


def test_three_sweeps_have_two_names_between() -> None:
    assert renamed(sweep(1) + sweep(2) + sweep(1)) == [
        "write %a.10, read %0.0",
        "write %d.1, read %0.11, read %0.11",
        "write %d.2, read %d.1",
        "write %b.20, read %d.0",
        "write %e.1, read %d.21, read %d.21",
        "write %e.2, read %e.1",
        "write %c.10, read %e.0",
        "write %0.1, read %e.11, read %e.11",
        "write %0.2, read %0.1",
    ]


def test_four_sweeps_take_turns_with_one_other_array() -> None:
    assert renamed(sweep(1) + sweep(2) + sweep(1) + sweep(2)) == [
        "write %a.10, read %0.0",
        "write %e.1, read %0.11, read %0.11",
        "write %e.2, read %e.1",
        "write %b.20, read %e.0",
        "write %0.1, read %e.21, read %e.21",
        "write %0.2, read %0.1",
        "write %c.10, read %0.0",
        "write %e.1, read %0.11, read %0.11",
        "write %e.2, read %e.1",
        "write %d.20, read %e.0",
        "write %0.1, read %e.21, read %e.21",
        "write %0.2, read %0.1",
    ]


def test_a_name_is_not_taken_again_while_a_copy_is_read() -> None:
    late = PART.format("4.41", "1.11")
    text = sweep(1) + sweep(2) + late + sweep(1) + sweep(2)
    assert renamed(text)[4] == "write %f.1, read %e.21, read %e.21"
    assert renamed(text)[6] == "write %4.41, read %0.11"
    assert renamed(text)[-1] == "write %0.2, read %0.1"


def test_one_sweep_over_an_array_that_lives_on_needs_its_copy() -> None:
    assert unchanged(sweep(1))


def test_what_is_needed_at_the_end_only_under_a_new_name_needs_no_copy() -> None:
    assert renamed(sweep(1, array=3) + PART.format("4.41", "3.33")) == [
        "write %a.10, read %3.30",
        "write %b.31, read %3.11, read %3.11",
        "write %b.32, read %b.31",
        "write %4.41, read %b.33",
    ]


def test_new_names_keep_what_is_known_of_their_views() -> None:
    window = window_of(sweep(1) + sweep(2))
    found = rename(window, copied)
    new = {v.id: v for v in found.window.views if v.recorded != v.id}
    by_layout = {view.recorded: view for view in new.values()}
    of_window = {view.id: view for view in window.views}
    assert all(by_layout[n].region == of_window[n].region for n in by_layout)
    stores = {view.store for view in new.values() if view.store.id != 0}
    assert all(s.single and s.undefined and not s.live for s in stores)
    assert found.families == {0: {0, 1, 2}, 1: {0, 1}, 2: {0, 2}}
    assert all(set(window.users[store]) < set(range(6)) for store in (1, 2))
    assert window.users[0] == list(range(6))


def test_a_copy_of_what_does_not_change_meanwhile_is_the_array_itself() -> None:
    assert renamed(COPY.format("1.10", "0.0") + PART.format("4.41", "1.11")) == [
        "write %a.10, read %0.0",
        "write %4.41, read %0.11",
    ]


def test_all_of_a_copy_is_all_of_its_source() -> None:
    text = COPY.format("1.10", "0.0") + COPY.format("4.40", "1.10")
    assert renamed(text) == ["write %a.10, read %0.0", "write %4.40, read %0.0"]


def test_the_source_may_change_after_the_last_use() -> None:
    text = COPY.format("1.10", "0.0") + PART.format("4.41", "1.11")
    assert renamed(text + SUM.format("0.4", "4.41"))[1] == "write %4.41, read %0.11"


STAYS = {
    "a part of the source is not written": COPY.format("1.10", "3.30")
    + ADD.format("3.31", "1.11", "1.12")
    + PART.format("4.41", "3.33"),
    "a part of the source is read before it is written": COPY.format("1.10", "3.30")
    + ADD.format("3.31", "1.11", "3.32")
    + PART.format("3.32", "3.33"),
    "the source is reduced to": COPY.format("1.10", "3.30")
    + SUM.format("3.31", "1.11")
    + PART.format("3.31", "1.11")
    + PART.format("3.32", "1.11"),
    "the source lives on and is not all written": COPY.format("1.10", "4.40")
    + PART.format("4.41", "1.11"),
    "the copy is read through a view whose landmarks are its own": COPY.format(
        "1.10", "0.0"
    )
    + PART.format("4.41", "1.14"),
    "the copy can be read after the window": COPY.format("4.40", "0.0")
    + PART.format("1.11", "4.41"),
    "the copy changes": COPY.format("1.10", "0.0")
    + PART.format("1.11", "4.41")
    + PART.format("4.41", "1.12"),
    "the copy is reduced to": COPY.format("1.10", "0.0")
    + SUM.format("1.11", "4.41")
    + PART.format("4.41", "1.12"),
    "the source is transposed": COPY.format("1.10", "0.5")
    + PART.format("4.41", "1.11"),
    "the copy is transposed": COPY.format("1.15", "0.0") + PART.format("4.41", "1.11"),
    "it is no copy": "UNARY_OP.NEGATIVE(int8) -> (int8) shape 0: write %1.10, read %0.0"
    + "\n"
    + PART.format("4.41", "1.11"),
    "the source alone is partitioned": COPY.format("1.10", "5.50")
    + PART.format("4.41", "1.11"),
    "the copy alone is partitioned": COPY.format("6.60", "0.0")
    + COPY.format("4.40", "6.61"),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_a_copy_stays_where(text: str) -> None:
    assert unchanged(text)


def test_what_is_copied_on_keeps_its_name() -> None:
    text = COPY.format("1.10", "0.0") + COPY.format("2.20", "1.10")
    assert renamed(text + PART.format("4.41", "2.21")) == [
        "write %a.10, read %0.0",
        "write %2.20, read %0.0",
        "write %4.41, read %2.21",
    ]


def test_a_copy_that_is_used_after_the_next_sweep_stays() -> None:
    """The array's own name would be written while it is still read."""
    assert unchanged(sweep(1) + sweep(2) + PART.format("4.41", "1.11"))


# -- fills -------------------------------------------------------------------------
def test_a_fill_that_is_overwritten_where_it_is_read_is_not_needed() -> None:
    parts = PART.format("3.31", "0.1") + PART.format("4.41", "3.31")
    assert renamed(FILL.format("3.30") + parts) == [
        "write %a.30",
        "write %3.31, read %0.1",
        "write %4.41, read %3.31",
    ]


def test_so_is_one_that_is_overwritten_for_good() -> None:
    text = FILL.format("0.0") + PART.format("0.1", "4.41") + PART.format("0.2", "4.41")
    assert renamed(text)[0] == "write %a.0"


NEEDED = {
    "another part is read": PART.format("3.31", "0.1") + PART.format("4.41", "3.33"),
    "it is read before": PART.format("4.41", "3.31") + PART.format("3.31", "0.1"),
    "it is reduced to": SUM.format("3.31", "0.1") + PART.format("4.41", "3.31"),
}


@pytest.mark.parametrize("text", NEEDED.values(), ids=NEEDED)
def test_a_fill_stays_where(text: str) -> None:
    assert unchanged(FILL.format("3.30") + text)


def test_a_fill_stays_where_a_part_of_it_lives_on() -> None:
    assert unchanged(FILL.format("0.0") + PART.format("0.1", "4.41"))


# Each row but the last becomes the next one.
ROWS = """
store %0 int8 live
view %0.0 shape 0 many [:, :]
view %0.1 shape 1 many [:-1, :]
view %0.2 shape 2 many [-1, :]
store %1 int8 undefined
view %1.10 shape 0 many [:, :]
view %1.11 shape 1 many [1:, :]
view %1.12 shape 2 many [-1, :]
"""
SHIFT = (
    COPY.format("1.10", "0.0")
    + PART.format("0.1", "1.11")
    + "COPY(int8) -> (int8) shape 2: write %0.2, read %1.12\n"
)


# -- launches ------------------------------------------------------------------------
def test_names_stay_where_tasks_run_as_they_were_submitted() -> None:
    text = sweep(1) + SORT.format("4.41", "0.1") + sweep(2)
    assert not unchanged(text)
    window = window_of(text)
    draft = run_passes(window, MEANINGS)
    assert draft.renaming == Renaming(window)
    assert [form_of(launch) for launch in draft.planned] == [
        WHOLE,
        ORIGINAL,
        WHOLE,
    ]


def test_names_stay_where_points_cannot_run_all_sweeps_in_one_task() -> None:
    """Cuts that were made for the new names are not made again."""
    window = parse(ROWS + SHIFT * 2 * FEW)
    draft = run_passes(window, MEANINGS)
    assert draft.renaming == Renaming(window)
    assert len(draft.launches) > 1
    assert all(launch.partitioned for launch in draft.planned)


def test_points_write_other_arrays_too_instead_of_copying() -> None:
    window = parse(STORES.replace(" single", "") + sweep(1) + sweep(2))
    draft = run_passes(window, MEANINGS)
    (launch,) = draft.launches
    assert launch.launch.partitioned
    assert launch.launch.tasks == tuple(range(6))
    # no copies, and a sweep is one loop
    assert len([nest for nest in launch.nests if nest.tasks]) == 2


def test_a_plan_has_no_nests_for_what_has_a_new_name() -> None:
    text = sweep(1) + sweep(2)
    (launch,) = make_plan(window_of(text), MEANINGS).launches
    assert launch.tasks == tuple(range(6))
    # what sweeps write and read, in the layouts of the window's views
    assert [nest.nest.arguments for nest in launch.nests] == [
        (1, 11),
        (2, 1),
        (1, 21),
        (2, 1),
    ]
    assert [nest.operands for nest in launch.nests] == [
        (-1, 0),
        (-1, -1),
        (0, -1),
        (0, 0),
    ]
    assert launch.arguments == (0,)
    assert launch.privileges == bytes([3])
    assert launch.scratch == (Buffer(1, 0, 2, 1),)
    assert launch.temporaries == (10, 20)
