# SPDX-License-Identifier: Apache-2.0
"""What cuPyNumeric's universal functions submit, by the type of their operands.

Follows: cuPyNumeric (cupynumeric/_array, _thunk, _ufunc)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.store import LogicalStore
from legate_diffuse.ir.privilege import READ, WRITE
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.task import TaskTemplate
from legate_diffuse.stores.dtype import dtype_name
from legate_diffuse.stores.form import dense, form
from legate_diffuse.stores.layout import remember, whole
from legate_diffuse.stores.legate import Legate
from legate_diffuse.stores.root import Root
from legate_diffuse.stores.view import View

# At most so many Python numbers are remembered as constants.
_MAX_CONSTANTS: Final = 1024

# The types that a Python int may become, and those of a float.
INTEGERS: Final = frozenset(
    ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
)
FLOATS: Final = frozenset(("float32", "float64"))
# Those that any number may become.
COMPLEX: Final = frozenset(("complex64", "complex128"))
_INEXACT: Final = FLOATS | COMPLEX
# every int up to this size is a float64 (and rounds once to a float32)
EXACT: Final = 1 << 53

# What tasks call universal functions that are not called as the tasks are.
_CODES: Final = {
    "true_divide": "DIVIDE",
    "remainder": "MOD",
    "conjugate": "CONJ",
    "fabs": "ABSOLUTE",
}
# Functions that return an integer array itself.
_IDENTITY: Final = frozenset(("ceil", "floor", "trunc"))


class Template(TaskTemplate):
    """A task template, and what its tasks' result needs.

    The tasks of an operation without a code are about single elements. ``function``
    is what native code knows of the operation, on operands of other types too.
    ``identity`` is the element from which the result of a reduction starts.
    """

    __slots__ = ("_legate", "dtype", "function", "identity", "name", "type")

    def __init__(
        self, client: Client, task_id: int, inputs: int, code: Any, dtype: Any
    ) -> None:
        scalars = [] if code is None else [(code.value, client.code_type)]
        super().__init__(client.library, int(task_id), inputs, scalars)
        self.type = client.to_core_type(dtype)
        self.name = dtype_name(self.type)
        self.dtype = self.type.to_numpy_dtype()
        self.function: Any = None
        self.identity = b""
        self._legate = client.legate

    def learn_once(self, *operands: str | None) -> None:
        """Do the same when the operation has run at once, and only then."""
        if self.function and self.native:
            self.learn(*operands)

    def learn(self, *operands: str | None) -> None:
        """Let native code run the operation on operands of these types, if it can."""
        function, self.function = self.function, None
        prototype = Root(self._legate, self.type, self.name, whole(()), False)
        size = int(self.type.size)
        function.add(
            operands,
            self.native,
            prototype,
            self.dtype,
            size,
            self.own_scalars,
            self.identity,
            self,
        )


def new_function(
    client: Client, *, takes_numbers: bool = False, reduces: bool = False
) -> Any:
    """Return a function of native code that knows no operation yet."""
    known = takes_numbers and client.takes_numbers
    return client.legate.native.Function(dense, known, reduces)


class NewArrays:
    """What native code needs to make arrays of the types that it has met.

    Args:
        client: what is needed of cuPyNumeric.
        types: those that it is to know from the start.
    """

    def __init__(self, client: Client, types: Iterable[str] = ()) -> None:
        self.function = new_function(client)
        self._client = client
        self._known: set[str | None] = set()
        for name in types:
            self._learn(name)

    def make(self, native: Callable[..., Any], *operands: Any) -> Any:
        """Return what a native function makes of operands with new arrays, or None.

        If there is more to know of the operands, it is learned, and tried with.
        """
        made = native(self.function, *operands)
        if made is None and any([self.learn(each) for each in operands]):
            made = native(self.function, *operands)
        return made

    def learn(self, array: Any) -> bool:
        """Return whether the type of an array is new, or what it shows of its root."""
        view = self._client.view_of(array)
        if view is None:
            return False
        name, layout = view.root.dtype, view.layout
        if name in self._known and layout.form is not None:
            return False
        if name is not None and name not in self._known:
            self._learn(name)
        form(layout, view.root.shape)
        return True

    def _learn(self, name: str) -> None:
        dtype = np.dtype(name)
        client = self._client
        template = Template(client, client.tasks.FILL, 0, None, dtype)
        template.function = self.function
        template.identity = bytes(dtype.itemsize)
        template.learn(template.name)
        self._known.add(template.name)


PRODUCTS: Final = (2, 3, 4)
"""Exponents of powers of complex numbers that NumPy makes by multiplication."""


class ByType(dict[str | None, Template | None]):
    """Templates by the type of the elements of operands; None for one without.

    Args:
        make: returns the template of a type, None if there is none.
    """

    def __init__(self, make: Callable[[np.dtype[Any]], Template | None]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str | None) -> Template | None:
        template = self[name] = None if name is None else self._make(np.dtype(name))
        return template


class Templates(ByType):
    """The templates of one universal function."""

    def __init__(self, client: Client, ufunc: Any) -> None:
        super().__init__(self._make_for)
        self._client = client
        self._ufunc = ufunc
        self.name: str = ufunc.__name__
        # the type of the result, by those of the operands, each of which is a letter
        pairs = [each.split("->") for each in ufunc.types]
        self._results = {operands: np.dtype(result) for operands, result in pairs}
        self.is_known = (
            not isinstance(ufunc, client.binary_ufunc)
            or ufunc._post_resolution_check in client.checks
        )
        self._resolved: dict[str, str | None] = {}
        self.common_type = all([len(set(each)) == 1 for each in self._results])
        # whether a Python number takes the type of the array
        self.takes_numbers = self.common_type and client.takes_numbers
        self.function = new_function(client, takes_numbers=self.common_type)
        # of products, where powers with some exponents are such
        self.products: Templates | None = None

    def use_products(self, multiply: Templates) -> None:
        """Let powers of complex numbers with `PRODUCTS` be products, as NumPy's are."""
        self.products = multiply
        self.function.use_products(multiply.function)

    def resolved(self, name: str | None) -> str | None:
        """Return the type to which operands of a type are converted, itself if none is.

        None if there is none.
        """
        if name is None or not self.common_type or self.is_itself(np.dtype(name)):
            return None
        if name not in self._resolved:
            known = (np.dtype(operands[0]) for operands in self._results)
            own = np.dtype(name)
            casts = (each.name for each in known if np.can_cast(own, each))
            found = name if self.takes(own) else next(casts, None)
            self._resolved[name] = found if found and self[found] else None
        return self._resolved[name]

    def takes(self, dtype: np.dtype[Any]) -> bool:
        """Whether there is a result of operands that are all of a type."""
        count = 1 + isinstance(self._ufunc, self._client.binary_ufunc)
        return dtype.char * count in self._results

    def is_itself(self, dtype: np.dtype[Any]) -> bool:
        """Whether the function returns an array of a type as it is."""
        return dtype.kind in "iu" and self.name in _IDENTITY

    def _make_for(self, dtype: np.dtype[Any]) -> Template | None:
        client, kind = self._client, type(self._ufunc)
        is_binary = kind is client.binary_ufunc
        result = self._results.get(dtype.char * (1 + is_binary))
        name = _CODES.get(self.name, self.name.upper())
        # bits of truth values are these
        name = "LOGICAL_NOT" if name == "INVERT" and dtype.char == "?" else name
        code = getattr(client.codes[kind], name, None)
        if result is None or code is None or self.is_itself(dtype) or not self.is_known:
            return None
        task = client.tasks.BINARY_OP if is_binary else client.tasks.UNARY_OP
        template = Template(client, task, 1 + is_binary, code, result)
        template.function = self.function
        return template


