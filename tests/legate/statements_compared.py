# SPDX-License-Identifier: Apache-2.0
"""Compares statements, run one at a time on new arrays, fused and unfused."""

from __future__ import annotations

from pathlib import Path

from process import run_alone
from test_small_arrays import run_here

_OUTCOMES = """
import pickle
import numpy as np
import cupynumeric as cn
functions = {name: getattr(cn, name) for name in dir(cn) if name[0] != "_"}
hidden = {"np", "cn"}
def plain(made):
    if isinstance(made, (tuple, list)):
        return [plain(each) for each in made]
    return type(made).__name__, np.asarray(made)
def outcome(run, statement):
    own = arrays()
    shown = [name for name in own if name not in hidden]
    try:
        made = run(statement, functions | own)
        made = plain(made), [name for name in shown if own[name] is made]
    except Exception as error:
        made = type(error).__name__, str(error).partition("shape")[0]
    return made, [np.asarray(own[name]).copy() for name in shown]
def outcomes(run, statements):
    return {each: outcome(run, each) for each in statements}
"""
_KEEP = """
found = outcomes(eval, quick + rest) | outcomes(exec, changes)
with open(path, "wb") as file:
    pickle.dump(found, file)
"""
_COMPARE = """
def same(one, other):
    if isinstance(one, np.ndarray):
        close = one.dtype.kind in "fc" and np.allclose(one, other, 1e-14, 0, True)
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and (close or np.array_equal(one, other))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other
for _ in range(2):
    tasks = window.counters.tasks_submitted
    found = outcomes(eval, quick)
    needed = window.counters.tasks_submitted - tasks
    found |= outcomes(eval, rest) | outcomes(exec, changes)
assert needed == 0
with open(path, "rb") as file:
    wanted = pickle.load(file)
for each in wanted:
    if wanted[each][0] == ("AssertionError", ""):
        # a fault of cuPyNumeric's: see test_masks_of_rows
        continue
    assert same(wanted[each], found[each]), (each, wanted[each], found[each])
"""


def compare(
    arrays: str, quick: list[str], rest: list[str], changes: list[str], folder: Path
) -> None:
    """Assert that statements have the same results, errors but assertions, and effects.

    Args:
        arrays: defines ``arrays()``, which returns new ones by their names. It may add
            to ``functions``, which all statements see, and to ``hidden``, the names
            of what is not compared afterwards.
        quick: expressions that submit no task the second time.
        rest: other expressions.
        changes: statements.
        folder: for what the unfused side says.
    """
    path = str(folder / "unfused")
    given = f"{path=}\n{quick=}\n{rest=}\n{changes=}\n"
    done = run_alone(_OUTCOMES + arrays + given + _KEEP, LEGATE_DIFFUSE="0")
    assert done.returncode == 0, done.stderr
    run_here(_OUTCOMES + arrays + given + _COMPARE)
