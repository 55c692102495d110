# SPDX-License-Identifier: Apache-2.0
import numpy as np
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples

from legate_diffuse.kernel import Argument, Builder

DTYPES = ("bool", "int8", "int16", "float32", "float64", "complex128")


def copy_kernel(dtype, broadcast=False):
    builder = Builder(
        [
            Argument(dtype, reads=True, writes=False, broadcast=broadcast),
            Argument(dtype, reads=False, writes=True),
        ],
        [],
    )
    builder.store(1, builder.load(0))
    return builder.build()


def update_kernel():
    """y = s * x + y, with x a float32 array and flag = y > x."""
    builder = Builder(
        [
            Argument("float32", reads=True, writes=False),
            Argument("float64", reads=True, writes=True),
            Argument("bool", reads=False, writes=True),
            Argument("float64", reads=True, writes=False, broadcast=True),
        ],
        ["float64"],
    )
    x = builder.op("cast", "float64", builder.load(0))
    y, shift = builder.load(1), builder.load(3)
    scaled = builder.op("mul", "float64", builder.scalar(0), x)
    total = builder.op("add", "float64", scaled, y)
    builder.store(1, builder.op("add", "float64", total, shift))
    builder.store(2, builder.op("gt", "bool", y, x))
    return builder.build()


def values(dtype, shape):
    numbers = np.arange(np.prod(shape)).reshape(shape) * 7 % 251
    return (numbers % 2 == 0) if dtype == "bool" else numbers.astype(dtype)


@st.composite
def layouts(draw, shape):
    """An index expression that gives a view of `shape` from a larger array."""
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    return steps, order


def view(dtype, shape, layout):
    steps, order = layout
    full = [abs(step) * extent for step, extent in zip(steps, shape, strict=True)]
    base = values(dtype, [full[axis] for axis in order])
    turned = base.transpose(np.argsort(order))
    return turned[tuple(slice(None, None, step) for step in steps)]


shapes = st.tuples(st.integers(0, 5), st.sampled_from([0, 1, 3, 16, 17, 130, 300]))


@settings(max_examples=examples(40, 150), deadline=None)
@given(st.data(), st.sampled_from(DTYPES), shapes)
def test_copies_between_any_layouts(run, data, dtype, shape):
    source = view(dtype, shape, data.draw(layouts(shape)))
    target = view(dtype, shape, data.draw(layouts(shape)))
    run(copy_kernel(dtype, data.draw(st.booleans())), [source, target])
    assert np.array_equal(target, source)


@settings(max_examples=examples(40, 150), deadline=None)
@given(st.data(), shapes)
def test_updates_in_place_in_any_layout(run, data, shape):
    x = view("float32", shape, data.draw(layouts(shape)))
    y = view("float64", shape, data.draw(layouts(shape)))
    flags = view("bool", shape, data.draw(layouts(shape)))
    shift = values(
        "float64", data.draw(st.sampled_from([(1, 1), (shape[0], 1), shape]))
    )
    expected_flags = y > x
    expected = 0.5 * x.astype("float64") + y + shift
    run(update_kernel(), [x, y, flags, shift], [0.5])
    assert np.array_equal(y, expected)
    assert np.array_equal(flags, expected_flags)


@every("dtype", DTYPES)
@every("size", [1, 15, 16, 127, 128, 129, 1000])
@every("step", [1, 2, -1])
def test_writes_nothing_outside_the_view(run, dtype, size, step):
    memory = np.zeros((size + 2) * 2, dtype)
    memory[:] = values(dtype, (1,))[0]
    before = memory.copy()
    window = slice(2, 2 + size) if step == 1 else slice(2, 2 + 2 * size, 2)
    target = memory[window] if step > 0 else memory[window][::-1]
    source = values(dtype, (size,))
    run(copy_kernel(dtype), [source, target])
    assert np.array_equal(target, source)
    before[window] = memory[window]
    assert np.array_equal(memory, before)


def test_a_zero_stride_output_keeps_the_last_element(run):
    memory = np.zeros(1)
    source = np.arange(40.0)
    target = np.lib.stride_tricks.as_strided(memory, (40,), (0,))
    run(copy_kernel("float64"), [source, target])
    assert memory[0] == 39.0
