# SPDX-License-Identifier: Apache-2.0
"""How shortcuts submit what cuPyNumeric would, and take the place of its functions.

Follows: cuPyNumeric (cupynumeric/_array, _thunk)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from legate_diffuse import settings
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.interpose.window import window
from legate_diffuse.ir.privilege import WRITE
from legate_diffuse.libraries.kind import Kind
from legate_diffuse.shortcuts.broadcast import common_shape, repeated
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.conversions import Conversions
from legate_diffuse.shortcuts.hosted import Hosted, leave
from legate_diffuse.shortcuts.masks import Selections
from legate_diffuse.shortcuts.parts import part_of
from legate_diffuse.shortcuts.shortcut import Source
from legate_diffuse.shortcuts.task import TaskTemplate, TemplateTask, submit
from legate_diffuse.shortcuts.templates import (
    Constants,
    Template,
    Templates,
    copy_templates,
    element_templates,
)
from legate_diffuse.shortcuts.written import Plain, Written, may_overlap
from legate_diffuse.stores.fill import Fill
from legate_diffuse.stores.layout import Layout, whole
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# What is around each function of cuPyNumeric that a shortcut replaces.
CALLED: Final[tuple[Source, ...]] = (
    ("_array.util", "add_boilerplate"),
    ("_utils.profiling", "profiling_wrapper"),
)
# What makes arrays of arguments that are none.
CONVERTED: Final[tuple[Source, ...]] = (
    ("_array.util", "convert_to_cupynumeric_ndarray"),
)
# What makes an array that shows a store.
SHOWN: Final[tuple[Source, ...]] = (
    *CALLED,
    ("_array.array", "ndarray._from_thunk"),
    ("_array.array", "ndarray._init_from_thunk"),
    ("_thunk.deferred", "DeferredArray.__init__"),
)
# What makes an array for a result.
MADE: Final[tuple[Source, ...]] = (
    *SHOWN,
    ("_array.array", "ndarray._from_inputs"),
    ("_array.array", "ndarray._init_from_inputs"),
    ("runtime", "Runtime.create_deferred_thunk"),
)
_new: Final = object.__new__
# What arrays are made of, beside arrays.
_SEQUENCES: Final = (list, tuple, np.ndarray)
# And numbers, beside NumPy's.
_ELEMENTS: Final = (float, int, complex, bool)


def _is_number(operand: Any) -> bool:
    """Whether an operand is a number of Python's that an element may be."""
    is_int = type(operand) is int and -(2**63) <= operand < 2**63
    return is_int or type(operand) is float


