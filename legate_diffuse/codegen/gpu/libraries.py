# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's compiler of maths functions (NVRTC) and its assembler (nvJitLink).

Their packages come with those of libraries that run on GPUs. Neither needs a GPU,
nor its driver.
"""

import ctypes
import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

_PACKAGES: Final = {
    "libnvrtc": "nvidia-cuda-nvrtc",
    "libnvJitLink": "nvidia-nvjitlink",
}
_MAJORS: Final = (13, 12)
_PTX: Final = 2
"""The kind of nvJitLink's input (``NVJITLINK_INPUT_PTX``)."""


class MissingLibraryError(RuntimeError):
    """A library that GPUs need cannot be loaded; the message says where it is from."""


class AssemblyError(RuntimeError):
    """NVRTC or nvJitLink rejects its input; the message is its log."""


@cache
def _load(stem: str) -> ctypes.CDLL:
    """Load a library of one of the supported versions of CUDA.

    Raises:
        MissingLibraryError: there is none.
    """
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for major in _MAJORS:
        name = f"{stem}.so.{major}"
        found = [path for each in folders for path in Path(each).glob(f"*/lib/{name}")]
        for candidate in (*found, name):
            try:
                return ctypes.CDLL(str(candidate))
            except OSError:
                continue
    raise MissingLibraryError(
        f"GPU kernels need {stem}, which cannot be loaded; install {_PACKAGES[stem]}"
    )


def missing() -> str:
    """Return which library cannot be loaded, as a sentence; '' if both can."""
    try:
        for stem in _PACKAGES:
            _load(stem)
    except MissingLibraryError as error:
        return str(error)
    return ""


def _version(function: Any) -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    function(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


@cache
def versions() -> str:
    """Return what the bytes of a cubin depend on."""
    nvrtc, nvjitlink = _load("libnvrtc"), _load("libnvJitLink")
    return repr((_version(nvrtc.nvrtcVersion), _version(nvjitlink.nvJitLinkVersion)))


def compile_cuda(source: str, architecture: int) -> str:
    """Return the PTX of device functions, with nvcc's default options for arithmetic.

    Raises:
        AssemblyError: the source is not understood.
    """
    library = _load("libnvrtc")
    program = ctypes.c_void_p()

    def text(size: Any, get: Any) -> str:
        length = ctypes.c_size_t()
        size(program, ctypes.byref(length))
        buffer = ctypes.create_string_buffer(length.value + 1)
        get(program, buffer)
        return buffer.value.decode()

    options = (f"-arch=compute_{architecture}".encode(), b"-rdc=true")
    library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"maths", 0, None, None
    )
    try:
        passed = (ctypes.c_char_p * len(options))(*options)
        if library.nvrtcCompileProgram(program, len(options), passed):
            raise AssemblyError(
                text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog)
            )
        return text(library.nvrtcGetPTXSize, library.nvrtcGetPTX)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def assemble(ptx: str, architecture: int, *options: str) -> tuple[bytes, str]:
    """Return the cubin of PTX for an architecture, and what nvJitLink says of it.

    Raises:
        AssemblyError: the PTX is rejected.
    """
    library = _load("libnvJitLink")
    # the symbols carry the version
    major, minor = _version(library.nvJitLinkVersion)

    def call(name: str, *passed: Any) -> int:
        found = getattr(library, f"__nvJitLink{name}_{major}_{minor}")
        status: int = found(*passed)
        return status

    handle = ctypes.c_void_p()

    def log(kind: str) -> str:
        length = ctypes.c_size_t()
        call(f"Get{kind}LogSize", handle, ctypes.byref(length))
        buffer = ctypes.create_string_buffer(length.value + 1)
        call(f"Get{kind}Log", handle, buffer)
        return buffer.value.decode()

    given = [each.encode() for each in (f"-arch=sm_{architecture}", *options)]
    passed = (ctypes.c_char_p * len(given))(*given)
    if call("Create", ctypes.byref(handle), len(given), passed):
        raise AssemblyError(f"nvJitLink does not know sm_{architecture}")
    try:
        content = ptx.encode()
        size = ctypes.c_size_t(len(content) + 1)
        if call("AddData", handle, _PTX, content, size, b"kernel") or call(
            "Complete", handle
        ):
            raise AssemblyError(log("Error"))
        length = ctypes.c_size_t()
        call("GetLinkedCubinSize", handle, ctypes.byref(length))
        buffer = ctypes.create_string_buffer(length.value)
        call("GetLinkedCubin", handle, buffer)
        return buffer.raw, log("Info")
    finally:
        call("Destroy", ctypes.byref(handle))


def architecture_number(architecture: str) -> int:
    """Return the number of an architecture, such as 90 for ``sm_90``.

    Raises:
        ValueError: it is no architecture of a GPU.
    """
    found = re.fullmatch(r"sm_(\d+)a?", architecture)
    if found is None:
        raise ValueError(f"{architecture} is no architecture of a GPU, such as sm_90")
    return int(found[1])
