// SPDX-License-Identifier: Apache-2.0

#include "process/gather.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/numbers.h"
#include "process/runs.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Calls `visit` with each element of an array of integers, in row-major order.
template <typename T, typename Visit>
void for_each_place_of(const LocalOperand& places, Visit visit) {
  const auto strides = places.byte_strides();
  const auto& form = places.form;
  std::array<std::int64_t, LEGATE_MAX_DIM> index{};
  const auto* from = first_element(places);

  if (form.dim == 1) {
    for (std::int64_t count = 0; count < form.volume; ++count, from += strides[0]) {
      T place{};

      std::memcpy(&place, from, sizeof(place));
      visit(static_cast<std::int64_t>(place));
    }
    return;
  }
  for (std::int64_t count = 0; count < form.volume; ++count) {
    T place{};

    std::memcpy(&place, from, sizeof(place));
    visit(static_cast<std::int64_t>(place));
    for (auto d = form.dim; d-- > 0;) {
      from += strides[d];
      if (++index[d] < form.extents[d]) break;
      from -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

// The same for any type; false if it is none of integers that an int64 has.
template <typename Visit>
bool for_each_place(const LocalOperand& places, const Visit& visit) {
  switch (number_type(places.dtype)) {
    case NumberType::INT64:
      for_each_place_of<std::int64_t>(places, visit);
      return true;
    case NumberType::INT32:
      for_each_place_of<std::int32_t>(places, visit);
      return true;
    case NumberType::UINT32:
      for_each_place_of<std::uint32_t>(places, visit);
      return true;
    case NumberType::INT16:
      for_each_place_of<std::int16_t>(places, visit);
      return true;
    case NumberType::UINT16:
      for_each_place_of<std::uint16_t>(places, visit);
      return true;
    case NumberType::INT8:
      for_each_place_of<std::int8_t>(places, visit);
      return true;
    case NumberType::UINT8:
      for_each_place_of<std::uint8_t>(places, visit);
      return true;
    default:
      return false;
  }
}

bool are_inside(const LocalOperand& places, std::int64_t extent) {
  bool found = true;

  return for_each_place(places, [&](auto place) { found &= place >= -extent && place < extent; }) &&
         found;
}

// Arrays of places along each dimension of a target, over one shape.
class Points {
 public:
  // False if a part of an index is none of places within an extent, or they do not fit.
  bool look(const LocalOperand& target, PyObject* key) {
    const auto dim = target.form.dim;

    if (PyTuple_GET_SIZE(key) != dim) return false;
    for (std::int64_t d = 0; d < dim; ++d) {
      auto& along = along_[static_cast<std::size_t>(d)];

      views_[d] = view_of(PyTuple_GET_ITEM(key, d));
      if (!views_[d].is_valid() || !along.is_here(views_[d].ptr(), false) ||
          along.root == target.root || !are_inside(along, target.form.extents[d])) {
        return false;
      }
      shape.dim = std::max(shape.dim, along.form.dim);
    }
    std::fill_n(shape.extents.begin(), shape.dim, 1);
    for (std::int64_t d = 0; d < dim; ++d) {
      const auto& form = along_[static_cast<std::size_t>(d)].form;

      for (std::int64_t at = 0; at < form.dim; ++at) {
        auto& extent = shape.extents[shape.dim - form.dim + at];

        if (extent == 1) extent = form.extents[at];
      }
    }
    return std::all_of(along_.begin(), along_.begin() + dim, [&](auto& along) {
      return along.broadcast(shape.extents.data(), shape.dim);
    });
  }

  [[nodiscard]] std::int64_t count() const { return along_[0].form.volume; }

  // How far from the first element of the target each is, in bytes.
  [[nodiscard]] std::vector<std::int64_t> distances(const LocalOperand& target) const {
    const auto strides = target.byte_strides();
    std::vector<std::int64_t> found(static_cast<std::size_t>(count()));

    for (std::int64_t d = 0; d < target.form.dim; ++d) {
      const auto extent = target.form.extents[d];
      auto at = found.begin();

      for_each_place(along_[static_cast<std::size_t>(d)], [&](std::int64_t place) {
        *at++ += (place < 0 ? place + extent : place) * strides[d];
      });
    }
    return found;
  }

  NewShape shape{0, {}};

 private:
  std::array<nb::object, LEGATE_MAX_DIM> views_;
  std::array<LocalOperand, LEGATE_MAX_DIM> along_;
};

}  // namespace

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

  if (row == sizeof(double)) {
    // the loop has copies of all it uses, as bytes may be anybody's
    is_known = for_each_place(
        indices, [from, offset, to, &is_inside, all = true](std::int64_t place) mutable {
          std::memcpy(to, from + offset(place, all), sizeof(double));
          to += sizeof(double);
          if (!all) is_inside = false;
        });
  } else {
    is_known = for_each_place(indices, [&](std::int64_t place) {
      copy_elements(to, strides.data(), from + offset(place, is_inside), copying.strides.data() + 1,
                    form.dim - 1, form.extents + 1, itemsize);
      to += row;
    });
  }
  // the original refuses others, and takes other types of places
  if (!is_known || !is_inside) Py_RETURN_NONE;
  return copying.done();
}

PyObject* gathered_points(const Function& function, PyObject* array, PyObject* key) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"take"};
  Points before, points;

  if (!copying.look_at(array) || copying.source.form.dim == 0 ||
      !before.look(copying.source, key) || before.count() == 0 || before.count() > MOST_POINTS ||
      !copying.make(function, before.shape) || !points.look(copying.source, key) ||
      points.shape.extents != before.shape.extents) {
    Py_RETURN_NONE;
  }

  const auto itemsize = copying.itemsize();
  const auto* const from = copying.from();
  auto* to = copying.target.small->own_elements();

  for (const auto distance : points.distances(copying.source)) {
    std::memcpy(to, from + distance, static_cast<std::size_t>(itemsize));
    to += itemsize;
  }
  return copying.done();
}

