// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/element.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Whether a slice takes one after the other.
bool has_step_one(const PySliceObject& slice) {
  std::int64_t step{};

  return slice.step == Py_None || (read_bound(slice.step, step) && step == 1);
}

// The first index that a slice shows of so many, and how many there are; false if its step is not
// one.
bool read_slice(PyObject* part, std::int64_t extent, std::int64_t& first, std::int64_t& count) {
  const auto& slice = *reinterpret_cast<PySliceObject*>(part);
  Py_ssize_t start = 0;
  auto stop = PY_SSIZE_T_MAX;

  if (!has_step_one(slice) || !(slice.start == Py_None || read_bound(slice.start, start)) ||
      !(slice.stop == Py_None || read_bound(slice.stop, stop))) {
    return false;
  }
  count = PySlice_AdjustIndices(extent, &start, &stop, 1);
  first = count == 0 ? 0 : start;
  return true;
}

nb::object integer(std::int64_t value) {
  auto made = owned(PyLong_FromLongLong(value));
  return made;
}

// A part of an index with ints of Python's.
nb::object plain_part(PyObject* part) {
  if (std::int64_t index{}; read_bound(part, index)) return integer(index);
  if (!PySlice_Check(part)) return nb::borrow(part);

  const auto& slice = *reinterpret_cast<PySliceObject*>(part);
  auto made = owned(PySlice_New(plain_part(slice.start).ptr(), plain_part(slice.stop).ptr(),
                                has_step_one(slice) ? nullptr : slice.step));
  return made;
}

bool is_plain(PyObject* part) {
  const auto is_bound = [](PyObject* each) { return each == Py_None || PyLong_CheckExact(each); };

  std::int64_t index{};

  if (PyLong_CheckExact(part) || part == Py_None) return true;
  if (!PySlice_Check(part)) return !read_index(part, index);

  const auto& slice = *reinterpret_cast<PySliceObject*>(part);

  return is_bound(slice.start) && is_bound(slice.stop) && slice.step == Py_None;
}

// What an index makes of the form of an operand.
class Indexing {
 public:
  explicit Indexing(const Form& form) : offset{form.offset}, form_{form} {}

  std::int64_t dim{};
  std::int64_t offset;
  bool is_empty{}, is_copied{};
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

    std::int64_t first{}, count{};

    if (PySlice_Check(part)) {
      if (!read_slice(part, extent, first, count)) return false;
      is_empty = is_empty || count == 0;
      offset += first * stride;
      return keep(count, stride);
    }

    is_copied = is_copied || is_array(part);
    if (!read_bound(part, first)) return false;
    if (first < 0) first += extent;
    offset += first * stride;
    return first >= 0 && first < extent;
  }

  // Whether there is one element, in however many dimensions.
  [[nodiscard]] bool is_single() const {
    return std::all_of(extents.begin(), extents.begin() + dim,
                       [](auto extent) { return extent == 1; });
  }

 private:
  bool keep(std::int64_t extent, std::int64_t stride) {
    if (dim == LEGATE_MAX_DIM) return false;
    extents[dim] = extent;
    strides[dim++] = stride;
    return true;
  }

  const Form& form_;
  std::int64_t from_{};
};

}  // namespace

nb::object plain_index(PyObject* key) {
  if (!PyTuple_CheckExact(key)) return is_plain(key) ? nb::borrow(key) : plain_part(key);

  auto* const* const parts = &PyTuple_GET_ITEM(key, 0);
  const auto count = PyTuple_GET_SIZE(key);

  if (std::all_of(parts, parts + count, is_plain)) return nb::borrow(key);

  auto made = owned(PyTuple_New(count));

  for (Py_ssize_t at = 0; at < count; ++at) {
    PyTuple_SET_ITEM(made.ptr(), at, plain_part(parts[at]).release().ptr());
  }
  return made;
}

bool LocalOperand::index_element(PyObject* const* parts) {
  auto at = form.offset;

  for (std::int64_t d = 0; d < form.dim; ++d) {
    std::int64_t index{};

    if (!read_integer(parts[d], index)) return false;
    if (index < 0) index += form.extents[d];
    if (index < 0 || index >= form.extents[d]) return false;
    at += index * form.strides[d];
  }
  form.dim = 0;
  form.volume = 1;
  form.offset = at;
  form.end = at + 1;
  copied = true;
  return true;
}

bool LocalOperand::index(PyObject* key) {
  const auto is_tuple = PyTuple_CheckExact(key);
  const auto count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
  auto* const* const parts = is_tuple ? &PyTuple_GET_ITEM(key, 0) : &key;

  if (count == form.dim && form.dim > 0 && index_element(parts)) return true;

  auto skipped = form.dim;
  int ellipses = 0;

  if (form.volume == 0) return false;
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
  if (repeats && !made.is_single()) return false;
  copied = made.is_copied || (made.dim == 0 && ellipses == 0);
  show(made.dim, made.extents.data(), made.strides.data());
  form.offset = made.offset;
  form.end = form.offset + 1;
  for (std::int64_t d = 0; d < form.dim; ++d) form.end += (form.extents[d] - 1) * form.strides[d];
  if (made.is_empty) form.offset = form.end = 0;
  return true;
}

}  // namespace legate_diffuse
