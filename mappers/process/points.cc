// SPDX-License-Identifier: Apache-2.0

#include "process/points.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/index_arrays.h"
#include "process/numbers.h"
#include "process/runs.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

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

  const auto distances = points.distances(copying.source);

  with_copy(itemsize, [&](const auto& copy) {
    auto* next = to;

    for (const auto distance : distances) {
      copy(next, from + distance);
      next += itemsize;
    }
  });
  return copying.done();
}

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

}  // namespace legate_diffuse
