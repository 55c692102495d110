# SPDX-License-Identifier: Apache-2.0
"""Coefficients and tables of exp, log, pow and so on.

What was found by a search is data here: coefficients of minimax polynomials, and the
numbers 1/c, with c near the centre of an interval, for which log(c) is closest to a
number of few bits. All else is computed.

Follows: Arm Optimized Routines (math/exp_data.c, exp2f_data.c, log_data.c, log2_data.c,
logf_data.c, log2f_data.c, pow_log_data.c, powf_log2_data.c)
"""

from functools import cache
from math import isqrt
from typing import Final

_POINT: Final = 160
"""Fraction bits of the integers with which tables are computed."""

EXP_STEPS: Final = 128
"""exp and pow tabulate 2^(i / EXP_STEPS)."""
EXPF_STEPS: Final = 32
LOG_STEPS: Final = 128
"""log and pow tabulate logarithms at this many points from a number to its double."""
LOG2_STEPS: Final = 64
LOGF_STEPS: Final = 16

LOG_START: Final = 0x3FE6000000000000
"""Bit pattern of 0.6875, where the intervals of log and log2 begin."""
LOGF_START: Final = 0x3F330000
POW_LOG_START: Final = 0x3FE6955500000000


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float.fromhex(word) for word in text.split())


LN2: Final = float.fromhex("1.62e42fefa39efp-1")
LN2_HIGH: Final = float.fromhex("1.62e42fefa3800p-1")
"""log(2), rounded so that its product with any exponent is exact."""
LN2_LOW: Final = float.fromhex("1.ef35793c76730p-45")
"""log(2) - LN2_HIGH."""

EXP_SCALE: Final = float.fromhex("1.71547652b82fep+7")
"""EXP_STEPS / log(2)."""
EXP_STEP_HIGH: Final = float.fromhex("-1.62e42fefa0000p-8")
EXP_STEP_LOW: Final = float.fromhex("-1.cf79abc9e3b3ap-47")
"""Together -log(2) / EXP_STEPS."""
EXP_POLYNOMIAL: Final = _numbers("""
1.ffffffffffdbdp-2 1.555555555543cp-3 1.55555cf172b91p-5 1.1111167a4d017p-7
""")
"""Coefficients of r^2 to r^5 in exp(r)."""

EXPF_SCALE: Final = float.fromhex("1.71547652b82fep+5")
EXP2_POLYNOMIAL: Final = _numbers("""
1.62e42fefa39efp-1 1.ebfbdff82c424p-3 1.c6b08d70cf4b5p-5 1.3b2abd24650ccp-7
1.5d7e09b4e3a84p-10
""")
"""Coefficients of r to r^5 in 2^r."""
EXP2F_POLYNOMIAL: Final = _numbers("""
1.62e42ff0c52d6p-1 1.ebfce50fac4f3p-3 1.c6af84b912394p-5
""")
"""Coefficients of r to r^3 in 2^r."""

