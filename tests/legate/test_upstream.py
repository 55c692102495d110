# SPDX-License-Identifier: Apache-2.0
"""A Legate that is another one than was expected is one sentence, and no error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from process import run, run_python

import legate_diffuse
from legate_diffuse.interpose import upstream

PACKAGE = Path(legate_diffuse.__file__).parent
# where what is native is, if this is a checkout
MAPPERS = Path(__file__).parents[2] / "mappers"

# Changes a module right after it was imported, before anybody else sees it.
CHANGE = """
from legate_diffuse import boot
import importlib
def change(module):
    {}
boot._around_import({!r}, after=change)
"""
# What does not need what is gone.
PROGRAM = """
import legate_diffuse
legate_diffuse.enable()
import numpy as np
import legate.core as lc
runtime = lc.get_legate_runtime()
store = runtime.create_store(lc.types.float64, (8,))
runtime.issue_fill(store, lc.Scalar(2.0, lc.types.float64))
print(np.asarray(store.get_physical_store().get_inline_allocation()).sum())
print(lc.LogicalStore.__module__, legate_diffuse.stats()["tasks_seen"])
"""
UNFUSED = "16.0\nlegate.core._lib.data.logical_store 0\n"


def version() -> str:
    import legate

    return str(legate.__version__)


def told(what: str) -> str:
    return (
        f"legate_diffuse: Legate {version()} {what}, so the program runs unfused; "
        "install legate>=26.1,<26.7\n"
    )


def run_changed(change: str, module: str, program: str = PROGRAM) -> tuple[str, str]:
    done = run_python(CHANGE.format(change, module) + program)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    "name", ["LogicalArray", "Field", "Scope", "TaskTarget", "ManualTask", "bloat"]
)
def test_a_name_that_is_gone_is_one_sentence(name: str) -> None:
    found = run_changed(f"del module.{name}", "legate.core")
    assert found == (UNFUSED, told(f"has no legate.core.{name}"))


def test_the_next_data_interface_is_one_sentence() -> None:
    interface = "legate.core.data_interface"
    change = "module.MAX_DATA_INTERFACE_VERSION = module.MIN_DATA_INTERFACE_VERSION = 2"
    found = run_changed(change, interface)
    assert found == (UNFUSED, told("has no data interface of version 1"))


def test_tasks_that_take_only_stores_are_one_sentence() -> None:
    change = "del module.InputArray, module.OutputArray, module.ReductionArray"
    # as its own module of tasks was written with them
    after = change.replace("module", "importlib.import_module({!r})").format(
        *["legate.core.task"] * 3
    )
    found = run_changed(after, "legate.core")
    name = "legate.core.task.InputArray"
    assert found == (UNFUSED, told(f"has no {name}"))


def test_a_module_that_is_gone_is_one_sentence() -> None:
    change = "import sys; sys.modules['legate.core._ext.task.invoker'] = None"
    found = run_changed(change, "legate.core")
    assert found == (UNFUSED, told("has no legate.core._ext.task.invoker"))


def test_what_nobody_has_thought_of_is_one_sentence() -> None:
    begin = """
from legate_diffuse.interpose import upstream
upstream.lost = lambda: ""
"""
    program = begin + PROGRAM
    found = run_changed("del module.LogicalStorePartition", "legate.core", program)
    assert found[0] == UNFUSED
    assert found[1].startswith(
        f"legate_diffuse: Legate {version()} is not what stand-ins were made for: "
    )
    assert found[1].count("\n") == 1


def test_a_cupynumeric_without_what_shortcuts_need_is_one_sentence() -> None:
    program = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
print((cn.ones(8) * 2.0 + 1.0).sum(), legate_diffuse.stats()["tasks_seen"] > 0)
"""
    out, said = run_changed(
        "import sys; sys.modules['cupynumeric.settings'] = None", "cupynumeric", program
    )
    assert out == "24.0 True\n"
    assert re.fullmatch(
        r"legate_diffuse: cuPyNumeric \S+ is not what shortcuts were made for, so that "
        r"its calls take longer \(.+\)\n",
        said,
    )


