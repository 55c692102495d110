# SPDX-License-Identifier: Apache-2.0
"""The text of what the passes make, for people and for tests.

Operations are named by their positions in the window. Of the groups each has a line,
and so has each launch: ``|`` separates its loop nests, and ``registers``, ``scratch``,
``hoisted`` and ``waits`` are what ``fusion/liveness.py`` has found::

    0 1 2
    3 5: its loop has another shape than the group's
    4 by itself: no kernel is known for this operation and these types

    fused: 0 1 2 | 3 5, scratch %1, registers %4
    partitioned: 6 7, hoisted 6
    original: 8

Kernels come after the arguments of a nest (``kernel/text.py``), and programs are
written as ``ir/program_text.py`` says. In the end a launch names arguments of its task
and buffers in scratch memory, with the nests that use them::

    fused
    argument %0.1 read write
    scratch %2.2 nests 0 1 circular 1
    never made %1.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from legate_diffuse.fusion.draft import Draft
from legate_diffuse.fusion.grouping import Grouping
from legate_diffuse.fusion.launches import Launch
from legate_diffuse.fusion.liveness import Liveness
from legate_diffuse.fusion.plan import PlannedLaunch
from legate_diffuse.fusion.tiles import TiledArgument
from legate_diffuse.ir import Privilege, View
from legate_diffuse.ir.nest import Nest
from legate_diffuse.ir.privilege import REDUCE
from legate_diffuse.ir.program_text import render_program
from legate_diffuse.ir.text import render, view_name
from legate_diffuse.kernel import print_kernel


def window(draft: Draft) -> str:
    """Return the text of the window before it gets new names."""
    return render(draft.window)


def renaming(draft: Draft) -> str:
    """Return the text of the window with new names."""
    return render(draft.renaming.window)


def groups(draft: Draft) -> str:
    """Return a line for each group."""
    return _lines(map(_group, draft.groups))


def launches(draft: Draft) -> str:
    """Return a line for each launch, with its liveness once that is known."""
    return _lines(_launch(each.launch, each.liveness) for each in draft.launches)


def kernels(draft: Draft) -> str:
    """Return the kernels of all nests."""
    return "".join(
        f"nest {number} shape {nest.shape}: {_accesses(nest)}\n"
        f"{print_kernel(nest.kernel)}"
        for each in draft.launches
        for number, nest in enumerate(each.nests)
    )


def copies(draft: Draft) -> str:
    """Return what the nests of all launches use, once points have copies."""
    return _lines(
        f"nest {nest.number} shape {nest.shape}: {_accesses(nest)}"
        for each in draft.launches
        for nest in each.nests
    )


def schedule(draft: Draft) -> str:
    """Return the schedules of all launches."""
    return "".join(render_program(each.program) for each in draft.launches)


def arguments(draft: Draft) -> str:
    """Return what each launch names."""
    names = _names(draft.window.views)
    return _lines(line for launch in draft.planned for line in _planned(launch, names))


def _group(group: Grouping) -> str:
    text = " ".join(map(str, group.tasks))
    text += "" if group.fused else " by itself"
    return text if group.refusal is None else f"{text}: {group.refusal.value}"


def _launch(launch: Launch, liveness: Liveness) -> str:
    groups = " | ".join(" ".join(map(str, group.tasks)) for group in launch.groups)
    dropped: set[int] = set().union(*(nest.dropped for nest in liveness.nests))
    hoisted, late = [*liveness.hoisted], [*liveness.late]
    for nest in liveness.nests:
        hoisted += nest.hoisted
        late += nest.late
    parts = [
        f"{_form(launch)}: {groups}",
        *(f"scratch %{store}" for store in sorted(liveness.scratch)),
        *(f"registers %{store}" for store in sorted(dropped - liveness.scratch)),
        *(f"hoisted {task}" for task in hoisted),
        *(f"late {task}" for task in late),
        *(f"waits {task}" for task in liveness.deferrable),
    ]
    return ", ".join(parts)


def _accesses(nest: Nest) -> str:
    return ", ".join(
        f"{access.privilege.text} {view_name(access.view)}" for access in nest.accesses
    )


def _form(launch: Launch | PlannedLaunch) -> str:
    if not launch.fused:
        return "original"
    return "partitioned" if launch.partitioned else "fused"


def _planned(launch: PlannedLaunch, names: dict[int, str]) -> Iterator[str]:
    yield _form(launch)
    for number, view in enumerate(launch.arguments):
        words = _privilege(launch.privileges[number])
        words += " moves" if number in launch.moved else ""
        if launch.tiling is not None:
            words += _image(launch.tiling.arguments[number])
        yield f"argument {names[view]} {words}"
    for view, first, last, spread, _ in launch.scratch:
        words = "" if spread is None else f" circular {spread}"
        yield f"scratch {names[view]} nests {first} {last}{words}"
    if launch.temporaries:
        yield f"never made {' '.join(names[view] for view in launch.temporaries)}"


def _image(argument: TiledArgument) -> str:
    """Return what points have of an argument, if that is not near their tiles."""
    if argument.image_of is not None:
        return f" image of {argument.image_of}"
    return " all" if argument.everywhere else ""


def _privilege(privilege: int) -> str:
    return Privilege(min(privilege, REDUCE)).text


def _names(views: Iterable[View]) -> dict[int, str]:
    return {view.id: view_name(view) for view in views}


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
