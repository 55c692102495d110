# SPDX-License-Identifier: Apache-2.0
"""Imports go one way: down a list of folders, and never in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import pytest
from every import every

import legate_diffuse

PACKAGE: Final = Path(legate_diffuse.__file__).parent
NAME: Final = PACKAGE.name

# A module imports from its own folder and from those after it. '' is the package's
# own ``__init__``.
ORDER: Final = (
    "",
    "__main__",
    "cli",
    "commands",
    "notebook",
    "boot",
    "startup",
    "shortcuts",
    "interpose",
    "check",
    "launch",
    "proof",
    "observe",
    "libraries",
    "fusion",
    "codegen",
    "maths",
    "llvm",
    "stores",
    "ir",
    "kernel",
    "_native",
    "messages",
    "settings",
)
# These may be imported anywhere.
EVERYBODYS: Final = ("_native", "settings", "messages")
# Folders that may know of a certain library.
KNOW_LIBRARIES: Final = ("shortcuts", "interpose", "check", "libraries")


def modules() -> dict[str, Path]:
    """Return the path of each module, by its name in the package."""
    found = {}
    for path in sorted((*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi"))):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path
    return found


def imports(path: Path) -> Iterator[str]:
    """Yield what a file imports of the package, within functions as well."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            "import_module"
        ):
            argument = node.args[0]
            names = [str(argument.value)] if isinstance(argument, ast.Constant) else []
        else:
            continue
        for name in names:
            package, _, module = name.partition(".")
            if package == NAME:
                yield module


def graph() -> dict[str, set[str]]:
    """Return what each module imports, by the names of modules."""
    known = modules()
    found: dict[str, set[str]] = {}
    for module, path in known.items():
        found[module] = set()
        for name in imports(path):
            # the last part may be a function or a class
            target = name if name in known else name.rpartition(".")[0]
            if target != module:
                found[module].add(target)
    return found


GRAPH: Final = graph()


def folder(module: str) -> str:
    return module.partition(".")[0]


def test_every_folder_has_a_place_in_the_order() -> None:
    assert {folder(module) for module in GRAPH} <= set(ORDER)


@every("module", GRAPH)
def test_imports_go_down_the_list(module: str) -> None:
    place = ORDER.index(folder(module))
    for target in GRAPH[module]:
        assert ORDER.index(folder(target)) >= place, f"{module} imports {target}"


def test_no_module_imports_itself_in_a_circle() -> None:
    # raises CycleError, which names the circle
    tuple(TopologicalSorter(GRAPH).static_order())


def test_most_folders_know_no_library() -> None:
    for module, targets in GRAPH.items():
        if folder(module) not in KNOW_LIBRARIES:
            assert not {each for each in targets if "cupynumeric" in each}, module


@pytest.mark.parametrize(
    "name", [n for n in ORDER if n and (PACKAGE / n / "__init__.py").is_file()]
)
def test_each_folder_says_what_may_be_imported_there(name: str) -> None:
    text = ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text()))
    (line,) = re.findall(r"^May import (.+)\.$", text or "", re.MULTILINE)
    said = set(re.split(", | and ", line)) - {"nothing"}
    below = ORDER[ORDER.index(name) + 1 : ORDER.index("_native")]
    assert said <= {*below}
    used = {
        folder(target)
        for module, targets in GRAPH.items()
        if folder(module) == name
        for target in targets
    }
    assert used - {name, *EVERYBODYS} <= said