LOG_POLYNOMIAL: Final = _numbers("""
-1.0000000000001p-1 1.555555551305bp-2 -1.fffffffeb4590p-3 1.999b324f10111p-3
-1.55575e506c89fp-3
""")
"""Coefficients of r^2 to r^6 in log(1 + r)."""
LOG_NEAR_1_POLYNOMIAL: Final = _numbers("""
-1.0p-1 1.5555555555577p-2 -1.ffffffffffdcbp-3 1.999999995dd0cp-3 -1.55555556745a7p-3
1.24924a344de30p-3 -1.fffffa4423d65p-4 1.c7184282ad6cap-4 -1.999eb43b068ffp-4
1.78182f7afd085p-4 -1.5521375d145cdp-4
""")
"""Coefficients of r^2 to r^12 in log(1 + r)."""
LOG_INVERSES: Final = _numbers("""
1.734f0c3e0de9f 1.713786a2ce91f 1.6f26008fab5a0 1.6d1a61f138c7d 1.6b1490bc5b4d1
1.69147332f0cba 1.6719f18224223 1.6524f99a51ed9 1.63356aa8f24c4 1.614b36b9ddc14
1.5f66452c65c4c 1.5d867b5912c4f 1.5babccb5b90de 1.59d61f2d91a78 1.5805612465687
1.56397cee76bd3 1.54725e2a77f93 1.52aff42064583 1.50f22dbb2bddf 1.4f38f4734ded7
1.4d843cfde2840 1.4bd3ec078a3c8 1.4a27fc3e0258a 1.4880524d48434 1.46dce1b192d0b
1.453d9d3391854 1.43a2744b4845a 1.420b54115f8fb 1.40782da3ef4b1 1.3ee8f5d57fe8f
1.3d5d9a00b4ce9 1.3bd60c010c12b 1.3a5242b75dab8 1.38d22cd9fd002 1.3755bc5847a1c
1.35dce49ad36e2 1.34679984dd440 1.32f5cceffcb24 1.3187775a10d49 1.301c8373e3990
1.2eb4ebb95f841 1.2d50a0219a9d1 1.2bef9a8b7fd2a 1.2a91c7a0c1bab 1.293726014b530
1.27dfa5757a1f5 1.268b39b1d3bbf 1.2539d838ff5bd 1.23eb7aac9083b 1.22a012ba940b6
1.2157996cc4132 1.201201dd2fc9b 1.1ecf4494d480b 1.1d8f5528f6569 1.1c52311577e7c
1.1b17c74cb26e9 1.19e010c2c1ab6 1.18ab07bb670bd 1.1778a25efbcb6 1.1648d354c31da
1.151b990275fdd 1.13f0ea432d24c 1.12c8b7210f9da 1.11a3028ecb531 1.107fbda8434af
1.0f5ee0f4e6bb3 1.0e4065d2a9fce 1.0d244632ca521 1.0c0a77ce2981a 1.0af2f83c636d1
1.09ddb98a01339 1.08cabaf52e7df 1.07b9f2f4e28fb 1.06ab58c358f19 1.059eea5ecf92c
1.04949cdd12c90 1.038c6c6f0ada9 1.02865137932a9 1.0182427ea7348 1.008040614b195
1.fe01ff726fa1ap-1 1.fa11cc261ea74p-1 1.f6310b081992ep-1 1.f25f63ceeadcdp-1
1.ee9c8039113e7p-1 1.eae8078cbb1abp-1 1.e741aa29d0c9bp-1 1.e3a91830a99b5p-1
1.e01e009609a56p-1 1.dca01e577bb98p-1 1.d92f20b7c9103p-1 1.d5cac66fb5ccep-1
1.d272caa5ede9dp-1 1.cf26e3e6b2ccdp-1 1.cbe6da2a77902p-1 1.c8b266d37086dp-1
1.c5894bd5d5804p-1 1.c26b533bb9f8cp-1 1.bf583eeece73fp-1 1.bc4fd75db96c1p-1
1.b951e0c864a28p-1 1.b65e2c5ef3e2cp-1 1.b374867c9888bp-1 1.b094b211d304ap-1
1.adbe885f2ef7ep-1 1.aaf1d31603da2p-1 1.a82e63fd358a7p-1 1.a5740ef09738bp-1
1.a2c2a90ab4b27p-1 1.a01a01393f2d1p-1 1.9d79f24db3c1bp-1 1.9ae2505c7b190p-1
1.9852ef297ce2fp-1 1.95cbaeea44b75p-1 1.934c69de74838p-1 1.90d4f2f6752e6p-1
1.8e6528effd79dp-1 1.8bfce9fcc007cp-1 1.899c0dabec30ep-1 1.87427aa2317fbp-1
1.84f00acb39a08p-1 1.82a49e8653e55p-1 1.8060195f40260p-1 1.7e22563e0a329p-1
1.7beb377dcb5adp-1 1.79baa679725c2p-1 1.77907f2170657p-1 1.756cadbd6130cp-1
""")
"""1/c of each interval."""

