# SPDX-License-Identifier: Apache-2.0
"""Calls that say where results are written, and in which type: with ``out``, ``dtype``.

Each is a plain call, of operands that are converted before, or whose result is
converted when it is written. The original makes such temporary arrays as well.

Follows: cuPyNumeric (cupynumeric/_array, _module/linalg_mvp.py, _ufunc)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np

from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.conversions import Conversions
from legate_diffuse.shortcuts.templates import Templates
from legate_diffuse.stores.root import Root

# What is raised of arguments that do not fit: the original raises what it raises.
_REFUSALS: Final = (
    *(TypeError, ValueError, IndexError, OverflowError),
    NotImplementedError,
)
_TARGETS: Final = ("out", "dtype")
# What adds or multiplies integers of 64 bits without being told to, and these.
_WIDENING: Final = (np.add, np.multiply)
_WIDE: Final = {"b": np.int64, "i": np.int64, "u": np.uint64}
CASTINGS: Final = ("no", "equiv", "safe", "same_kind", "unsafe")
_NO_DEFAULT: Final = inspect.Parameter.empty
_SCALARS: Final = (int, float, complex, np.number, np.bool_)
_NUMBERS: Final = (int, float, complex)
# How a function is called in place of a call with ``out``: it is given that, the other
# arguments by position and by name, and returns these, and which conversions of the
# result are allowed if not all; None if the original must run.
#
# The first is None where only a type is given.
Plain = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


def loses_part(source: Any, target: Any) -> bool:
    """Whether elements of a type lose their imaginary part as ones of another type."""
    return bool(source.kind == "c" != target.kind)


# The names of a function's parameters in their order, and what they are by default.
Parameters = dict[str, Any]


def parameters_of(function: Any) -> Parameters:
    """Return a function's parameters."""
    parameters = inspect.signature(function).parameters
    return {name: parameters[name].default for name in parameters}


