# SPDX-License-Identifier: Apache-2.0
"""Makes cuPyNumeric's own Python cheaper, without changing what it does.

A program on small arrays spends most of its time in cuPyNumeric's Python, before
anything reaches Legate. A shortcut takes the place of a frequent call: it does the
same for plain arguments, and leaves the rest to the original.

A shortcut was written after certain functions of cuPyNumeric. It is on only if each of
them is the known one (``interpose/known.py``), and takes only places of those that are.
If not, the user is told.

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations
import __future__

import ast
import importlib
import textwrap
from types import CodeType, FunctionType
from typing import Any, Final

from legate_diffuse.messages import say_once
from legate_diffuse.shortcuts import (
    calls,
    copies,
    creation,
    functions,
    hosting,
    joining,
    means,
    norms,
    numbers,
    products,
    random_numbers,
    rearrangements,
    reductions,
    shown,
    unary,
    windows,
)
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.shortcut import find, source_of
from legate_diffuse.shortcuts.submission import Submission
from legate_diffuse.stores.legate import Legate

SHORTCUTS: Final = (
    *calls.SHORTCUTS,
    *copies.SHORTCUTS,
    *creation.SHORTCUTS,
    *reductions.SHORTCUTS,
    *products.SHORTCUTS,
    *functions.SHORTCUTS,
    *unary.SHORTCUTS,
    *numbers.SHORTCUTS,
    *random_numbers.SHORTCUTS,
    *rearrangements.SHORTCUTS,
    *windows.SHORTCUTS,
    *shown.SHORTCUTS,
    # around some of the others
    *joining.SHORTCUTS,
    *hosting.SHORTCUTS,
    *means.SHORTCUTS,
    *products.INNER,
    *norms.SHORTCUTS,
    *joining.JOINED_HERE,
)

# Functions with imports from their own package, which run with each call.
_IMPORTING: Final = (
    ("_array.util", "convert_to_cupynumeric_ndarray"),
    ("_array.util", "sanitize_shape"),
    ("_array.util", "maybe_convert_to_np_ndarray"),
    ("runtime", "thunk_from_scalar"),
    ("runtime", "Runtime.get_numpy_thunk"),
    ("runtime", "Runtime.find_or_create_array_thunk"),
    ("runtime", "Runtime.create_deferred_thunk"),
    ("runtime", "Runtime.create_unbound_thunk"),
    ("runtime", "Runtime.is_deferred_array"),
    ("_ufunc.ufunc", "ufunc._maybe_create_result"),
    ("_ufunc.ufunc", "ufunc._maybe_convert_output_to_cupynumeric_ndarray"),
    ("_ufunc.ufunc", "binary_ufunc._find_common_type"),
)

# The version that the shortcuts were written after.
WRITTEN_FOR: Final = "26.6.1"

# So many shortcuts that are off are named.
_MOST_NAMED: Final = 8

applied: set[str] = set()
# what the installed cuPyNumeric has no place for: shortcuts, functions of theirs
off: list[str] = []


def apply_shortcuts(legate: Legate) -> Submission | None:
    """Put the shortcuts in place; cuPyNumeric must have been imported.

    Returns what submits their tasks, None if there is nothing.

    With ``--profile`` or provenance the user wants to see every call, so there are
    none then.
    """
    config = legate.runtime.config()
    if applied or config.provenance or config.profile:
        return None
    settings = importlib.import_module("cupynumeric.settings").settings
    # read the environment once
    settings.doctor = settings.doctor()
    settings.warn = settings.warn()
    # before import_once changes functions
    fitting = [shortcut for shortcut in SHORTCUTS if shortcut.fits()]
    for module, name in _IMPORTING:
        if import_once(find(module, name)):
            applied.add(f"{module}.{name}")
    submission = None
    try:
        submission = Submission(Client(legate))
    except (AttributeError, ImportError):
        # another version lacks what all of them need
        fitting = []
    for shortcut in fitting:
        shortcut.apply(submission)
        applied.add(shortcut.name)
    if submission is not None and fitting:
        submission.take_operators()
    for shortcut in SHORTCUTS:
        off.extend(shortcut.off() if shortcut in fitting else [shortcut.name])
    if off:
        version = importlib.import_module("cupynumeric").__version__
        names = off[:_MOST_NAMED]
        if len(off) > _MOST_NAMED:
            names.append(f"{len(off) - _MOST_NAMED} others")
        say_once(
            f"the shortcuts for {', '.join(names)} were not written for cuPyNumeric "
            f"{version} and are off, so that such calls take longer; install "
            f"nvidia-cupynumeric=={WRITTEN_FOR} to have them"
        )
    return submission


def import_once(function: Any) -> bool:
    """Run a function's imports now instead of with each call.

    Returns whether that could be done; else the function stays as it is.
    """
    if not isinstance(function, FunctionType):
        return False
    try:
        changed = _without_imports(function)
    except (OSError, TypeError, SyntaxError, ImportError, AttributeError):
        return False
    if changed is None or changed.co_freevars != function.__code__.co_freevars:
        return False
    function.__code__ = changed
    return True


def _without_imports(function: FunctionType) -> CodeType | None:
    source = textwrap.dedent(source_of(function))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    present = function.__globals__
    imports = _Imports(present["__package__"])
    imports.visit(definition)
    if not imports.names or any(
        present.get(name, value) is not value for name, value in imports.names.items()
    ):
        return None
    ast.increment_lineno(definition, function.__code__.co_firstlineno - 1)
    module = compile(
        ast.Module([definition], []),
        function.__code__.co_filename,
        "exec",
        flags=function.__code__.co_flags & __future__.annotations.compiler_flag,
        dont_inherit=True,
    )
    code = next(each for each in module.co_consts if isinstance(each, CodeType))
    if not set(imports.names).isdisjoint(code.co_varnames + code.co_cellvars):
        return None
    present.update(imports.names)
    return code


class _Imports(ast.NodeTransformer):
    """Removes the imports from the same package from a function."""

    def __init__(self, package: str) -> None:
        self.names: dict[str, Any] = {}
        self._package = package

    def visit_ImportFrom(self, statement: ast.ImportFrom) -> ast.stmt:
        """Run an import, and remove it."""
        if statement.level == 0:
            return statement
        name = "." * statement.level + (statement.module or "")
        module = importlib.import_module(name, self._package)
        for alias in statement.names:
            self.names[alias.asname or alias.name] = getattr(module, alias.name)
        return ast.copy_location(ast.Pass(), statement)
