# SPDX-License-Identifier: Apache-2.0
"""The same programs in CuPy, JAX and PyTorch, on the same device.

Arguments: a package, and the file to write. With ``warm`` as a third one each program
runs once, so that what is compiled is in the caches on disk.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

MILLISECONDS: Final = 40
ELEMENTS: Final = {
    "black_scholes": 20_000_000,
    "chain": 40_000_000,
    "update": 40_000_000,
    "stencil": 6_000,
    "heat": 300,
    "softmax": 20_000,
    "layer_norm": 20_000,
    "sums": 6_000,
}


def cumulative_normal(m: Any, d: Any) -> Any:
    k = 1.0 / (1.0 + 0.2316419 * m.abs(d))
    tail = (
        0.39894228040143267794
        * m.exp(-0.5 * d * d)
        * (
            k
            * (
                0.319381530
                + k
                * (
                    -0.356563782
                    + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
                )
            )
        )
    )
    return m.where(d > 0, 1.0 - tail, tail)


def black_scholes(m: Any, spot: Any, strike: Any, expiry: Any) -> Any:
    root = m.sqrt(expiry)
    d1 = (m.log(spot / strike) + (0.02 + 0.5 * 0.3 * 0.3) * expiry) / (0.3 * root)
    d2 = d1 - 0.3 * root
    cnd1, cnd2 = cumulative_normal(m, d1), cumulative_normal(m, d2)
    discounted = strike * m.exp(-0.02 * expiry)
    call = spot * cnd1 - discounted * cnd2
    return call, discounted * (1.0 - cnd2) - spot * (1.0 - cnd1)


def chain(m: Any, x: Any) -> Any:
    y = x * (1.0 - x)
    y = y * 3.5
    y = (y + 0.25) / 1.25
    y = y * y - y + 1.0
    return m.sqrt(y) * x


def update(m: Any, x: Any, r: Any, p: Any, q: Any) -> Any:
    x = x + 0.0625 * p
    r = r - 0.0625 * q
    return x, r, m.sum(r * r)


def stencil(m: Any, grid: Any) -> Any:
    center = grid[1:-1, 1:-1]
    average = center + grid[0:-2, 1:-1] + grid[1:-1, 2:]
    return 0.2 * (average + grid[1:-1, 0:-2] + grid[2:, 1:-1])


def heat(m: Any, u: Any) -> Any:
    c = u[1:-1, 1:-1, 1:-1]
    around = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
    around = around + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
    return c + 0.1 * (around - 6.0 * c)


def softmax(m: Any, x: Any) -> Any:
    weights = m.exp(x - m.max(x, 1, keepdims=True))
    return weights / m.sum(weights, 1, keepdims=True)


def layer_norm(m: Any, x: Any, gain: Any, bias: Any) -> Any:
    mean = m.mean(x, 1, keepdims=True)
    off = x - mean
    variance = m.mean(off * off, 1, keepdims=True)
    return gain * (off / m.sqrt(variance + 1e-5)) + bias


def sum0(m: Any, x: Any) -> Any:
    return m.sum(x, 0)


def sum1(m: Any, x: Any) -> Any:
    return m.sum(x, 1)


def sum_all(m: Any, x: Any) -> Any:
    return m.sum(x)


def programs() -> Iterator[tuple[str, Callable[..., Any], list[tuple[int, ...]], int]]:
    """Return names, functions, the shapes of arguments, and numbers moved."""
    n = ELEMENTS
    size = n["black_scholes"]
    yield "black_scholes", black_scholes, [(size,)] * 3, 5 * size
    yield "chain", chain, [(n["chain"],)], 2 * n["chain"]
    yield "update", update, [(n["update"],)] * 4, 6 * n["update"]
    side = n["stencil"]
    yield "stencil", stencil, [(side + 2, side + 2)], (side + 2) ** 2 + side**2
    side = n["heat"]
    yield "heat", heat, [(side + 2,) * 3], (side + 2) ** 3 + side**3
    rows = n["softmax"]
    yield "softmax", softmax, [(rows, 1000)], 2 * rows * 1000
    rows = n["layer_norm"]
    yield "layer_norm", layer_norm, [(rows, 1024), (1024,), (1024,)], 2 * rows * 1024
    side = n["sums"]
    for one in (sum0, sum1, sum_all):
        yield one.__name__, one, [(side, side)], side * side


class Cupy:
    """CuPy, plain; element-wise programs also fused."""

    ways = "plain", "fuse"

    def __init__(self) -> None:
        import cupy

        self.m = cupy

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        return self.m.random.uniform(0.5, 1.5, shape).astype(dtype)

    def made(self, way: str, name: str, function: Any) -> Any:
        if way == "fuse":
            if name not in ("black_scholes", "chain"):
                return None
            fused = self.m.fuse(lambda *x: function(self.m, *x))
            return fused
        return lambda *x: function(self.m, *x)

    def milliseconds(self, work: Callable[[], Any], repeats: int) -> float:
        start, end = self.m.cuda.Event(), self.m.cuda.Event()
        start.record()
        for _ in range(repeats):
            work()
        end.record()
        end.synchronize()
        return float(self.m.cuda.get_elapsed_time(start, end)) / repeats


class Torch:
    """PyTorch, compiled."""

    ways = ("compile",)

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.m = SimpleNamespace(
            abs=torch.abs,
            exp=torch.exp,
            log=torch.log,
            sqrt=torch.sqrt,
            where=torch.where,
            sum=lambda x, dim=None, keepdims=False: (
                torch.sum(x) if dim is None else torch.sum(x, dim, keepdim=keepdims)
            ),
            mean=lambda x, dim, keepdims: torch.mean(x, dim, keepdim=keepdims),
            max=lambda x, dim, keepdims: torch.amax(x, dim, keepdim=keepdims),
        )

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        kind = getattr(self.torch, dtype)
        return self.torch.rand(shape, dtype=kind, device="cuda") + 0.5

    def made(self, way: str, name: str, function: Any) -> Any:
        # what other programs left must not make shapes dynamic
        self.torch._dynamo.reset()
        return self.torch.compile(lambda *x: function(self.m, *x), dynamic=False)

    def milliseconds(self, work: Callable[[], Any], repeats: int) -> float:
        event = self.torch.cuda.Event
        start, end = event(enable_timing=True), event(enable_timing=True)
        start.record()
        for _ in range(repeats):
            work()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / repeats


class Jax:
    """JAX, compiled."""

    ways = ("jit",)

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.m = jax.numpy

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        key = self.jax.random.key(1)
        return self.jax.random.uniform(key, shape, dtype, 0.5, 1.5)

    def made(self, way: str, name: str, function: Any) -> Any:
        return self.jax.jit(lambda *x: function(self.m, *x))

    def milliseconds(self, work: Callable[[], Any], repeats: int) -> float:
        self.jax.block_until_ready(work())
        start = time.perf_counter()
        for _ in range(repeats):
            last = work()
        self.jax.block_until_ready(last)
        return (time.perf_counter() - start) * 1e3 / repeats


PACKAGES: Final = {"cupy": Cupy, "torch": Torch, "jax": Jax}


def measure(package: str, warm: bool) -> list[dict[str, Any]]:
    """Measure all programs in one package."""
    side = PACKAGES[package]()
    rows = []
    for dtype in ("float64", "float32"):
        for name, function, shapes, moved in programs():
            for way in side.ways:
                row = {"package": f"{package} {way}", "case": name, "dtype": dtype}
                try:
                    call = side.made(way, name, function)
                    if call is None:
                        continue
                    arrays = [side.array(shape, dtype) for shape in shapes]

                    def work(call: Any = call, arrays: Any = arrays) -> Any:
                        return call(*arrays)

                    work()
                    first = side.milliseconds(work, 2)
                    if warm:
                        continue
                    calls = max(5, min(100, int(MILLISECONDS / first)))
                    times = [side.milliseconds(work, calls) for _ in range(3)]
                    row["ms"] = statistics.median(times)
                    size = moved * (8 if dtype == "float64" else 4)
                    row["gb_s"] = size / row["ms"] / 1e6
                except Exception:
                    row["error"] = traceback.format_exc()[-600:]
                rows.append(row)
                print(row, flush=True)
    return rows


if __name__ == "__main__":
    found = measure(sys.argv[1], "warm" in sys.argv[3:])
    Path(sys.argv[2]).write_text(json.dumps({"rows": found}))
