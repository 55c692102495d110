# SPDX-License-Identifier: Apache-2.0
"""Times twenty functions of users beside Numba's own ``vectorize``.

``bench.py functions``: each function on arrays of some sizes, in turns in one process
on one processor. Numba's runs on NumPy's arrays, ours on cuPyNumeric's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import machine
from measurement import FUSED, run_package
from records import SideError

SIDE = Path(__file__).parent / "functions_side.py"
SIZES = "10,1000,10000000"


def main(arguments: list[str]) -> int:
    """Measure the functions, and print a table."""
    options = _parse(arguments)
    try:
        records = run_package(
            FUSED, SIDE, options.elements.split(","), cpus=1, sysmem=options.sysmem
        )
    except SideError as error:
        print(f"bench: failed\n{error}", file=sys.stderr)
        return 1
    found: list[Any] = records["records"]
    print(table(found))
    if options.json:
        document = {
            "command": "scripts/bench.py functions " + " ".join(arguments),
            "machine": machine.describe(),
            "records": found,
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if all(each["same"] for each in found) else 1


def table(records: list[Any]) -> str:
    """Return the times as a table, a line for each function and size."""
    lines = [
        "| function | elements | Numba us | with out= us | here us | ratio | to out= "
        "| bits |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in records:
        lines.append(
            f"| {each['function']} | {each['elements']:,} | {each['numba']:,.1f} | "
            f"{each['numba_out']:,.1f} | {each['ours']:,.1f} | {each['ratio']:.2f} | "
            f"{each['ratio_out']:.2f} | "
            f"{'same' if each['same'] else 'OTHER'} |"
        )
    for elements in dict.fromkeys(each["elements"] for each in records):
        ratios = [each["ratio"] for each in records if each["elements"] == elements]
        lines.append(
            f"\n{elements:,} elements: {statistics.geometric_mean(ratios):.2f} of the "
            f"time in the mean, {max(ratios):.2f} at most, over 1.05 for "
            f"{sum(ratio > 1.05 for ratio in ratios)} of {len(ratios)}."
        )
    return "\n".join(lines)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.py functions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--elements", default=SIZES, metavar="N,...", help=f"of an array ({SIZES})"
    )
    parser.add_argument("--sysmem", type=int, default=4000, help="MB for Legate")
    parser.add_argument("--json", type=Path, help="write the records to this file")
    return parser.parse_args(arguments)
