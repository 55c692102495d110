# SPDX-License-Identifier: Apache-2.0
"""Makes what ``check`` needs on a machine that has Legate, in one folder.

That are this checkout's Python, its tests, three libraries, and the programs that
applications submit, recorded on the driver of the tests. Its argument is the folder,
which is to be carried to the machine with the GPU. No GPU is needed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import cases
import native
from native import CHECKOUT, HERE

FOLDERS: Final = "legate_diffuse", "scripts", "tests"
CONFIGURATION: Final = (
    "--cpus 1 --gpus 1 --fbmem 20000 --zcmem 64 --sysmem 4000 --auto-config 0"
)


def record(commands: dict[str, list[str]], output: Path) -> None:
    """Record the programs of applications.

    Raises:
        RuntimeError: an application ended with an error.
    """
    tests = CHECKOUT / "tests"
    sys.path[:0] = [str(tests / "gpu"), str(tests)]
    import fake_gpus

    vars(fake_gpus)["_TIMEOUT_SECONDS"] = None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "commands.json"
        file.write_text(json.dumps(commands))
        settings = {
            "FAKE_CUDA_IDLE": "1",
            "LEGATE_CONFIG": CONFIGURATION,
            "PYTHONPATH": str(HERE),
        }
        program = HERE / "record.py"
        done = fake_gpus.run(program, str(file), str(output), **settings)
    if done.status:
        raise RuntimeError(done.errors[-4000:])
    print(done.output)


def make(
    folder: Path, small: dict[str, list[str]], large: dict[str, list[str]]
) -> None:
    """Make the folder, with what these commands submit; ``--quick`` needs the small."""
    target = folder / "build" / "gpu"
    native.build(target)
    for name, commands in (("small", small), ("large", large)):
        if commands:
            record(commands, target / f"{name}.pickle")
    skipped = shutil.ignore_patterns("__pycache__", "*.so")
    for name in FOLDERS:
        shutil.copytree(
            CHECKOUT / name, folder / name, ignore=skipped, dirs_exist_ok=True
        )
    # where the package looks for it (tests/compiled_kernels.py)
    rows = folder / "legate_diffuse" / "liblegate_diffuse_rows.so"
    shutil.copy(target / "rows.so", rows)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", help="applications, all if it is missing")
    options = parser.parse_args()
    make(
        options.folder,
        *(
            {
                case: command
                for case, command in commands.items()
                if options.only is None or case in options.only
            }
            for commands in (cases.SMALL, cases.LARGE)
        ),
    )
    print(f"{options.folder} is ready")


if __name__ == "__main__":
    main()