LOG2_SCALE_HIGH: Final = float.fromhex("1.7154765200000")
LOG2_SCALE_LOW: Final = float.fromhex("1.705fc2eefa200p-33")
"""Together 1 / log(2)."""
LOG2_POLYNOMIAL: Final = _numbers("""
-1.71547652b8339p-1 1.ec709dc3a04bep-2 -1.7154764702ffbp-2 1.2776c50034c48p-2
-1.ec7b328ea92bcp-3 1.a6225e117f92ep-3
""")
"""Coefficients of r^2 to r^7 in log2(1 + r)."""
LOG2_NEAR_1_POLYNOMIAL: Final = _numbers("""
-1.71547652b82fep-1 1.ec709dc3a03f7p-2 -1.71547652b7c3fp-2 1.2776c50f05be4p-2
-1.ec709dd768fe5p-3 1.a61761ec4e736p-3 -1.7153fbc64a79bp-3 1.484d154f01b4ap-3
-1.289e4a72c383cp-3 1.0b32f285aee66p-3
""")
"""Coefficients of r^2 to r^11 in log2(1 + r)."""
LOG2_INVERSES: Final = _numbers("""
1.724286bb1acf8 1.6e1f766d2cca1 1.6a13d0e30d48a 1.661ec32d06c85 1.623fa951198f8
1.5e75ba4cf026c 1.5ac055a214fb8 1.571ed0f166e1e 1.53909590bf835 1.5014fed61addd
1.4cab88e487bd0 1.49539b4334fee 1.460cbdfafd569 1.42d664ee4b953 1.3fb01111dd8a6
1.3c995b70c5836 1.3991c4ab6fd4a 1.3698e0ce099b5 1.33ae48213e7b2 1.30d191985bdb1
1.2e025cab271d7 1.2b404cf13cd82 1.288b02c7ccb50 1.25e2263944de5 1.234563d8615b1
1.20b46e33eaf38 1.1e2eefdcda3dd 1.1bb4a580b3930 1.19453847f2200 1.16e06c0d5d73c
1.1485f47b7e4c2 1.12358ad0085d1 1.0fef00f532227 1.0db2077d03a8f 1.0b7e6d65980d9
1.0953efe7b408d 1.07325cac53b83 1.05197e40d1b5c 1.03091c1208ea2 1.0101025b37e21
1.fc07ef9caa76bp-1 1.f4465d3f6f184p-1 1.ecc079f84107fp-1 1.e573a99975ae8p-1
1.de5d6f0bd3de6p-1 1.d77b681ff38b3p-1 1.d0cb5724de943p-1 1.ca4b2dc0e7563p-1
1.c3f8ee8d6cb51p-1 1.bdd2b4f020c4cp-1 1.b7d6c006015cap-1 1.b20366e2e338fp-1
1.ac57026295039p-1 1.a6d01bc2731ddp-1 1.a16d3bc3ff18bp-1 1.9c2d14967feadp-1
1.970e4f47c9902p-1 1.920fb3982bcf2p-1 1.8d30187f759f1p-1 1.886e5ebb9f66dp-1
1.83c97b658b994p-1 1.7f405ffc61022p-1 1.7ad22181415cap-1 1.767dcf99eff8cp-1
""")
"""1/c of each interval of log2."""

LOGF_POLYNOMIAL: Final = _numbers("""
-1.ffffef20a4123p-2 1.5575b0be00b6ap-2 -1.00ea348b88334p-2
""")
"""Coefficients of r^2 to r^4 in log(1 + r)."""
LOGF_INVERSES: Final = _numbers("""
1.661ec79f8f3be 1.571ed4aaf883d 1.49539f0f010b0 1.3c995b0b80385 1.30d190c8864a5
1.25e227b0b8ea0 1.1bb4a4a1a343f 1.12358f08ae5ba 1.0953f419900a7 1.0000000000000
1.e608cfd9a47acp-1 1.ca4b31f026aa0p-1 1.b2036576afce6p-1 1.9c2d163a1aa2dp-1
1.886e6037841edp-1 1.767dcf5534862p-1
""")
"""The same for logf, log2f and powf."""

LOG2F_POLYNOMIAL: Final = _numbers("""
1.715475f35c8b8p+0 -1.715479ffae3dep-1 1.ecabf496832e0p-2 -1.712b6f70a7e4dp-2
""")
"""Coefficients of r to r^4 in log2(1 + r)."""
POWF_LOG2_POLYNOMIAL: Final = _numbers("""
1.71547652ab82bp+0 -1.7154748bef6c8p-1 1.ec70a6ca7baddp-2 -1.71969a075c67ap-2
1.27616c9496e0bp-2
""")
"""Coefficients of r to r^5 in log2(1 + r)."""

