# SPDX-License-Identifier: Apache-2.0
"""Which kernels a task's nests get, and whose code is freed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from legate_diffuse.codegen.machine import MachineCode
from legate_diffuse.kernel import Argument, Builder, Kernel
from legate_diffuse.launch.kernels import COMPILE_AT_ONCE, KernelTable
from legate_diffuse.observe.counters import Counters

LITTLE, MUCH = 1, COMPILE_AT_ONCE


class Registered:
    """A native table of a process with two threads."""

    def __init__(self) -> None:
        self.addresses: dict[int, int] = {}
        self.combining: dict[int, set[int]] = {}
        self.texts: dict[int, str] = {}
        self.worn: set[int] = set()

    def num_threads(self) -> int:
        return 2

    def target(self) -> str:
        return "cpu"

    def register_kernel(
        self,
        address: int,
        reductions: list[tuple[int, int, bytes]] | None = None,
        timed: bool = False,
    ) -> int:
        number = len(self.addresses)
        self.addresses[number] = address
        self.combining[number] = {combine for _, combine, _ in reductions or ()}
        return number

    def interpret_kernel(self, text: str, lanes: int) -> int | None:
        if "exp" in text:
            return None
        number = self.register_kernel(0)
        self.texts[number] = text
        return number

    def is_kernel_ready(self, number: int) -> bool:
        return number not in self.worn

    def forget_kernel(self, number: int) -> None:
        self.addresses[number] = 0
        self.texts.pop(number, None)


@pytest.fixture
def native() -> Registered:
    return Registered()


@pytest.fixture
def counters() -> Counters:
    return Counters()


@pytest.fixture
def table(
    native: Registered,
    counters: Counters,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> KernelTable:
    monkeypatch.setenv("LEGATE_DIFFUSE_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("LEGATE_DIFFUSE_SYNC_COMPILE", raising=False)
    return KernelTable(native, False, counters)


@pytest.fixture
def freed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[MachineCode]]:
    """Return what is freed; its memory is kept."""
    found: list[MachineCode] = []
    monkeypatch.setattr(MachineCode, "free", lambda code: found.append(code))
    yield found


def times(factor: float) -> Kernel:
    builder = Builder(
        (
            Argument("float64", reads=True, writes=False),
            Argument("float64", reads=False, writes=True),
        ),
        (),
    )
    product = builder.op(
        "mul", "float64", builder.load(0), builder.constant("float64", factor)
    )
    builder.store(1, product)
    return builder.build()


def total(dtype: str, factor: int = 1) -> Kernel:
    """Return the sum of an array; the one of integers has the same bits everywhere."""
    target = Argument(dtype, reads=False, writes=False, reduces="add")
    builder = Builder((target, Argument(dtype, reads=True, writes=False)), ())
    value = builder.load(1)
    if factor != 1:
        value = builder.op("mul", dtype, value, builder.constant(dtype, factor))
    builder.reduce(0, value)
    return builder.build()


def test_a_kernel_that_comes_twice_in_a_task_was_not_seen_before(
    table: KernelTable, counters: Counters
) -> None:
    kernels = [times(2.0), times(2.0)]
    assert table.find(kernels, LITTLE) == [None, None]
    assert counters.kernels_compiled == 0
    assert table.find(kernels, LITTLE) == [0, 0]
    assert counters.kernels_compiled == 1


def test_nothing_is_compiled_for_a_task_that_runs_unfused(
    table: KernelTable, counters: Counters
) -> None:
    table.find([times(2.0)], LITTLE)
    assert table.find([times(2.0), times(3.0)], LITTLE) == [None, None]
    assert counters.kernels_compiled == 0
    assert table.find([times(3.0), times(2.0)], LITTLE) == [0, 1]


def test_a_task_whose_kernels_are_all_on_disk_is_fused_at_first_sight(
    table: KernelTable, native: Registered, counters: Counters
) -> None:
    table.find([times(2.0), times(3.0)], MUCH)
    again = KernelTable(native, False, counters)
    assert None not in again.find([times(2.0), times(3.0), times(2.0)], LITTLE)
    assert counters.kernels_compiled == 0


@pytest.mark.parametrize("work", [LITTLE, MUCH])
def test_nests_of_one_kernel_share_its_number(
    table: KernelTable, native: Registered, work: int
) -> None:
    table.find([times(2.0)], work)
    first, *others = table.find([times(2.0)] * 3, work)
    assert others == [first, first]
    assert len(native.addresses) == 1


def test_a_timed_nest_has_a_number_of_its_own(
    native: Registered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEGATE_DIFFUSE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("LEGATE_DIFFUSE_EXPLAIN", "page.html")
    table = KernelTable(native, False, Counters())
    assert table.find([times(2.0)] * 2, MUCH) == [0, 1]


@pytest.mark.parametrize("sum_comes_first", [True, False])
def test_what_combines_results_stays_when_its_kernel_is_forgotten(
    table: KernelTable,
    native: Registered,
    freed: list[MachineCode],
    sum_comes_first: bool,
) -> None:
    """The kernel that adds up the results of threads may be a nest's as well."""
    kernels = [total("int64"), total("int64", 3)]
    if not sum_comes_first:
        kernels.reverse()
    found = [table.find([kernel], MUCH)[0] for kernel in kernels]
    table.keep([total("int64", 3)])()
    kept = found[kernels.index(total("int64", 3))]
    assert kept is not None
    (combining,) = native.combining[kept]
    used = {address for address in native.addresses.values() if address}
    assert native.addresses[combining] in used
    assert len(table) == 1
    assert not freed
    # it is found again, and freed as little
    (again,) = table.find([total("int64")], MUCH)
    assert again is not None
    assert native.addresses[again] == native.addresses[combining]
    table.keep([])()
    assert len(freed) == 1


