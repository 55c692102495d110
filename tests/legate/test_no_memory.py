# SPDX-License-Identifier: Apache-2.0
"""A system without memory for a task's temporaries is one sentence."""

from __future__ import annotations

from process import run_alone

# Loops run one after the other, so that what they compute in between is stored in full.
PROGRAM = """
import resource
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn

def step(x, y):
    t = x * 2.0
    y[1:-1] = t[:-2] + t[2:]

def leave(bytes):
    for line in open("/proc/self/status"):
        if line.startswith("VmSize"):
            limit = int(line.split()[1]) * 1024 + bytes
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

x, y = cn.ones(100_000), cn.zeros(100_000)
step(x, y)
print(float(y[5]), flush=True)
x, y = cn.ones(10_000_000), cn.zeros(10_000_000)
assert float(x[5] + y[5]) == 1.0
leave(LEFT)
step(x, y)
print(float(y[5]), flush=True)
"""
ON_POINTS = {
    "LEGATE_CONFIG": "--cpus 2 --gpus 0 --sysmem 500",
    "LEGATE_TEST": "1",
    "LEGATE_DIFFUSE_THREADS": "1",
    "LEGATE_DIFFUSE_SMALL_BYTES": "0",
    "LEGATE_DIFFUSE_CACHE_BYTES": "0",
}


def test_points_that_have_no_memory_are_one_sentence() -> None:
    done = run_alone(PROGRAM.replace("LEFT", "2**24"), **ON_POINTS)
    assert (done.returncode, done.stdout) == (1, "4.0\n")
    assert done.stderr == (
        "legate_diffuse: the system has no 39 MiB for the temporaries of a fused task, "
        "which lie beside Legate's memory; leave it more with a smaller --sysmem\n"
    )


def test_points_that_have_the_memory_run() -> None:
    done = run_alone(PROGRAM.replace("LEFT", "2**30"), **ON_POINTS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "4.0\n4.0\n", "")
