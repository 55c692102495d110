# SPDX-License-Identifier: Apache-2.0
"""Lets a device see NumPy's arrays, so that tests for an emulator run on it."""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np
from driver import driver
from native import library

_NAME: Final = b"mem_handler"
_SET_HANDLER: Final = 304
"""Of the table of NumPy's C interface: PyDataMem_SetHandler."""
_MAPPED: Final = 3
"""Memory for all contexts, which the device sees at the same address."""


def install(size: int) -> None:
    """Let all arrays made from now on lie in `size` bytes that devices see."""
    memory = ctypes.c_void_p()
    asked = ctypes.byref(memory), ctypes.c_size_t(size), _MAPPED
    driver().call("cuMemHostAlloc", *asked)
    make = library("arena").arena_handler
    make.restype = ctypes.c_void_p
    handler = make(memory, ctypes.c_size_t(size))
    python = ctypes.pythonapi
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    interface = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    table = python.PyCapsule_GetPointer(interface, None)
    place = (ctypes.c_void_p * (_SET_HANDLER + 1)).from_address(table)[_SET_HANDLER]
    assert place is not None
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(place)
    set_handler(python.PyCapsule_New(handler, _NAME, None))