class Submission:
    """Submits tasks from templates, as cuPyNumeric's own code would."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.apply = client.legate.native.apply
        self.most_dims = int(real.LEGATE_MAX_DIM)
        _let_native_code_know(client)
        self.templates = {
            ufunc: Templates(client, ufunc) for ufunc in client.ufuncs.values()
        }
        self.copies = copy_templates(client)
        self.writes = element_templates(client, "WRITE", None)
        if settings.maths() == settings.MATHS[0] and "power" in client.ufuncs:
            self.templates_of("power").use_products(self.templates_of("multiply"))
        self.selections = Selections(client, self.show, self.make, self.copies)
        # numbers beside arrays, and what of them is for operands
        self.number = Constants().find
        self.constant = self.number if client.takes_numbers else lambda *_: None
        self.conversions = Conversions(client, self.make)
        self.hosted = Hosted(client, self.show)
        self.written = Written(client, self.conversions)
        # a copy of NumPy's elements, whose memory the array may take over
        self._array = self.by_numpy(np.array, "array", computes=False)
        if window.runs_at_once:
            client.legate.native.know_parts(part_of, self.hosted.new_arrays.function)
        # what native code knows of operators, by the names of their methods, and of
        # calls: those of which class have shortcuts
        self.operators: dict[str, Any] = {}
        # and of universal functions of NumPy's
        self.ufuncs: dict[Any, Any] = {}
        # and of reductions, by the names of their methods: what reduces all elements
        # and along axes, and whether these may be several
        self.reductions: dict[str, tuple[Any, Any, bool]] = {}
        self.called: set[type] = set()

    def templates_of(self, ufunc: str) -> Templates:
        """Return the templates of a universal function."""
        return self.templates[self.client.ufuncs[ufunc]]

    def front(
        self, owner: Any, name: str, way: str, *names: str, extra: Any = None
    ) -> None:
        """Let native code try a function, a method or a property before Python does.

        Args:
            owner: the module or class that has it.
            name: its name there.
            way: what native code calls what it does of it (mappers/process/ways.cc).
            names: those of all its parameters; none if the way takes whatever comes.
            extra: what the way needs.
        """
        before = getattr(owner, name)
        is_property = isinstance(before, property)
        otherwise = before.fget if is_property else before
        made = self.hosted.native_first(way, otherwise, *names, extra=extra)
        _put(owner, name, before.getter(made) if is_property else made)

    def by_numpy(self, *recipe: Any, **how: Any) -> Callable[..., Any]:
        """Return what lets NumPy run a function: see ``Hosted.recipe``.

        It returns new arrays of what NumPy makes of arguments, None if the original
        must run: NumPy does not take them here, or raises.
        """
        extra = self.hosted.recipe(*recipe, **how)
        return self.hosted.native_first("hosted", leave, extra=extra)

    def write_results(
        self, owner: Any, name: str, plain: Plain, count: int, **how: bool
    ) -> None:
        """Let a function with an argument ``out`` write there what it makes without.

        See ``Written.over``.
        """

        def call(*arguments: Any, **named: Any) -> Any:
            return getattr(owner, name)(*arguments, **named)

        original = getattr(owner, name)
        write = self.written.over(original, call, plain, count, **how)
        replace(owner, name, write)

    def array_of(self, argument: Any) -> Any:
        """Return the array that the original makes of a sequence; else the argument.

        NumPy's arrays are sequences, but one without dimensions is a number, as which
        NumPy compares its numbers.
        """
        if type(argument) not in _SEQUENCES:
            return argument
        if type(argument) is np.ndarray and not argument.ndim:
            return argument[()]
        made = self._array(argument)
        return argument if made is None else made

    def single_of(self, argument: Any) -> Any:
        """Return the array that the original makes of a number of NumPy's likewise."""
        if not isinstance(argument, np.generic):
            return argument
        made = self._array(argument)
        return argument if made is None else made

    def converted(self, argument: Any) -> Any:
        """Return the array that the original makes of an argument that is none.

        None if that is left to it.
        """
        is_known = type(argument) in _SEQUENCES + _ELEMENTS
        if is_known or isinstance(argument, np.generic):
            return self._array(argument)
        return None

    def arrays_of(self, operands: tuple[Any, ...], takes_numbers: bool) -> Any:
        """Return the operands, with the arrays that the original makes of some.

        It makes them of sequences, and of numbers where no operand is an array.
        """
        if takes_numbers and all([_is_number(each) for each in operands]):
            arrays = tuple([self._array(each) for each in operands])
            missing = any([each is None for each in arrays])
            return operands if missing else arrays
        operands = tuple([self.array_of(each) for each in operands])
        if any([type(each) is self.client.ndarray for each in operands]):
            return operands
        return tuple([self.single_of(each) for each in operands])

    def take_operators(self) -> None:
        """Let what was given run without Python, where it can."""
        if window.runs_at_once:
            client = self.client
            native, submitter = client.legate.native, window.submitter
            # who asks where operations come from looks at each
            if not submitter.track_provenance:
                native.know_waiting(
                    *(TemplateTask, TaskTemplate, Kind, Fill),
                    submitter.at_once,
                    self.constant,
                    *(self.copies, self.writes),
                    common_shape,
                    repeated,
                )
            native.take_operators(self.operators)
            functions = {each: self.templates[each].function for each in self.templates}
            for owner in self.called:
                count = "two" if owner is client.binary_ufunc else "one"
                self.front(owner, "__call__", f"call of {count}", extra=functions)

    def show(self, owner: Any, view: View, dtype: Any) -> Any:
        """Return a new array that shows a view, whose root has this owner."""
        thunk = _new(self.client.deferred_array)
        thunk.library = self.client.library
        thunk.dtype = dtype
        thunk.base = LogicalStore(owner, view)
        array = _new(self.client.ndarray)
        array._thunk = thunk
        array._legate_data = None
        array._writeable = True
        return array

    def new(self, template: Template, shape: tuple[int, ...]) -> tuple[Any, View]:
        """Return a new array for the result of a task, and its view."""
        layout = whole(shape)
        single = layout.volume == 1
        root = Root(self.client.legate, template.type, template.name, layout, single)
        result = View(root, layout)
        return self.show(root.owner, result, template.dtype), result

    def make(self, template: Template, shape: tuple[int, ...], *operands: View) -> Any:
        """Submit a task that writes a new array, and return the array.

        None if Legate refuses such a shape.
        """
        if len(shape) > self.most_dims:
            return None
        array, result = self.new(template, shape)
        if template.privileges[0] == WRITE:
            submit(template, [result, *operands])
        else:
            submit(template, [*operands, result])
        return array

    def write(
        self, template: Template, shape: tuple[int, ...], out: Any, *operands: View
    ) -> Any:
        """Submit a task that writes an array, and return the array.

        None if the array needs a conversion or may share elements with an operand.
        """
        if type(out) is not self.client.ndarray or not out._writeable:
            return None
        base = out._thunk.base
        if type(base) is not LogicalStore:
            return None
        target = base._view
        root = target.root
        if root.dtype is not template.name or not root.fusable or target.shape != shape:
            return None
        for operand in operands:
            if operand is target or not may_overlap(operand.root, root):
                continue
            if operand.root is not root or operand.overlaps(target):
                return None
        submit(template, [target, *operands])
        return out


