# SPDX-License-Identifier: Apache-2.0
"""The tasks of reductions, by the type of their operands.

Follows: cuPyNumeric (cupynumeric/_thunk)
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np

from legate_diffuse.ir.privilege import READ, REDUCE
from legate_diffuse.shortcuts.client import Client
from legate_diffuse.shortcuts.templates import Template, new_function
from legate_diffuse.stores.layout import remember

# How partial results of a reduction are combined, and what it starts from: a number, or
# the least or the greatest element of the type.
_COMBINED: Final[dict[str, tuple[str, Any]]] = {
    "SUM": ("ADD", 0),
    "PROD": ("MUL", 1),
    "MAX": ("MAX", "min"),
    "MIN": ("MIN", "max"),
    "ANY": ("ADD", False),
    "ALL": ("MUL", True),
}
# At most so many shapes are remembered, of each method.
_MAX_TEMPLATES: Final = 1024


class ReductionTemplates(dict[tuple[Any, ...], tuple[Template, Any] | None]):
    """The templates of one reduction, and the identities, by type and shape.

    Those of reductions along an axis by type and axis. None stands for a type without
    a shortcut.
    """

    def __init__(self, client: Client, code: str, dtypes: frozenset[str]) -> None:
        super().__init__()
        self._client = client
        config = importlib.import_module("cupynumeric.config")
        self._code = getattr(config.UnaryRedCode, code)
        self._dtypes = dtypes
        operator, self._identity = _COMBINED[code]
        self._operator = int(client.legate.ReductionOpKind[operator])
        self.function = new_function(client)

    def __missing__(self, key: tuple[Any, ...]) -> tuple[Template, Any] | None:
        name, shape = key
        found = self._make(name, shape) if name in self._dtypes else None
        return remember(self, key, found, _MAX_TEMPLATES)

    def _make(self, name: str, shape: tuple[int, ...] | int) -> tuple[Template, Any]:
        client, dtype = self._client, np.dtype(name)
        types = importlib.import_module("legate.core.types")
        is_along = type(shape) is int
        task = client.tasks["UNARY_RED" if is_along else "SCALAR_UNARY_RED"]
        template = Template(client, task, 1, None, dtype)
        template.privileges = [READ, REDUCE + self._operator]
        code = self._code, types.int32
        if is_along:
            template.function = self.function
            template.scalars = [(shape, types.int32), code, (False, types.bool_)]
        else:
            template.aligned = ()
            template.privileges.reverse()
            template.scalars = [code, (shape, (types.int64,)), (False, types.bool_)]
        identity = self._identity
        if isinstance(identity, str):
            limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
            identity = getattr(limits, identity)
        template.identity = np.array(identity, dtype).tobytes()
        return template, client.legate.Scalar(template.identity, template.type)
