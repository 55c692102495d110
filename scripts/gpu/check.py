# SPDX-License-Identifier: Apache-2.0
"""Runs all checks of stage 1, each with a limit and a verdict of its own.

It needs the folder that ``prepare`` makes, and no Legate. The table is printed, and
``check.json`` under ``$OUT`` has it all.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from native import CHECKOUT, HERE, prepared

TESTS: Final = (
    "test_gpu_values.py",
    "test_gpu_reductions.py",
    "test_gpu_rows.py",
    "test_gpu_row_sums.py",
)
TAIL: Final = 6000
SANITIZER: Final = "compute-sanitizer"


@dataclass
class Step:
    """A command with a limit, which may write a file of JSON."""

    name: str
    command: list[str]
    limit: float
    variables: dict[str, str] = field(default_factory=dict)


class Runner:
    """Runs steps, those of a group beside each other."""

    def __init__(self, out: Path, deadline: float) -> None:
        self._out = out
        self._deadline = deadline
        self._results: dict[str, Any] = {}
        self._folder = Path(tempfile.mkdtemp(prefix="gpu_check_"))

    def result_file(self, name: str) -> Path:
        """Return where a step writes what it found."""
        return self._folder / f"{name}.json"

    def run(self, *group: Step) -> None:
        """Run a group; what outlasts its limit is ended."""
        started = time.monotonic()
        running = []
        for step in group:
            if shutil.which(step.command[0]) is None:
                print(f"{step.name:18} LEFT OUT      there is no {step.command[0]}")
                continue
            log = (self._folder / f"{step.name}.log").open("w")
            process = subprocess.Popen(
                step.command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | step.variables,
                cwd=CHECKOUT,
                start_new_session=True,
            )
            running.append((step, process, log))
        for step, process, log in running:
            end = min(started + step.limit, self._deadline)
            try:
                process.wait(max(0.1, end - time.monotonic()))
                verdict = "passed" if process.returncode == 0 else "FAILED"
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                verdict = "OUT OF TIME"
            log.close()
            self._note(step, verdict, time.monotonic() - started)

    def _note(self, step: Step, verdict: str, seconds: float) -> None:
        text = (self._folder / f"{step.name}.log").read_text(errors="replace")
        with (self._out / "check.log").open("a") as whole:
            whole.write(f"==== {step.name}: {verdict}\n{text[-100_000:]}\n")
        found: dict[str, Any] = {"verdict": verdict, "seconds": round(seconds, 1)}
        file = self.result_file(step.name)
        if file.exists():
            found["found"] = json.loads(file.read_text())
        if verdict != "passed":
            found["tail"] = text[-TAIL:]
        self._results[step.name] = found
        (self._out / "check.json").write_text(json.dumps(self._results, indent=1))
        summary = next(
            (line for line in reversed(text.splitlines()) if line.strip()), ""
        )
        print(
            f"{step.name:18} {verdict:12} {seconds:6.1f} s  {summary[:150]}", flush=True
        )

    def print_tables(self) -> None:
        """Print what was measured."""
        times = self._results.get("times", {}).get("found")
        peers = [
            row
            for name, result in self._results.items()
            if name.startswith("peer_") and "found" in result
            for row in result["found"]["rows"]
            if "ms" in row
        ]
        if not times:
            return
        copy = times["copy_gb_s"]
        print(f"copy {copy} GB/s, after {times['copy_after']} GB/s")
        for row in times["rows"]:
            print(
                f"{row['case']:24} {row['ms']:9.4f} ms {row['of_copy']:7.1%} "
                f"{row['program']}"
            )
        for row in peers:
            print(
                f"{row['case']:14} {row['dtype']} {row['package']:14} "
                f"{row['ms']:9.4f} ms {row['gb_s'] / copy:7.1%}"
            )


def main() -> int:
    """Run the steps that the command line leaves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=450, help="for all steps")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--only", default="", help="names of steps, with commas")
    parser.add_argument("--quick", action="store_true", help="a few of everything")
    options = parser.parse_args()
    out = Path(os.environ.get("OUT", tempfile.mkdtemp(prefix="gpu_out_")))
    out.mkdir(parents=True, exist_ok=True)
    runner = Runner(out, time.monotonic() + options.seconds)
    wanted = set(options.only.split(",")) - {""}
    python, jobs = sys.executable, options.jobs
    tests = CHECKOUT / "tests"
    paths = [HERE, CHECKOUT, tests / "codegen" / "gpu", tests]
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    os.environ["LEGATE_DIFFUSE_PREPARED"] = str(prepared())
    os.environ["PYTHONUNBUFFERED"] = "1"
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    quick = ["--quick"] if options.quick else []

    def own(name: str, limit: float, *more: str) -> Step:
        file = str(runner.result_file(name))
        script = str(HERE / "steps.py")
        command = [python, script, name, file, f"--jobs={jobs}", *quick, *more]
        return Step(name, command, limit)

    def tests() -> Step:
        names = TESTS[-1:] if options.quick else TESTS
        folder = CHECKOUT / "tests" / "codegen" / "gpu"
        command = [python, "-m", "pytest", "-p", "on_device", "-q"]
        command += ["-p", "no:cacheprovider", "--timeout=120", "--maxfail=30"]
        if not options.quick:
            command += ["-n", str(len(names)), "--dist", "loadfile"]
        files = [str(folder / name) for name in names]
        # in full, as ``scripts/test --all`` runs them (tests/tiers.py)
        return Step("tests", [*command, *files], 150, {"TESTS_ALL": "1"})

    def peer(package: str, warm: bool) -> Step:
        name = f"{'warm' if warm else 'peer'}_{package}"
        command = [python, str(HERE / "peers.py"), package]
        command += [str(runner.result_file(name)), *(["warm"] if warm else [])]
        return Step(name, command, 120)

    def sanitized(tool: str) -> Step:
        name = f"sanitizer_{tool}"
        python, script, _, *rest = own(name, 90, "--few").command
        tool_command = [SANITIZER, f"--tool={tool}", "--error-exitcode=9"]
        return Step(name, [*tool_command, python, script, "programs", *rest], 90)

    groups = [
        [own("device", 30)],
        [own("operations", 120), tests()],
        [own("compile", 60), peer("torch", True)],
        [own("programs", 90)],
        [own("times", 120)],
        [peer("cupy", False)],
        [peer("jax", False)],
        [peer("torch", False)],
        [sanitized("memcheck"), sanitized("racecheck")],
    ]
    for group in groups:
        left = [step for step in group if not wanted or step.name in wanted]
        if left:
            runner.run(*left)
    runner.print_tables()
    return 0


if __name__ == "__main__":
    sys.exit(main())
