# SPDX-License-Identifier: Apache-2.0
"""Vector maths gives what libm gives, on a million operands of each function."""

import os
import subprocess
import sys

import numpy as np
import pytest
from maths_operands import function_kernel, operands_of, units_apart

from legate_diffuse.kernel.operators import MATHS_OF_ONE, MATHS_OF_TWO
from legate_diffuse.maths.libm import MathMode, c_name
from legate_diffuse.maths.registry import ROUTINES

SIZE = 400_000
OTHER_LIBM = "GLIBC_TUNABLES"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(MATHS_OF_ONE | MATHS_OF_TWO))
def test_results_are_those_of_libm(run, name, dtype):
    operands = operands_of(name, dtype, SIZE)
    kernel = function_kernel(name, np.dtype(dtype).name)
    results = {mode: np.empty_like(operands[0]) for mode in MathMode}
    for mode, result in results.items():
        run(kernel, [*operands, result], mode=mode)
    apart = units_apart(*results.values())
    worst = int(np.argmax(apart))
    bound = ROUTINES[c_name(name, np.dtype(dtype).name)].ulps
    assert operands[0].size >= 1_000_000
    assert apart[worst] <= bound, [x[worst] for x in (*operands, *results.values())]


@pytest.mark.skipif(OTHER_LIBM in os.environ, reason="this is the other libm")
def test_results_are_those_of_a_libm_that_fuses_nothing():
    """glibc has variants without FMA for processors without it."""
    environment = os.environ | {OTHER_LIBM: "glibc.cpu.hwcaps=-FMA,-AVX2"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        [*command, "-k", "float64 and not (fmod or hypot or nextafter)"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
