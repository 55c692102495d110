# SPDX-License-Identifier: Apache-2.0
"""Plans and kernels have a bound; those that were used longest ago are forgotten."""

from __future__ import annotations

from process import run_python


def test_kernels_are_forgotten_and_made_again() -> None:
    program = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import legate_diffuse.launch.submission as submission
from legate_diffuse.interpose.window import window
submission.MAX_KERNELS = 8
kernels = window.submitter._kernels
most = 0
def chain(length):
    x = cn.arange(4.0)
    for _ in range(length):
        x = x * 2.0 + 1.0
    return x.tolist()
for _ in range(2):
    for length in range(1, 21):
        expected = [n * 2.0**length + 2.0**length - 1.0 for n in range(4)]
        assert chain(length) == expected
        assert chain(1) == [1.0, 3.0, 5.0, 7.0]
        most = max(most, len(kernels))
counts = legate_diffuse.stats()
print(most, counts["failures"], counts["plans_made"])
"""
    done = run_python(program)
    assert (done.returncode, done.stderr) == (0, "")
    # the chain that is used all the time is planned once, the others twice
    assert done.stdout == "8 0 39\n"
