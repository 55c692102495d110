# SPDX-License-Identifier: Apache-2.0
"""Records the programs that applications submit on GPUs: for ``on_fake_gpus.py``.

Its arguments are a file of JSON, the command line of each application by case, and the
file to write. The driver may leave out what kernels compute.
"""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from legate.core import get_legate_runtime
from recordings import Argument, Recorded, Recording

from legate_diffuse.kernel.ir import Kernel, RowProgram
from legate_diffuse.launch import kernels, steps
from legate_diffuse.stores.layout import whole
from legate_diffuse.stores.view import over

HERE: Final = Path(__file__).parent
APPS: Final = HERE.parent / "apps"


class Recorder:
    """Notes which kernels are registered, and which programs are submitted."""

    def __init__(self) -> None:
        self.kernels: dict[int, Kernel | RowProgram] = {}
        self.programs: dict[Recorded, int] = {}

    def watch_kernels(self, table: Any) -> None:
        """Watch the table of kernels."""
        find, find_rows = table.find, table.find_rows

        def found(table: Any, asked: Sequence[Kernel], *how: Any) -> Any:
            numbers = find(table, asked, *how)
            self.kernels |= {
                number: kernel
                for kernel, number in zip(asked, numbers, strict=True)
                if number is not None
            }
            return numbers

        def found_rows(table: Any, program: RowProgram) -> int:
            number: int = find_rows(table, program)
            self.kernels[number] = program
            return number

        table.find, table.find_rows = found, found_rows

    def watch_programs(self, step: Any) -> None:
        """Watch what runs fused operations."""
        run: Callable[..., None] = step.run

        def noted(one: Any, *passed: Any) -> None:
            run(one, *passed)
            launch = one.launch
            if not launch.nests or one._is_here:
                return
            assert launch.tiling is None, "one GPU has no tiles"
            views = [one.views[n] for n in launch.arguments]
            if launch.partitioned:
                shape = one.shapes[launch.nests[0].lowered.shape]
                layouts = [over(view, shape).layout for view in views]
            else:
                layouts = [whole(view.root.shape) for view in views]
            arguments = tuple(
                Argument(
                    str(view.root.dtype),
                    tuple(view.root.shape),
                    int(privilege),
                    view.root.scalar_storage,
                    tuple(layout.dims),
                    tuple(layout.low),
                )
                for view, layout, privilege in zip(
                    views, layouts, launch.privileges, strict=True
                )
            )
            recorded = Recorded(launch.written.program, arguments)
            self.programs[recorded] = self.programs.get(recorded, 0) + 1

        step.run = noted

    def take(self) -> dict[Recorded, int]:
        """Return the programs since the last time, and how often each was submitted."""
        get_legate_runtime().issue_execution_fence(block=True)
        taken, self.programs = self.programs, {}
        return taken


def main() -> None:
    """Run all cases, each as a program of its own but for the process."""
    recorder = Recorder()
    recorder.watch_kernels(kernels.KernelTable)
    recorder.watch_programs(steps.FusedStep)
    sys.path.insert(0, str(APPS))
    commands, output = sys.argv[1:]
    cases = {}
    for case, (app, *arguments) in json.loads(Path(commands).read_text()).items():
        folder = HERE if app == "sums" else APPS
        sys.argv = [str(folder / f"{app}.py"), *arguments]
        with (
            contextlib.redirect_stdout(io.StringIO()),
            # an idle driver computes no numbers
            contextlib.suppress(ArithmeticError),
        ):
            runpy.run_path(sys.argv[0], run_name="__main__")
        cases[case] = recorder.take()
        print(case, sorted(cases[case].values()), flush=True)
        # what comes next may take too long
        recording = Recording(recorder.kernels, cases)
        Path(output).write_bytes(pickle.dumps(recording))


if __name__ == "__main__":
    main()