def _let_native_code_know(client: Client) -> None:
    if window.runs_at_once:
        # what native code does not say of each new array
        client.ndarray._legate_data = None
        client.ndarray._writeable = True
        classes = (
            client.ndarray,
            client.deferred_array,
            LogicalStore,
            View,
            Root,
            Layout,
        )
        native = client.legate.native
        native.know_arrays(*classes, client.library)
        doctor, warn = client.doctor, client.warn

        def tell() -> None:
            native.know_settings(doctor.is_on, warn.is_on)

        doctor.changed = warn.changed = tell
        tell()


def replace(owner: Any, name: str, function: Any) -> Any:
    """Put a shortcut in a method's place; returns the original.

    cuPyNumeric's warnings name the innermost line that is not in one of its own
    modules (``_utils/stack.py``). So the shortcut claims to be in such a module.
    """
    original = getattr(owner, name)
    shortcut = FunctionType(
        function.__code__,
        {**function.__globals__, "__name__": original.__module__},
        name,
        function.__defaults__,
        function.__closure__,
    )
    shortcut.__kwdefaults__ = function.__kwdefaults__
    _put(owner, name, update_wrapper(shortcut, original))
    return original


def _put(owner: Any, name: str, made: Any) -> None:
    """Put what was made in the place of what an owner has.

    A function of the package is replaced wherever cuPyNumeric has it: its own functions
    call it, and some have two names.
    """
    found = [(owner, name)]
    if isinstance(owner, ModuleType):
        places = _places()
        found = places.pop(id(getattr(owner, name)), found)
        places[id(made)] = found
    for place in found:
        setattr(*place, made)


@cache
def _places() -> dict[int, list[tuple[Any, str]]]:
    """Return which modules of cuPyNumeric have a function, and its names there.

    By what ``id`` says of functions, which modules or shortcuts keep.
    """
    places: dict[int, list[tuple[Any, str]]] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "cupynumeric":
            for own, value in vars(module).items():
                if isinstance(value, FunctionType):
                    places.setdefault(id(value), []).append((module, own))
    return places
