# SPDX-License-Identifier: Apache-2.0
"""The passes from a window to its plan, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from legate_diffuse.fusion import draft_text, verify
from legate_diffuse.fusion.arguments import plan_launch
from legate_diffuse.fusion.dead_tasks import never_made, without_dead_tasks
from legate_diffuse.fusion.division import divide_small_arrays
from legate_diffuse.fusion.draft import Draft, LaunchDraft
from legate_diffuse.fusion.grouping import group_window, with_refusals
from legate_diffuse.fusion.launches import Launch, cut, form_launches
from legate_diffuse.fusion.liveness import analyse_liveness
from legate_diffuse.fusion.localize import localize
from legate_diffuse.fusion.lowering import lower_nest
from legate_diffuse.fusion.meanings import Meanings
from legate_diffuse.fusion.memo import Memo
from legate_diffuse.fusion.plan import Plan
from legate_diffuse.fusion.rematerialize import rematerialize_scalars
from legate_diffuse.fusion.renaming import Renaming, rename
from legate_diffuse.fusion.schedule import schedule
from legate_diffuse.fusion.sinking import sink
from legate_diffuse.fusion.wrapping import compute_far_rows
from legate_diffuse.ir import IndexTask, OperationKind, Window
from legate_diffuse.ir.nest import Nest, Program, alone, numbered
from legate_diffuse.ir.verify import verify_window


def _window(draft: Draft) -> Draft:
    # in every run, as libraries say what their tasks do
    verify_window(draft.window)
    window = without_dead_tasks(draft.window, partial(covered, draft.meanings))
    return draft._replace(window=window)


def _division(draft: Draft) -> Draft:
    window = divide_small_arrays(draft.window, partial(covered, draft.meanings))
    return draft._replace(window=window)


def _renaming(draft: Draft) -> Draft:
    is_copy = partial(copies, draft.meanings)
    renaming = rename(draft.window, is_copy, draft.kept)
    return draft._replace(renaming=renaming)


def _groups(draft: Draft) -> Draft:
    window, known = draft.renaming.window, partial(covered, draft.meanings)
    groups = sink(group_window(window, known))
    return draft._replace(groups=with_refusals(groups, known))


def _launches(draft: Draft) -> Draft:
    launches = form_launches(
        draft.renaming.window,
        draft.groups,
        lambda task: draft.traps(task.kind) or draft.meanings.traps(task.kind),
        draft.cuts,
        draft.memo,
    )
    return draft._replace(
        launches=tuple(map(LaunchDraft, launches)),
        kept=draft.kept | _scattered(draft, launches),
    )


def _scalars(draft: Draft) -> Draft:
    launches = [each.launch for each in draft.launches]
    more = rematerialize_scalars(draft.renaming.window, launches)
    return draft._replace(launches=tuple(map(LaunchDraft, more)))


def _liveness(draft: Draft) -> Draft:
    launches = [each.launch for each in draft.launches]
    liveness = analyse_liveness(draft.renaming.window, launches)
    return draft._replace(launches=tuple(map(LaunchDraft, launches, liveness)))


def _on_each_launch(
    change: Callable[[Draft, LaunchDraft], LaunchDraft | None],
) -> Callable[[Draft], Draft]:
    """Return a pass that changes each launch; those that it cannot are cut."""

    def run(draft: Draft) -> Draft:
        launches, cuts = [], draft.cuts
        for each in draft.launches:
            key = change, each.launch, each.liveness
            changed = draft.memo.of(key, partial(change, draft, each))
            if changed is None:
                cuts |= {cut(draft.renaming.window, each.launch, cuts)}
            else:
                launches.append(changed)
        return draft._replace(launches=tuple(launches), cuts=cuts)

    return run


@_on_each_launch
def _kernels(draft: Draft, each: LaunchDraft) -> LaunchDraft:
    """Lower the groups of a launch.

    In a program scalar work that runs before or after a nest has nests of its own.
    """
    if not each.launch.fused:
        return each
    nests = []
    for group, live in zip(each.launch.groups, each.liveness.nests, strict=True):
        for tasks, dropped, scalar in (
            (live.hoisted, frozenset[int](), True),
            (group.tasks, live.dropped, False),
            (live.late, frozenset[int](), True),
        ):
            # launches that were cut have most of their nests in common
            key = tasks, dropped, scalar
            nest = draft.memo.of(key, partial(_lowered, draft, *key))
            if nest is not None:
                nests.append(nest)
    return each._replace(nests=tuple(nests))


def _lowered(
    draft: Draft, positions: Sequence[int], dropped: frozenset[int], scalar: bool
) -> Nest | None:
    tasks = {position: draft.renaming.window.tasks[position] for position in positions}
    if not tasks:
        return None
    return lower_nest(tasks, dropped, draft.meanings.lower, scalar=scalar)


@_on_each_launch
def _copies(draft: Draft, each: LaunchDraft) -> LaunchDraft | None:
    """Compute again what the points or the nests of a launch would wait for.

    Those nests that may run row by row need no bands.
    """
    launch, window = each.launch, draft.renaming.window
    numbers = count(draft.memo.of(_unused, partial(_unused, window)))
    live = each._replace(nests=numbered(each.nests), scratch=each.liveness.scratch)
    if launch.fused and not launch.partitioned and not draft.runs_rows:
        return compute_far_rows(live, numbers)
    if launch.tiled and live.nests:
        return localize(live, numbers)
    if launch.partitioned:
        # its points have what is aligned with them
        return live._replace(program=Program(tuple(map(alone, live.nests))))
    return live


def _unused(window: Window) -> int:
    """Return a number so that no store and no shape of a window has it or more."""
    return 1 + max([n for v in window.views for n in (v.store.id, v.shape)], default=0)


@_on_each_launch
def _schedule(_: Draft, each: LaunchDraft) -> LaunchDraft:
    program = each.program
    if not program.bands:
        program = schedule(each.nests, each.scratch)
    return each._replace(program=program)


@_on_each_launch
def _arguments(draft: Draft, each: LaunchDraft) -> LaunchDraft | None:
    planned = plan_launch(draft.window, draft.renaming, each, runs_rows=draft.runs_rows)
    return None if planned is None else each._replace(planned=planned)


@dataclass(frozen=True, slots=True)
class Pass:
    """A step from a window to its plan.

    Attributes:
        name: what ``LEGATE_DIFFUSE_DUMP=pass`` calls it.
        run: returns what it makes of what those before it have made.
        render: returns the text of what it has made.
        verify: raises ``ValueError`` if that breaks a rule. Windows and kernels are
            verified in every run.
    """

    name: str
    run: Callable[[Draft], Draft]
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
    runs_rows: bool = False,
    traps: Callable[[OperationKind], bool] = lambda kind: False,
) -> Plan:
    """Analyse a window of operations with these meanings.

    ``watch`` is called after each pass (``fusion/README.md``). Nests whose rows are
    independent are found if they can run as a whole on one row after the other
    (``runs_rows``). ``traps`` tells of which operations, besides those that their
    meanings name, no original task must run if a kernel can instead.
    """
    made = run_passes(window, meanings, watch, runs_rows, traps)
    return Plan(made.planned, len(window.tasks), never_made(made.window))


def run_passes(
    window: Window,
    meanings: Meanings,
    watch: Watch | None = None,
    runs_rows: bool = False,
    traps: Callable[[OperationKind], bool] = lambda kind: False,
) -> Draft:
    """Run all passes, and some of them again if one has found that it cannot go on.

    More names have to stay then, or a launch on several points becomes two. The
    arguments are those of ``make_plan``.
    """
    draft = Draft(window, meanings, Renaming(window), Memo(), runs_rows, traps)
    passes: tuple[Pass, ...] = PASSES
    while passes:
        step, *rest = passes
        made = step.run(draft)
        if made.kept != draft.kept:
            # cuts were for the names that could not be
            draft = draft._replace(kept=made.kept, cuts=frozenset(), memo=Memo())
            passes = PASSES
        elif made.cuts != draft.cuts:
            draft = draft._replace(cuts=made.cuts)
            passes = PASSES[_LAUNCHES:]
        else:
            draft, passes = made, tuple(rest)
            if watch is not None:
                watch(step, draft)
    return draft


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
    if task.scalar and meanings.depends_on_index(task.kind):
        return False
    return meanings.covers(task.kind)


def _scattered(draft: Draft, launches: Sequence[Launch]) -> frozenset[int]:
    """Return the stores whose users do not all run in one program."""
    users, families = draft.window.users, draft.renaming.families
    program_of = {
        position: number
        for number, one in enumerate(launches if families else ())
        if one.fused and (one.tiled or not one.partitioned)
        for position in one.tasks
    }
    programs = {
        store: {program_of.get(position, -1) for position in users[store]}
        for store in families
    }
    return frozenset(
        store
        for store, family in families.items()
        if -1 in (own := set().union(*[programs[each] for each in family]))
        or len(own) > 1
    )