def copy_templates(client: Client) -> ByType:
    """Return the templates of copies."""

    def make(dtype: np.dtype[Any]) -> Template:
        return Template(client, client.tasks.UNARY_OP, 1, client.copy_code, dtype)

    return ByType(make)


def element_templates(client: Client, task: str, function: Any) -> ByType:
    """Return the templates of reading or writing one element.

    ``function`` is what native code knows of reading.
    """

    def make(dtype: np.dtype[Any]) -> Template:
        template = Template(client, client.tasks[task], 1, None, dtype)
        template.aligned = ()
        if task == "READ":
            # the result comes last
            template.privileges.reverse()
            template.function = function
            template.learn(template.name)
        return template

    return ByType(make)


def masked_templates(client: Client) -> ByType:
    """Return the templates of writing where a mask says, to what is read as well."""

    def make(dtype: np.dtype[Any]) -> Template:
        template = Template(client, client.tasks.PUTMASK, 3, None, dtype)
        template.privileges = [READ, READ, READ, WRITE]
        return template

    return ByType(make)


def single_element(
    legate: Legate, type_: Any, name: str | None, content: bytes
) -> LogicalStore:
    """Return a constant of one element, which ``content`` holds."""
    layout = whole(())
    root = Root(legate, type_, name, layout, True, legate.Scalar(content, type_))
    return LogicalStore(root.owner, View(root, layout))


class Constants:
    """Python numbers as stores of one element, of the type of an array."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], LogicalStore] = {}

    def find(self, like: Root, value: complex) -> View | None:
        """Return a Python number as a constant of the type of a store.

        None if the original must decide what becomes of it.
        """
        # the two zeros of a type are equal, but not the same; NaN is, but not equal
        is_plain = value and type(value) is not complex and value == value
        key = (like.dtype, type(value), value if is_plain else repr(value))
        store = self._known.get(key)
        if store is None:
            store = self._make(like, value)
            if store is None:
                return None
            store = remember(self._known, key, store, _MAX_CONSTANTS)
        return store._view

    def _make(self, like: Root, value: complex) -> LogicalStore | None:
        name = like.dtype
        if name == "bool":
            convertible = type(value) is bool
        elif type(value) is complex:
            convertible = name in COMPLEX
        elif type(value) is float:
            convertible = name in _INEXACT
        else:
            is_exact = name in _INEXACT and abs(value) <= EXACT
            convertible = name in INTEGERS or is_exact
        if not convertible:
            return None
        try:
            with np.errstate(over="ignore"):
                content = np.array(value, name).tobytes()
        except OverflowError:
            return None
        return single_element(like.legate, like.type, name, content)
