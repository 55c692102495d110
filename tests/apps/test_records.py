# SPDX-License-Identifier: Apache-2.0
"""What scripts say of a side that has ended before its time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from records import SideError, run_side

TRACE = """\
python: buffers.inl:589: operator() const: Assertion `size == sizeof(T)' failed.
Signal 11 received by process 7 (thread 8) at:
stack trace: 40 frames
\033[34m0x01\033[0m in Legion
"""
KILLED = f"""
import os, signal, sys
print("a warning before it", file=sys.stderr)
sys.stderr.write({TRACE!r} + "frame\\n" * 40 + "the last frame\\n")
sys.stderr.flush()
os.kill(os.getpid(), signal.SIGSEGV)
"""


@pytest.mark.parametrize(
    ("switch", "package", "side"),
    [
        ("1", "cupynumeric", "fused"),
        ("0", "cupynumeric", "unfused"),
        ("0", "numpy", "numpy"),
    ],
)
def test_signal_is_told_with_its_side(
    switch: str, package: str, side: str, tmp_path: Path
) -> None:
    error = ended(tmp_path, KILLED, switch, package)
    first, *trace = str(error).splitlines()
    assert first.startswith(f"the {side} side ended with signal 11 (SIGSEGV): ")
    assert f"LEGATE_DIFFUSE={switch}" in first
    assert trace[:4] == [*TRACE.splitlines()[:3], "0x01 in Legion"]
    assert trace[12] == "... 21 lines ..."
    assert trace[-1] == "the last frame"
    assert error.reason == "ended with signal 11 (SIGSEGV)"


def test_exception_is_told_to_its_end(tmp_path: Path) -> None:
    error = ended(tmp_path, "raise ValueError('no such size')", "1", "cupynumeric")
    first, start, *_, last = str(error).splitlines()
    assert first.startswith("the fused side ended with status 1: ")
    assert start == "Traceback (most recent call last):"
    assert last == error.reason == "ValueError: no such size"


def test_silence_is_told(tmp_path: Path) -> None:
    error = ended(tmp_path, "raise SystemExit(3)", "0", "cupynumeric")
    assert str(error).splitlines()[1:] == ["It has said nothing."]
    assert error.reason == "ended with status 3"


def ended(folder: Path, program: str, switch: str, package: str) -> SideError:
    """Return what running a program that ends before its time raises."""
    script = folder / "program.py"
    script.write_text(program)
    command = [sys.executable, str(script), package]
    with pytest.raises(SideError) as raised:
        run_side(command, {"LEGATE_DIFFUSE": switch})
    return raised.value
