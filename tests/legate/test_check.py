# SPDX-License-Identifier: Apache-2.0
"""Check mode passes right programs and catches kernels and plans that are wrong."""

from __future__ import annotations

import re
import subprocess
from textwrap import dedent

import pytest
from process import run_alone, run_in_worker

BEGIN = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
"""
END = """
from legate_diffuse.interpose.window import window
window.flush("test")
stats = legate_diffuse.stats()
assert stats["failures"] == 0
print("checked", stats["launches_checked"])
"""

RIGHT = {
    "in place": """
        x = cn.arange(20.0)
        x *= 2.0
        x += x
        x -= 1.0
        print(float(x[3]))
        x *= x
    """,
    "views that overlap": """
        x = cn.arange(20.0)
        for _ in range(3):
            x[1:] = x[:-1] * 0.5 + x[1:]
            x[:10] = x[10:] - x[:10]
        x.reshape(4, 5)[1:, ::] *= 3.0
    """,
    "transposed": """
        x = cn.arange(20.0).reshape(4, 5)
        y = (x.T + 1.0) * cn.arange(4.0)
        x[:, 1:3] = y.T[:, 2:4] - 1.0
        z = y[2] * x[0, 0]
    """,
    "one element": """
        x = cn.arange(20.0)
        s = x.sum()
        t = 2.0 * s + 1.0
        u = cn.sqrt(t) / s
        x += u
        print(float(u))
        t *= 3.0
        x -= t
    """,
    "not floating point": """
        i = cn.arange(30)
        j = (i * 7 + 3) ^ i
        b = (j > 40) & (i < 20)
        j[5:] = cn.where(b[5:], i[5:], j[:-5])
        print(int(j.sum()), bool(b.any()), int(cn.count_nonzero(b)))
        c = i.astype(cn.complex128) * (1.0 + 2.0j)
        d = (c + 1.0).conj() * c
        e = d.astype(cn.complex64) - 2j
        print(complex(d.sum()))
    """,
    "not a number": """
        x = cn.arange(20.0) - 5.0
        y = cn.sqrt(x) + cn.log(x)
        z = cn.where(y > 1.0, y, 1.0 / (x * 0.0))
        print(float(cn.nansum(z[1:3])))
        w = -0.0 * x
    """,
    "reductions that cancel": """
        x = cn.sin(cn.arange(1000.0))
        mean = x.sum() / 1000.0
        y = x - mean
        norm = cn.sqrt((y * y).sum())
        z = y / norm
        flags = z > z.mean()
        print(float(z.sum()), int(flags.sum()))
        f = x.astype(cn.float32)
        g = f / f.sum() + cn.prod(f[:20]) * f.max()
    """,
    "reductions along axes": """
        x = cn.sin(cn.arange(600.0)).reshape(20, 30)
        rows = x.sum(axis=1)
        y = x - rows[:, None] * 0.01
        columns = y.max(axis=0)
        z = cn.exp(y - columns)
        z = z / z.sum(axis=0)
        print(float(z.sum()))
        v = x.var(axis=0)
    """,
    "powers": """
        x = cn.sin(cn.arange(2000.0)) * 9.0
        y = x ** 2 + 1.0
        z = (y ** 0.5) ** -1 * x ** 3
        special = cn.array([-0.0, -cn.inf, cn.nan, 2.0]) * 1.0
        roots = special ** 0.5 + 1.0
        print(float(z.sum()), roots)
    """,
    "partly written": """
        x = cn.empty(20)
        x[:10] = 1.0 + cn.arange(10.0)
        print(float(x[0]))
        x[10:] = 2.0 * x[:10]
        y = cn.empty((5, 4))
        y[1] = x[:4] * 3.0
    """,
    "tasks in between": """
        a = cn.arange(100.0).reshape(10, 10) + 1.0
        x = cn.ones(10) * 0.5
        for _ in range(3):
            x = (a @ x) / cn.sqrt(cn.dot(x, x))
            x = cn.sort(x) + x[0]
        r = cn.random.rand(20) * 2.0
        one = cn.random.rand(1) * 2.0
        print(float(x.sum()), float(r.max()) < 2.0)
    """,
    "functions with other bits than libm's": """
        x = cn.arange(2000.0) * 0.37 + 0.1
        s, t = cn.sin(x), cn.cos(x) * cn.tan(x)
        y = cn.hypot(s, t) + cn.cbrt(x)
        z = cn.abs(x + 1j * y) * 2.0
        print(float(z.sum()))
        f = (x / 800.0).astype(cn.float32)
        g = cn.arcsin(f) * cn.cbrt(f) - cn.tan(f)
        h = cn.cbrt(f.astype(cn.float16)) + cn.arcsin(f.astype(cn.float16))
        print(float(g.sum()), float(h.sum()))
    """,
    "set-up that ends by itself": """
        def make(n):
            return cn.arange(n) * 1.5 + 0.5
        x = make(10)
        cn.add(x, 1.0, out=x)
    """,
}


@pytest.mark.parametrize("cpus", ["1", "2"])
@pytest.mark.parametrize("case", RIGHT)
def test_right_programs_pass(case: str, cpus: str) -> None:
    program = BEGIN + dedent(RIGHT[case]) + END
    done = run_in_worker(program, **_settings(cpus))
    assert (done.stderr, done.returncode) == ("", 0)
    assert int(done.stdout.split()[-1]) > 0


# Makes the kernels of an addition subtract.
WRONG_KERNEL = """
from dataclasses import replace
from legate_diffuse.libraries.operations import Operations
right = Operations.lower
def wrong(self, kind, builder, operands):
    if kind.code == "ADD":
        kind = replace(kind, code="SUBTRACT")
    return right(self, kind, builder, operands)