def test_what_nobody_uses_is_freed(
    table: KernelTable, native: Registered, freed: list[MachineCode]
) -> None:
    first, second = table.find([times(2.0), times(3.0)], MUCH)
    assert first is not None and second is not None
    table.keep([times(3.0)])()
    assert native.addresses[first] == 0
    assert native.addresses[second]
    assert len(freed) == 1


def exponential() -> Kernel:
    builder = Builder(
        (
            Argument("float64", reads=True, writes=False),
            Argument("float64", reads=False, writes=True),
        ),
        (),
    )
    builder.store(1, builder.op("exp", "float64", builder.load(0)))
    return builder.build()


def test_what_runs_at_once_is_interpreted_until_it_has_run_often(
    table: KernelTable, native: Registered, counters: Counters
) -> None:
    assert table.find_at_once([times(2.0)]) == [0]
    assert table.find_at_once([times(2.0), times(3.0)]) == [0, 1]
    assert counters.kernels_compiled == 0
    assert table.find([times(2.0)], MUCH) == [2]  # no task may run the others
    native.worn.add(1)
    assert table.find_at_once([times(2.0), times(3.0)]) == [2, 3]
    assert counters.kernels_compiled == 2
    assert list(native.texts) == [0]


def test_what_cannot_be_interpreted_is_compiled(
    table: KernelTable, counters: Counters
) -> None:
    assert table.find_at_once([exponential()]) == [0]
    assert counters.kernels_compiled == 1


def test_interpreted_kernels_are_forgotten_with_the_others(
    table: KernelTable, native: Registered
) -> None:
    table.find_at_once([times(2.0)])
    free = table.keep(set())
    assert list(native.texts) == [0]
    free()
    assert not native.texts
    assert len(table) == 0
    assert table.find_at_once([times(2.0)]) == [1]


@pytest.mark.parametrize(
    ("variable", "value"), [("SYNC_COMPILE", "1"), ("FAST_MATH", "1"), ("DUMP", "asm")]
)
def test_some_settings_need_compiled_kernels(
    variable: str,
    value: str,
    native: Registered,
    counters: Counters,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("LEGATE_DIFFUSE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(f"LEGATE_DIFFUSE_{variable}", value)
    KernelTable(native, False, counters).find_at_once([times(2.0)])
    assert (counters.kernels_compiled, native.texts) == (1, {})
