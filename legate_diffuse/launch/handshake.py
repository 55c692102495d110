# SPDX-License-Identifier: Apache-2.0
"""At start-up several ranks find out whether all of them can run fused."""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from typing import Final

from legate_diffuse.launch import ranks

# Variables that decide which tasks are submitted, and what they compute.
_DECIDING: Final = ("CACHE_BYTES", "CHECK", "FAST_MATH", "GPU", "MATH")


def objection(starts: bool) -> str:
    """Return why the ranks must not run fused, '' if they may.

    All ranks call it, and get the same answer.

    ``starts`` tells whether fusion can start on this rank.
    """
    settings = [os.environ.get(f"LEGATE_DIFFUSE_{name}", "") for name in _DECIDING]
    versions = [sys.modules[n].__version__ for n in ("legate_diffuse", "legate")]
    facts = {
        "fusion cannot start on one of the ranks, see what that one has said": starts,
        "the ranks have other versions of legate-diffuse or of Legate, install the "
        "same ones on all nodes": versions,
        "the ranks have other settings LEGATE_DIFFUSE_*, let the launcher pass the "
        "same ones to all nodes": settings,
    }
    numbers = {
        text: int.from_bytes(blake2b(f"{text} {fact}".encode()).digest()[:8], "big")
        for text, fact in facts.items()
        if fact is not False
    }
    common = ranks.Match(list(numbers.values())).wait()
    return next((text for text in facts if numbers.get(text) not in common), "")
