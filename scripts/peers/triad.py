# SPDX-License-Identifier: Apache-2.0
"""STREAM's triad, ``a = b + s c``, with normal and with non-temporal stores.

Source: J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High
Performance Computers", IEEE TCCA Newsletter, December 1995. Its bytes are those of
the three arrays: what normal stores read of ``a`` beforehand isn't counted.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import threading
import time

import llvmlite.binding as llvm
import numpy as np

# Elements of a vector; pieces of arrays are multiples of it.
LANES = 8
KERNEL = """
define void @triad(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %begin,
                   i64 %end) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %at.a = getelementptr double, ptr %a, i64 %i
  %at.b = getelementptr double, ptr %b, i64 %i
  %at.c = getelementptr double, ptr %c, i64 %i
  %vb = load <8 x double>, ptr %at.b, align 64
  %vc = load <8 x double>, ptr %at.c, align 64
  %product = fmul <8 x double> %vc, splat (double 3.0)
  %sum = fadd <8 x double> %vb, %product
  store <8 x double> %sum, ptr %at.a, align 64{metadata}
  %next = add i64 %i, 8
  %more = icmp ult i64 %next, %end
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
!0 = !{{ i32 1 }}
"""
STORES = {"normal": "", "nontemporal": ", !nontemporal !0"}


def main() -> None:
    """Time both kinds of stores in turn, and print GB/s as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, required=True, help="elements")
    parser.add_argument("--cpus", type=int, required=True, help="threads")
    parser.add_argument("--repeat", type=int, default=9, help="timed triads")
    options = parser.parse_args()
    size = max(LANES * options.cpus, options.size // LANES * LANES)
    arrays = [_aligned(size) for _ in range(3)]
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    engines = {kind: _compile(text) for kind, text in STORES.items()}
    found: dict[str, list[float]] = {kind: [] for kind in STORES}
    for repeat in range(options.repeat + 1):
        for kind, engine in engines.items():
            seconds = _run(engine, arrays, size, options.cpus)
            if repeat > 0:
                found[kind].append(arrays[0].nbytes * 3 / seconds / 1e9)
    assert (arrays[0] == 4.0).all()
    print(json.dumps(found))


def _aligned(size: int) -> np.ndarray:
    memory = np.ones(size + LANES)
    offset = -memory.ctypes.data % (8 * LANES) // 8
    return memory[offset : offset + size]


def _compile(metadata: str) -> llvm.ExecutionEngine:
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
    )
    module = llvm.parse_assembly(KERNEL.format(metadata=metadata))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def _run(
    engine: llvm.ExecutionEngine, arrays: list[np.ndarray], size: int, cpus: int
) -> float:
    """Return the seconds of one triad, each thread on its piece of the arrays."""
    address = engine.get_function_address("triad")
    kernel = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)
    triad = kernel(address)
    pointers = [array.ctypes.data for array in arrays]
    piece = -(-size // (LANES * cpus)) * LANES
    threads = [
        threading.Thread(
            target=triad, args=(*pointers, begin, min(begin + piece, size))
        )
        for begin in range(0, size, piece)
    ]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
