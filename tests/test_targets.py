# SPDX-License-Identifier: Apache-2.0
"""Only code generation and the launch of a task know which target a program is for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import legate_diffuse

PACKAGE: Final = Path(legate_diffuse.__file__).parent
MAPPERS: Final = Path(__file__).parents[1] / "mappers"

TARGET: Final = re.compile(
    r"gpu|cuda|nvidia|nvptx|\bptx|\bsm_?\d|\bdevice", re.IGNORECASE
)
# Protocols of Python's, files that code follows and a class of Legate's are named so,
# and so is the setting with which a user turns GPUs on.
NAMED: Final = re.compile(
    r"__cuda_array_interface__|__dlpack_device__|\bdevice(: Any|=device)|device-width"
    r"|libcudacxx|cuda/std|cuda_fp16\.h|NVIDIA Legate|nvidia-cupynumeric"
    r"|\"(LEGATE_DIFFUSE_)?GPU\"|\"GPUVariant\""
)
# Starting asks whether GPUs can run anything, a command tries it without them, and
# pages for users name them.
KNOW: Final = ("codegen", "startup.py", "commands", "guide")


def lines() -> Iterator[tuple[str, str]]:
    """Yield the lines of all that is to know no target, each with its place."""
    python = (PACKAGE, ("*.py", "*.pyi", "*.md"))
    native = (MAPPERS / "process", ("*.cc", "*.h"))
    for folder, patterns in (python, native):
        for path in sorted(each for some in patterns for each in folder.rglob(some)):
            name = path.relative_to(folder)
            if name.parts[0] in KNOW or name.match("_native/tasks.pyi"):
                continue
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                yield f"{name}:{number}", line


def names_target(line: str) -> bool:
    """Whether a line names a target of code."""
    return TARGET.search(NAMED.sub("", line)) is not None


def test_no_target_is_known_above_code_generation() -> None:
    assert [place for place, line in lines() if names_target(line)] == []


@pytest.mark.parametrize(
    "line", ["if self._on_gpus:", "target == 'sm_90'", "CUDA", "text = ptx(kernel)"]
)
def test_a_line_that_knows_one_is_found(line: str) -> None:
    assert names_target(line)
