# SPDX-License-Identifier: Apache-2.0
"""CUDA's driver, by its C interface: memory, images, launches, times.

It needs nothing but ``libcuda.so.1``, so that it also runs on the driver of the tests,
whose device is the CPU.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

SHARED_BYTES: Final = 48 * 1024
_CAPABILITY: Final = 75, 76
_PROCESSORS: Final = 16
_SHARED_SIZE: Final = 1
_LINE: Final = 256


class DriverError(RuntimeError):
    """A call of the driver failed; the message says which, and why."""


class Driver:
    """The first device, with its primary context as the current one."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._get = self._library.cuGetProcAddress
        self._found: dict[str, Any] = {}
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device.value
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxPushCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver.

        Raises:
            DriverError: it returned an error.
        """
        status = self._function(name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._function("cuGetErrorString")(status, ctypes.byref(text))
            why = (text.value or b"").decode()
            raise DriverError(f"{name}: {why} ({status})")

    def _function(self, name: str) -> Any:
        if name not in self._found:
            # as the native part asks for it (mappers/gpu/driver.cc)
            place = ctypes.c_void_p()
            asked = name.encode(), ctypes.byref(place), 12000, ctypes.c_uint64(0)
            if self._get(*asked) or not place.value:
                raise DriverError(f"the driver lacks {name}")
            self._found[name] = ctypes.CFUNCTYPE(ctypes.c_int)(place.value)
        return self._found[name]

    def attribute(self, number: int) -> int:
        """Return an attribute of the device."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def describe(self) -> dict[str, Any]:
        """Return what is to be known of the device and its driver."""
        name = ctypes.create_string_buffer(_LINE)
        self.call("cuDeviceGetName", name, _LINE, self.device)
        size = ctypes.c_size_t()
        self.call("cuDeviceTotalMem", ctypes.byref(size), self.device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        major, minor = (self.attribute(n) for n in _CAPABILITY)
        return {
            "device": name.value.decode(),
            "memory_gib": round(size.value / 2**30, 1),
            "architecture": f"sm_{major}{minor}",
            "processors": self.attribute(_PROCESSORS),
            "driver": version.value,
        }

    def synchronize(self) -> None:
        """Wait for all that was launched."""
        self.call("cuCtxSynchronize")

    def allocate(self, size: int) -> int:
        """Return the address of device memory."""
        place = ctypes.c_uint64()
        self.call("cuMemAlloc", ctypes.byref(place), ctypes.c_size_t(max(1, size)))
        return place.value

    def free(self, address: int) -> None:
        """Give device memory back."""
        self.call("cuMemFree", ctypes.c_uint64(address))

    def upload(self, address: int, array: np.ndarray) -> None:
        """Copy an array to the device."""
        assert array.flags.c_contiguous
        source = ctypes.c_void_p(array.ctypes.data)
        size = ctypes.c_size_t(array.nbytes)
        self.call("cuMemcpyHtoD", ctypes.c_uint64(address), source, size)

    def download(self, array: np.ndarray, address: int) -> None:
        """Copy what an array has room for from the device."""
        assert array.flags.c_contiguous
        target = ctypes.c_void_p(array.ctypes.data)
        size = ctypes.c_size_t(array.nbytes)
        self.call("cuMemcpyDtoH", target, ctypes.c_uint64(address), size)

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy from device memory to device memory."""
        places = ctypes.c_uint64(target), ctypes.c_uint64(source)
        self.call("cuMemcpyDtoDAsync", *places, ctypes.c_size_t(size), None)

    def fill(self, address: int, byte: int, size: int) -> None:
        """Fill device memory."""
        count = ctypes.c_size_t(size // 4)
        word = ctypes.c_uint(byte * 0x01010101)
        self.call("cuMemsetD32Async", ctypes.c_uint64(address), word, count, None)

    def milliseconds(self, work: Any, repeats: int) -> float:
        """Return how long the device takes for `work()`, called so many times."""
        events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in events:
            self.call("cuEventCreate", ctypes.byref(event), 0)
        self.call("cuEventRecord", events[0], None)
        for _ in range(repeats):
            work()
        self.call("cuEventRecord", events[1], None)
        self.call("cuEventSynchronize", events[1])
        time = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(time), *events)
        for event in events:
            self.call("cuEventDestroy", event)
        return time.value / repeats


@functools.cache
def driver() -> Driver:
    """Return the driver of this process."""
    return Driver()


class Image:
    """An image that the driver has loaded, as ``launches.py`` of the tests needs it."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        library = ctypes.c_void_p()
        nothing = None, None, 0, None, None, 0
        driver().call("cuLibraryLoadData", ctypes.byref(library), content, *nothing)
        self._library = library
        self._functions: dict[str, ctypes.c_void_p] = {}

    def function(self, name: str) -> ctypes.c_void_p:
        """Return a kernel's function in the current context."""
        if name not in self._functions:
            kernel, function = ctypes.c_void_p(), ctypes.c_void_p()
            asked = ctypes.byref(kernel), self._library, name.encode()
            driver().call("cuLibraryGetKernel", *asked)
            driver().call("cuKernelGetFunction", ctypes.byref(function), kernel)
            self._functions[name] = function
        return self._functions[name]

    def launch(
        self,
        name: str,
        parameter: np.ndarray,
        blocks: Sequence[int],
        threads: Sequence[int],
        seed: int,
        shared: int | None = None,
    ) -> None:
        """Run a kernel to its end, with all of a block's memory unless it is told.

        `seed` has no meaning here: the device has an order of its own.
        """
        del seed
        function = self.function(name)
        if shared is None:
            own = ctypes.c_int()
            asked = ctypes.byref(own), _SHARED_SIZE, function
            driver().call("cuFuncGetAttribute", *asked)
            shared = SHARED_BYTES - own.value
        passed = (ctypes.c_void_p * 1)(parameter.ctypes.data)
        shape = *blocks, *threads, shared
        sizes = [ctypes.c_uint(int(each)) for each in shape]
        driver().call("cuLaunchKernel", function, *sizes, None, passed, None)
        driver().synchronize()
