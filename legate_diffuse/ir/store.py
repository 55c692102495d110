# SPDX-License-Identifier: Apache-2.0
"""Stores and views of the scale-free IR."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Points(enum.Enum):
    """How many elements a shape has, as far as the analyses care."""

    NONE = "none"
    ONE = "one"
    MANY = "many"


@dataclass(frozen=True, slots=True)
class Store:
    """A distributed array.

    ``live`` says whether the application can still read it after the window;
    ``replicated`` that every point sees the whole of it (a Legion future);
    ``constant`` that its value is known when the window is submitted.
    """

    id: int
    dtype: str
    live: bool = True
    replicated: bool = False
    constant: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A store seen through transforms.

    Two views of a store are the same access pattern if and only if they have
    the same ``id``. ``shape`` numbers the window's distinct shapes; views of
    one shape in one task are aligned, so they have equal partitions (the
    partition's alignment class, Diffuse section 3.2). ``broadcast`` says that
    the view repeats along its last dimension, and ``affine`` that every
    element lies at an affine function of its position.
    """

    id: int
    store: Store
    shape: int
    points: Points
    broadcast: bool = False
    affine: bool = True
