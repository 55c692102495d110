# SPDX-License-Identifier: Apache-2.0
"""What is pending takes little more memory than the program itself would.

Programs run in workers, see ``test_small_arrays.py``.
"""

from __future__ import annotations

import pytest
from process import run_alone
from test_small_arrays import BEGIN, PATH, run_begun, run_here

# The sum of each array is needed before the next loop over it, so a launch that runs
# all first loops before the second ones would have all arrays at once.
NORMALIZED = """
def normalized(n, steps, size=1000000):
    x = n.arange(float(size)) + 1.0
    total = n.zeros(size)
    for k in range(steps):
        t = x * (k + 1.0)
        total += t / t.max()
    return [total]
"""


@pytest.mark.parametrize("cpus", [1, 2])
def test_launch_of_many_large_temporaries_is_split(cpus: int) -> None:
    run_here(
        NORMALIZED
        + """
found = counts(lambda: normalized(cn, 20).pop().sum())
assert found["launches_split"] > 0 == found["failures"], found
assert found["tasks_submitted"] < 20, found
agree(lambda n: normalized(n, 20))
""",
        # what other programs did decides whether points divide arrays
        fresh=True,
        LEGATE_CONFIG=f"--cpus {cpus} --gpus 0 --sysmem 1000",
    )


def test_launch_of_few_or_small_temporaries_is_not() -> None:
    run_here(
        NORMALIZED
        + """
def few(n):
    return normalized(n, 3)
def small(n):
    return normalized(n, 20, 100000)
def needed(n):
    # the program itself has all of them at once
    x = n.arange(1000000.0) + 1.0
    parts = [x * k for k in range(12)]
    largest = [part.max() for part in parts]
    total = n.zeros(1000000)
    for part, most in zip(parts, largest):
        total += part / (1.0 + most)
    return [total]
for program in (few, small, needed):
    found = counts(lambda: program(cn).pop().sum())
    assert found["launches_split"] == 0 < found["groups"], (program, found)
    agree(program)
"""
    )


def test_part_leaves_what_is_used_later() -> None:
    """Arrays that cross the cut, those that stay alive, and waiting operations."""
    run_here(
        """
def program(n):
    x = n.arange(1000000.0) + 1.0
    y, kept, sums = n.zeros(1000000), [], []
    first = x * 0.5
    for k in range(16):
        t = x + k
        y[1:] += t[:-1] / t.max()
        sums.append(t.sum())
        if k % 5 == 0:
            kept.append(t)
    y += first
    return [y, *kept, *sums]
found = counts(lambda: program(cn)[0].sum())
assert found["launches_split"] > 0 == found["failures"], found
for one, other in zip(program(cn), program(np), strict=True):
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12)
"""
    )


FAILING = """
steps_of_part, calls = window.submitter.steps_of_part, []
def fails(*arguments):
    calls.append(arguments)
    if len(calls) in FAILURES:
        raise ERROR
    return steps_of_part(*arguments)
window.submitter.steps_of_part = fails
try:
    found = normalized(cn, 20)
    window.flush("test")
except (KeyboardInterrupt, RuntimeError):
    print("interrupted", end=" ")
    window.flush("test")
expected = normalized(np, 20)
print(np.array_equal(np.asarray(found[0]), expected[0]), len(calls) > 1)
print(legate_diffuse.stats()["failures"])
"""


@pytest.mark.parametrize(
    ("failures", "error", "printed", "told"),
    [
        # what fails once came from outside
        ("range(100)", "RuntimeError('injected')", "True True\n", True),
        ("[1]", "RuntimeError('injected')", "interrupted True True\n0\n", False),
        ("[2]", "KeyboardInterrupt", "interrupted True True\n0\n", False),
    ],
)
def test_parts_that_fail_run_the_original_tasks(
    failures: str, error: str, printed: str, told: bool
) -> None:
    program = FAILING.replace("FAILURES", failures).replace("ERROR", error)
    done = run_begun(NORMALIZED + program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed)
    sentence = (
        "legate_diffuse: planning of a group of operations failed (RuntimeError: "
        "injected), so they run unfused\n"
    )
    assert done.stderr == (sentence if told else "")


LITTLE = {"LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 120"}


@pytest.mark.parametrize("switch", ["0", "1"])
def test_program_that_fits_unfused_fits_fused(switch: str) -> None:
    """Legate ends programs without memory for an array."""
    program = (
        NORMALIZED
        + """
import cupynumeric as cn
def joined(n):
    x, total = n.arange(1000000.0), n.zeros(1000000)
    for k in range(1, 60):
        total += n.append(x[k:], x[:k])
    return [total]
print(f"{float(normalized(cn, 60)[0].sum()):.6f}", float(joined(cn)[0][5]))
"""
    )
    done = run_alone(program, LEGATE_DIFFUSE=switch, **LITTLE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "30000030.000000 2065.0\n"


def test_arrays_that_only_pending_operations_use_are_let_go() -> None:
    done = run_begun(
        """
def program(n):
    x, total = n.arange(1000000.0), n.zeros(1000000)
    for k in range(1, 40):
        total += n.append(x[k:], x[:k])
        if n is cn:
            assert native.small_array_bytes() < 160e6, native.small_array_bytes()
    return [total]
agree(program)
flushes = legate_diffuse.stats()["flushes"]
assert flushes["memory of dead arrays"] > 0, flushes
""",
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 1000",
    )
    assert done.returncode == 0, done.stderr


NO_SCRATCH = """
import resource
def program(n, size):
    x, y = n.ones(size), n.zeros(size)
    with_room()
    t = x * 2.0
    y[1:-1] = t[:-2] + t[2:]
    return y
def with_room():
    pass
assert float(program(cn, 100000)[5]) == 4.0
def with_room():
    window.flush("fence")
    originals.real.legate.runtime.issue_execution_fence(block=True)
    for line in open("/proc/self/status"):
        if line.startswith("VmSize"):
            limit = int(line.split()[1]) * 1024 + 2**24
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(float(program(cn, 20000000)[5]), legate_diffuse.stats()["failures"])
"""


def test_original_tasks_run_where_the_system_has_no_memory() -> None:
    done = run_alone(
        BEGIN + NO_SCRATCH,
        **PATH,
        LEGATE_CONFIG="--cpus 1 --gpus 0 --sysmem 1500",
        LEGATE_DIFFUSE_CACHE_BYTES="0",
        LEGATE_DIFFUSE_SMALL_BYTES="0",
    )
    assert (done.returncode, done.stdout) == (0, "4.0 1\n"), done.stderr
    assert done.stderr == (
        "legate_diffuse: submission of a group of operations failed (RuntimeError: the "
        "system has no 153 MiB for the temporaries of a fused task, which lie beside "
        "Legate's memory; leave it more with a smaller --sysmem), so they run unfused\n"
    )
