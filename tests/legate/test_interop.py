# SPDX-License-Identifier: Apache-2.0
"""What reads or writes arrays without being a task that waits in the window.

Each test has operations pending when something else accesses their arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cupynumeric
import legate.core
import numpy as np
import pytest
from legate import timing
from legate.core.task import InputArray, InputStore, OutputArray, OutputStore, task

import legate_diffuse
from legate_diffuse.interpose.originals import real
from legate_diffuse.interpose.window import window

# untyped: tests also pass what type checkers would refuse
cn: Any = cupynumeric
lc: Any = legate.core
RUNTIME = lc.get_legate_runtime()
EXPECTED = np.arange(64.0) * 2.0 + 1.0


def pending() -> Any:
    """Return an array whose value is still to be computed."""
    RUNTIME.issue_execution_fence()
    return cn.arange(64.0) * 2.0 + 1.0


@contextmanager
def submits_pending_work() -> Iterator[None]:
    before = legate_diffuse.stats()["groups"]
    yield
    assert legate_diffuse.stats()["groups"] > before


def array_of(x: Any) -> Any:
    """Return the Legate array behind a cuPyNumeric array, as other libraries do."""
    (array,) = x.__legate_data_interface__["data"].values()
    return array


class Holder:
    """An object of another library that offers the Legate data interface."""

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def __legate_data_interface__(self) -> dict[str, Any]:
        field = lc.Field("data", self._array.type)
        return {"version": 1, "data": {field: self._array}}


# -- arrays and stores -----------------------------------------------------------


def test_a_logical_array_and_its_store() -> None:
    x = pending()
    array = array_of(x)
    assert isinstance(array, lc.LogicalArray)
    assert isinstance(array.data, lc.LogicalStore)
    assert (array.nullable, array.nested, array.num_children) == (False, False, 0)
    assert array.type == lc.float64
    assert tuple(array.shape) == array.extents == (64,)
    assert (array.ndim, array.size, array.volume, array.unbound) == (1, 64, 64, False)
    again = lc.LogicalArray.from_store(array.data)
    assert again.data.equal_storage(array.data)
    with submits_pending_work():
        np.testing.assert_array_equal(np.asarray(again.get_physical_array()), EXPECTED)
    with pytest.raises(ValueError):
        array.null_mask  # noqa: B018


def test_a_logical_array_slices_into_logical_arrays() -> None:
    part = array_of(pending())[10:20]
    assert isinstance(part, lc.LogicalArray)
    np.testing.assert_array_equal(cn.asarray(Holder(part)), EXPECTED[10:20])
    promoted = part.promote(0, 3)
    assert isinstance(promoted, lc.LogicalArray)
    assert promoted.extents == (3, 10)


def test_the_data_interface_in_and_out() -> None:
    x = pending()
    shared = cn.asarray(Holder(array_of(x)))
    x += 1.0
    np.testing.assert_array_equal(shared, EXPECTED + 1.0)
    shared *= 2.0
    np.testing.assert_array_equal(x, (EXPECTED + 1.0) * 2.0)


def test_a_raw_handle_is_of_the_real_array() -> None:
    array = array_of(pending())
    with submits_pending_work():
        again = lc.LogicalArray.from_raw_handle(array.raw_handle)
    np.testing.assert_array_equal(np.asarray(again.get_physical_array()), EXPECTED)


def test_an_array_with_a_null_mask() -> None:
    x = pending()
    valid = x > 10.0
    masked = lc.LogicalArray.from_store_and_mask(array_of(x).data, array_of(valid).data)
    assert masked.nullable
    assert isinstance(masked.null_mask, lc.LogicalStore)
    x += 1.0
    np.testing.assert_array_equal(
        np.asarray(masked.data.get_physical_store()), EXPECTED + 1.0
    )
    mask = masked.null_mask.get_physical_store()
    np.testing.assert_array_equal(np.asarray(mask), EXPECTED > 10.0)


def test_arrays_that_the_runtime_makes() -> None:
    plain = RUNTIME.create_array(lc.float64, (64,))
    assert isinstance(plain, lc.LogicalArray)
    x = cn.asarray(Holder(plain))
    x[:] = pending()
    np.testing.assert_array_equal(x, EXPECTED)
    like = RUNTIME.create_array_like(plain, lc.int64)
    assert (like.type, like.extents) == (lc.int64, (64,))
    structure = RUNTIME.create_struct_array((plain, like))
    assert (structure.nested, structure.num_children) == (True, 2)
    assert isinstance(structure.child(1), lc.LogicalArray)
    nullable = RUNTIME.create_array(lc.int64, (4,), nullable=True)
    assert isinstance(nullable.null_mask, lc.LogicalStore)


def test_offloading_moves_the_computed_value() -> None:
    x = pending()
    with submits_pending_work():
        lc.offload_to(x, target=lc.StoreTarget.SYSMEM)
    np.testing.assert_array_equal(x, EXPECTED)


# -- memory shared with the program ----------------------------------------------


def test_reading_into_numpy() -> None:
    with submits_pending_work():
        np.testing.assert_array_equal(np.asarray(pending()), EXPECTED)
    with submits_pending_work():
        np.testing.assert_array_equal(pending().__array__(), EXPECTED)
    with submits_pending_work():
        store = array_of(pending()).data
        np.testing.assert_array_equal(np.asarray(store), EXPECTED)
    with submits_pending_work():
        physical = array_of(pending()).data.get_physical_store()
        assert isinstance(physical, lc.PhysicalStore)
        np.testing.assert_array_equal(physical, EXPECTED)
    with submits_pending_work():
        assert pending().tolist() == EXPECTED.tolist()
    with submits_pending_work():
        assert "123. 125. 127.]" in str(pending())


@pytest.mark.parametrize("export", [np.asarray, np.from_dlpack])
def test_a_numpy_view_and_its_array_stay_in_step(export: Any) -> None:
    x = pending()
    view = export(x)
    x += 1.0
    np.testing.assert_array_equal(view, EXPECTED + 1.0)
    y = x * 2.0
    if view.flags.writeable:
        view[:] = 0.0
    np.testing.assert_array_equal(y, (EXPECTED + 1.0) * 2.0)


def test_an_array_that_numpy_saw_once_fuses_again() -> None:
    x = pending()
    assert np.asarray(x)[0] == 1.0
    RUNTIME.issue_execution_fence()
    before = legate_diffuse.stats()["tasks_submitted"]
    y = (x + 1.0) * 2.0 - 1.0
    RUNTIME.issue_execution_fence()
    assert legate_diffuse.stats()["tasks_submitted"] == before + 1
    np.testing.assert_array_equal(y, (EXPECTED + 1.0) * 2.0 - 1.0)


def test_an_attached_buffer_that_the_program_uses_again() -> None:
    buffer = EXPECTED.copy()
    x = cn.asarray(buffer)
    y = x + 1.0
    buffer[:] = 0.0
    np.testing.assert_array_equal(y, EXPECTED + 1.0)
    np.testing.assert_array_equal(x + 1.0, np.ones(64))


def test_two_arrays_over_one_buffer() -> None:
    buffer = EXPECTED.copy()
    x = pending()
    cn.add(x, 1.0, out=buffer)
    cn.multiply(x, 3.0, out=buffer)
    first, second = cn.asarray(buffer), cn.asarray(buffer)
    first += 1.0
    second *= 2.0
    np.testing.assert_array_equal(buffer, (EXPECTED * 3.0 + 1.0) * 2.0)
    np.testing.assert_array_equal(first, buffer)


def test_a_detached_buffer_holds_the_result() -> None:
    buffer = EXPECTED.copy()
    store = RUNTIME.create_store_from_buffer(lc.float64, (64,), buffer, False)
    x = cn.asarray(Holder(lc.LogicalArray.from_store(store)))
    x += 1.0
    x *= 2.0
    store.detach()
    np.testing.assert_array_equal(buffer, (EXPECTED + 1.0) * 2.0)


def test_a_store_over_the_programs_tiles() -> None:
    tiles = [np.arange(4.0), np.arange(4.0, 8.0)]
    allocations = [
        (lc.ExternalAllocation.from_dlpack(tile, read_only=True), (color,))
        for color, tile in enumerate(tiles)
    ]
    store, partition = RUNTIME.create_store_from_tiles(
        lc.float64, (8,), (4,), allocations
    )
    assert isinstance(partition, lc.LogicalStorePartition)
    x = cn.asarray(Holder(lc.LogicalArray.from_store(store)))
    np.testing.assert_array_equal(x + 1.0, np.arange(8.0) + 1.0)


def test_dlpack_in() -> None:
    buffer = EXPECTED.copy()
    x = cn.from_dlpack(buffer)
    y = x * 2.0
    x += 1.0
    np.testing.assert_array_equal(buffer, EXPECTED + 1.0)
    np.testing.assert_array_equal(y, EXPECTED * 2.0)


# -- tasks -------------------------------------------------------------------------


@task
def negate(source: InputArray, target: OutputArray) -> None:
    np.asarray(target)[:] = -np.asarray(source)


@task
def with_cupynumeric(source: InputStore, target: OutputStore) -> None:
    x, y = cn.asarray(source), cn.asarray(target)
    cn.negative(x, out=y)
    cn.multiply(y, x, out=y)


@task
def fail(source: InputStore) -> None:
    raise ArithmeticError("as declared")


@pytest.mark.parametrize("wrap", [lambda x: x, array_of, lambda x: array_of(x).data])
def test_a_python_task_between_pending_work(wrap: Any) -> None:
    x, y = pending(), pending()
    before = legate_diffuse.stats()["tasks_submitted"]
    negate(wrap(x), wrap(y))
    assert legate_diffuse.stats()["tasks_submitted"] == before
    x += 100.0
    y *= 2.0
    np.testing.assert_array_equal(y, EXPECTED * -2.0)


def test_cupynumeric_within_a_python_task() -> None:
    x, y = pending(), pending()
    with_cupynumeric(x, y)
    np.testing.assert_array_equal(y + 0.0, -EXPECTED * EXPECTED)


def test_a_python_task_that_is_prepared_first() -> None:
    x, y = pending(), pending()
    prepared = negate.prepare_call(x, y)
    x += 1.0
    y += 5.0  # overwritten by the task
    prepared.execute()
    y *= 2.0
    np.testing.assert_array_equal(y, (EXPECTED + 1.0) * -2.0)


def test_a_python_task_that_is_built_by_hand() -> None:
    x, y = pending(), pending()
    prepared = RUNTIME.create_auto_task(RUNTIME.core_library, negate.task_id)
    source = prepared.add_input(array_of(x).data)
    target = prepared.add_output(array_of(y).data)
    prepared.add_constraint(lc.align(source, target))
    x += 1.0
    RUNTIME.submit(prepared)
    np.testing.assert_array_equal(y, -EXPECTED - 1.0)


@pytest.mark.parametrize("prepared", [True, False])
def test_constraints_of_a_python_task(prepared: bool) -> None:
    x, y = pending(), pending()
    source, target = array_of(x), array_of(y)
    if prepared:
        built = negate.prepare_call(x, y)
    else:
        built = RUNTIME.create_auto_task(RUNTIME.core_library, negate.task_id)
        built.add_input(source)
        built.add_output(target)
    built.add_constraint(
        lc.align(
            built.find_or_declare_partition(source),
            built.find_or_declare_partition(target),
        )
    )
    built.add_alignment(source, target.data)
    built.add_broadcast(source.data)
    x += 1.0
    with submits_pending_work():
        built.execute()
    np.testing.assert_array_equal(y, -EXPECTED - 1.0)


def test_wrong_constraints_and_scalars_are_refused_at_once() -> None:
    built = RUNTIME.create_auto_task(RUNTIME.core_library, negate.task_id)
    x, y = built.declare_partition(), built.declare_partition()
    assert lc.align(x) == []
    assert len(lc.align(x, y, x)) == 2
    with pytest.raises(TypeError):
        lc.align(x, "y")
    with pytest.raises(ValueError):
        lc.broadcast(x, 3)
    with pytest.raises(ValueError):
        lc.scale((-1,), x, y)
    with pytest.raises(ValueError):
        built.add_scalar_arg((1, 2, 3), lc.array_type(lc.int8, 1))


def test_wrong_dimensions_and_shapes_are_refused_as_legate_does() -> None:
    store = RUNTIME.create_store(lc.float64, (4, 3))
    refused: tuple[Callable[[], Any], ...] = (
        lambda: store.promote(-3, 5),
        lambda: store.project(-3, 0),
        lambda: store.slice(-3, slice(0, 1)),
        lambda: store.transpose(1),
        lambda: RUNTIME.create_store(lc.float64, 4),
        lambda: RUNTIME.create_store(lc.float64, (-1,)),
    )
    for wrong in refused:
        with pytest.raises((ValueError, OverflowError)):
            wrong()


def test_exceptions_of_python_tasks_keep_their_type() -> None:
    x = pending()
    prepared = fail.prepare_call(array_of(x).data)
    prepared.throws_exception(ArithmeticError)
    with pytest.raises(ArithmeticError, match="as declared"):
        prepared.execute()
    np.testing.assert_array_equal(x, EXPECTED)


def test_exceptions_of_library_tasks_keep_their_type() -> None:
    bad = cn.eye(8) * -1.0
    x = pending()
    with pytest.raises(cn.linalg.LinAlgError):
        cn.linalg.cholesky(bad)
    np.testing.assert_array_equal(x, EXPECTED)


def test_manual_tasks_over_partitions() -> None:
    x, y = pending(), cn.zeros(64)
    tiles = array_of(x).data.partition_by_tiling((16,))
    assert isinstance(tiles, lc.LogicalStorePartition)
    assert tiles.color_shape == (4,)
    assert tiles.store().extents == (64,)
    child = tiles.get_child_store(1)
    assert isinstance(child, lc.LogicalStore)
    assert child.partition is None
    np.testing.assert_array_equal(np.asarray(child), EXPECTED[16:32])
    manual = RUNTIME.create_manual_task(RUNTIME.core_library, negate.task_id, (4,))
    manual.add_input(tiles)
    manual.add_output(array_of(y).data.partition_by_tiling((16,)))
    x += 1.0
    with submits_pending_work():
        manual.execute()
    y *= 2.0
    np.testing.assert_array_equal(y, (EXPECTED + 1.0) * -2.0)


# -- copies ------------------------------------------------------------------------


def test_copies_gathers_and_scatters() -> None:
    x, y, z = pending(), pending(), cn.zeros(64)
    RUNTIME.issue_copy(array_of(y).data, array_of(x).data)
    x += 1.0
    np.testing.assert_array_equal(y, EXPECTED)

    index = make_points(63 - cn.arange(64))
    RUNTIME.issue_gather(array_of(z).data, array_of(x).data, index)
    np.testing.assert_array_equal(z, (EXPECTED + 1.0)[::-1])
    z *= 2.0
    RUNTIME.issue_scatter(array_of(y).data, index, array_of(z).data)
    np.testing.assert_array_equal(y, (EXPECTED + 1.0) * 2.0)
    RUNTIME.issue_copy(array_of(y).data, array_of(x).data, lc.ReductionOpKind.ADD)
    np.testing.assert_array_equal(y, (EXPECTED + 1.0) * 3.0)
    x += 1.0
    RUNTIME.issue_scatter_gather(array_of(z).data, index, array_of(x).data, index)
    np.testing.assert_array_equal(z, EXPECTED + 2.0)


def make_points(x: Any) -> Any:
    """Return a store of one-dimensional points."""
    host = np.ascontiguousarray(np.asarray(x)).view(np.dtype([("x", np.int64)]))
    return RUNTIME.create_store_from_buffer(
        lc.types.point_type(1), (64,), host.copy(), read_only=True
    )


def test_stores_whose_shape_comes_from_a_task() -> None:
    x = pending()
    (where,) = cn.nonzero(x > 100.0)
    picked = x[x > 100.0]
    x += 1.0
    np.testing.assert_array_equal(where + 1, np.nonzero(EXPECTED > 100.0)[0] + 1)
    np.testing.assert_array_equal(picked * 2.0, EXPECTED[EXPECTED > 100.0] * 2.0)
    np.testing.assert_array_equal(cn.unique(x // 8.0), np.unique((EXPECTED + 1) // 8))


def test_a_wrong_scalar_is_refused_at_the_call() -> None:
    x = pending()
    with pytest.raises(OverflowError):
        cn.tril(x.reshape(8, 8), k=2**40)
    np.testing.assert_array_equal(x + 1.0, EXPECTED + 1.0)


def test_a_reduction_that_a_type_lacks_is_refused_at_the_call() -> None:
    x = pending()
    with pytest.raises(ValueError, match="Reduction op"):
        (x * 1j).prod()
    np.testing.assert_array_equal(x + 1.0, EXPECTED + 1.0)


# -- scopes and time -----------------------------------------------------------------


def test_work_runs_on_the_machine_that_it_was_recorded_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder = Recorder(window.submitter.native)
    monkeypatch.setattr(window.submitter, "native", recorder)
    x = pending()
    with RUNTIME.get_machine()[:1]:
        y = x * 2.0
    z = y + 1.0
    np.testing.assert_array_equal(z, EXPECTED * 2.0 + 1.0)
    assert recorder.launched == [2, 1, 2]


class Recorder:
    """The native module, with machine and provenance of each launch recorded."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self.launched: list[int] = []
        self.provenances: list[str | None] = []

    def submit_program(self, *arguments: Any) -> None:
        self._native.submit_program(*arguments)
        self.launched.append(lc.get_machine().count())
        self.provenances.append(arguments[-3])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)


