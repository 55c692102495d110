# SPDX-License-Identifier: Apache-2.0
"""Shortcuts for arrays that become ones of another type.

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.templates import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    Template,
    new_function,
)

# What real numbers become, but for float16.
_REAL: Final[frozenset[str | None]] = INTEGERS | FLOATS | {"bool"}
# What these may become.
TARGETS: Final[frozenset[str | None]] = _REAL | COMPLEX


class Conversions(dict[tuple[str | None, str | None], Template | None]):
    """The templates of conversions, by the types from and to.

    None stands for types without a shortcut.

    Args:
        client: what is needed of cuPyNumeric.
        make: submits a task that writes a new array.
    """

    def __init__(self, client: Client, make: Callable[..., Any]) -> None:
        super().__init__()
        code = importlib.import_module("cupynumeric.config").ConvertCode.NOOP
        self._client = client
        self._code = code
        self._make = make
        self._apply = client.legate.native.apply
        # by what ``id`` says of functions, which stay
        self._learned: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
        self._functions = {name: new_function(client) for name in TARGETS}

    def __missing__(self, types: tuple[str | None, str | None]) -> Template | None:
        source, target = types
        template = None
        is_known = source in _REAL or (source in COMPLEX and target in COMPLEX)
        if is_known and target in TARGETS and source != target:
            client = self._client
            dtype = np.dtype(target)
            template = Template(client, client.tasks.CONVERT, 1, self._code, dtype)
            template.function = self._functions[str(target)]
        self[types] = template
        return template

    def learn(self, function: Any, kinds: tuple[Any, ...], target: str | None) -> None:
        """Let native code convert operands of these kinds for a function.

        An array's kind is its type, and that of a number its class.
        """
        if None not in kinds and kinds not in self._learned[id(function)]:
            self._learned[id(function)].add(kinds)
            function.mix(kinds, target, self._functions[target])

    def learn_written(self, function: Any, kinds: tuple[Any, ...], made: Any) -> None:
        """Let native code convert likewise what a function makes of operands.

        The last of the kinds is the type of the array to which it is written.
        """
        learned, target = self._learned[id(function)], kinds[-1]
        if None in kinds or kinds in learned or target not in TARGETS:
            return
        learned.add(kinds)
        view = self._client.view_of(made)
        if view is not None and self.convert(made, target) is not None:
            function.convert_written(kinds, view.root.dtype, self._functions[target])

    def convert(self, array: Any, target: str | None) -> Any:
        """Return an array converted to a type; None if that is left to the original."""
        made = self._apply(self._functions[target], None, array)
        if made is not None:
            return made
        view = self._client.view_of(array)
        if view is None:
            return None
        source = view.root.dtype
        template = self[source, target]
        if template is None or self._client.doctor.is_on:
            return None
        made = self._make(template, view.shape, view)
        template.learn_once(source)
        return made


@cache
def common_type(one: str | None, other: str | type | None) -> str | None:
    """Return the type of an array together with another one, or a number of a class.

    None for types of which no array is made here.
    """
    if one not in TARGETS or not (type(other) is type or other in TARGETS):
        return None
    return np.result_type(str(one), other(0) if type(other) is type else other).name
