# SPDX-License-Identifier: Apache-2.0
"""Whether the tasks of a cuPyNumeric that was not tested are what they are taken for.

The first time that a process meets versions of Legate and cuPyNumeric that nobody has
tested together, each form of a task runs twice on a few elements: as the original task,
and as it would be fused. Where bits differ, the layout of its scalars or the meaning of
its codes was changed, and it is not fused. What was found is kept on disk.

All ranks must submit the same tasks whatever their disks have, so several ranks test
nothing.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, Protocol

import numpy as np

from legate_diffuse.launch import ranks
from legate_diffuse.libraries.form import Form
from legate_diffuse.messages import say_once
from legate_diffuse.stores.legate import Legate

# Versions of Legate and cuPyNumeric with which the whole suite has passed.
TESTED: Final = frozenset((("26.6.1", "26.6.1"),))

# What was found out in this process, None if nothing was tested.
found: list[str] | None = None
# whether to test what was tested before
_again = False

# A kernel is compiled when it is needed for the second time.
_TIMES: Final = 3

# A statement on operands.
Run = Callable[["_Operands"], Any]


class Recognizer(Protocol):
    """Says what tasks are."""

    def forms(self, library: Any) -> dict[int, Form]:
        """Return the forms of the tasks of a library, by their numbers."""


def insist() -> None:
    """Let the versions be tested even if they were before."""
    global _again
    _again = True


def apply(legate: Legate, package: Any, recognizer: Recognizer) -> None:
    """Let nothing be fused that is not what it is taken for, and say so."""
    versions = (_plain(legate_version()), _plain(package.__version__))
    if ranks.are_several(legate.runtime) or (versions in TESTED and not _again):
        return
    # imported only then
    from importlib.metadata import version

    from legate_diffuse.codegen.cache import ObjectCache

    global found
    cache = ObjectCache.from_environment(os.environ)
    what = ("self-test", *versions, version("legate-diffuse"))
    key = sha256(repr(what).encode()).hexdigest()
    kept = None if cache is None or _again else cache.load(key)
    if kept is None:
        found = find_different(package, recognizer)
        if cache is not None:
            cache.store(key, json.dumps(found).encode())
    else:
        found = json.loads(kept)
        leave(recognizer, found)
    if found:
        say_once(
            f"the tasks {', '.join(found)} of cuPyNumeric {versions[1]} compute "
            "something else than was expected, and are not fused"
        )


def find_different(package: Any, recognizer: Recognizer) -> list[str]:
    """Return the forms of tasks that are not what they are taken for.

    They are not fused from now on.
    """
    forms = recognizer.forms(_library())
    known = dict(forms)
    fused = sorted(form.name for form in known.values() if form.fuse)
    statements = [(name, run) for name in _STATEMENTS for run in _STATEMENTS[name]]
    leave(recognizer, fused)
    wanted = [_outcome(run, package) for _, run in statements]
    forms.update(known)
    different: list[str] = []
    for (name, run), bits in zip(statements, wanted, strict=True):
        # what the original refuses is not used
        if bits is None or name in different or _agrees(run, package, bits):
            continue
        different.append(name)
        leave(recognizer, [name])
        if not _agrees(run, package, bits):
            # it is another task of the statement
            leave(recognizer, fused)
            return fused
    return different


def leave(recognizer: Recognizer, names: list[str]) -> None:
    """Let tasks run as they are from now on."""
    forms = recognizer.forms(_library())
    for number, form in list(forms.items()):
        if form.name in names:
            forms[number] = replace(form, fuse=False)


def legate_version() -> str:
    """Return the version of Legate that runs."""
    return str(importlib.import_module("legate").__version__)


def _plain(text: str) -> str:
    """Return a version as packages have it: 26.6.1, and not 26.06.01."""
    return ".".join(
        str(int(part)) if part.isdigit() else part for part in text.split(".")
    )


def _library() -> Any:
    return importlib.import_module("cupynumeric.runtime").runtime.library


def _agrees(run: Run, package: Any, bits: Any) -> bool:
    return all([_outcome(run, package) == bits for _ in range(_TIMES)])


def _outcome(run: Run, package: Any) -> Any:
    """Return the bits of a result, None if there is none."""
    try:
        found = np.asarray(run(_Operands(package)))
    except Exception:
        return None
    return found.dtype.str, found.shape, found.tobytes()


class _Operands:
    """New arrays, which only these statements have.

    Those of one type differ, so that none may be taken for another, and results are
    exact in any order of additions.
    """

    def __init__(self, package: Any) -> None:
        def array(elements: Any) -> Any:
            # what was given from outside is not written to by a fused task
            return package.asarray(elements).copy()

        numbers = np.arange(12).reshape(3, 4)
        self.cn = package
        self.x = array(numbers / 4 - 1)
        self.y = array(numbers[::-1, ::-1] / 8)
        self.holes = array(np.where(numbers % 3, numbers, np.nan))
        self.mask = array(numbers % 3 == 1)
        self.few = array(numbers % 2)
        self.matrix = array(np.arange(72.0).reshape(8, 9) % 5)
        self.vector = array(np.arange(9.0) % 4)
        self.other = array(np.arange(9.0) % 5)

    def set(self, key: Any, value: Any) -> Any:
        """Return x with other elements."""
        self.x[key] = value
        return self.x

    def after(self, change: Callable[[Any], Any]) -> Any:
        """Return x after it was changed."""
        change(self.x)
        return self.x


_AT: Final = (1, 2)
_STATEMENTS: Final[Mapping[str, tuple[Run, ...]]] = {
    "UNARY_OP": (
        lambda on: on.cn.negative(on.x),
        lambda on: on.cn.floor(on.y),
        lambda on: on.cn.clip(on.x, 0.25, 1.5),
        lambda on: on.cn.round(on.x, 1),
    ),
    "BINARY_OP": (
        lambda on: on.x - on.y,
        lambda on: on.cn.less(on.x, on.y),
        lambda on: on.cn.isclose(on.x, on.y, 2.0, 0.125),
    ),
    "CONVERT": (
        lambda on: on.x.astype("int32"),
        lambda on: on.holes.astype("float32"),
    ),
    "BINARY_RED": (
        lambda on: on.cn.array_equal(on.x, on.y),
        lambda on: on.cn.allclose(on.x, on.x + 0.25, 0.0, 0.5),
    ),
    "SCALAR_UNARY_RED": (
        lambda on: on.x.sum(),
        lambda on: on.x.max(),
        lambda on: on.cn.count_nonzero(on.mask),
    ),
    "UNARY_RED": (
        lambda on: on.x.sum(axis=0),
        lambda on: on.x.min(axis=1),
        # the number of an axis may be a code
        lambda on: on.mask.any(axis=1),
    ),
    "WHERE": (lambda on: on.cn.where(on.mask, on.x, on.y),),
    "PUTMASK": (
        lambda on: on.set(on.mask, 7.0),
        lambda on: on.after(lambda x: on.cn.putmask(x, on.mask, on.y)),
    ),
    "CHOOSE": (lambda on: on.cn.choose(on.few, [on.x, on.y]),),
    "SELECT": (lambda on: on.cn.select([on.mask, on.few == 1], [on.x, on.y], 3.0),),
    "FILL": (lambda on: on.after(lambda x: x[1:].fill(2.5)),),
    "DOT": (lambda on: on.vector.dot(on.other),),
    "MATVECMUL": (lambda on: on.matrix.dot(on.vector),),
    "ARANGE": (lambda on: on.cn.arange(2.0, 14.0, 3.0),),
    "EYE": (lambda on: on.cn.eye(3, 4, k=1),),
    "TRILU": (
        lambda on: on.cn.tril(on.x, -1),
        lambda on: on.cn.triu(on.x, 1),
    ),
    "READ": (lambda on: on.x[_AT],),
    "WRITE": (lambda on: on.set(_AT, 5.0),),
}