namespace {

// As `scatter`, at the elements that several arrays of places lead to.
bool scatter_points(PyObject* array, PyObject* key, PyObject* value) {
  const auto view = view_of(array);
  const auto value_view = view_of(value);
  LocalOperand target, source;
  ScalarBlock number{};
  Points points;

  if (!view.is_valid() || !is_writeable(array) || !target.is_in_process(view.ptr(), true) ||
      target.form.dim == 0 || !points.look(target, key) || points.count() == 0 ||
      points.count() > MOST_POINTS) {
    return false;
  }

  const auto itemsize = target.small->shape().itemsize;
  const auto dim = points.shape.dim;
  const auto* const extents = points.shape.extents.data();
  std::vector<char> elements(static_cast<std::size_t>(points.count() * itemsize));
  Strides steps{};

  if (is_assignable(value)) {
    if (!convert_for_assignment(value, number_type(target.dtype), number.bytes.data()))
      return false;
  } else if (!value_view.is_valid() || !source.is_here(value_view.ptr(), false) ||
             source.dtype != target.dtype || !source.broadcast(extents, dim)) {
    return false;
  } else {
    steps = source.byte_strides();
  }
  // the value may be a part of the target
  copy_elements(elements.data(), row_major_strides(dim, extents, itemsize).data(),
                source.small ? first_element(source) : number.bytes.data(), steps.data(), dim,
                extents, static_cast<std::size_t>(itemsize));

  Run run{"scatter"};
  auto* const to = first_own_element(target);
  const auto* from = elements.data();

  // what comes twice keeps what comes last
  for (const auto distance : points.distances(target)) {
    std::memcpy(to + distance, from, static_cast<std::size_t>(itemsize));
    from += itemsize;
  }
  note_change(store_fields(), target);
  run.done();
  return true;
}

}  // namespace

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

  // what comes twice keeps what comes last
  for_each_place(indices, [&](std::int64_t place) {
    if (place < 0) place += form.extents[0];
    copy_elements(to + place * strides[0], strides.data() + 1, from, steps.data() + 1, form.dim - 1,
                  form.extents + 1, itemsize);
    from += steps[0];
  });
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
