# SPDX-License-Identifier: Apache-2.0
"""Runs all checks of stage 2: programs of Legate, fused and unfused, on a GPU.

It runs under a Python that has Legate and this package, such as the one that ``pack``
makes. The tables are printed; ``legate.json`` under ``$OUT`` has it all.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import cases

HERE: Final = Path(__file__).parent
CHECKOUT: Final = HERE.parents[1]
RANDOM: Final = CHECKOUT / "tests" / "gpu" / "random_programs.py"
TAIL: Final = 4000

sys.path.insert(0, str(HERE.parent))

from measurement import largest_difference  # noqa: E402

BEGIN: Final = """
import time
began = time.perf_counter()
import cupynumeric as np, legate_diffuse
x = np.arange(1_000_000, dtype=float)
print(float((x * 2 + 1 - x / 3).sum()), legate_diffuse.stats()["tasks_submitted"])
print(f"{time.perf_counter() - began:.1f} s")
"""
MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "unfused": {"LEGATE_DIFFUSE": "0"},
    "fused": {"LEGATE_DIFFUSE": "1"},
    "check": {"LEGATE_DIFFUSE": "1", "LEGATE_DIFFUSE_CHECK": "1"},
}
# What an iteration costs where there is little to compute.
TINY: Final = {
    f"{name} tiny": [name, *options.split()]
    for name, options in (
        ("cg", "--size 64"),
        ("stencil", "--size 64"),
        ("black_scholes", "--size 4096"),
        ("shallow_water", "--size 64"),
        ("softmax", "--size 64"),
    )
}
TIMED: Final = ["--package", "cupynumeric", "--batches", "5", "--iterations"]


@dataclass
class Machine:
    """Where processes run, and until when."""

    out: Path
    deadline: float
    config: str
    variables: dict[str, str] = field(default_factory=dict)

    def run(
        self, name: str, command: list[str], limit: float, **variables: str
    ) -> tuple[str, str]:
        """Run a command of this Python; return a verdict, and all that it printed."""
        log = self.out / f"{name}.log"
        own = {
            "LEGATE_CONFIG": self.config,
            "LEGATE_DIFFUSE_GPU": "1",
            "LEGATE_DIFFUSE_SYNC_COMPILE": "1",
            "PYTHONUNBUFFERED": "1",
        }
        with log.open("ab") as file:
            start = file.tell()
            process = subprocess.Popen(
                [sys.executable, *command],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | own | self.variables | variables,
                cwd=CHECKOUT,
                start_new_session=True,
            )
            try:
                end = min(time.monotonic() + limit, self.deadline)
                process.wait(max(1.0, end - time.monotonic()))
                verdict = (
                    "ended" if process.returncode == 0 else f"{process.returncode}"
                )
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                verdict = "out of time"
        text = log.read_bytes()[start:].decode(errors="replace")
        return verdict, text

    def run_cases(
        self,
        name: str,
        commands: Mapping[str, list[str]],
        limit: float,
        **variables: str,
    ) -> dict[str, dict[str, Any]]:
        """Run applications in one process, and in a new one after one that ends it."""
        end = time.monotonic() + limit
        file = self.out / f"{name}.commands"
        results = self.out / f"{name}.jsonl"
        found: dict[str, dict[str, Any]] = {}
        while left := {each: c for each, c in commands.items() if each not in found}:
            file.write_text(json.dumps(left))
            rest = end - time.monotonic()
            if rest < 1 or time.monotonic() > self.deadline:
                break
            script = str(HERE / "in_turn.py")
            verdict, text = self.run(
                name, [script, str(file), str(results)], rest, **variables
            )
            lines = results.read_text().splitlines() if results.exists() else []
            found |= {line["case"]: line for line in map(json.loads, lines)}
            ended_it = next((each for each in left if each not in found), None)
            if ended_it is not None:
                found[ended_it] = {"raised": f"{verdict}: {text[-TAIL:]}"}
        return found


def check_agreement(machine: Machine) -> dict[str, Any]:
    """Run small cases unfused, fused, and fused with the check, side by side."""
    with tempfile.TemporaryDirectory() as folder:

        def run(mode: str) -> dict[str, dict[str, Any]]:
            commands = {
                case: [*command, "--output", f"{folder}/{mode} {case}.npz"]
                for case, command in cases.SMALL.items()
                if command[0] != "sums"
            }
            settings = {**MODES[mode], "LEGATE_DIFFUSE_SMALL_BYTES": "0"}
            return machine.run_cases(f"agree_{mode}", commands, 170, **settings)

        with ThreadPoolExecutor(len(MODES)) as pool:
            found = dict(zip(MODES, pool.map(run, MODES), strict=True))
        rows = {}
        for case in found["fused"]:
            row: dict[str, Any] = {mode: found[mode].get(case, {}) for mode in MODES}
            files = [Path(folder) / f"{mode} {case}.npz" for mode in MODES]
            for mode, file in zip(("fused", "check"), files[1:], strict=True):
                if files[0].exists() and file.exists():
                    row[f"difference_{mode}"] = largest_difference(files[0], file)
            rows[case] = row
    print(f"{'agreement':26} {'fused':>9} {'check':>9} failures, launches checked")
    for case, row in rows.items():
        raised = [m for m in MODES if not row[m] or "raised" in row[m]]
        grown = row["check"].get("growth", {})
        print(
            f"{case:26} {row.get('difference_fused', math.nan):9.1e} "
            f"{row.get('difference_check', math.nan):9.1e} "
            f"{row['fused'].get('growth', {}).get('failures', 0):4.0f} "
            f"{grown.get('failures', 0):4.0f} {grown.get('launches_checked', 0):5.0f}"
            + (f" RAISED: {', '.join(raised)}" if raised else ""),
            flush=True,
        )
    return rows


def check_random(machine: Machine, programs: int) -> dict[str, Any]:
    """Run random programs, which must agree with NumPy and with the unfused ones."""
    settings = {"LEGATE_DIFFUSE_SMALL_BYTES": "0", "PROGRAMS": str(programs)}
    verdict, text = machine.run(
        "random", [str(RANDOM)], 150, LEGATE_DIFFUSE="1", **settings
    )
    print("random programs:", verdict, text.strip().splitlines()[-1:], flush=True)
    return {"verdict": verdict, "tail": text[-TAIL:]}


def measure(machine: Machine, limit: float) -> dict[str, Any]:
    """Time large and tiny cases, fused in one process and unfused in another."""
    large = {
        case: [*command[: command.index("--package")], *TIMED, "10"]
        for case, command in cases.LARGE.items()
        if command[0] != "sums"
    }
    commands = large | {case: [*tiny, *TIMED, "100"] for case, tiny in TINY.items()}
    found = {
        mode: machine.run_cases(f"times_{mode}", commands, limit / 2, **MODES[mode])
        for mode in ("fused", "unfused")
    }
    print(f"{'times, ms an iteration':26} {'unfused':>9} {'fused':>9} ratio tasks")
    for case in commands:
        rows = {mode: found[mode].get(case, {}) for mode in found}
        ms = {
            mode: statistics.median(row["iteration_ms"])
            if "iteration_ms" in row
            else math.nan
            for mode, row in rows.items()
        }
        counted = rows["fused"].get("statistics_per_iteration", {})
        print(
            f"{case:26} {ms['unfused']:9.3f} {ms['fused']:9.3f} "
            f"{ms['unfused'] / ms['fused']:5.2f} "
            f"{counted.get('tasks_seen', 0):6.1f} "
            f"{counted.get('tasks_submitted', 0):6.1f} "
            f"{rows['fused'].get('error', math.nan):8.1e}",
            flush=True,
        )
    return found


def begin(machine: Machine) -> dict[str, Any]:
    """Run a first program, unfused and fused."""

    def run(mode: str) -> tuple[str, str]:
        return machine.run(f"begin_{mode}", ["-c", BEGIN], 90, **MODES[mode])

    with ThreadPoolExecutor(2) as pool:
        done = dict(zip(MODES, pool.map(run, list(MODES)[:2]), strict=False))
    for mode, (verdict, text) in done.items():
        print("begin", mode, verdict, text[-700:], flush=True)
    return done


def main() -> int:
    """Run the steps that the command line leaves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=420, help="for all steps")
    parser.add_argument("--only", default="begin,agree,random,times")
    parser.add_argument("--programs", type=int, default=100, help="random ones")
    parser.add_argument("--gpus", type=int, default=1, help="0: only tries the script")
    parser.add_argument("--fbmem", type=int, default=12_000, help="MiB of a process")
    options = parser.parse_args()
    out = Path(os.environ.get("OUT", tempfile.mkdtemp(prefix="gpu_out_")))
    out.mkdir(parents=True, exist_ok=True)
    memory = f"--fbmem {options.fbmem} --zcmem 256" if options.gpus else ""
    config = f"--cpus 1 --gpus {options.gpus} {memory} --sysmem 4000 --auto-config 0"
    logs = Path(tempfile.mkdtemp(prefix="gpu_legate_"))
    variables = {} if options.gpus else {"LEGATE_DIFFUSE_DRIVER_STUB": "1"}
    machine = Machine(logs, time.monotonic() + options.seconds, config, variables)
    steps = {
        "begin": lambda: begin(machine),
        "agree": lambda: check_agreement(machine),
        "random": lambda: check_random(machine, options.programs),
        "times": lambda: measure(machine, options.seconds),
    }
    results: dict[str, Any] = {}
    for name in options.only.split(","):
        began = time.monotonic()
        results[name] = steps[name]()
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
        (out / "legate.json").write_text(json.dumps(results, indent=1, default=str))
    with (out / "legate.log").open("wb") as whole:
        for log in sorted(logs.glob("*.log")):
            whole.write(f"==== {log.name}\n".encode() + log.read_bytes()[-200_000:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
