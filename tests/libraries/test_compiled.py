# SPDX-License-Identifier: Apache-2.0
"""What Numba makes of scalar functions, and the sentences about what it cannot."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from legate_diffuse.libraries.compiled import RefusedError, compile_function

numba = pytest.importorskip("numba")


def types(chars: str) -> list[np.dtype[Any]]:
    return [np.dtype(char) for char in chars]


def test_types_of_results_are_numbas() -> None:
    made = compile_function(lambda x, y: (x > y, x + y, x * 1j), types("ld"))
    assert made.inputs == ("int64", "float64")
    assert made.outputs == ("bool", "float64", "complex128")


def _raises(x: Any) -> Any:
    if x > 1:
        raise ValueError
    return x


def _none(x: Any) -> Any:
    return None


def _text(x: Any) -> Any:
    return "text"


def _unknown(x: Any) -> Any:
    return np.no_such_function(x)


def _of_two(x: Any, y: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("function", "chars", "reason"),
    [
        (_raises, "d", "it may raise an exception"),
        (_none, "d", "it returns none, which arrays cannot hold"),
        (_text, "d", r"it returns .*text.*, which arrays cannot hold"),
        (_unknown, "d", "Numba refuses it: .*no attribute 'no_such_function'"),
        (_of_two, "d", "Numba refuses it: .*takes 2 arguments"),
        (_of_two, "de", "it takes no elements of type float16"),
        (_of_two, "dO", "it takes no elements of type object"),
    ],
)
def test_what_cannot_be_compiled_is_refused_in_one_sentence(
    function: Any, chars: str, reason: str
) -> None:
    with pytest.raises(RefusedError, match=f"^{reason}$") as caught:
        compile_function(function, types(chars))
    assert "\n" not in str(caught.value)


def test_a_function_may_allocate_only_where_that_cannot_fail() -> None:
    def sums(x: Any) -> Any:
        return np.arange(3.0).sum() + x

    with pytest.raises(RefusedError):
        compile_function(sums, types("d"))


def test_the_assembly_is_the_same_in_every_process() -> None:
    program = """
import hashlib, math, numpy as np
from legate_diffuse.libraries.compiled import compile_function
def first(x): return x + 1
def function(x, n):
    total = 0.0
    for k in range(n):
        total += math.sin(x) / (k + 1) if x > k else x // 2
    return total, n > 3
ORDER
made = compile_function(function, [np.dtype("d"), np.dtype("i")])
print(hashlib.sha256(made.assembly.encode()).hexdigest())
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", program.replace("ORDER", before)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for before in ("", "compile_function(first, [np.dtype('d')])")
    }
    assert len(found) == 1


def test_functions_of_numba_keep_their_options() -> None:
    plain = compile_function(lambda x: x * x * x * x, types("d"))
    fast = compile_function(
        numba.njit(fastmath=True)(lambda x: x * x * x * x), types("d")
    )
    assert " fast " not in plain.assembly
    assert " fast " in fast.assembly
