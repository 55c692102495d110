# SPDX-License-Identifier: Apache-2.0
"""A process that is forked finds, and does, what one finds and does that is started."""

from __future__ import annotations

import os
import subprocess
from itertools import product
from pathlib import Path

import forked
import pytest
from tiers import some

# What a program may look at, but for numbers of processes.
LOOKS = """
import os, signal, sys
print(sys.argv, sys.path, sys.flags, sys.orig_argv[1:2], __name__, sorted(globals()))
print(os.getcwd(), sorted(os.environ.items()), os.getppid() > 1)
print(sys.meta_path[0].__class__, sys.stdout.encoding, sys.stdout.line_buffering)
print(sorted(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))
print([str(signal.getsignal(number)) for number in sorted(signal.valid_signals())])
print(repr(sys.stdin.read()), [os.isatty(number) for number in (0, 1, 2)])
print([name for name in sys.modules if name.split(".")[0] in ("legate", "cupynumeric")])
"""
PROGRAMS = {
    "looks": LOOKS,
    "status": "import sys\nsys.exit(3)",
    "message": "import sys\nsys.exit('a message')",
    "error": "def f():\n    raise LookupError('mine')\nf()",
    "mistake": "x = 1 +",
    "warning": "import warnings\nwarnings.warn('beware', stacklevel=1)",
    "killed": "import os\nprint('lost')\nos.kill(os.getpid(), 9)",
    "aborted": "import os\nos.abort()",
    "at exit": "import atexit\natexit.register(print, 'late')\nprint('early')",
    "fused": """
import atexit
@atexit.register
def report():
    print(legate_diffuse.stats()["groups"])
import legate_diffuse
import cupynumeric as cn
x = cn.ones(10) * 2.0 + 1.0
print(x.tolist())
y = x + 1.0
""",
}
ENVIRONMENTS = (
    {"LEGATE_DIFFUSE": "0"},
    {"LEGATE_DIFFUSE": "1", "LEGATE_DIFFUSE_SMALL_BYTES": "0"},
    {"LEGATE_DIFFUSE": "maybe", "PYTHONPATH": os.sep},
)


def both(
    arguments: list[str],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> list[subprocess.CompletedProcess[str]]:
    """Return what one that is forked does, and one that is started."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LEGATE_", "CUPYNUMERIC_", "PYTHON", forked.STARTED))
    }
    settings = {
        "LEGATE_CONFIG": "--cpus 1 --gpus 0 --sysmem 500",
        "LEGATE_DIFFUSE_DRIVER_STUB": "1",
        "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
    }
    found = []
    variables = inherited | settings | environment
    forked.prepare(variables)
    for started in ("0", "1"):
        monkeypatch.setenv(forked.STARTED, started)
        done = forked.run(arguments, variables, 100)
        done.stdout, done.stderr = without_addresses(done.stdout, done.stderr)
        found.append(done)
    return found


def without_addresses(*printed: str) -> list[str]:
    """Leave out what Realm says of a machine without a GPU."""
    return [
        "".join(line for line in text.splitlines(keepends=True) if "{gpu}" not in line)
        for text in printed
    ]


# programs and environments take turns
@pytest.mark.parametrize(
    ("program", "environment"), some([*product(PROGRAMS, ENVIRONMENTS)], 2)
)
def test_a_text(
    program: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["-c", PROGRAMS[program], "first", "-second"]
    found, expected = both(arguments, environment, monkeypatch)
    assert found.returncode == expected.returncode
    assert found.stdout == expected.stdout
    assert found.stderr == expected.stderr


def test_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("print(__file__, __spec__)\n" + LOOKS + "raise LookupError(1)\n")
    found, expected = both([str(program), "first"], {}, monkeypatch)
    assert found.returncode == expected.returncode == 1
    assert found.stdout == expected.stdout
    assert found.stderr == expected.stderr


@pytest.fixture
def _is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(forked.STARTED, "0")
    forked.prepare(os.environ)


@pytest.mark.usefixtures("_is_forked")
def test_descriptors_keep_their_numbers() -> None:
    read, write = os.pipe()
    program = f"import os\nos.write({write}, b'told')\nos.read({write}, 1)\n"
    done = forked.run(["-c", program], os.environ, 100, pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as told:
        assert told.read() == "told"
    assert "Bad file descriptor" in done.stderr


@pytest.mark.usefixtures("_is_forked")
def test_one_that_takes_too_long_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(["-c", "import time\ntime.sleep(100)"], os.environ, 0.2)
