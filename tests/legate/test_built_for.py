# SPDX-License-Identifier: Apache-2.0
"""Nothing that was built for another Legate is loaded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from process import run_python
from tiers import some

from legate_diffuse import startup

# Says which of the package's libraries the process has loaded.
LOADED = """
import re
maps = open("/proc/self/maps").read()
print(sorted(set(re.findall(r"liblegate_diffuse_(?!driver)\\w+|_native", maps))))
"""
FUSED = """
import legate_diffuse
legate_diffuse.enable()
import cupynumeric as cn
import legate.core as lc
print((cn.ones(8) * 2.0 + 1.0).tolist())
print(legate_diffuse.stats()["tasks_seen"], lc.LogicalStore.__module__)
"""
UNFUSED = """
import cupynumeric as cn
print((cn.ones(8) * 2.0 + 1.0).tolist())
"""
RIGHT = f"{[3.0] * 8}\n"
TOLD = (
    "legate_diffuse: its native library cannot be used, {}; reinstall legate-diffuse "
    "in this environment (it was built for a Legate with {})\n"
)


def built_for() -> list[str]:
    return Path(startup._find(startup.BUILT_FOR)).read_text().split()


def test_the_libraries_of_legate_are_recorded() -> None:
    patterns = r"liblegate\.so\.26.*", r"liblegion-legate\.so.*", r"librealm-legate.*"
    for pattern, name in zip(patterns, built_for(), strict=True):
        assert re.fullmatch(pattern, name)


@pytest.mark.parametrize("number", some(range(3), 2))
def test_a_package_for_another_legate_is_one_sentence(
    tmp_path: Path, number: int
) -> None:
    names = built_for()
    names[number] += ".1"
    file = tmp_path / "names"
    file.write_text("\n".join(names))
    begin = f"from legate_diffuse import startup\nstartup.BUILT_FOR = {str(file)!r}\n"
    done = run_python(begin + FUSED + LOADED)
    unfused = "0 legate.core._lib.data.logical_store\n"
    assert (done.returncode, done.stdout) == (0, f"{RIGHT}{unfused}[]\n")
    assert done.stderr == TOLD.format("so the program runs unfused", names[number])


def test_a_package_that_does_not_know_its_legate_is_one_sentence() -> None:
    begin = "from legate_diffuse import startup\nstartup.BUILT_FOR = 'missing'\n"
    done = run_python(begin + FUSED + LOADED)
    assert done.stdout.endswith("[]\n")
    assert done.stderr.count("\n") == 1
    assert "(missing is missing)" in done.stderr


def test_locks_for_another_legate_have_no_effect(tmp_path: Path) -> None:
    file = tmp_path / "names"
    file.write_text("liblegate.so.26.05.00\n")
    begin = f"from legate_diffuse import startup\nstartup.BUILT_FOR = {str(file)!r}\n"
    done = run_python(begin + UNFUSED + LOADED, LEGATE_DIFFUSE_YIELD="1")
    assert (done.returncode, done.stdout) == (0, f"{RIGHT}[]\n")
    effect = "so LEGATE_DIFFUSE_YIELD has no effect"
    assert done.stderr == TOLD.format(effect, "liblegate.so.26.05.00")


def test_a_package_for_this_legate_is_loaded() -> None:
    done = run_python(FUSED + LOADED)
    assert (done.returncode, done.stderr) == (0, "")
    assert "'liblegate_diffuse_net'" in done.stdout