def test_scopes_that_change_what_operations_depend_on() -> None:
    x = pending()
    with submits_pending_work(), lc.Scope(priority=1):
        y = x * 2.0
        with submits_pending_work(), lc.Scope(priority=2):
            z = y + 1.0
    np.testing.assert_array_equal(z, EXPECTED * 2.0 + 1.0)
    with submits_pending_work():
        x = pending()
        with lc.Scope(exception_mode=lc.ExceptionMode.DEFERRED):
            x += 1.0
    np.testing.assert_array_equal(x, EXPECTED + 1.0)


def test_scopes_that_change_nothing_keep_work_together() -> None:
    RUNTIME.issue_execution_fence()
    before = legate_diffuse.stats()["groups"]
    x = cn.arange(64.0) * 2.0
    with lc.Scope(provenance="here"), lc.Scope():
        x = x + 1.0
    np.testing.assert_array_equal(x, EXPECTED)
    assert legate_diffuse.stats()["groups"] == before + 1


def test_a_time_stamp_is_taken_after_the_work_before_it() -> None:
    x = pending()
    with submits_pending_work():
        start = timing.time()
    x += 1.0
    with submits_pending_work():
        stop = timing.time("ns")
    assert int(stop) > int(start)


def test_tasks_carry_the_provenance_of_their_callers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    RUNTIME.issue_execution_fence()
    recorder = Recorder(window.submitter.native)
    monkeypatch.setattr(window.submitter, "native", recorder)
    monkeypatch.setattr(window.submitter, "track_provenance", True)
    x = cn.arange(64.0)
    with lc.Scope(provenance="first"):
        x = x * 2.0
    with lc.Scope(provenance="second"):
        x = x + 1.0
    np.testing.assert_array_equal(x, EXPECTED)
    assert recorder.provenances == ["first; second"]


