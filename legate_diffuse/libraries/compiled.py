# SPDX-License-Identifier: Apache-2.0
"""Scalar Python functions, compiled by Numba to LLVM assembly.

Numba is imported when the first function is compiled. It types and compiles a function
as for ``numba.vectorize``: with NumPy's error model, and no other effects than results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from legate_diffuse.kernel.builder import Value
from legate_diffuse.kernel.dtypes import ALL, HALF
from legate_diffuse.kernel.functions import NAME, ScalarFunction
from legate_diffuse.libraries.table import Emitter
from legate_diffuse.llvm.passes import (
    as_instructions,
    keep_only,
    optimise,
    split_structures,
)

_RAISES: Final = "function_raises"
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
# What Numba says around the reason.
_HEADS: Final = re.compile(r"Failed in |During: |This error may|- Resolution|File ")


class RefusedError(TypeError):
    """A function cannot be compiled; the message is a reason in one sentence."""


def is_compiled(function: Any) -> bool:
    """Return whether a function is a dispatcher or a universal function of Numba's."""
    return type(function).__module__.partition(".")[0] == "numba"


def compile_function(
    function: Any, inputs: Sequence[Any], output: Any = None
) -> ScalarFunction:
    """Compile a scalar function.

    Args:
        function: a Python function, or what Numba has made of one.
        inputs: the types of its arguments, as NumPy or Numba knows them.
        output: the type of its result as Numba knows it, if it is given.

    Raises:
        RefusedError: Numba does not compile it, or what it compiles cannot be used.
        ImportError: there is no Numba.
    """
    from numba.core.errors import NumbaError
    from numba.np.numpy_support import as_dtype
    from numba.np.ufunc.ufuncbuilder import UFuncDispatcher

    dispatcher = getattr(function, "_dispatcher", function)
    options = dict(getattr(dispatcher, "targetoptions", {}), nopython=True)
    options = {key: options[key] for key in ("nopython", "fastmath") if key in options}
    signature: Any = tuple(map(numba_type, inputs))
    if output is not None:
        signature = output(*signature)
    try:
        made = UFuncDispatcher(
            getattr(dispatcher, "py_func", dispatcher), {}, options
        ).compile(signature)
    except Exception as error:
        # Python's own errors come through, such as that of a module without a name
        raise RefusedError(f"Numba refuses it: {reason_of(error)}") from error
    given = made.signature
    try:
        outputs = tuple(as_dtype(each).name for each in results_of(given.return_type))
    except (NumbaError, NotImplementedError):
        outputs = ("",)
    if not outputs or not {*outputs} <= {*ALL} - {HALF}:
        raise RefusedError(f"it returns {given.return_type}, which arrays cannot hold")
    names = tuple(as_dtype(each).name for each in given.args)
    return ScalarFunction(names, outputs, _assembly(made))


def compiled(function: Any) -> Callable[..., tuple[Value, ...]]:
    """Return the lowering of a scalar function of Numba's."""

    def lower(emit: Emitter, *operands: Value) -> tuple[Value, ...]:
        types = tuple(operand.dtype for operand in operands)
        if types not in known:
            known[types] = compile_function(function, types)
        return emit.results(known[types], operands)

    known: dict[tuple[str, ...], ScalarFunction] = {}
    return lower


def numba_type(dtype: Any) -> Any:
    """Return Numba's type of elements of a NumPy type.

    Raises:
        RefusedError: there is none.
    """
    import numpy as np
    from numba.core.errors import NumbaError
    from numba.core.types import Type
    from numba.np.numpy_support import from_dtype

    if isinstance(dtype, Type):
        return dtype
    try:
        if np.dtype(dtype).name not in ALL or np.dtype(dtype).name == HALF:
            raise NotImplementedError
        return from_dtype(np.dtype(dtype))
    except (NumbaError, NotImplementedError) as error:
        raise RefusedError(f"it takes no elements of type {dtype}") from error


def results_of(kind: Any) -> tuple[Any, ...]:
    """Return the types of the results of a function that returns a type of Numba's."""
    from numba.core.types import BaseTuple

    return tuple(kind) if isinstance(kind, BaseTuple) else (kind,)


def reason_of(error: BaseException) -> str:
    """Return in one sentence why Numba has refused a function."""
    text = _COLOURS.sub("", str(error))
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not _HEADS.match(line)]
    if not lines:
        return type(error).__name__
    reason, *others = lines
    if reason.endswith("signature:") and others:
        reason = f"{reason.removesuffix(':')} {others[0].removeprefix('>>> ')}"
    return reason.rstrip(".:")


def _assembly(made: Any) -> str:
    """Return the module of a function that Numba has compiled.

    Raises:
        RefusedError: it may raise, or calls what is not in this process.
    """
    from llvmlite import binding as llvm

    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )
    module = llvm.parse_assembly(_caller(made))
    # the form in which Numba links a function with others, from its cache, too
    module.link_in(made.library._get_module_for_linking(), preserve=True)
    keep_only(module, NAME)
    optimise(module, machine)
    split_structures(module, machine)
    optimise(module, machine)
    text = as_instructions(str(module))
    module = llvm.parse_assembly(text)
    for name in [each.name for each in module.functions if each.is_declaration]:
        if name == _RAISES:
            raise RefusedError("it may raise an exception")
        if name.startswith("Py") or (
            not name.startswith("llvm.") and not llvm.address_of_symbol(name)
        ):
            raise RefusedError(f"it calls {name}")
    if any(each.is_declaration for each in module.global_variables):
        raise RefusedError("it uses objects of Python's")
    return text


def _caller(made: Any) -> str:
    """Return a module that calls a function of Numba's on elements in memory."""
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core.types import BaseTuple

    context, signature = made.target_context, made.signature
    results = results_of(signature.return_type)
    module = ir.Module()
    pointer = ir.IntType(8).as_pointer()
    count = len(signature.args) + len(results)
    kind = ir.FunctionType(ir.VoidType(), [pointer] * count)
    function = ir.Function(module, kind, NAME)
    builder = ir.IRBuilder(function.append_basic_block())

    def memory(number: int, dtype: Any) -> Any:
        element = context.get_data_type(dtype).as_pointer()
        return builder.bitcast(function.args[number], element)

    operands = [
        context.unpack_value(builder, dtype, memory(number, dtype))
        for number, dtype in enumerate(signature.args)
    ]
    callee = ir.Function(
        module,
        context.call_conv.get_function_type(signature.return_type, signature.args),
        made.fndesc.llvm_func_name,
    )
    status, value = context.call_conv.call_function(
        builder, callee, signature.return_type, signature.args, operands
    )
    raises = ir.Function(module, ir.FunctionType(ir.VoidType(), []), _RAISES)
    with builder.if_then(status.is_error):
        builder.call(raises, [])
    is_tuple = isinstance(signature.return_type, BaseTuple)
    values = cgutils.unpack_tuple(builder, value) if is_tuple else [value]
    for number, (dtype, each) in enumerate(
        zip(results, values, strict=True), len(signature.args)
    ):
        context.pack_value(builder, dtype, each, memory(number, dtype))
    builder.ret_void()
    return str(module)