def _most_by_position(function: Any) -> int | None:
    """Return how many arguments may come by position; None for any number."""
    kinds = [each.kind for each in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    return len(kinds) - kinds.count(inspect.Parameter.KEYWORD_ONLY)


def in_places(
    parameters: Parameters, count: int, arguments: tuple[Any, ...], named: Any
) -> tuple[tuple[Any, ...], Any]:
    """Return arguments, of which so many come by position, and others by name.

    Those that are not given are left out where none comes after them.
    """
    names = tuple(parameters)
    needed = sum(each is _NO_DEFAULT for each in parameters.values())
    if len(arguments) + len(named.keys() & names) < needed:
        return arguments, named
    while not named.keys().isdisjoint(names[len(arguments) : count]):
        name = names[len(arguments)]
        if name not in named and parameters[name] is _NO_DEFAULT:
            break
        arguments += (named.get(name, parameters[name]),)
        named = {each: named[each] for each in named if each != name}
    if len(arguments) <= count:
        return arguments, named
    others = dict(zip(names[count:], arguments[count:], strict=False))
    fits = len(arguments) <= len(names) and not others.keys() & named.keys()
    # the original refuses others
    return (arguments[:count], others | named) if fits else (arguments, named)


def may_overlap(one: Root, other: Root) -> bool:
    """Whether two roots may be the same storage."""
    return one is other or (one.escaped and other.escaped)


class Written:
    """Writes results to arrays that are there.

    Args:
        client: what is needed of cuPyNumeric.
        conversions: those of results.
    """

    def __init__(self, client: Client, conversions: Conversions) -> None:
        self._ndarray, self._view_of = client.ndarray, client.view_of
        self._doctor, self._warn = client.doctor, client.warn
        self._conversions = conversions

    def put(self, out: Any, made: Any, casting: Any = "unsafe") -> Any:
        """Write what was made to an array; returns that, None if the original must."""
        if (
            type(out) is not self._ndarray
            or not out._writeable
            or type(made) is not self._ndarray
            or made.shape != out.shape
        ):
            return None
        source, target = made.dtype, out.dtype
        if source != target and (
            self._warn.is_on
            or loses_part(source, target)
            or not np.can_cast(source, target, casting)
        ):
            return None
        out[...] = made
        return out

    def converted(self, operand: Any, dtype: Any, casting: Any = "unsafe") -> Any:
        """Return an operand in a type; None if the original must convert it."""
        if type(operand) is self._ndarray:
            source = operand.dtype
            if source == dtype:
                return operand
            fits = not self._warn.is_on and not loses_part(source, dtype)
            fits = fits and np.can_cast(source, dtype, casting)
            return operand.astype(dtype) if fits else None
        # such a number becomes an element of the other operand's type
        fits = type(operand) in _NUMBERS and np.result_type(dtype, operand) == dtype
        own = np.asarray(operand).dtype
        return operand if fits and np.can_cast(own, dtype, casting) else None

    def call(
        self,
        ufunc: Any,
        operands: tuple[Any, ...],
        templates: Templates,
        *,
        out: Any = None,
        dtype: Any = None,
        casting: Any = "same_kind",
        where: Any = True,
        order: Any = "K",
    ) -> Any:
        """Return what a universal function makes; None if the original must.

        ``templates`` are its own. The options are those of cuPyNumeric's functions.
        """
        if type(out) is tuple and len(out) == 1:
            (out,) = out
        if where is not True or self._doctor.is_on:
            return None
        sources = [each.dtype for each in operands if type(each) is self._ndarray]
        if not sources or (out is not None and not self._may_write(out, sources)):
            return None
        if casting != "same_kind" and dtype is None and out is None:
            # only some functions look at it
            return None
        try:
            if dtype is not None:
                dtype = np.dtype(dtype)
                if not templates.takes(dtype):
                    return None
                operands = tuple(
                    [self.converted(each, dtype, casting) for each in operands]
                )
                if any([each is None for each in operands]):
                    return None
            made = ufunc(*operands)
            if out is None:
                return made
            # the original refuses to convert an array to its own type
            is_refused = templates.is_itself(made.dtype) and made.dtype == out.dtype
            if is_refused or self.put(out, made, casting) is None:
                return None
            if made.dtype != out.dtype and dtype is None and casting == "same_kind":
                self._learn(templates, operands, made, out)
            return out
        except _REFUSALS:
            return None

    def _learn(
        self, templates: Templates, operands: tuple[Any, ...], made: Any, out: Any
    ) -> None:
        """Let native code convert what is made of such operands for such an array."""
        kinds: list[Any] = []
        for each in (*operands, out):
            view = self._view_of(each)
            kind = type(each) if view is None else view.root.dtype
            kinds.append(kind if view is not None or kind in _NUMBERS else None)
        self._conversions.learn_written(templates.function, tuple(kinds), made)

    def _may_write(self, out: Any, sources: list[Any]) -> bool:
        """Whether results of elements of some types may be written to an array.

        There are tasks that end the program where complex numbers have no order.
        """
        is_array = type(out) is self._ndarray and out._writeable
        return is_array and not any([loses_part(each, out.dtype) for each in sources])

    def over(
        self,
        original: Callable[..., Any],
        call: Callable[..., Any],
        plain: Plain,
        count: int,
        *,
        in_place: bool = False,
        fills: bool = False,
    ) -> Callable[..., Any]:
        """Return a function with ``out`` and ``dtype`` that makes plain calls.

        Args:
            original: what runs where that is not possible.
            call: runs plain calls.
            plain: see above.
            count: how many arguments come by position.
            in_place: whether the original copies arguments with elements of ``out``.
                Else only what has none is written to.
            fills: whether plain calls want the first arguments in their places.
        """
        parameters, most = parameters_of(original), _most_by_position(original)
        looked_at = {*_TARGETS, *(tuple(parameters)[:count] if fills else ())}

        def write(*arguments: Any, **named: Any) -> Any:
            if len(arguments) <= count and looked_at.isdisjoint(named):
                return original(*arguments, **named)
            were_named = len(named)
            # the original refuses more
            if most is not None and len(arguments) <= most:
                arguments, named = in_places(parameters, count, arguments, named)
            given = {
                each: named[each]
                for each in named
                if named[each] is not None
                or each not in _TARGETS
                or each not in parameters
            }
            out, dtype = given.pop("out", None), given.get("dtype")
            is_plain = (out is None and dtype is None) or self._doctor.is_on
            if is_plain or not given.keys() <= parameters.keys():
                is_other = out is None and len(given) != were_named
                named = given if out is None else named
                return (call if is_other else original)(*arguments, **named)
            made = None
            try:
                fits = out is None or self._may_write(out, [])
                how = plain(out, arguments, given) if fits else None
                if how and (
                    in_place or out is None or self._is_apart(out, arguments, given)
                ):
                    made = call(*how[0], **how[1])
                    if out is None:
                        made = self.converted(made, np.dtype(dtype))
                    else:
                        made = self.put(out, made, *how[2:])
            except _REFUSALS:
                made = None
            return original(*arguments, **named) if made is None else made

        return write

    def _is_apart(self, out: Any, arguments: tuple[Any, ...], named: Any) -> bool:
        """Whether no argument has elements of ``out``."""
        target = self._view_of(out)
        views = [
            self._view_of(each)
            for each in (*arguments, *named.values())
            if type(each) is self._ndarray
        ]
        return target is not None and all(
            [view and not may_overlap(view.root, target.root) for view in views]
        )

    # What is called in place of calls with ``out`` or ``dtype`` (``Plain``).

    def same(self, out: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """Convert nothing."""
        return None if "dtype" in named else (arguments, named, "no")

    def any_type(self, out: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """Convert the result; complex elements may be clipped to real ones."""
        dtypes = [getattr(each, "dtype", None) for each in arguments]
        is_complex = any([each is not None and each.kind == "c" for each in dtypes])
        return None if "dtype" in named or is_complex else (arguments, named)

    def scan(self, out: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """Convert the elements before they are added, and add in that type."""
        dtype = np.dtype(named["dtype"] if out is None else out.dtype)
        first, *others = arguments
        if type(first) is not self._ndarray or (out is None and first.dtype == dtype):
            return None
        return self._of_converted(first, dtype, others, {**named, "dtype": dtype})

    def mean(self, out: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """Convert the elements before they are added."""
        first, *others = arguments
        if type(first) is not self._ndarray:
            return None
        own = first.dtype if first.dtype.kind in "fc" else np.float64
        dtype = np.dtype(named.pop("dtype", own))
        if dtype.kind not in "fc":
            return None
        return self._of_converted(first, dtype, others, named)

    def factors(self, casting: str) -> Plain:
        """Return what converts arrays before they are multiplied.

        Of one array the original may show a part, whose type it is.
        """

        def convert(out: Any, arguments: tuple[Any, ...], named: Any) -> Any:
            rule = named.pop("casting", casting)
            dtype = np.dtype(named.pop("dtype", None if out is None else out.dtype))
            if out is not None and out.dtype != dtype:
                return None
            if any([isinstance(each, _SCALARS) for each in arguments[:2]]):
                return None
            are_arrays = [type(each) is self._ndarray for each in arguments]
            if sum(are_arrays) < 2:
                return None
            factors = []
            for each, is_array in zip(arguments, are_arrays, strict=True):
                if is_array and not each.ndim:
                    return None
                factors.append(self.converted(each, dtype, rule) if is_array else each)
            return None if any([each is None for each in factors]) else (factors, named)

        return convert

    def reduction(self, ufunc: Any) -> Plain:
        """Return what converts elements to the type that a function reduces them in."""

        def convert(out: Any, arguments: tuple[Any, ...], named: Any) -> Any:
            dtype = named.pop("dtype", None)
            dtype = None if dtype is None else np.dtype(dtype)
            first, *others = arguments
            if type(first) is not self._ndarray:
                return None
            source = first.dtype
            target = _accumulated(
                ufunc, None if out is None else out.dtype, source, dtype
            )
            # no type is compared with None, which NumPy takes for float64
            if ufunc in _WIDENING and target == _WIDE.get(source.kind, source):
                target = source
            return self._of_converted(first, target, others, named)

        return convert

    def _of_converted(self, first: Any, dtype: Any, others: Any, named: Any) -> Any:
        first = self.converted(first, dtype)
        return None if first is None else ((first, *others), named)


@lru_cache
def _accumulated(ufunc: Any, out: Any, source: Any, dtype: Any) -> Any:
    """Return the type in which NumPy reduces elements of another one."""
    given: dict[str, Any] = {} if dtype is None else {"signature": (dtype, None, None)}
    return ufunc.resolve_dtypes(
        (out, source, None), casting="unsafe", reduction=True, **given
    )[0]
