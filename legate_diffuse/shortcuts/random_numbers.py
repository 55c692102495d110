# SPDX-License-Identifier: Apache-2.0
"""Draws random numbers in this thread, as cuPyNumeric's tasks draw them.

A task draws from a generator of the processor on which it runs, which begins with the
seed and the number of that processor. So a generator that begins as that of the first
processor gives the numbers of a task on one point, which is Legate's to place, but
goes there if nothing else is to be done. cuPyNumeric's library has functions that make
generators and draw from them. A generator that has drawn here draws nowhere else, as
some numbers would come twice; one whose first numbers several processors draw stays
with them.

Follows: cuPyNumeric (_thunk/deferred.py, runtime.py, random/bitgenerator_curand.inl,
random/randutil/randutil.h)
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterator
from ctypes import (
    byref,
    c_double,
    c_float,
    c_int,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window
from legate_diffuse.launch import ranks
from legate_diffuse.shortcuts.shortcut import Shortcut
from legate_diffuse.shortcuts.submission import Submission, replace
from legate_diffuse.stores.dtype import names_by_spelling

# The versions whose library has the functions with the known arguments.
_PACKAGE: Final = "nvidia-cupynumeric"
_KNOWN: Final = frozenset(("26.6.1",))
_LIBRARY: Final = "libcupynumeric.so"
# What cuRAND calls the kinds of generators (``curandRngType``), by cuPyNumeric's names.
_ENGINES: Final = {"XORWOW": 101, "MRG32K3A": 121, "PHILOX4_32_10": 161}
# Functions of floats, of single precision and of double, and how many parameters they
# have, by cuPyNumeric's names of the distributions.
_FLOATS: Final = {
    **{name: (name.title(), 1) for name in ("EXPONENTIAL", "POWER", "RAYLEIGH")},
    **{
        name: (name.title(), 2)
        for name in ("UNIFORM", "NORMAL", "GUMBEL", "LAPLACE", "LOGISTIC", "CAUCHY")
    },
    **{name: (name.title(), 2) for name in ("WEIBULL", "BETA", "GAMMA", "WALD")},
    "LOGNORMAL": ("LogNormal", 2),
    "CHISQUARE": ("ChiSquare", 2),
    "VONMISES": ("VonMises", 2),
    "STANDARD_T": ("StandardT", 1),
    "PARETO": ("Pareto", 2),
    "TRIANGULAR": ("Triangular", 3),
    "F": ("FisherSnedecor", 3),
    "NONCENTRAL_F": ("FisherSnedecor", 3),
}
# Functions of other numbers, and their parameters.
_OTHERS: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "POISSON": ("PoissonEx", (c_double,)),
    "LOGSERIES": ("LogSeriesEx", (c_double,)),
    "ZIPF": ("ZipfEx", (c_double,)),
    "GEOMETRIC": ("GeometricEx", (c_double,)),
    "BINOMIAL": ("BinomialEx", (c_uint32, c_double)),
    "NEGATIVE_BINOMIAL": ("NegativeBinomialEx", (c_uint32, c_double)),
    "HYPERGEOMETRIC": ("HyperGeometricEx", (c_int64,) * 3),
    "INTEGERS_16": ("Integers16", (c_int16,) * 2),
    "INTEGERS_32": ("Integers32", (c_int32,) * 2),
    "INTEGERS_64": ("Integers64", (c_int64,) * 2),
    "RAW": ("RawUInt32", ()),
}
# The methods of generators that make arrays.
_METHODS: Final = (
    *("beta", "binomial", "bytes", "cauchy", "chisquare", "exponential", "f", "gamma"),
    *("geometric", "gumbel", "hypergeometric", "integers", "laplace", "logistic"),
    *("lognormal", "logseries", "negative_binomial", "noncentral_f", "normal"),
    *("pareto", "poisson", "power", "random", "random_raw", "rayleigh", "standard_t"),
    *("triangular", "uniform", "vonmises", "wald", "weibull", "zipf"),
)


@dataclass(frozen=True, slots=True)
class _Common:
    """A method of ``Generator`` for which native code draws.

    Attributes:
        name: the method's.
        distribution: cuPyNumeric's name of it.
        dtype: of the numbers, and of the parameters of the distribution.
        parameters: what these are unless they are given; None if they must be.
        names: of those that may be given, the first ones.
        shape: of what is drawn without one.
        others: the names of parameters for which native code does not draw.
    """

    name: str
    distribution: str
    parameters: tuple[float | None, ...]
    names: tuple[str, ...] = ()
    dtype: str = "float64"
    shape: tuple[int, ...] = (1,)
    others: tuple[str, ...] = ()


_COMMON: Final = (
    _Common("random", "UNIFORM_64", (0.0, 1.0), others=("out",)),
    _Common("uniform", "UNIFORM_64", (0.0, 1.0), ("low", "high")),
    _Common("normal", "NORMAL_64", (0.0, 1.0), ("loc", "scale")),
    _Common("exponential", "EXPONENTIAL_64", (1.0,), ("scale",)),
    _Common(
        "integers",
        "INTEGERS_64",
        (None, None),
        ("low", "high"),
        "int64",
        (),
        ("endpoint",),
    ),
)
_PARETO_FROM: Final = 1.0
_CENTRAL: Final = 0.0

Function = Callable[..., int]


def _functions(library: Any) -> Iterator[tuple[str, Function]]:
    """Yield the functions that draw, by cuPyNumeric's names of the distributions."""

    def function(name: str, *parameters: Any) -> Function:
        found = getattr(library, f"randutilGenerate{name}")
        found.argtypes = (c_void_p, c_void_p, c_size_t, *parameters)
        found.restype = c_int
        called: Function = found
        return called

    for distribution, (name, count) in _FLOATS.items():
        yield f"{distribution}_32", function(f"{name}Ex", *(c_float,) * count)
        yield f"{distribution}_64", function(f"{name}DoubleEx", *(c_double,) * count)
    for distribution, (name, parameters) in _OTHERS.items():
        yield distribution, function(name, *parameters)


