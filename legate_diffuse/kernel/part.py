# SPDX-License-Identifier: Apache-2.0
"""Parts of kernels: what computes one of their results."""

from __future__ import annotations

from dataclasses import replace

from legate_diffuse.kernel.builder import needed_for
from legate_diffuse.kernel.ir import Argument, Kernel, Load, Store
from legate_diffuse.kernel.verify import verify_kernel


def part_for(kernel: Kernel, result: int) -> tuple[Kernel, tuple[int, ...]]:
    """Return a kernel that only writes one argument, and which arguments it reads.

    Its first argument is what it writes, and reads if the result is made from what was
    there. Those that it reads follow; they are given by their numbers in the old
    kernel. Its scalars are the same.

    Raises:
        ValueError: the kernel does not write the argument.
    """
    value = next(
        (s.value for s in kernel.body if isinstance(s, Store) and s.argument == result),
        None,
    )
    if value is None:
        raise ValueError(f"the kernel does not write argument {result}")
    steps, values = needed_for([value], kernel.body)
    loaded = {step.argument for step in steps if isinstance(step, Load)}
    changes = result in loaded
    read = sorted(loaded - {result})
    places = {number: place for place, number in enumerate((result, *read))}
    body = [
        Load(places[step.argument]) if isinstance(step, Load) else step
        for step in steps
    ]
    dtype = kernel.arguments[result].dtype
    arguments = (
        Argument(dtype, reads=changes, writes=True),
        *(replace(kernel.arguments[each], writes=False) for each in read),
    )
    found = Kernel(arguments, kernel.scalars, (*body, Store(0, values[value])))
    verify_kernel(found)
    return found, tuple(read)
