# SPDX-License-Identifier: Apache-2.0
"""What the native part knows of a GPU kernel.

That is a ``GpuKernelCode`` (mappers/gpu).
"""

import ctypes
from typing import Final

from legate_diffuse.codegen.gpu.parameters import count_of
from legate_diffuse.codegen.gpu.shape import (
    THREADS,
    block_x,
    groups_of,
    lanes_of,
    partial_words,
)
from legate_diffuse.codegen.module import argument_words, index_bits
from legate_diffuse.kernel.ir import Kernel, RowProgram


class _Code(ctypes.Structure):
    _fields_ = (
        ("image", ctypes.c_void_p),
        ("image_bytes", ctypes.c_int64),
        ("name", ctypes.c_char_p),
        ("threads", ctypes.c_int64),
        ("block_x", ctypes.c_int64),
        ("lanes", ctypes.c_int64),
        ("reduces", ctypes.c_int64),
        ("partial_words", ctypes.c_int64),
        ("num_arguments", ctypes.c_int64),
        ("num_scalars", ctypes.c_int64),
        ("indices", ctypes.c_int64),
        ("arguments", ctypes.c_void_p),
        ("local", ctypes.c_void_p),
        ("groups", ctypes.c_int64),
    )


# what is not freed may be launched until the process ends
_kept: Final[set["GpuCode"]] = set()


class GpuCode:
    """The image of a kernel, which stays where it is until it is freed."""

    def __init__(self, kernel: Kernel | RowProgram, name: str, image: bytes) -> None:
        """Lay out the code of a kernel; `name` is that of its function."""
        self._image = ctypes.c_char_p(image)
        numbers = 0, 0, 0
        groups = 1
        words, local = [], []
        if isinstance(kernel, RowProgram):
            folded = sum(map(partial_words, kernel.kernels))
            shape = THREADS, 1, 1, 0, folded
            local = [
                -1 if place is None else place
                for places in kernel.local
                for place in places
            ]
        else:
            folded = partial_words(kernel)
            groups = groups_of(kernel)
            shape = THREADS, block_x(kernel), lanes_of(kernel), int(folded > 0), folded
            numbers = count_of(kernel), len(kernel.scalars), index_bits(kernel)
            # along which loops an element is reduced to is known at the launch only
            words = argument_words(kernel, range(len(kernel.arguments)))
        self._arguments = (ctypes.c_int64 * len(words))(*words)
        self._local = (ctypes.c_int64 * len(local))(*local)
        self._code = _Code(
            ctypes.cast(self._image, ctypes.c_void_p),
            len(image),
            name.encode(),
            *shape,
            *numbers,
            ctypes.cast(self._arguments, ctypes.c_void_p),
            ctypes.cast(self._local, ctypes.c_void_p),
            groups,
        )
        _kept.add(self)

    @property
    def address(self) -> int:
        """The address of the ``GpuKernelCode``."""
        return ctypes.addressof(self._code)

    def free(self) -> None:
        """Give the memory back; nothing may use it any more."""
        _kept.discard(self)
