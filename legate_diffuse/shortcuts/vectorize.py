# SPDX-License-Identifier: Apache-2.0
"""Scalar Python functions that are applied to each element of arrays.

Numba compiles them. On arrays of cuPyNumeric's each result is a task, which is fused
with its neighbours while fusion is on. Unfused it is a Python task of Legate's, which
runs a universal function of Numba's on the part of the arrays that it gets. What cannot
be such a task runs in NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Any, Final

import numpy as np

from legate_diffuse.libraries.compiled import (
    RefusedError,
    compile_function,
    is_compiled,
    numba_type,
    reason_of,
)
from legate_diffuse.messages import say_once
from legate_diffuse.shortcuts.results import Result, task_of, ufuncs_of

# Python's numbers, which take the type of the arrays beside them.
_WEAK: Final = frozenset((int, float, complex))

# A type of NumPy's, or one of Python's numbers.
Type = Any


# What submits results while fusion is on: ``Tasks`` of ``vectorized.py``.
backend: Any = None


class Vectorized:
    """A function that is applied to each element of arrays, which broadcast together.

    Its results have the bits of ``numba.vectorize``. A function that returns a tuple
    returns as many arrays. See :func:`legate_diffuse.vectorize`.

    Args:
        function: a Python function, or what Numba has made of one.
    """

    def __init__(self, function: Any) -> None:
        is_ufunc = is_compiled(function) and hasattr(function, "ufunc")
        dispatcher = function._dispatcher if is_ufunc else function
        self.wrapped = getattr(dispatcher, "py_func", dispatcher)
        self._function = function
        # those of Numba's that it consists of, one for each result
        self._ufuncs: tuple[Any, ...] = (function,) if is_ufunc else ()
        self._is_ufunc = is_ufunc
        self._arity = len(signature(self.wrapped).parameters)
        self._results: dict[tuple[Type, ...], tuple[Result, ...] | RefusedError] = {}
        # functions of native code, one for each result, by the Python types of the
        # arguments
        self._known: dict[tuple[type, ...], tuple[Any, ...]] = {}
        self._apply: Callable[..., Any]
        self._said: set[str] = set()
        self.__name__: str = getattr(self.wrapped, "__name__", "function")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the results for each element.

        ``out`` is an array for the result, or a tuple of them. What else universal
        functions of NumPy's take by name lets it run in NumPy.
        """
        if not named:
            known = self._known.get(tuple(map(type, arguments)))
            if known is not None:
                made = _made(self._apply, known, arguments)
                if made is not None:
                    return made
        return self._call(arguments, **named)

    def _call(self, arguments: Sequence[Any], out: Any = None, **named: Any) -> Any:
        if self._is_ufunc and len(arguments) == self._arity + 1 and out is None:
            *arguments, out = arguments
        if len(arguments) != self._arity:
            raise TypeError(
                f"{self.__name__}() takes {self._arity} arguments, and got "
                f"{len(arguments)}"
            )
        package = sys.modules.get("cupynumeric")
        given = (*arguments, *(out if isinstance(out, tuple) else (out,)))
        if package is None or not any(
            [isinstance(each, package.ndarray) for each in given]
        ):
            if out is not None:
                named["out"] = out
            return self._in_numpy(arguments, named)
        try:
            if named:
                raise RefusedError(f"it is called with {', '.join(named)}=")
            made = self._in_tasks(package, arguments)
        except RefusedError as error:
            self._say(error)

            def plain(each: Any) -> Any:
                return np.asarray(each) if isinstance(each, package.ndarray) else each

            named = {key: plain(each) for key, each in named.items()}
            if named and out is not None:
                # what is not computed stays as it is
                outs = out if isinstance(out, tuple) else (out,)
                copies = tuple([np.array(plain(each)) for each in outs])
                named["out"] = copies if isinstance(out, tuple) else copies[0]
            found = self._in_numpy([plain(each) for each in arguments], named)
            many = found if isinstance(found, tuple) else (found,)
            made = [package.asarray(each) for each in many]
        if out is not None:
            targets = out if isinstance(out, tuple) else (out,)
            if len(targets) != len(made):
                raise ValueError(
                    f"{self.__name__} has {len(made)} results, and out= {len(targets)}"
                ) from None
            for target, each in zip(targets, made, strict=True):
                target[...] = each
            made = list(targets)
        return made[0] if len(made) == 1 else tuple(made)

    def _say(self, reason: RefusedError) -> None:
        if str(reason) not in self._said:
            self._said.add(str(reason))
            say_once(f"{self.__name__} runs in NumPy, as {reason}")

    # -- in NumPy ---------------------------------------------------------------------
    def _in_numpy(self, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
        """Return the results for arrays of NumPy's."""
        if not self._is_ufunc:
            try:
                self._find(tuple(map(_type_of, arguments)))
            except RefusedError as error:
                if not self._ufuncs:
                    self._say(error)
        if not self._ufuncs:
            return np.vectorize(self.wrapped)(*arguments, **named)
        outs = named.pop("out", None)
        many = outs if isinstance(outs, tuple) else (outs,) * len(self._ufuncs)
        made = []
        for ufunc, out in zip(self._ufuncs, many, strict=True):
            options = named if out is None else {**named, "out": out}
            try:
                made.append(ufunc(*arguments, **options))
            except _numba_error() as error:
                if self._is_ufunc:
                    raise
                self._say(RefusedError(f"Numba refuses it: {reason_of(error)}"))
                return np.vectorize(self.wrapped)(*arguments, **named)
        return made[0] if len(made) == 1 else tuple(made)

    # -- in tasks ---------------------------------------------------------------------
    def _in_tasks(self, package: Any, arguments: Sequence[Any]) -> list[Any]:
        """Return new arrays of the results.

        Raises:
            RefusedError: it must run in NumPy.
        """
        results = self._find(tuple(map(_type_of, arguments)))
        operands = [
            _operand(package, each, np.dtype(dtype))
            for each, dtype in zip(arguments, results[0].inputs, strict=True)
        ]
        # single elements are NumPy's until a task needs them
        shape = np.broadcast_shapes(*[each.shape for each in operands])
        made = None
        if backend is not None:
            made = backend.submit(results, operands, shape)
        if made is None:
            arrays = map(package.asarray, operands)
            repeated = [
                each if each.shape == shape else package.broadcast_to(each, shape)
                for each in arrays
            ]
            made = [package.empty(shape, result.dtype) for result in results]
            for result, array in zip(results, made, strict=True):
                result.task(*repeated, array)
        if backend is not None:
            kinds = tuple(map(type, arguments))
            known = self._known.get(kinds, (None,) * len(results))
            known = backend.learn(results, known)
            if None not in known:
                self._known[kinds] = known
                self._apply = backend.apply
        return made

    def _find(self, types: tuple[Type, ...]) -> tuple[Result, ...]:
        """Return the results for arguments of some types.

        Raises:
            RefusedError: it must run in NumPy.
        """
        found = self._results.get(types)
        if found is None:
            try:
                found = self._new_results(types)
            except RefusedError as error:
                found = error
            self._results[types] = found
        if isinstance(found, RefusedError):
            raise found
        return found

    def _new_results(self, types: tuple[Type, ...]) -> tuple[Result, ...]:
        try:
            loop = self._resolve(types)
            if loop is None:
                self._add_loop(types)
                loop = self._resolve(types)
        except ImportError:
            raise RefusedError(
                "Numba is not installed: pip install 'legate-diffuse[numba]'"
            ) from None
        if loop is None:
            # the universal function says what is wrong
            raise RefusedError("Numba has no loop for these types")
        *inputs, output = loop
        returned = numba_type(output) if self._is_ufunc else None
        function = compile_function(self._function, inputs, returned)
        if len(function.outputs) != len(self._ufuncs):
            raise RefusedError("how many results it has depends on types")
        results = []
        for number, ufunc in enumerate(self._ufuncs):
            task = task_of(self.__name__, function, number, ufunc.ufunc)
            result = Result(self.__name__, function.inputs, function, number, task)
            if backend is not None:
                backend.know(result)
            results.append(result)
        return tuple(results)

    def _resolve(self, types: tuple[Type, ...]) -> tuple[np.dtype[Any], ...] | None:
        """Return the types of the loop that NumPy chooses, None if there is none."""
        if not self._ufuncs:
            return None
        ufunc = self._ufuncs[0].ufunc
        try:
            found: tuple[np.dtype[Any], ...] = ufunc.resolve_dtypes((*types, None))
        except TypeError:
            return None
        return found

    def _add_loop(self, types: tuple[Type, ...]) -> None:
        """Compile a loop for arguments of some types."""
        if self._is_ufunc and self._function._frozen:
            return
        dtypes = [np.dtype(each) for each in types]
        function = compile_function(self._function, dtypes)
        if not self._ufuncs:
            self._ufuncs = ufuncs_of(self._function, len(dtypes), len(function.outputs))
        for ufunc in self._ufuncs:
            ufunc.add(tuple(map(numba_type, dtypes)))


def applied(function: Any) -> Callable[..., Any]:
    """Return what applies a function to each element: see :class:`Vectorized`."""
    vectorized = Vectorized(function)

    def call(*arguments: Any, **named: Any) -> Any:
        return vectorized(*arguments, **named)

    return update_wrapper(call, vectorized.wrapped)


def vectorize(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what applies a scalar function to each element of arrays.

    Raises:
        TypeError: it is no function, or takes no fixed number of arguments.
    """
    if not callable(function):
        raise TypeError(f"vectorize takes a function, not {function!r}")
    if not is_compiled(function):
        kinds = {each.kind for each in signature(function).parameters.values()}
        if not kinds or not kinds <= {
            Parameter.POSITIONAL_ONLY,
            Parameter.POSITIONAL_OR_KEYWORD,
        }:
            raise TypeError(
                "vectorize takes a function with a fixed number of arguments"
            )
    return applied(function)


def _made(
    apply: Callable[..., Any], functions: Sequence[Any], arguments: Sequence[Any]
) -> Any:
    """Return what functions of native code make of arguments, None if it is nothing."""
    made = tuple([apply(each, None, *arguments) for each in functions])
    if any([each is None for each in made]):
        return None
    return made if len(made) > 1 else made[0]


def _numba_error() -> type[Exception]:
    from numba.core.errors import NumbaError

    found: type[Exception] = NumbaError
    return found


def _type_of(argument: Any) -> Type:
    kind = type(argument)
    if kind in _WEAK:
        return kind
    found = getattr(argument, "dtype", None)
    return np.asarray(argument).dtype if found is None else np.dtype(found)


def _operand(package: Any, argument: Any, dtype: np.dtype[Any]) -> Any:
    """Return an argument as an array of a type, of NumPy's if it is a number."""
    if not isinstance(argument, package.ndarray):
        found = np.asarray(argument, dtype)
        return package.asarray(found) if found.shape else found
    return argument if argument.dtype == dtype else argument.astype(dtype)
