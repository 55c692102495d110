# SPDX-License-Identifier: Apache-2.0
"""Starts real Legate in this process, with fusion on.

``LEGATE_TEST=1`` makes Legate split even small arrays over the two CPUs, and
``LEGATE_DIFFUSE_THREADS=1`` leaves them split. Legate holds all arrays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from fork_server import UNFUSED

import legate_diffuse
from legate_diffuse.launch import pending, small

os.environ.setdefault("LEGATE_CONFIG", "--cpus 2 --gpus 0 --sysmem 2000 --utility 1")
os.environ.setdefault("LEGATE_TEST", "1")
os.environ.setdefault("LEGATE_DIFFUSE_THREADS", "1")
# small arrays would otherwise be fused the second time only
os.environ.setdefault("LEGATE_DIFFUSE_SYNC_COMPILE", "1")
# tests count Legate's tasks; see test_small_arrays.py
os.environ.setdefault("LEGATE_DIFFUSE_SMALL_BYTES", "0")
if "TESTS_LARGE_FROM" in os.environ:
    # arrays of so few bytes live where large ones do
    vars(small)["_SMALL_BYTES"] = int(os.environ["TESTS_LARGE_FROM"])
legate_diffuse.enable()

import cupynumeric  # noqa: E402, F401
from comparison import unfused  # noqa: E402

from legate_diffuse import _native  # noqa: E402
from legate_diffuse.interpose.window import window  # noqa: E402


class _Any(str):
    """Equals all other texts."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


if "TESTS_LARGE_FROM" in os.environ:
    # and share their memory with others
    _native.set_least_shared(int(os.environ["TESTS_LARGE_FROM"]))
if "TESTS_APART" in os.environ:
    # whatever ends a window, it runs apart, and not before somebody uses its arrays
    _native.set_least_apart(0)
    _native.use_background_thread(os.environ["TESTS_APART"] == "thread")
    vars(pending)["FULL"] = _Any("full window")


@pytest.fixture(scope="module")
def _two_threads() -> Iterator[None]:
    """Let threads share the work, instead of tasks on parts of it."""
    window.flush("test")
    before = _native.set_num_threads(2)
    yield
    window.flush("test")
    _native.set_num_threads(before)


@pytest.fixture(autouse=True)
def _unfused() -> Iterator[None]:
    """Leave fusion off, if the programs of all tests are to be without it."""
    with unfused() if UNFUSED in os.environ else nullcontext():
        yield


@pytest.fixture(autouse=True)
def _nothing_fails() -> Iterator[None]:
    """Fail a test in which a group fell back to its tasks, or a plan was refuted."""
    before = window.counters.failures, window.counters.plans_refuted
    yield
    window.flush("test")
    after = window.counters.failures, window.counters.plans_refuted
    assert after == before, "groups fell back, or plans were refuted"