# -- the table ----------------------------------------------------------------------
def private_names() -> Iterator[tuple[str, str]]:
    """Yield names of other libraries that the package uses, and where."""
    own: set[str] = set()
    used: list[tuple[str, str]] = []
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        place = str(path.relative_to(PACKAGE))
        for node in ast.walk(tree):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    own.add(name)
                case ast.Attribute(attr=name, ctx=ast.Store()) if ast.unparse(
                    node.value
                ) in ("self", "cls"):
                    own.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    own.add(name)
                case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
                    own |= {
                        str(each.value)
                        for each in ast.walk(value)
                        if isinstance(each, ast.Constant)
                    }
                case ast.ImportFrom(module=str(name)) | ast.Constant(value=str(name)):
                    if re.fullmatch(_MODULE, name):
                        used.append((name, place))
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
                used += [(name, place) for name in names if re.fullmatch(_MODULE, name)]
            if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr):
                used.append((node.attr, place))
    yield from ((name, place) for name, place in used if name not in own)


_MODULE = r"(legate|cupynumeric|legate_sparse|numba)(\.\w+)*\._\w+(\.\w+)*"
# Names with an underscore that Python documents.
_PUBLIC = {"_exit", "_getframe", "_replace", "_asdict"}
_DOORS = (*upstream.LEGATE, *upstream.OTHERS)
_IN_TABLE = {each.module for each in _DOORS} | {
    name for each in _DOORS for name in each.names
}
# Folders that may use names of other libraries that are not public.
_MAY_USE = ("interpose/", "shortcuts/", "libraries/compiled.py", "startup.py")


def test_names_that_are_not_public_are_in_the_table() -> None:
    used = {name for name, _ in private_names()} - _PUBLIC
    assert used - _IN_TABLE == set()


def test_few_places_use_names_that_are_not_public() -> None:
    for name, place in private_names():
        assert name in _PUBLIC or place.startswith(_MAY_USE), (name, place)


def test_the_table_has_nothing_that_is_not_used() -> None:
    text = "".join(
        path.read_text("utf-8")
        for path in PACKAGE.rglob("*.py")
        if path.name != "upstream.py"
    )
    for door in _DOORS:
        if door.module == "legate::detail":
            continue
        assert door.use
        assert door.without
        for name in (door.module.rpartition(".")[2], *door.names):
            assert re.search(rf"\b{name}\b", text), name


def test_native_code_uses_what_is_in_the_table() -> None:
    if not MAPPERS.exists():
        pytest.skip("the sources are not here")
    (door,) = [each for each in _DOORS if each.module == "legate::detail"]
    found = set()
    for path in (*MAPPERS.rglob("*.cc"), *MAPPERS.rglob("*.h")):
        text = path.read_text("utf-8")
        found |= set(re.findall(r"legate::detail::(\w+)", text))
    assert found == {*door.names}


def test_patches_are_where_the_table_says() -> None:
    for patch in upstream.PATCHES:
        path = PACKAGE.parent / patch.file
        if patch.file.startswith("mappers/"):
            path = MAPPERS.parent / patch.file
        if path.exists() or MAPPERS.exists():
            text = " ".join(path.read_text("utf-8").split())
            assert patch.version in text, patch.file
            assert patch.fault.split()[0].rpartition("::")[2] in text, patch.file


def test_this_legate_has_all() -> None:
    assert upstream.lost() == ""


def test_a_launcher_without_a_parser_is_one_sentence() -> None:
    program = """
from types import ModuleType
from legate_diffuse import boot
boot._add_launcher_flags(ModuleType("args"))
"""
    done = run("python", "-c", program)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("\n") == 1
    assert "use LEGATE_DIFFUSE=1" in done.stderr
