# SPDX-License-Identifier: Apache-2.0
"""What a library may register, and the sentences about what it may not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import legate_diffuse
from legate_diffuse.ir import OperationKind
from legate_diffuse.kernel import Argument, Builder, print_kernel
from legate_diffuse.kernel.dtypes import ALL, COMPLEX, FLOATS
from legate_diffuse.libraries import registry
from legate_diffuse.libraries.cupynumeric import unary
from legate_diffuse.libraries.operations import Operation, Operations
from legate_diffuse.libraries.registry import Library, RegistrationError, register_all

NAMES = {0: "lib::Axpy", 1: "lib::Raises", 2: "lib::Axpy", 3: "Count<double>"}


def describe(library: int, task: int) -> tuple[str, bool]:
    if task not in NAMES:
        raise IndexError(task)
    return NAMES[task], task == 1


def library(target: str = "cpu") -> Library:
    native = SimpleNamespace(describe_task=describe, target=lambda: target)
    legate: Any = SimpleNamespace(native=native)
    return Library(SimpleNamespace(name="lib", raw_handle=1), legate)


def kernel_of(known: Library, kind: OperationKind) -> list[str]:
    operations = Operations()
    operations.add(known.operations)
    operands = (*kind.inputs, *kind.scalars)
    arguments = [Argument(dtype, reads=True, writes=False) for dtype in operands]
    arguments.append(Argument(kind.outputs[0], reads=False, writes=True))
    builder = Builder(arguments, ())
    loaded = [builder.load(n) for n in range(len(operands))]
    (value,) = operations.lower(kind, builder, loaded)
    builder.store(len(operands), value)
    return print_kernel(builder.build()).splitlines()[len(arguments) + 1 :]


def test_a_function_of_numbas_may_branch() -> None:
    numba = pytest.importorskip("numba")
    lib = library()

    @lib.elementwise(0, "T T; bool -> T", types=FLOATS)
    @numba.njit
    def larger(x: Any, y: Any, negative: Any) -> Any:
        if negative:
            return -x if x > y else -y
        return x if x > y else y

    for dtype in FLOATS:
        kind = OperationKind("lib::Axpy", "", (dtype, dtype), (dtype,), ("bool",))
        *loads, value, store = kernel_of(lib, kind)
        assert len(loads) == 3
        assert re.fullmatch(rf"%3: {dtype} = function\.[0-9a-f]+\.0 %0 %1 %2", value)
        assert store == "store 3 %3"


def test_a_function_of_numbas_is_fused_on_cpus_only() -> None:
    numba = pytest.importorskip("numba")
    for target in ("cpu", "sm_90"):
        lib = library(target)
        lib.elementwise(0, "float64 -> float64")(numba.njit(lambda x: x * 2.0))
        lib.elementwise(3, "float64 -> float64")(lambda k, x: x * 2.0)
        assert lib.forms[0].fuse == (target == "cpu")
        assert lib.forms[3].fuse


def test_a_function_of_numbas_has_the_types_of_the_signature() -> None:
    numba = pytest.importorskip("numba")
    register = library().elementwise(0, "float32 -> float32")
    with pytest.raises(RegistrationError, match="returns float64, and the signature"):
        register(numba.njit(lambda x: x * 2.0))
    with pytest.raises(RegistrationError, match="it may raise an exception"):

        @register
        @numba.njit
        def refused(x: Any) -> Any:
            if x > 2:
                raise ValueError
            return x


def test_an_element_wise_task_is_a_kernel_for_each_type() -> None:
    lib = library()

    @lib.elementwise(0, "T T[1] T; bool -> T", types=FLOATS)
    def axpy(k: Any, x: Any, a: Any, y: Any, negative: Any) -> Any:
        return k.select(negative, 0 - a, a) * x + y

    assert lib.forms[0].repeated == (1,)
    kinds = [
        OperationKind("lib::Axpy", "", (dtype,) * 3, (dtype,), ("bool",))
        for dtype in FLOATS
    ]
    assert list(lib.operations) == kinds
    assert "\n".join(kernel_of(lib, kinds[1])) == (
        "%0: float64 = load 0\n"
        "%1: float64 = load 1\n"
        "%2: float64 = load 2\n"
        "%3: bool = load 3\n"
        "%4: float64 = constant 0x0\n"
        "%5: float64 = sub %4 %1\n"
        "%6: float64 = select %3 %5 %1\n"
        "%7: float64 = mul %6 %0\n"
        "%8: float64 = add %7 %2\n"
        "store 4 %8"
    )


def test_complex_numbers_have_the_same_operators() -> None:
    lib = library()

    @lib.elementwise(0, "T T -> T", types=COMPLEX)
    def work(k: Any, x: Any, y: Any) -> Any:
        return -(x * y) / (x - y + 1.0)

    assert len(lib.operations) == 2


def test_a_reduction_combines_the_values_of_its_function() -> None:
    lib = library()

    @lib.reduction(3, "T -> uint64", "add", types=ALL)
    def count(k: Any, x: Any) -> Any:
        if x.dtype in COMPLEX:
            x = k.real(x)
        return k.cast("uint64", x if x.dtype == "bool" else k.cast("float64", x) != 0)

    operations = Operations()
    operations.add(lib.operations)
    (kind, *_) = lib.operations
    assert kind.task == "lib::Count_double_"
    assert operations.reduction(kind) == "add"


def test_sums_over_rows_are_kernels() -> None:
    lib = library()
    lib.row_sums(0, types=FLOATS)
    assert lib.forms[0].rows
    assert [kind.inputs for kind in lib.operations] == [
        ("rect1", index, dtype, dtype)
        for dtype in FLOATS
        for index in ("int32", "int64")
    ]


def test_two_tasks_of_one_name_are_two_operations() -> None:
    lib = library()
    for task, sign in ((0, 1.0), (2, -1.0)):
        lib.elementwise(task, "float64 -> float64")(lambda k, x, s=sign: x * s)
    assert [kind.task for kind in lib.operations] == ["lib::Axpy", "lib::Axpy_2"]


def test_an_opaque_task_waits_if_legate_has_nothing_against_it() -> None:
    lib = library()
    lib.opaque(0, overwrites=True)
    lib.opaque(1)
    lib.opaque(2, waits=False)
    forms = [lib.forms[task] for task in range(3)]
    assert [form.overwrites for form in forms] == [True, False, False]
    assert [form.waits for form in forms] == [True, False, False]


Wrong = Callable[[Library], object]
one = "float64 -> float64"


def same(k: Any, x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda lib: lib.opaque(7), "task 7: the library has no such task"),
        (lambda lib: lib.opaque("0"), "task '0': the id of a task must be a whole"),
        (lambda lib: lib.opaque(0, overwrites="no"), "must be True or False"),
        (lambda lib: (lib.opaque(0), lib.opaque(0)), "task 0: it is registered twice"),
        (lambda lib: lib.elementwise(1, one)(same), "it may raise or has effects"),
        (lambda lib: lib.elementwise(0, "T T")(same), "not of the form 'T T; T -> T'"),
        (lambda lib: lib.elementwise(0, "T ->")(same), "not of the form"),
        (lambda lib: lib.elementwise(0, "int -> int")(same), "'int' is not the name"),
        (lambda lib: lib.elementwise(0, "T -> T")(same), "and types= is given"),
        (lambda lib: lib.elementwise(0, one, types=ALL)(same), "types= is given"),
        (lambda lib: lib.elementwise(0, "T -> T", types="T")(same), "'T' is not the"),
        (
            lambda lib: lib.elementwise(0, "float64 float64 -> float64")(same),
            "the function fails of float64, float64: same() takes 2 positional",
        ),
        (
            lambda lib: lib.elementwise(0, "float64 -> float32")(same),
            "the function of float64 returns float64, and the signature says float32",
        ),
        (
            lambda lib: lib.elementwise(0, one)(lambda k, x: x if x > 0 else -x),
            "a branch depends on a number: use k.select(condition, a, b)",
        ),
        (lambda lib: lib.elementwise(0, one)(lambda k, x: 1.0), "it returns 1.0 and"),
        (lambda lib: lib.elementwise(0, one)(lambda k, x: k.sine(x)), "operator sine"),
        (lambda lib: lib.elementwise(0, one)(lambda k, x: k.exp(x, x)), "exp takes 1"),
        (lambda lib: lib.elementwise(0, one)(lambda k, x: x & x), "and cannot give"),
        (lambda lib: lib.row_sums(7, types=FLOATS), "task 7: the library has no such"),
        (lambda lib: lib.row_sums(1, types=FLOATS), "it may raise or has effects"),
        (lambda lib: lib.row_sums(0, types=("int64",)), "'int64' is not one of float3"),
        (lambda lib: lib.row_sums(0, types=()), "nothing is not one of float32, fl"),
        (
            lambda lib: lib.row_sums(0, types=FLOATS, columns="int8"),
            "'int8' is not one of int32, int64",
        ),
        (
            lambda lib: (lib.opaque(0), lib.row_sums(0, types=FLOATS)),
            "it is registered twice",
        ),
        (lambda lib: lib.reduction(0, one, "sum")(same), "'sum' is not one of add,"),
        (lambda lib: lib.reduction(0, one, "or")(same), "or does not combine float64"),
    ],
)
def test_a_wrong_registration_is_one_sentence(wrong: Wrong, sentence: str) -> None:
    with pytest.raises(RegistrationError) as error:
        wrong(library())
    text = str(error.value)
    assert text.startswith("library 'lib', task ")
    assert sentence in text
    assert "\n" not in text


words = st.sampled_from(("T", "R", "T[1]", "bool", "float64", "int", "->", ";", "[1]"))


@given(
    st.sampled_from((0, 1, 7, -1, 2**70, None, "0", 1.5)),
    st.lists(words, max_size=6).map(" ".join),
    st.sampled_from((None, "add", "or", "sum", 3, "rows")),
    st.sampled_from(((), FLOATS, ("T",), "float32", ("x",), ("complex64", 3))),
    st.sampled_from((same, len, lambda k, *x: x, lambda k, *x: x[0] + x[-1], None)),
)
def test_any_registration_is_taken_or_refused(
    task: Any, signature: str, operator: Any, types: Any, function: Any
) -> None:
    lib = library()
    try:
        if operator == "rows":
            lib.row_sums(task, types=types, columns=signature.split() or "int64")
        elif operator is None:
            lib.elementwise(task, signature, types=types)(function)
        else:
            lib.reduction(task, signature, operator, types=types)(function)
    except RegistrationError as error:
        assert not lib.forms
        assert str(error).startswith(f"library 'lib', task {task!r}: ")
        assert len(str(error).splitlines()) == 1
    else:
        assert lib.forms


def test_what_a_wrong_registration_has_registered_is_forgotten() -> None:
    def wrong(lib: Library) -> None:
        lib.opaque(0)
        lib.opaque(7)

    def broken(lib: Library) -> None:
        raise KeyError("x")

    lib, told = library(), []
    registry._registered["lib"] = [lambda lib: lib.opaque(1), wrong, broken]
    try:
        register_all(lib, {}, told.append)
        with pytest.raises(RegistrationError, match="before its first task is submit"):
            legate_diffuse.register("lib", wrong)
    finally:
        del registry._registered["lib"]
        registry._looked_up.discard("lib")
    assert list(lib.forms) == [1]
    assert told == [
        "library 'lib', task 7: the library has no such task",
        "library 'lib': its registration failed with KeyError: 'x'",
    ]


@pytest.mark.parametrize("arguments", [(1, same), ("lib", None)])
def test_register_takes_a_name_and_a_function(arguments: Any) -> None:
    with pytest.raises(RegistrationError, match="give Legate's name of the library"):
        legate_diffuse.register(*arguments)


def test_an_operation_of_cupynumeric_takes_at_most_three_lines() -> None:
    page = Path(registry.__file__).with_name("README.md").read_text("utf-8")
    (entry,) = re.findall(r"```python\n(\".*?)```", page, re.DOTALL)
    assert entry.count("\n") <= 3
    ((code, (meaning,)),) = eval(f"{{{entry}}}", vars(unary)).items()
    kind = OperationKind("UNARY_OP", "SQUARE", ("int32",), ("int32",))
    lib = library()
    kinds = meaning.kinds("UNARY_OP", code)
    lib.operations.update(dict.fromkeys(kinds, Operation(meaning.lowering)))
    assert kernel_of(lib, kind)[1:] == ["%1: int32 = mul %0 %0", "store 1 %1"]


@pytest.mark.parametrize("folder", ["ir", "fusion", "launch", "kernel", "codegen"])
def test_folders_that_name_no_library(folder: str) -> None:
    for path in (Path(legate_diffuse.__file__).parent / folder).rglob("*"):
        if path.suffix in (".py", ".md"):
            text = path.read_text("utf-8")
            assert not re.search(r"cu_?py_?numeric|cunumeric|sparse", text, re.I), path
