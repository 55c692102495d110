# SPDX-License-Identifier: Apache-2.0
"""Tells which lines of C++ ran, from what gcov has written down.

Arguments: the folder of the build, and the folder of sources that are told of.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path


def counts(build: Path, sources: Path) -> dict[str, dict[int, int]]:
    """Return how often each line ran, by file; a line may be in many objects."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for data in sorted(build.rglob("*.gcda")):
        command = ("gcov", "--json-format", "--stdout", str(data))
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        # a document for each object
        for document in filter(None, done.stdout.splitlines()):
            for file in json.loads(document)["files"]:
                path = Path(file["file"]).resolve()
                if not path.is_relative_to(sources):
                    continue
                lines = found[str(path.relative_to(sources))]
                for line in file["lines"]:
                    lines[line["line_number"]] += line["count"]
    return found


def ranges(numbers: list[int]) -> str:
    """Return sorted numbers, those that follow each other as one range."""
    told: list[list[int]] = []
    for number in numbers:
        if told and told[-1][1] == number - 1:
            told[-1][1] = number
        else:
            told.append([number, number])
    return ", ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in told)


def row(name: str, ran: int, lines: int, missing: str = "") -> str:
    """Return a line of the table."""
    share = 100 * ran / lines if lines else 100.0
    return f"{name:44} {lines:6} {lines - ran:6} {share:5.0f}%   {missing}".rstrip()


def main() -> None:
    """Print a table, the sum of all files at its end."""
    build, sources = (Path(argument).resolve() for argument in sys.argv[1:])
    ran = lines = 0
    for name, file in sorted(counts(build, sources).items()):
        missing = sorted(number for number, count in file.items() if not count)
        print(row(name, len(file) - len(missing), len(file), ranges(missing)))
        ran, lines = ran + len(file) - len(missing), lines + len(file)
    print(row("TOTAL", ran, lines))


if __name__ == "__main__":
    main()
