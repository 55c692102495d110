// SPDX-License-Identifier: Apache-2.0

#include "process/gather.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/index_arrays.h"
#include "process/numbers.h"
#include "process/points.h"
#include "process/runs.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

PyObject* gathered(const Function& function, PyObject* array, PyObject* places) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"take"};
  LocalOperand indices;
  const auto view = view_of(places);
  const auto look = [&] { return view.is_valid() && indices.is_here(view.ptr(), false); };

  if (!copying.look_at(array) || !look()) Py_RETURN_NONE;

  const auto& form = copying.source.form;
  const auto dims = indices.form.dim;
  NewShape shape{dims + form.dim - 1, {}};

  if (form.dim == 0 || shape.dim > LEGATE_MAX_DIM) Py_RETURN_NONE;
  if (indices.form.volume * (form.volume / form.extents[0]) > MOST_POINTS) Py_RETURN_NONE;
  std::copy(form.extents + 1, form.extents + form.dim,
            std::copy(indices.form.extents, indices.form.extents + dims, shape.extents.begin()));
  if (!copying.make(function, shape) || !look()) Py_RETURN_NONE;

  const auto itemsize = copying.itemsize();
  const auto strides = row_major_strides(form.dim - 1, form.extents + 1, itemsize);
  const auto row = (form.volume / form.extents[0]) * itemsize;
  const auto step = copying.strides[0];
  const auto extent = form.extents[0];
  const auto* const from = copying.from();
  auto* to = copying.target.small->own_elements();
  bool is_inside = true, is_known = false;

  // where a place is outside, the first one is as good
  const auto offset = [step, extent](std::int64_t place, bool& is_inside) {
    const auto at = place < 0 ? place + extent : place;
    const auto is_there = at >= 0 && at < extent;

    is_inside &= is_there;
    return is_there ? at * step : 0;
  };

  const auto take = [&](const auto& copy) {
    // the loop has copies of all it uses, as bytes may be anybody's
    is_known = for_each_place(
        indices, [from, offset, to, row, copy, &is_inside, all = true](std::int64_t place) mutable {
          copy(to, from + offset(place, all));
          to += row;
          if (!all) is_inside = false;
        });
  };

  if (form.dim == 1) {
    with_copy(itemsize, take);
  } else {
    take([&](char* target, const char* source) {
      copy_elements(target, strides.data(), source, copying.strides.data() + 1, form.dim - 1,
                    form.extents + 1, itemsize);
    });
  }
  // the original refuses others, and takes other types of places
  if (!is_known || !is_inside) Py_RETURN_NONE;
  return copying.done();
}

namespace {

bool takes_all(PyObject* part) {
  if (!PySlice_Check(part)) return false;

  const auto* const slice = reinterpret_cast<PySliceObject*>(part);

  return slice->start == Py_None && slice->stop == Py_None && slice->step == Py_None;
}

// The place of the only array in a key that takes all along the dimensions before and after it;
// none if it is another key.
std::optional<Py_ssize_t> only_array(PyObject* key) {
  std::optional<Py_ssize_t> found;

  for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(key); ++at) {
    if (takes_all(PyTuple_GET_ITEM(key, at))) continue;
    if (found || !is_array(PyTuple_GET_ITEM(key, at))) return {};
    found = at;
  }
  return found;
}

// Lets one dimension come before those that were before it.
void move_to_front(LocalOperand& operand, std::int64_t axis) {
  const auto form = operand.form;
  Extents extents{};
  Strides strides{};

  std::copy(form.extents, form.extents + form.dim, extents.begin());
  std::copy(form.strides, form.strides + form.dim, strides.begin());
  std::rotate(extents.begin(), extents.begin() + axis, extents.begin() + axis + 1);
  std::rotate(strides.begin(), strides.begin() + axis, strides.begin() + axis + 1);
  operand.show(form.dim, extents.data(), strides.data());
}

// array[key] = value for a key of so many parts, of which only one is no slice.
bool scatter_along(PyObject* array, std::int64_t num_parts, std::int64_t axis, PyObject* places,
                   PyObject* value) {
  const auto view = view_of(array);
  const auto index_view = view_of(places);
  const auto value_view = view_of(value);
  LocalOperand target, indices, source;
  ScalarBlock number{};
  const char* from = number.bytes.data();
  Strides steps{};

  if (!view.is_valid() || !index_view.is_valid() || !target.is_in_process(view.ptr(), true) ||
      !indices.is_here(index_view.ptr(), false)) {
    return false;
  }

  const auto& form = target.form;

  if (form.dim < num_parts || indices.form.dim != 1 || indices.root == target.root ||
      indices.form.volume * (form.volume / std::max<std::int64_t>(form.extents[axis], 1)) >
          MOST_WRITTEN ||
      !are_inside(indices, form.extents[axis])) {
    return false;
  }

  if (is_assignable(value)) {
    if (!convert_for_assignment(value, number_type(target.dtype), number.bytes.data()))
      return false;
  } else {
    Extents extents{};

    std::copy(form.extents, form.extents + form.dim, extents.begin());
    extents[axis] = indices.form.volume;
    if (!value_view.is_valid() || !source.is_here(value_view.ptr(), false) ||
        source.dtype != target.dtype || source.root == target.root || source.form.dim > form.dim ||
        !source.broadcast(extents.data(), form.dim)) {
      return false;
    }
    move_to_front(source, axis);
    from = first_element(source);
    steps = source.byte_strides();
  }
  move_to_front(target, axis);

  const auto strides = target.byte_strides();
  const auto itemsize = target.small->shape().itemsize;
  auto* const to = first_own_element(target);
  Run run{"scatter"};

  const auto extent = form.extents[0], stride = strides[0], step = steps[0];
  // what comes twice keeps what comes last
  const auto put = [&](const auto& copy) {
    for_each_place(indices, [=](std::int64_t place) mutable {
      copy(to + (place < 0 ? place + extent : place) * stride, from);
      from += step;
    });
  };

  if (form.dim == 1) {
    with_copy(itemsize, put);
  } else {
    put([&](char* next, const char* value) {
      copy_elements(next, strides.data() + 1, value, steps.data() + 1, form.dim - 1,
                    form.extents + 1, itemsize);
    });
  }
  note_change(store_fields(), target);
  run.done();
  return true;
}

}  // namespace

bool scatter(PyObject* array, PyObject* places, PyObject* value) {
  if (!arrays_are_ready() || !is_writeable(array)) return false;
  if (!PyTuple_CheckExact(places)) {
    return is_array(places) && scatter_along(array, 1, 0, places, value);
  }
  if (const auto axis = only_array(places)) {
    return scatter_along(array, PyTuple_GET_SIZE(places), *axis, PyTuple_GET_ITEM(places, *axis),
                         value);
  }
  return scatter_points(array, places, value);
}

}  // namespace legate_diffuse
