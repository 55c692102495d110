# SPDX-License-Identifier: Apache-2.0
"""Lets the tests of ``tests/codegen/gpu`` run on a device: ``pytest -p on_device``.

Kernels become cubins instead of emulated images, and arrays lie where the device sees
them.
"""

from __future__ import annotations

from typing import Final

import arena
import target
from driver import Image

ARENA_BYTES: Final = 1 << 29


def install() -> None:
    """Put the device in the place of the emulator."""
    target.use_tests()
    import emulated
    import launches

    if not target.is_emulated():
        vars(emulated)["EmulatedAssembler"] = target.assembler
    vars(launches)["Image"] = Image
    arena.install(ARENA_BYTES)


install()