# -- files ---------------------------------------------------------------------------


def test_hdf5_files(tmp_path: Path) -> None:
    # legate.io.hdf5 also needs h5py, whose wheels clash with Legate's libhdf5
    from legate.io._lib.hdf5.hdf5_interface import from_file, to_file

    x = pending()
    path = tmp_path / "x.h5"
    with submits_pending_work():
        to_file(array=x, path=path, dataset_name="x")
    x += 1.0
    RUNTIME.issue_execution_fence(block=True)
    read = from_file(path, dataset_name="x")
    assert isinstance(read, lc.LogicalArray)
    y = cn.asarray(read) * 2.0
    np.testing.assert_array_equal(y, EXPECTED * 2.0)


# -- the native net --------------------------------------------------------------------


NET: dict[str, Callable[[Any], Any]] = {
    "fence": lambda x: real.runtime.issue_execution_fence(),
    "mapping fence": lambda x: real.runtime.issue_mapping_fence(),
    "copy": lambda x: real.runtime.issue_copy(
        real.runtime.create_store(lc.float64, (64,)), x
    ),
    "fill": lambda x: real.runtime.issue_fill(x, 3.0),
    "physical store": lambda x: x.get_physical_store(),
    "physical array": lambda x: real.LogicalArray.from_store(x).get_physical_array(),
    "offload": lambda x: x.offload_to(lc.StoreTarget.SYSMEM),
    "task": lambda x: negate.prepare_call(
        Holder(real.LogicalArray.from_store(x)), cn.zeros(64)
    ).execute(),
}


@pytest.mark.parametrize("way", NET)
def test_calls_that_pass_the_stand_ins_by_see_pending_work(way: str) -> None:
    x = pending()
    store = array_of(x).data._view.materialize()
    x += 1.0
    before = legate_diffuse.stats()["groups"]
    NET[way](store)
    assert legate_diffuse.stats()["groups"] == before + 1
    if way != "fill":
        np.testing.assert_array_equal(np.asarray(store.get_physical_store()), x)
        np.testing.assert_array_equal(x, EXPECTED + 1.0)
