// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <optional>

#include "process/at_once.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The first index of a slice without steps, and how many there are.
struct Range {
  std::int64_t first, count;
};

bool is_bound(PyObject* object) {
  return object == Py_None || PyLong_CheckExact(object);
}

std::optional<Range> range_of(PyObject* part, std::int64_t extent) {
  const auto& slice = *reinterpret_cast<PySliceObject*>(part);
  Py_ssize_t start{}, stop{}, step{};

  if (slice.step != Py_None || !is_bound(slice.start) || !is_bound(slice.stop)) return {};
  if (PySlice_Unpack(part, &start, &stop, &step) != 0) throw nb::python_error();

  const auto count = PySlice_AdjustIndices(extent, &start, &stop, step);

  if (count == 0) return {};
  return Range{start, count};
}

std::optional<std::int64_t> place_of(PyObject* part, std::int64_t extent) {
  int overflow{};
  auto place = PyLong_AsLongLongAndOverflow(part, &overflow);

  if (place < 0) place += extent;
  if (overflow != 0 || place < 0 || place >= extent) return {};
  return place;
}

// What an index makes of the form of an operand.
class Indexing {
 public:
  explicit Indexing(const Form& form) : offset{form.offset}, form_{form} {}

  std::int64_t dim{};
  std::int64_t offset;
  Strides extents, strides;

  // False if it is no index of the form's, or left to Python. An ellipsis skips dimensions.
  bool add(PyObject* part, std::int64_t skipped) {
    if (part == Py_Ellipsis) {
      for (; skipped > 0; --skipped) {
        if (!keep(form_.extents[from_], form_.strides[from_])) return false;
        ++from_;
      }
      return true;
    }
    if (part == Py_None) return keep(1, 0);
    if (from_ == form_.dim) return false;

    const auto extent = form_.extents[from_];
    const auto stride = form_.strides[from_++];

    if (PySlice_Check(part)) {
      const auto range = range_of(part, extent);

      if (!range) return false;
      offset += range->first * stride;
      return keep(range->count, stride);
    }
    if (!PyLong_CheckExact(part)) return false;

    const auto place = place_of(part, extent);

    if (!place) return false;
    offset += *place * stride;
    return true;
  }

 private:
  bool keep(std::int64_t extent, std::int64_t stride) {
    if (dim == LEGATE_MAX_DIM) return false;
    extents[dim] = extent;
    strides[dim++] = stride;
    return true;
  }

  const Form form_;
  std::int64_t from_{};
};

}  // namespace

bool LocalOperand::index(PyObject* key) {
  const auto is_tuple = PyTuple_CheckExact(key);
  const auto count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
  auto* const* const parts = is_tuple ? &PyTuple_GET_ITEM(key, 0) : &key;
  auto skipped = form.dim;
  int ellipses = 0;

  if (repeats || form.volume == 0) return false;
  for (Py_ssize_t at = 0; at < count; ++at) {
    if (parts[at] == Py_Ellipsis) {
      ++ellipses;
    } else if (parts[at] != Py_None) {
      --skipped;
    }
  }
  if (skipped < 0 || ellipses > 1) return false;

  Indexing made{form};

  for (Py_ssize_t at = 0; at < count; ++at) {
    if (!made.add(parts[at], skipped)) return false;
  }
  if (ellipses == 0 && !made.add(Py_Ellipsis, skipped)) return false;
  show(made.dim, made.extents.data(), made.strides.data());
  form.offset = made.offset;
  form.end = form.offset + 1;
  for (std::int64_t d = 0; d < form.dim; ++d) form.end += (form.extents[d] - 1) * form.strides[d];
  return true;
}

}  // namespace legate_diffuse