POW_LOG_POLYNOMIAL: Final = _numbers("""
-1.0p-1 -1.5555555555560p-1 1.0000000000006p-1 1.999999959554ep-1 -1.555555529a47ap-1
-1.2495b9b4845e9p+0 1.0002b8b263fc3p+0
""")
"""Coefficients of r^2 to r^8 in log(1 + r), those of r^3 and r^4 times -2, of r^5 and
r^6 times 4, and of r^7 and r^8 times -8.
"""


@cache
def powers_of_two(steps: int) -> tuple[tuple[int, float], ...]:
    """Return 2^(i / steps) for each i below `steps`, a power of two.

    A number is the bit pattern of the nearest double, less i steps of the exponent, and
    the relative error of that double.
    """
    root = 2 << _POINT
    for _ in range(steps.bit_length() - 1):
        root = isqrt(root << _POINT)
    table = []
    power, fraction = 1 << _POINT, _POINT - 52
    for i in range(steps):
        mantissa = (power + (1 << fraction - 1)) >> fraction
        nearest = mantissa << fraction
        pattern = (0x3FE << 52) + mantissa - (i << 52) // steps
        table.append((pattern, (power - nearest) / nearest))
        power = power * root >> _POINT
    return tuple(table)


@cache
def log_table() -> tuple[float, ...]:
    """Return log(c) for each of `LOG_INVERSES`, to 43 fraction bits."""
    return tuple(_rounded(_log_of_inverse(inverse)) for inverse in LOG_INVERSES)


@cache
def log2_table() -> tuple[float, ...]:
    """Return log2(c) for each of `LOG2_INVERSES`, to 43 fraction bits."""
    log_of_2 = _log_of_inverse(0.5)
    logs = [(_log_of_inverse(i) << _POINT) // log_of_2 for i in LOG2_INVERSES]
    return tuple(_rounded(log) for log in logs)


@cache
def logf_table() -> tuple[float, ...]:
    """Return the double nearest to log(c) for each of `LOGF_INVERSES`."""
    one = 1 << _POINT
    return tuple(_log_of_inverse(inverse) / one for inverse in LOGF_INVERSES)


@cache
def log2f_table() -> tuple[float, ...]:
    """Return the double nearest to log2(c) for each of `LOGF_INVERSES`."""
    log_of_2 = _log_of_inverse(0.5)
    return tuple(_log_of_inverse(inverse) / log_of_2 for inverse in LOGF_INVERSES)


@cache
def pow_log_table() -> tuple[tuple[float, float, float], ...]:
    """Return 1/c, log(c) to 43 fraction bits, and the rest of log(c).

    1/c is the nearest multiple of 2^-7, below 1 of 2^-8, to that of the middle of the
    interval. Around 1 it is 1.
    """
    table = []
    for i in range(LOG_STEPS):
        pattern = POW_LOG_START + ((2 * i + 1) << 51) // LOG_STEPS
        exponent, mantissa = pattern >> 52, (pattern & (1 << 52) - 1) | 1 << 52
        inverse = (1 << 0x3FF + 52 - exponent) / mantissa
        steps = 128 if exponent < 0x3FF else 256
        inverse = round(inverse * steps) / steps
        log = _log_of_inverse(inverse)
        high = _rounded(log)
        low = (log - (int(high * 2**43) << _POINT - 43)) / (1 << _POINT)
        table.append((inverse, high, low))
    return tuple(table)


def _rounded(log: int) -> float:
    fraction = _POINT - 43
    return ((log + (1 << fraction - 1)) >> fraction) / 2**43


def _log_of_inverse(value: float) -> int:
    """Return -log(value) with `_POINT` fraction bits; `value` is between 0.5 and 2."""
    numerator, denominator = value.as_integer_ratio()
    # log(a / b) = 2 artanh((a - b) / (a + b))
    ratio = ((denominator - numerator) << _POINT) // (denominator + numerator)
    square = ratio * ratio >> _POINT
    total, term, number = 0, 2 * ratio, 1
    while term not in (0, -1):
        total += term // number
        term = term * square >> _POINT
        number += 2
    return total
