# SPDX-License-Identifier: Apache-2.0
"""Plans and kernels have a bound; those that were used longest ago are forgotten."""

from __future__ import annotations

from process import run_alone

BEGIN = """
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
"""


def test_kernels_are_forgotten_and_made_again() -> None:
    program = """
for _ in range(2):
    for length in range(1, 21):
        expected = [n * 2.0**length + 2.0**length - 1.0 for n in range(4)]
        assert chain(length) == expected
        assert chain(1) == [1.0, 3.0, 5.0, 7.0]
        most = max(most, len(kernels))
counts = legate_diffuse.stats()
print(most, counts["failures"], counts["plans_made"])
"""
    done = run_alone(BEGIN + program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stderr) == (0, "")
    # the chain that is used all the time is planned once, the others twice
    assert done.stdout == "8 0 39\n"


def test_a_kernel_is_used_by_nested_work_while_it_is_forgotten() -> None:
    """A finalizer or a signal handler runs while the last tasks are waited for."""
    program = """
native = window.submitter.native
class Native:
    def __getattr__(self, name):
        return getattr(native, name)
    def call(self, *arguments):
        native.call(*arguments)
        window.submitter.native = native
        print(chain(1))
for length in range(1, 9):
    chain(length)
window.submitter.native = Native()
chain(9)
print(chain(1), legate_diffuse.stats()["failures"])
"""
    done = run_alone(BEGIN + program, LEGATE_DIFFUSE_SMALL_BYTES="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[1.0, 3.0, 5.0, 7.0]\n[1.0, 3.0, 5.0, 7.0] 0\n"