Operations.lower = wrong
"""
USER = '''
exec(compile("""
x = cn.arange(1.0, 21.0)
y = x * 2.0
y = y + x
y = y - 3.0
{end}
""", "user.py", "exec"))
'''


@pytest.mark.parametrize("cpus", ["1", "2"])
@pytest.mark.parametrize("end", ["print(float(y[0]))", "del x"])
def test_a_wrong_kernel_is_caught(end: str, cpus: str) -> None:
    """Also when nothing but the end of the program, or C++, flushes the window."""
    done = _check(WRONG_KERNEL + USER.format(end=end), cpus)
    assert done.returncode == 1
    assert "checked" not in done.stdout
    assert done.stderr.startswith(
        "legate_diffuse: LEGATE_DIFFUSE_CHECK found a wrong result"
    )
    assert re.search(
        r"\(float64\): 20 of 20 elements differ, first at \[0\]: "
        r"fused .*-2\.0.*, original .*0\.0.*, tolerance 0\n",
        done.stderr,
    )
    assert re.search(r"user\.py:4  a\d = add\(a\d, a\d\)\n", done.stderr)
    assert " = sub" in done.stderr


def test_a_wrong_sum_is_caught() -> None:
    done = _check(
        WRONG_KERNEL.replace('"ADD"', '"SUM"').replace('"SUBTRACT"', '"SUM_SQUARES"')
        + "x = cn.arange(1.0, 21.0) * 2.0\nprint(float(x.sum()))",
        "1",
    )
    assert done.returncode == 1
    assert "found a wrong result" in done.stderr


NOTHING_LIVES = """
import legate_diffuse.launch.planner as planner
translate = planner.translate
planner.translate = lambda window, meanings: translate(
    window._replace(alive=[False] * len(window.roots)), meanings
)
"""

# Breaks a rule: what is patched, and a program in which it matters.
WRONG_RULES = {
    "order": (
        """
        import legate_diffuse.fusion.cluster as cluster
        cluster.conflicts = lambda one, other: False
        """,
        """
        x = cn.arange(10.0)
        print(float(x[0]))
        x += 1.0
        y = x[1:] * 2.0
        x += 1.0
        """,
    ),
    "views": (
        """
        import legate_diffuse.fusion.grouping as grouping
        grouping.refuse = lambda group, task: None
        """,
        """
        x = cn.arange(10.0)
        print(float(x[0]))
        x[1:] = x[:-1] * 2.0
        y = x[:-1] + 1.0
        """,
    ),
    "liveness": (
        NOTHING_LIVES,
        """
        x = cn.arange(10.0)
        print(x[:1].tolist()[0])
        y = x * 2.0
        z = y + 1.0
        """,
    ),
    "liveness of single elements": (
        NOTHING_LIVES,
        """
        x = cn.arange(10.0)
        s = x.sum() * 2.0
        print(float(s))
        """,
    ),
}


UNVERIFIED = """
from legate_diffuse.fusion.pipeline import PASSES
for step in PASSES:
    object.__setattr__(step, "verify", lambda draft: None)
"""


@pytest.mark.parametrize("rule", WRONG_RULES)
def test_a_wrong_plan_is_caught(rule: str) -> None:
    """Also where the verifier knows nothing of it, and nothing is proven."""
    patch, program = map(dedent, WRONG_RULES[rule])
    done = _check(UNVERIFIED + patch + program, "1", LEGATE_DIFFUSE_PROOF="0")
    assert done.returncode == 1
    assert "found a wrong result" in done.stderr


def test_plans_are_verified() -> None:
    _, program = map(dedent, WRONG_RULES["order"])
    patch = """
import legate_diffuse.fusion.pipeline as pipeline
pipeline.sink = lambda groups: groups[1:]
"""
    done = _check(patch + program, "1")
    assert "ValueError: after the pass 'groups': a task is not in one" in done.stderr


def test_plans_are_proven() -> None:
    patch, program = map(dedent, WRONG_RULES["order"])
    done = _check(patch + program, "1")
    assert done.returncode == 0, done.stderr
    assert "runs unfused, as what was planned for it is not what the program says" in (
        done.stderr.replace("\n", " ")
    )


def _settings(cpus: str) -> dict[str, str]:
    return {
        "LEGATE_DIFFUSE_CHECK": "1",
        "LEGATE_DIFFUSE_SYNC_COMPILE": "0",
        "LEGATE_CONFIG": f"--cpus {cpus} --gpus 0 --sysmem 500",
        "LEGATE_TEST": "1",
    }


def _check(
    program: str, cpus: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which ends if a result is wrong."""
    return run_alone(BEGIN + program + END, **_settings(cpus), **settings)
