# SPDX-License-Identifier: Apache-2.0
"""A program of several ranks, and what may happen on one of them alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

BEGIN = """
import gc
import time
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import numpy as np
from legate_diffuse.codegen import Compiler
from legate_diffuse.interpose.runtime import Runtime
from legate_diffuse.launch import planner, steps

class Node:
    # cyclic garbage as soon as nobody has it
    def __init__(self, kept):
        self.kept, self.own = kept, self

def collect_before(function):
    def collecting(*arguments):
        gc.collect()
        return function(*arguments)
    return collecting

def keep_buffers(create):
    def keeping(self, dtype, shape, data, *options, **named):
        kept.append(data)
        return create(self, dtype, shape, data, *options, **named)
    return keeping

def fail_on_some(compile):
    def failing(self, kernel):
        if len(kernel.body) % 2:
            raise RuntimeError("injected")
        return compile(self, kernel)
    return failing

def double(array):
    doubled = array + array
    raise ValueError

kept = []
"""

STEPS = 120
PRINTED = 40

PROGRAM = f"""
x = cn.arange(64.0) + 0.5
for step in range({STEPS}):
    y = x * 2.0 + 1.0
    Node(y)
    z = y - x
    try:
        double(z)
    except ValueError as error:
        failure = error
    PERTURBED
    failure = None
    z[1:] += y[:-1]
    z += cn.array(np.full(64, 0.5))
    x = z * 0.25
    if step % {PRINTED} == {PRINTED - 1}:
        print(x.tolist())
for step in range(5):
    Node(np.asarray(x))
    PERTURBED
    y = x + 1.0
    z = y * 0.5
print(z.tolist())
"""


@dataclass(frozen=True)
class Perturbation:
    """What happens at the start and in each step, and in what environment."""

    start: str = ""
    step: str = "pass"
    environment: dict[str, str] = field(default_factory=dict)


NOTHING = Perturbation()
OTHER_SEED = {"PYTHONHASHSEED": "7"}

# A rank decides as ever.
UNNOTICED = {
    "hash seed": Perturbation(environment=OTHER_SEED),
    "delays": Perturbation(step="time.sleep(0.01)"),
    "cold cache": NOTHING,
}

# Alone a rank decides otherwise.
AGREED = {
    "no collector": Perturbation("gc.disable()"),
    "eager collector": Perturbation("gc.set_threshold(20)"),
    "more allocations": Perturbation(step="kept.append([[n] for n in range(1000)])"),
    "collections": Perturbation(step="gc.collect() if step % 3 else None"),
    "collection while planning": Perturbation(
        "gc.disable(); planner.make_plan = collect_before(planner.make_plan)"
    ),
    "collection while submitting": Perturbation(
        "gc.disable(); steps.FusedStep.run = collect_before(steps.FusedStep.run)"
    ),
    "reference kept": Perturbation(step="kept.append((y, z) if step % 5 else None)"),
    "buffer kept": Perturbation(
        "Runtime.create_store_from_buffer = "
        "keep_buffers(Runtime.create_store_from_buffer)"
    ),
    "traceback kept": Perturbation(step="kept.append(failure)"),
    "compilation fails": Perturbation(
        "Compiler.compile = fail_on_some(Compiler.compile)"
    ),
    "all of it": Perturbation(
        "gc.set_threshold(20); Compiler.compile = fail_on_some(Compiler.compile)",
        "kept.append((z, failure) if step % 3 else None); gc.collect()",
    ),
}


def numpy_output() -> str:
    lines, x = [], np.arange(64.0) + 0.5
    for step in range(STEPS):
        y = x * 2.0 + 1.0
        z = y - x
        z[1:] += y[:-1]
        z += 0.5
        x = z * 0.25
        if step % PRINTED == PRINTED - 1:
            lines.append(f"{x.tolist()}\n")
    lines.append(f"{((x + 1.0) * 0.5).tolist()}\n")
    return "".join(lines)


def text_of(perturbation: Perturbation) -> str:
    """Return the text of the program of a rank."""
    program = PROGRAM.replace("PERTURBED", perturbation.step)
    return f"{BEGIN}{perturbation.start}\n{program}"


def decisions_in(output: str) -> list[str]:
    """Return the lines that ``LEGATE_DIFFUSE_DUMP=decisions`` prints."""
    return [line for line in output.splitlines() if " key " in line]
