# SPDX-License-Identifier: Apache-2.0
"""What a person needs to find out why a plan is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from legate_diffuse.ir.text import render

if TYPE_CHECKING:
    from legate_diffuse.ir.window import Window
    from legate_diffuse.proof.validator import Refutation


def report(window: Window, plan: Any, found: Refutation) -> str:
    """Return a window, its plan, and what the plan does wrong, as text."""
    instance = found.instance
    lines = [
        found.reason,
        f"at {instance.name}, run as {found.way}",
        "",
        "# the window",
        render(window).rstrip(),
        "",
        "# the extents",
        *(f"store %{store}: {extents}" for store, extents in instance.extents.items()),
        *(
            f"view %{store}.{number}: dims {view.layout.dims} low {view.layout.low} "
            f"extents {view.layout.extents}"
            for number, (store, view) in enumerate(
                zip(instance.stores, instance.views, strict=True)
            )
        ),
        *(f"shape {number}: {shape}" for number, shape in enumerate(instance.shapes)),
        "",
        "# the plan",
        *(_launch_text(launch) for launch in plan.launches),
    ]
    if found.expected is not None:
        lines += [
            "",
            f"# store %{found.store}: 1 where it is wrong",
            np.array2string(
                (found.expected != found.found).astype(int), threshold=4096
            ),
        ]
    return "\n".join(lines) + "\n"


def _launch_text(launch: Any) -> str:
    names = type(launch).__dataclass_fields__
    lines = [f"launch of tasks {launch.tasks}"]
    for name in names:
        if name in ("tasks", "groups", "nests", "written", "last_uses"):
            continue
        lines.append(f"  {name}: {getattr(launch, name)!r}")
    for number, nest in enumerate(launch.nests):
        lines.append(f"  nest {number}: operands {nest.operands}")
        lines.append(f"    arguments {nest.nest.arguments}")
        lines.append(f"    privileges {list(nest.nest.privileges)}")
        lines.append(f"    rows {nest.nest.rows} whole {nest.nest.whole}")
        lines.append(f"    turn {nest.turn}")
        lines.append(f"    kernel {nest.nest.kernel}")
    return "\n".join(lines)
