# SPDX-License-Identifier: Apache-2.0
"""Views of arrays that are partitioned as a task has chosen, which sorting does.

Legate does not clip the tiles of such a view to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupynumeric as cn
import numpy as np
import pytest
from comparison import counts


def _set(part: slice, value: float) -> Callable[[Any, Any], None]:
    return lambda _, y: y.__setitem__(part, value)


def _double(part: slice) -> Callable[[Any, Any], None]:
    return lambda package, y: package.multiply(y[part], 2.0, out=y[part])


@pytest.mark.parametrize("part", [slice(-1), slice(1, None), slice(7), slice(5, 20)])
@pytest.mark.parametrize("change", [lambda part: _set(part, 3.0), _double])
def test_only_the_view_is_changed(
    part: slice, change: Callable[[slice], Callable[[Any, Any], None]]
) -> None:
    values = np.random.default_rng(0).random(50)

    def program(package: Any) -> Any:
        y = package.exp2(package.sort(package.array(values)))
        change(part)(package, y)
        y *= 1.5
        return y

    results = []
    found = counts(lambda: results.append(program(cn)))
    assert found["groups"] > 0
    np.testing.assert_allclose(np.asarray(results[0]), program(np), rtol=1e-14)
