# SPDX-License-Identifier: Apache-2.0
"""Which applications are recorded, at which sizes."""

from __future__ import annotations

from typing import Final

_SMALL: Final = {
    "black_scholes": "--size 1001",
    "jacobi": "--size 61",
    "cg": "--size 40",
    "bicgstab": "--size 41",
    "multigrid": "--size 31",
    "channel_flow": "--size 37 --sweeps 3",
    "shallow_water": "--size 41",
    "heat": "--size 19",
    "softmax": "--size 30",
    "layer_norm": "--size 30",
    "kmeans": "--size 1000",
    "logistic_regression": "--size 500",
    "lstm": "--size 20",
    "nbody": "--size 50",
    "mandelbrot": "--size 50",
    "chain": "--size 1001",
    "stencil": "--size 51",
    "update": "--size 1001",
    "sums": "--size 300",
}
_LARGE: Final = {
    "black_scholes": "--size 20000000",
    "chain": "--size 40000000",
    "update": "--size 40000000",
    "stencil": "--size 6000",
    "heat": "--size 300",
    "softmax": "--size 20000",
    "layer_norm": "--size 20000",
    "sums": "--size 6000",
    "cg": "--size 4000",
    "channel_flow": "--size 3000 --sweeps 2",
    "shallow_water": "--size 3000",
}
_AT_LAST: Final = {"bicgstab": "--size 4000", "jacobi": "--size 6000"}
_SINGLE: Final = "black_scholes", "chain", "stencil", "softmax", "layer_norm"
_OPTIONS: Final = "--package cupynumeric --batches 1 --iterations"

SMALL: Final = {
    name: [name, *options.split(), *_OPTIONS.split(), "2"]
    for name, options in _SMALL.items()
} | {
    f"{name} float32": [
        *(name, *options.split(), "--dtype", "float32"),
        *(*_OPTIONS.split(), "2"),
    ]
    for name, options in _SMALL.items()
    if name not in ("nbody", "mandelbrot")
}
LARGE: Final = (
    {
        name: [name, *options.split(), *_OPTIONS.split(), "3"]
        for name, options in _LARGE.items()
    }
    | {
        f"{name} float32": [
            *(name, *_LARGE[name].split(), "--dtype", "float32"),
            *(*_OPTIONS.split(), "3"),
        ]
        for name in _SINGLE
    }
    | {
        name: [name, *options.split(), *_OPTIONS.split(), "3"]
        for name, options in _AT_LAST.items()
    }
)
