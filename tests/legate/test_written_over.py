# SPDX-License-Identifier: Apache-2.0
"""What is written over elements that it is computed from."""

from __future__ import annotations

import pytest
from test_small_arrays import run_here

STATEMENTS = (
    "x[1:] += x[:-1]",
    "x[:-1] -= x[1:]",
    "x[2:] *= x[:-2] * 0.5",
    "x[1:] += x[0]",
    "x[1:] += x[3:4]",
    "n.add(x[1:], x[:-1], out=x[:-1])",
    "n.multiply(x[3:], 2.0, out=x[:-3])",
    "n.add(x[1:], y[:-1], x[:-1])",
    "n.sqrt(x[1:], out=x[:-1])",
    "n.negative(x[:-5], out=x[5:])",
    "A[1:] += A[:-1]",
    "A[:, 1:] -= A[:, :-1]",
    "A[1:, 2:] += A[:-1, :-2]",
    "A += A[0]",
    "A[1:] += A[:1]",
    "A += A[:, :1]",
    "A += A.T",
    "n.subtract(A, A.T, out=A)",
    "A[:5, :7] += A[:7, :5].T",
    "A[0] += A[:, 0]",
    "x[:1] += x[1:]",
    "A[0] += A",
    "x[5:5] += x[5:5]",
    "n.greater(m[1:], m[:-1], out=m[:-1])",
    "m[1:] |= m[:-1]",
    "m[1:] ^= m[:-1]",
    "k[1:] += k[:-1]",
    "k[1:] //= k[:-1] + 1",
    "k[:-1] <<= k[1:] % 3",
    "z[1:] *= z[:-1]",
    "f[1:] += f[:-1]",
    "f[1:] += x[:-1]",
    "x[1:] += k[1:] * x[:-1]",
    "k[1:] += x[:-1]",
    "n.add(k[1:], k[:-1], out=x[1:])",
    "n.maximum(x[1:], x[:-1], out=x[1:])",
    "n.less(x[1:], x[:-1], out=x[1:])",
)


@pytest.mark.parametrize("made", ["1", "n.array([1])[0]"])
def test_it_is_as_if_it_had_been_computed_before(made: str) -> None:
    run_here(
        f"""
def program(n, statement):
    one = {made}
    x = n.arange(40.0) % 7 + one
    y, A = x * 0.5, (n.arange(81.0) % 11).reshape(9, 9) * one
    k, f = (n.arange(40) % 13).astype('uint8'), (x / 3).astype('float32')
    z, m = x - 1j, k > 6
    kept = x[3:9], A[2]
    try:
        for _ in range(3):
            exec(statement, locals())
    except Exception as error:
        return [isinstance(error, TypeError), isinstance(error, ValueError), x, A, k, m]
    return [x, y, A, k, f, z, m, *kept]
for statement in {STATEMENTS}:
    try:
        agree(lambda n: program(n, statement))
    except Exception as error:
        raise AssertionError(statement) from error
"""
    )


def test_no_python_is_needed() -> None:
    run_here(
        """
x = cn.arange(900.0)
A = x.reshape(30, 30)
def run():
    x[1:] += x[:-1]
    A[:, 1:] -= A[:, :-1]
    cn.add(x[1:], x[:-1], out=x[:-1])
run()
import sys
called = []
sys.setprofile(lambda frame, event, _: called.append((event, frame.f_code.co_name)))
run()
sys.setprofile(None)
assert [each for each in called if each[0] == "call"] == [("call", "run")], called
"""
    )
