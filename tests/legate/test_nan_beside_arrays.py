# SPDX-License-Identifier: Apache-2.0
"""NaN is a number beside arrays as others are."""

from __future__ import annotations

from pathlib import Path

import pytest
from process import run_alone
from test_small_arrays import run_here

PROGRAM = """
import numpy as np
import cupynumeric as cn
MADE = '''x * NAN; NAN + x; x == NAN; x != NAN; x < NAN; cn.maximum(x, NAN)
cn.minimum(NAN, x); cn.where(m, x, NAN); cn.where(m, NAN, x); cn.where(m, NAN, NAN)
cn.where(m, 1, NAN); cn.full(n, NAN); cn.full((2, n), NAN, dtype="float32")
cn.full_like(x, NAN); x ** NAN; NAN ** x; cn.clip(x, NAN, 1); f * NAN; NAN - f
cn.where(m, f, NAN); c * NAN; c + complex(NAN, 1); c == NAN; k + NAN; k * NAN
k == NAN; cn.where(m, k, NAN); m + NAN; cn.isnan(NAN + x).sum(); ~(x == NAN)
cn.nansum(cn.where(m, x, NAN)); cn.sum(cn.where(m, x, NAN)); cn.sqrt(x * NAN)
cn.max(cn.where(m, x, NAN)); x // NAN; NAN % x; cn.logical_not(x * NAN); ~m; ~k
cn.add(x, NAN, out=x)'''.replace(chr(10), ";").split(";")
DONE = '''x[m] = NAN
x[3] = NAN
x[2:4] = NAN
x[:] = NAN
x[i] = NAN
f[3] = NAN
f[m] = NAN
c[3] = NAN
c[m] = NAN
k[3] = NAN
k[m] = NAN
m[3] = NAN
x += NAN
x *= NAN; x[0] = 1
f *= NAN
k *= NAN
x[x > 2] = NAN; x[cn.isnan(x)] = 0
x[m] *= NAN
x[1] = np.float64(NAN); x[2] = np.float32(NAN)
x.fill(NAN)'''.split(chr(10))
def names(n):
    x = cn.arange(float(n)) + 1
    return {
        "cn": cn, "np": np, "n": n, "NAN": float("nan"), "x": x, "m": x % 2 == 0,
        "f": x.astype("float32"), "c": x * (1 + 0j), "k": cn.arange(n),
        "i": cn.array([0, 2]),
    }
def outcomes(n):
    for each in MADE + DONE:
        own = names(n)
        try:
            made = exec(each, own) if each in DONE else eval(each.strip(), own)
            made = "done" if made is None else made
        except Exception as error:
            made = type(error).__name__
        yield [np.asarray(each) for each in (made, *(own[name] for name in "xmfck"))]
"""


@pytest.mark.parametrize("count", [6, 40_000])
def test_results_are_those_of_tasks(count: int, tmp_path: Path) -> None:
    path = str(tmp_path / "unfused.npz")
    done = run_alone(
        f"""{PROGRAM}
np.savez({path!r}, *[one for each in outcomes({count}) for one in each])
""",
        LEGATE_DIFFUSE="0",
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    run_here(
        f"""{PROGRAM}
wanted = np.load({path!r})
for _ in range(2):
    found = [one for each in outcomes({count}) for one in each]
    for one, name in zip(found, wanted.files, strict=True):
        other = wanted[name]
        assert (one.dtype, one.shape) == (other.dtype, other.shape), name
        is_float = one.dtype.kind in "fc"
        assert np.array_equal(one, other, equal_nan=is_float), (name, one, other)
"""
    )


def test_it_is_one_constant_each_time() -> None:
    run_here(
        """
x = cn.arange(500_000.0)
for count in range(8):
    y = cn.where(x > 5.0, x, float("nan")) + x
    assert float(cn.nansum(y)) == 2.0 * sum(range(6, 500_000))
    if count == 3:
        plans = window.counters.plans_made
assert window.counters.plans_made == plans
"""
    )
