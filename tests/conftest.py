# SPDX-License-Identifier: Apache-2.0
"""What holds in all tests: plans are proven, and programs in workers are told of."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import forked
import pytest
import tiers
import workers
from fork_server import UNFUSED

ROOT: Final = Path(__file__).parents[1]
# Files like this one of folders start Legate before pytest has read its options.
if "--all" in sys.argv or any("::" in argument for argument in sys.argv):
    os.environ[tiers.VARIABLE] = "1"
# Each process imports files of tests, and without compiled ones that takes longer than
# most tests. Containers often leave them out.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Every plan is proven before it is used, so that all programs are cases of the proof;
# processes that tests start do the same.
os.environ.setdefault("LEGATE_DIFFUSE_PROOF", "all")

# ``python -m pytest`` puts the checkout first, which has no compiled part; the folder
# that ``scripts/gpu/prepare`` makes has one
if not any((ROOT / "legate_diffuse").glob("*.so")):
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != ROOT]

# Files that take longest begin first, so that no process ends long after the others.
LONGEST: Final = (
    "tests/apps/test_apps.py",
    "tests/legate/test_sparse_products.py",
    "tests/legate/test_several_ranks.py",
    "tests/gpu/test_check_on_fake_gpu.py",
    "tests/codegen/gpu/test_gpu_reductions.py",
    "tests/codegen/gpu/test_gpu_cubins.py",
    "tests/codegen/gpu/test_gpu_operations.py",
    "tests/legate/test_programs.py",
    "tests/gpu/test_applications_on_gpus.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run thorough tests as well")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.all or any("::" in argument for argument in config.args):
        os.environ[tiers.VARIABLE] = "1"
    if config.option.all:
        os.environ.setdefault(forked.STARTED, "1")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Sort files, and leave out what is thorough, unless all is run."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(
        key=lambda item: places.get(item.nodeid.partition("::")[0], len(LONGEST))
    )
    if tiers.all_is_run():
        return
    left = [item for item in items if item.get_closest_marker("thorough")]
    items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """Leave what collecting made out of what is looked through for cycles."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return what hands out files, in their order."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from schedule import Files

    return Files(config, log)


@pytest.fixture(scope="session", autouse=True)
def _workers_end() -> Iterator[None]:
    """Fail if a worker does not end as it should."""
    yield
    workers.end_all()


def pytest_runtest_setup() -> None:
    workers.begin_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Say of a test that fails what its programs do in processes of their own."""
    report = yield
    # those that fail as fusion is off are many
    if report.when == "call" and report.failed and UNFUSED not in os.environ:
        report.sections += workers.programs_alone()
    return report
