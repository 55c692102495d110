# SPDX-License-Identifier: Apache-2.0
"""``legate-diffuse info``: what is installed, and whether fusion works with it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, entry_points, requires, version
from typing import Any, Final

from legate_diffuse import settings
from legate_diffuse.codegen.cache import ObjectCache, UnsuitableError, default_folder
from legate_diffuse.codegen.target import host_target
from legate_diffuse.commands.probe import MARK, SELF_TEST
from legate_diffuse.libraries.registry import GROUP
from legate_diffuse.observe.quantities import in_bytes

# Packages by the names that they may have, the usual one first.
_PACKAGES: Final = {
    "Legate": ("legate", "legate-cu12"),
    "cuPyNumeric": ("nvidia-cupynumeric", "nvidia-cupynumeric-cu12"),
    "Legate Sparse": ("legate-sparse",),
    "llvmlite": ("llvmlite",),
    "NumPy": ("numpy",),
    "Numba": ("numba",),
}
_OWN_LIBRARIES: Final = ("cupynumeric", "legate.sparse")
_RANGE: Final = re.compile(r"([\w.-]+)\s*\(?([<>=!~][^;)]*)")

# With it Legate starts on any machine; a user's own LEGATE_CONFIG comes first.
_CONFIG: Final = "--cpus 1 --gpus 0 --sysmem 128"
_PATIENCE_SECONDS: Final = 300
_NOTHING_OFF: Final[dict[str, Any]] = {"shortcuts_off": [], "tasks_off": None}
# What would print or write something in the process that is asked.
_SILENT: Final = ("EXPLAIN", "STATS", "LOG", "LOG_FILE", "DUMP", "CHECK")


def show(*, as_json: bool, tests: bool) -> int:
    """Print what is known; return the status of the command.

    With ``tests`` each form of a task is tested.
    """
    facts = find(tests=tests)
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(_lines(facts)))
    return 0


def find(*, tests: bool = False) -> dict[str, Any]:
    """Return what is installed, set and found, as data.

    Legate is started in a process of its own, which takes some seconds.
    """
    return {
        "version": version("legate-diffuse"),
        "python": sys.version.split()[0],
        "packages": dict(_packages()),
        "switch": _switch(),
        "fusion": _probe(tests=tests),
        "target": _target(),
        "threads": os.environ.get("LEGATE_DIFFUSE_THREADS") or None,
        "processors": os.cpu_count(),
        "cache": _cache(),
        "libraries": sorted(
            {*_OWN_LIBRARIES, *(point.name for point in entry_points(group=GROUP))}
        ),
        "variables": {
            name: os.environ[name]
            for name in settings.VARIABLES
            if os.environ.get(name)
        },
        "unknown_variables": settings.unknown_variables(),
    }


def _packages() -> Iterator[tuple[str, dict[str, str | None]]]:
    """Yield the version of each package, and which versions were tested."""
    found = filter(None, map(_RANGE.match, requires("legate-diffuse") or ()))
    ranges = {match[1].lower(): match[2].strip() for match in found}
    for title, names in _PACKAGES.items():
        installed = None
        for name in names:
            try:
                installed = version(name)
                break
            except PackageNotFoundError:
                continue
        yield title, {"version": installed, "supported": ranges.get(names[0])}


def _switch() -> dict[str, Any]:
    value = os.environ.get("LEGATE_DIFFUSE", "")
    try:
        on = settings.flag("LEGATE_DIFFUSE")
    except ValueError as error:
        return {"on": False, "why": str(error)}
    if value:
        return {"on": on, "why": f"LEGATE_DIFFUSE={value}"}
    return {
        "on": False,
        "why": "LEGATE_DIFFUSE is not set; legate --diffuse and legate-diffuse turn "
        "fusion on for a program",
    }


def _probe(*, tests: bool) -> dict[str, Any]:
    """Return whether fusion works, why not, and which shortcuts and tasks are off."""
    kept = {f"LEGATE_DIFFUSE_{name}" for name in _SILENT}
    environment = {
        name: value for name, value in os.environ.items() if name not in kept
    }
    environment["LEGATE_DIFFUSE"] = "1"
    environment.setdefault("LEGATE_CONFIG", _CONFIG)
    command = [sys.executable, "-m", "legate_diffuse.commands.probe"]
    command += [SELF_TEST] * tests
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"works": False, "why": "Legate does not start", **_NOTHING_OFF}
    said = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not said:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        why = lines[-1] if lines else f"Legate ended with status {done.returncode}"
        return {"works": False, "why": _plain(why), **_NOTHING_OFF}
    answer: dict[str, Any] = json.loads(said[0].removeprefix(MARK))
    own = [
        line for line in done.stderr.splitlines() if line.startswith("legate_diffuse")
    ]
    answer["why"] = "" if answer["works"] else _plain(own[-1] if own else "")
    return answer


def _plain(line: str) -> str:
    return line.removeprefix("legate_diffuse: ") or "it did not say why"


def _target() -> dict[str, Any]:
    target = host_target()
    return {
        "triple": target.triple,
        "cpu": target.cpu,
        "vector_bytes": target.vector_bytes,
        "features": [
            each[1:] for each in target.features.split(",") if each.startswith("+")
        ],
    }


def _cache() -> dict[str, Any]:
    folder = default_folder(os.environ)
    facts: dict[str, Any] = {"folder": str(folder), "entries": 0, "bytes": 0}
    try:
        facts["limit"] = settings.cache_limit()
        cache = ObjectCache.from_environment(os.environ)
        entries = [] if cache is None else cache.entries()
    except (ValueError, OSError, UnsuitableError) as error:
        return facts | {"used": False, "why": str(error)}
    return facts | {
        "used": cache is not None,
        "why": "LEGATE_DIFFUSE_CACHE turns it off" if cache is None else "",
        "entries": len(entries),
        "bytes": sum(entry.size for entry in entries),
    }


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"legate_diffuse {facts['version']}, Python {facts['python']}"
    for title, package in facts["packages"].items():
        tested = f" (tested: {package['supported']})" if package["supported"] else ""
        yield f"  {title:<14} {package['version'] or 'not installed'}{tested}"
    switch, fusion = facts["switch"], facts["fusion"]
    yield f"Switch           {'on' if switch['on'] else 'off'}: {switch['why']}"
    works = "works here" if fusion["works"] else f"does not work: {fusion['why']}"
    yield f"Fusion           {works}"
    off = ", ".join(fusion["shortcuts_off"]) or "none"
    yield f"Shortcuts off    {off}"
    if fusion["tasks_off"] is not None:
        differ = ", ".join(fusion["tasks_off"]) or "none"
        yield f"Tasks off        {differ} (of those that were tested)"
    target = facts["target"]
    yield (
        f"Processor        {target['cpu']} ({target['triple']}), vectors of "
        f"{target['vector_bytes']} bytes"
    )
    yield f"  features       {' '.join(target['features'])}"
    threads = facts["threads"] or "as many as CPUs (--cpus) or partitions, as it fits"
    yield f"Threads          {threads}; this machine has {facts['processors']}"
    cache = facts["cache"]
    used = (
        f"{cache['entries']:,} entries, {in_bytes(cache['bytes'])} of at most "
        f"{in_bytes(cache['limit'])}"
        if cache["used"]
        else f"not used: {cache['why']}"
    )
    yield f"Cache            {cache['folder']}: {used}"
    yield f"Libraries        {', '.join(facts['libraries'])}"
    for name, value in facts["variables"].items():
        yield f"  {name}={value}"
    yield from facts["unknown_variables"]