class _Generators:
    """The generators that draw here.

    Args:
        library: cuPyNumeric's, loaded.
        processors: their numbers. The generators are those of the first one.
    """

    def __init__(
        self, library: Any, processors: list[int], submission: Submission
    ) -> None:
        self._functions = dict(_functions(library))
        self._make = library.randutilCreateGeneratorHost
        self._make.argtypes = (c_void_p, c_int, c_uint64, c_uint64, c_uint32)
        self._destroy = library.randutilDestroyGenerator
        self._destroy.argtypes = (c_void_p,)
        self._processor, self._are_several = processors[0], len(processors) > 1
        self._launch_policy = submission.client.legate.native.launch_policy
        self._new_array = submission.hosted.new_array
        self._call_with_memory = submission.client.legate.native.call_with_memory
        # by cuPyNumeric's numbers of them; None for one that only tasks can draw from
        self._known: dict[int, int | None] = {}

    def _find(self, number: int, kind: Any, seed: Any, flags: int) -> int | None:
        if number not in self._known:
            made, engine = c_void_p(), _ENGINES.get(kind.name)
            if engine is not None and type(seed) is int and 0 <= seed < 1 << 64:
                self._make(byref(made), engine, seed, self._processor, flags)
            self._known[number] = made.value
        return self._known[number]

    def native(self, distribution: str) -> tuple[dict[int, int | None], int | None]:
        """Return what native code needs: addresses of generators, and a function's."""
        function = ctypes.cast(self._functions[distribution], c_void_p)  # type: ignore[arg-type]
        return self._known, function.value

    def forget(self, number: int) -> None:
        """Drop a generator that its user has let go of."""
        if (found := self._known.pop(number, None)) is not None:
            self._destroy(found)

    def draw(
        self, thunk: Any, generator: tuple[Any, ...], name: str, parameters: Any
    ) -> bool:
        """Let an array have random numbers; False if a task must draw them.

        Args:
            thunk: the array's, or what stands for a new one.
            generator: number, kind, seed and flags.
            name: of the distribution.
            parameters: those of the distribution.
        """
        if not window.is_in_program():
            return False
        if self._are_several and prod(thunk.shape) >= self._launch_policy()[1]:
            self._known.setdefault(generator[0], None)
        found = self._find(*generator)
        if found is None:
            return False
        made = self._call_with_memory(partial(np.empty, thunk.shape, thunk.dtype))
        if made.size:
            self._fill(found, made, name, parameters)
        if type(thunk) is _NewArray:
            thunk.array = self._new_array(made, "random numbers")
            if thunk.array is not None:
                return True
            thunk = thunk.make()
        runtime = importlib.import_module("cupynumeric.runtime").runtime
        thunk.copy(runtime.get_numpy_thunk(made), deep=True)
        return True

    def _fill(self, found: int, made: Any, name: str, parameters: Any) -> None:
        if name == "BYTES":
            words = np.empty(-(-made.size // 4), np.int32)
            self._fill(found, words, "INTEGERS_32", (-(2**31), 2**31 - 1))
            made.reshape(-1)[...] = words.view(np.uint8)[: made.size]
            return
        if name.startswith("PARETO"):
            parameters = (_PARETO_FROM, *parameters)
        elif name.startswith("F_"):
            parameters = (*parameters, _CENTRAL)
        function = self._functions[name]
        status = function(found, made.ctypes.data, made.size, *parameters)
        if status:
            raise RuntimeError(f"cuPyNumeric's generator fails with status {status}")


class _NewArray:
    """Stands for a new array and its thunk until random numbers are drawn for it."""

    __slots__ = ("_new", "array", "dtype", "shape")

    def __init__(self, new: Callable[..., Any], shape: Any, dtype: Any) -> None:
        self._new = new
        self.array: Any = None
        self.shape, self.dtype = shape, np.dtype(dtype)

    @property
    def _thunk(self) -> _NewArray:
        return self

    def make(self) -> Any:
        """Make the array; returns its thunk."""
        self.array = self._new(self.shape, self.dtype)
        return self.array._thunk


def _generators(submission: Submission) -> _Generators | None:
    """Return what draws here, None if there are several ranks or no CPUs."""
    legate = submission.client.legate
    processors = legate.native.cpu_processors()
    try:
        is_known = version(_PACKAGE) in _KNOWN
    except PackageNotFoundError:
        return None
    if (
        not (is_known and window.runs_at_once)
        or not processors
        or ranks.are_several(real.runtime)
    ):
        return None
    folder = importlib.import_module("cupynumeric.install_info").libpath
    library = ctypes.CDLL(str(Path(folder) / _LIBRARY))
    return _Generators(library, processors, submission)


def _replace_all(submission: Submission) -> None:
    generators = _generators(submission)
    if generators is None:
        return
    thunk = importlib.import_module("cupynumeric._thunk.deferred").DeferredArray
    runtime = importlib.import_module("cupynumeric.runtime").Runtime

    def real_thunk(thunk: Any) -> Any:
        return thunk.make() if type(thunk) is _NewArray else thunk

    def bitgenerator_distribution(
        self: Any,
        handle: int,
        generatorType: Any,  # noqa: N803
        seed: Any,
        flags: int,
        distribution: Any,
        *parameters: tuple[float, ...],
    ) -> None:
        generator = handle, generatorType, seed, flags
        given = [each for some in parameters for each in some]
        if not generators.draw(self, generator, distribution.name, given):
            distribute(real_thunk(self), *generator, distribution, *parameters)

    def bitgenerator_random_raw(self: Any, *generator: Any) -> None:
        if not generators.draw(self, generator, "RAW", ()):
            draw_raw(real_thunk(self), *generator)

    def bitgenerator_destroy(self: Any, handle: Any, disposing: bool = True) -> None:
        generators.forget(handle)
        destroy(self, handle, disposing)

    distribute = replace(thunk, "bitgenerator_distribution", bitgenerator_distribution)
    draw_raw = replace(thunk, "bitgenerator_random_raw", bitgenerator_random_raw)
    destroy = replace(runtime, "bitgenerator_destroy", bitgenerator_destroy)
    for name in [each for each in vars(thunk) if each.startswith("bitgenerator_")]:
        setattr(_NewArray, name, getattr(thunk, name))
    _replace_methods()
    _draw_natively(submission, generators)


def _draw_natively(submission: Submission, generators: _Generators) -> None:
    generator = importlib.import_module("cupynumeric.random").Generator
    spelled = names_by_spelling({each.dtype for each in _COMMON})
    for common in _COMMON:
        spellings = {each for each in spelled if spelled[each] == common.dtype}
        known = generators.native(common.distribution)
        usual = common.parameters, common.shape, len(common.names)
        extra = (*known, common.dtype, spellings, *usual)
        names = ("self", *common.names, "size", "dtype", *common.others)
        submission.front(generator, common.name, "random", *names, extra=extra)


def _replace_methods() -> None:
    """Let methods of generators draw before there is an array."""
    package: Any = importlib.import_module("cupynumeric.random._bitgenerator")
    make = package.ndarray

    def new(shape: Any, dtype: Any) -> Any:
        is_plain = {type(each) for each in shape} <= {int}
        fits = is_plain and min(shape, default=1) > 0
        if not fits or len(shape) > real.LEGATE_MAX_DIM:
            return make(shape, dtype)
        return _NewArray(make, shape, dtype)

    package.ndarray = new
    for name in _METHODS:
        _replace_method(package.BitGenerator, name)


def _replace_method(owner: Any, name: str) -> None:
    def draw(self: Any, *arguments: Any, **named: Any) -> Any:
        made = original(self, *arguments, **named)
        return made.array if type(made) is _NewArray else made

    original = replace(owner, name, draw)


SHORTCUTS: Final = (
    Shortcut(
        "random numbers",
        (
            ("_thunk.deferred", "DeferredArray.bitgenerator_distribution"),
            ("_thunk.deferred", "DeferredArray.bitgenerator_random_raw"),
            *(("random._bitgenerator", f"BitGenerator.{name}") for name in _METHODS),
            *(("random._generator", f"Generator.{each.name}") for each in _COMMON),
            ("runtime", "Runtime.bitgenerator_create"),
            ("runtime", "Runtime.bitgenerator_destroy"),
        ),
        _replace_all,
    ),
)
