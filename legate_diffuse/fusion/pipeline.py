# SPDX-License-Identifier: Apache-2.0
"""The passes from a window to its plan, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from legate_diffuse.fusion import draft_text, verify
from legate_diffuse.fusion.arguments import plan_launch
from legate_diffuse.fusion.dead_tasks import dead_tasks
from legate_diffuse.fusion.division import divide_temporaries
from legate_diffuse.fusion.draft import Draft, Memos
from legate_diffuse.fusion.grouping import group_window
from legate_diffuse.fusion.launches import Launch, Placed, cut, form_launches
from legate_diffuse.fusion.legality import is_scalar_work
from legate_diffuse.fusion.liveness import Liveness, analyse_liveness
from legate_diffuse.fusion.localize import localize
from legate_diffuse.fusion.lowering import lower_nest
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.nest_rewriter import Rewritten
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.fusion.rematerialize import rematerialize_scalars
from legate_diffuse.fusion.renaming import Renaming, rename
from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.fusion.sinking import sink
from legate_diffuse.fusion.wrapping import compute_far_rows
from legate_diffuse.ir import IndexTask, Window
from legate_diffuse.ir.nest import Nest, Program, alone, numbered
from legate_diffuse.ir.verify import verify_window


def _window(draft: Draft) -> None:
    # in every run, as libraries say what their tasks do
    verify_window(draft.window)
    draft.dead = dead_tasks(draft.window, partial(covered, draft.meanings))


def _division(draft: Draft) -> None:
    draft.window = divide_temporaries(draft.window, draft.dead)


def _renaming(draft: Draft) -> None:
    draft.renaming = rename(
        draft.window, partial(copies, draft.meanings), draft.kept, draft.dead
    )


def _groups(draft: Draft) -> None:
    window, known = draft.renaming.window, partial(covered, draft.meanings)
    draft.groups = sink(window, group_window(window, known, draft.dead))


def _launches(draft: Draft) -> None:
    meanings = draft.meanings
    draft.launches = form_launches(
        draft.renaming.window,
        draft.groups,
        lambda task: meanings.traps(task.kind),
        draft.cuts,
        draft.memos.placed,
    )
    draft.kept |= _scattered(draft.renaming, draft.launches)


def _scalars(draft: Draft) -> None:
    draft.launches = rematerialize_scalars(draft.renaming.window, draft.launches)


def _liveness(draft: Draft) -> None:
    draft.liveness = analyse_liveness(draft.renaming.window, draft.launches)


def _kernels(draft: Draft) -> None:
    found = zip(draft.launches, draft.liveness, strict=True)
    draft.nests = tuple([tuple(_lower(draft, *each)) for each in found])


def _copies(draft: Draft) -> None:
    window = draft.renaming.window
    views = window.views
    free = 1 + max((n for v in views for n in (v.store.id, v.shape)), default=0)
    found = []
    for each in zip(draft.launches, draft.liveness, draft.nests, strict=True):
        rewritten = draft.memos.rewritten.of(
            each[:2], partial(_rewritten, draft, *each, free)
        )
        if rewritten is None:
            draft.cuts |= {cut(window, each[0], draft.cuts)}
        else:
            found.append(rewritten)
    draft.rewritten = tuple(found)


def _schedule(draft: Draft) -> None:
    found = zip(draft.launches, draft.liveness, draft.rewritten, strict=True)
    draft.programs = tuple(
        [
            draft.memos.programs.of(each[:2], partial(_program, each[0], each[2]))
            for each in found
        ]
    )


def _arguments(draft: Draft) -> None:
    planned = []
    found = zip(
        draft.launches, draft.liveness, draft.rewritten, draft.programs, strict=True
    )
    for each in found:
        one = draft.memos.planned.of(
            each[:2],
            partial(plan_launch, draft.window, draft.renaming, *each, draft.runs_rows),
        )
        if one is None:
            draft.cuts |= {cut(draft.renaming.window, each[0], draft.cuts)}
        else:
            planned.append(one)
    draft.planned = tuple(planned)


@dataclass(frozen=True, slots=True)
class Pass:
    """A step from a window to its plan.

    Attributes:
        name: what ``LEGATE_DIFFUSE_DUMP=pass`` calls it.
        run: does it.
        render: returns the text of what it has made.
        verify: raises ``ValueError`` if that breaks a rule. Windows and kernels are
            verified in every run.
    """

    name: str
    run: Callable[[Draft], None]
    render: Callable[[Draft], str]
    verify: Callable[[Draft], None] = lambda draft: None


PASSES: Final = (
    Pass("window", _window, draft_text.window),
    Pass("division", _division, draft_text.window, verify.window),
    Pass("renaming", _renaming, draft_text.renaming, verify.renaming),
    Pass("groups", _groups, draft_text.groups, verify.groups),
    Pass("launches", _launches, draft_text.launches, verify.launches),
    Pass("scalars", _scalars, draft_text.launches, verify.launches),
    Pass("liveness", _liveness, draft_text.launches, verify.liveness),
    Pass("kernels", _kernels, draft_text.kernels, verify.kernels),
    Pass("copies", _copies, draft_text.copies, verify.copies),
    Pass("schedule", _schedule, draft_text.schedule, verify.schedule),
    Pass("arguments", _arguments, draft_text.arguments, verify.arguments),
)

# The first pass that cuts are for.
_LAUNCHES: Final = [each.run for each in PASSES].index(_launches)

Watch = Callable[[Pass, Draft], None]
"""Takes a pass, and what has been made after it."""


def make_plan(
    window: Window,
    meanings: Meanings,
    watch: Watch | None = None,
    computes_gathered: bool = True,
    runs_rows: bool = False,
) -> Plan:
    """Analyse a window of operations with these meanings.

    ``watch`` is called after each pass (``fusion/README.md``). Points compute again
    what they gather if ``computes_gathered``. Nests whose rows are independent are
    found if they can run as a whole on one row after the other (``runs_rows``).
    """
    memos = Memos(Placed(computes_gathered))
    draft = Draft(window, meanings, Renaming(window), runs_rows, memos=memos)
    run_passes(draft, watch)
    return Plan(draft.planned, len(window.tasks))


def run_passes(
    draft: Draft, watch: Watch | None = None, passes: Sequence[Pass] = PASSES
) -> None:
    """Run all passes, and some of them again if one has found that it cannot go on.

    More names have to stay then, or a launch on several points becomes two.
    """
    kept, cuts = draft.kept, draft.cuts
    for each in passes:
        each.run(draft)
        if draft.kept != kept:
            # they were for the names that could not be
            draft.cuts = frozenset()
            draft.memos = Memos(draft.memos.placed.anew())
            return run_passes(draft, watch)
        if draft.cuts != cuts:
            return run_passes(draft, watch, PASSES[_LAUNCHES:])
        if watch is not None:
            watch(each, draft)


def verify_pass(step: Pass, draft: Draft) -> None:
    """Verify what a pass has made.

    Raises:
        ValueError: it breaks a rule; the message says which pass has made what.
    """
    try:
        step.verify(draft)
    except ValueError as error:
        raise ValueError(f"after the pass '{step.name}': {error}") from error


def copies(meanings: Meanings, task: IndexTask) -> bool:
    """Whether a task copies its input to its output."""
    return meanings.copies(task.kind)


def covered(meanings: Meanings, task: IndexTask) -> bool:
    """Whether a kernel can express a task.

    Scalar work may be folded into a nest of any shape, where it has no index.
    """
    if meanings.depends_on_index(task.kind) and is_scalar_work(task):
        return False
    return meanings.covers(task.kind)


def _scattered(renaming: Renaming, launches: Sequence[Launch]) -> frozenset[int]:
    """Return the stores whose tasks do not all run in one program."""
    programs = [
        set(one.tasks)
        for one in launches
        if one.fused and (one.tiled or not one.partitioned)
    ]
    return frozenset(
        store
        for store, tasks in renaming.families.items()
        if not any(tasks <= program for program in programs)
    )


def _lower(draft: Draft, launch: Launch, liveness: Liveness) -> Iterator[Nest]:
    """Yield the kernels of a launch.

    In a program scalar work that runs before or after a nest has nests of its own.
    """
    if not launch.fused:
        return
    tasks, lower = draft.renaming.window.tasks, draft.meanings.lower
    for group, dead in zip(launch.groups, liveness.nests, strict=True):
        hoisted, late = ((), ()) if launch.partitioned else (dead.hoisted, dead.late)
        for positions, dropped, scalar in (
            (hoisted, frozenset[int](), True),
            (group.tasks, dead.dropped, False),
            (late, frozenset[int](), True),
        ):
            if not positions:
                continue
            nest = draft.memos.nests.of(
                (positions, dropped, scalar),
                partial(
                    lower_nest,
                    {position: tasks[position] for position in positions},
                    dropped,
                    lower,
                    scalar=scalar,
                ),
            )
            if nest is not None:
                yield nest


def _rewritten(
    draft: Draft,
    launch: Launch,
    liveness: Liveness,
    nests: Sequence[Nest],
    free: int,
) -> Rewritten | None:
    """Return what the points of a launch run; new numbers begin with ``free``.

    Those nests that may run row by row need no bands.
    """
    scratch, undefined = liveness.scratch, liveness.undefined
    if launch.fused and not launch.partitioned and not draft.runs_rows:
        return compute_far_rows(nests, scratch, undefined, count(free))
    if not launch.tiled or not nests:
        return Rewritten(numbered(nests), scratch)
    return localize(
        nests, scratch, undefined, liveness.incomplete, liveness.last, count(free)
    )


def _program(launch: Launch, rewritten: Rewritten) -> Program:
    if launch.partitioned and not launch.tiled:
        return Program(tuple(map(alone, rewritten.nests)))
    return schedule(rewritten.nests, rewritten.scratch)
