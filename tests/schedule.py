# SPDX-License-Identifier: Apache-2.0
"""Hands out files of tests to processes, in their order."""

from __future__ import annotations

from typing import Final

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

SHARE: Final = {
    "tests/apps/test_bench.py": "tests/apps/test_apps.py",
    "tests/codegen/test_operations.py": "tests/codegen/gpu/test_gpu_operations.py",
}
"""What these share is made once for a process: runs of applications, and kernels."""


class Files(LoadScopeScheduling):
    """Gives a process one file after the other, with those that share something."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return SHARE.get(file, file)

    def remove_node(self, node: WorkerController) -> str | None:
        """Give others what a process has left that ends; return the test it ended in.

        ``LoadScopeScheduling`` gives them the files that were done, too. A process that
        gets one when it has nothing else, or one last test, waits for more for ever.
        And the test would run again, in one process after the other.
        """
        files = self.assigned_work.pop(node)
        left = {file: tests for file, tests in files.items() if not all(tests.values())}
        if not left:
            return None
        tests = next(iter(left.values()))
        ended_in = next(test for test, done in tests.items() if not done)
        tests[ended_in] = True
        self.workqueue.update(
            (file, tests) for file, tests in left.items() if not all(tests.values())
        )
        for other in self.assigned_work:
            self._reschedule(other)
        return ended_in
