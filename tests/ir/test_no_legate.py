# SPDX-License-Identifier: Apache-2.0
"""The analyses and the code generator do not need Legate."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# A finder that comes first, so that the test is not fooled where Legate is missing.
PROGRAM = """
import importlib, json, pkgutil, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("legate", "cupynumeric"):
            asked.append(name)

asked = []
sys.meta_path.insert(0, Finder())
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)
print(json.dumps({"asked": asked, "loaded": sorted(sys.modules)}))
"""


def imported_with(package: str) -> dict[str, list[str]]:
    """Return what importing a package loads, and asks for."""
    environment = {k: v for k, v in os.environ.items() if k != "LEGATE_DIFFUSE"}
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, f"legate_diffuse.{package}"],
        check=True,
        capture_output=True,
        env=environment,
        text=True,
    )
    found: dict[str, list[str]] = json.loads(finished.stdout)
    return found


@pytest.mark.parametrize(
    "package",
    ["codegen", "fusion", "ir", "kernel", "libraries", "llvm", "maths", "stores"],
)
def test_importing_a_package_imports_no_legate(package: str) -> None:
    found = imported_with(package)
    assert f"legate_diffuse.{package}" in found["loaded"]
    assert found["asked"] == []
    roots = {name.partition(".")[0] for name in found["loaded"]}
    assert not roots & {"legate", "cupynumeric"}
    assert "legate_diffuse.interpose" not in found["loaded"]


@pytest.mark.parametrize(
    ("package", "below"), [("llvm", {"kernel"}), ("maths", {"kernel", "llvm"})]
)
def test_a_package_imports_only_what_lies_below_it(
    package: str, below: set[str]
) -> None:
    loaded = imported_with(package)["loaded"]
    folders = {
        name.split(".")[1]
        for name in loaded
        if name.startswith("legate_diffuse.") and name.count(".") > 1
    }
    assert folders == below | {package}
