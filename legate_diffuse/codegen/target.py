# SPDX-License-Identifier: Apache-2.0
"""The machine that code is generated for."""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Target:
    """A CPU as LLVM names it.

    `vector_bytes` is the size of a vector register that kernels use. `fma` says whether
    the processor has fused multiply-add instructions of x86-64, and `gathers` whether
    its gather instructions read a table faster than loads and shuffles do. If it
    `estimates_roots`, Newton steps take a square root faster than the instruction does,
    and if it `shares_reciprocals`, several quotients by one divisor are faster from its
    reciprocal. If it `prefetches_nontemporal`, what is read once is best asked for with
    the hint that it need not stay in the caches.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    fma: bool
    gathers: bool
    estimates_roots: bool
    shares_reciprocals: bool
    prefetches_nontemporal: bool

    @property
    def avx512(self) -> bool:
        """Whether the processor has AVX-512 with its 8-bit to 64-bit operations."""
        return self.vector_bytes == 64


@cache
def host_target() -> Target:
    """Return the CPU that this process runs on.

    Registers of 64 bytes are used where AVX-512 has its 8-bit to 64-bit operations (F,
    BW, DQ and VL): on Zen 5, Black-Scholes takes 35 % less time than with 32 bytes.
    Gathers take 15 % of its time away on Sapphire Rapids (the first with FP16), and add
    a third on Zen 5; Intel's older processors are slow since their "downfall" was
    mended (Gather Data Sampling, CVE-2022-40982). Newton steps halve the time of a
    square root on Sapphire Rapids; on Zen 4, which divides beside other work, they add
    a sixth to a nest of two roots and five quotients (`scripts/apps/shallow_water.py`).
    Zen 5 divides 8 doubles in 4 cycles: without reciprocals that program takes 4 to 6 %
    less time there, and as much as with them on Zen 4. With that hint Zen 5 sums over
    the rows of a matrix in memory fastest; Granite Rapids, which then fills its first
    cache only, takes 3.6 times as long as without it.
    """
    from llvmlite import binding as llvm

    flags = llvm.get_host_cpu_features()
    if all(flags.get(flag) for flag in ("avx512f", "avx512bw", "avx512dq", "avx512vl")):
        vector_bytes = 64
    elif flags.get("avx2"):
        vector_bytes = 32
    else:
        vector_bytes = 16
    sapphire_rapids = vector_bytes == 64 and bool(flags.get("avx512fp16"))
    cpu = llvm.get_host_cpu_name()
    zen = cpu.startswith("znver")
    return Target(
        llvm.get_process_triple(),
        cpu,
        flags.flatten(),
        vector_bytes,
        bool(flags.get("fma")),
        gathers=sapphire_rapids,
        estimates_roots=sapphire_rapids,
        shares_reciprocals=not zen,
        prefetches_nontemporal=zen,
    )
