// SPDX-License-Identifier: Apache-2.0

#include "process/rearrange.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/element.h"
#include "process/guard.h"
#include "process/numbers.h"
#include "process/shown.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Without the extents of 1.
Shape squeezed(const std::int64_t* extents, std::int64_t dim) {
  Shape found;

  for (std::int64_t d = 0; d < dim; ++d) {
    if (extents[d] != 1) found.extents[found.dim++] = extents[d];
  }
  return found;
}

// The shape that an argument stands for, with one extent at most that follows from the others;
// none if it does not fit.
std::optional<Shape> shape_from(PyObject* argument, std::int64_t volume) {
  const Items given{argument};
  Shape shape{given.size(), {}};
  std::int64_t known = 1;
  std::int64_t* open = nullptr;

  if (shape.dim > LEGATE_MAX_DIM) return {};
  for (std::int64_t d = 0; d < shape.dim; ++d) {
    const auto extent = bound_from(given[d]);

    if (!extent || *extent == 0 || (*extent < 0 && open)) return {};
    shape.extents[d] = *extent;
    if (*extent < 0) {
      open = &shape.extents[d];
    } else if (__builtin_mul_overflow(known, *extent, &known)) {
      return {};
    }
  }
  if (open) *open = volume / known;
  if (known * (open ? *open : 1) != volume) return {};
  return shape;
}

// That of the parts of a number; NONE also for other types.
Precision precision_of(std::string_view dtype) {
  if (dtype == "float64" || dtype == "complex128") return Precision::DOUBLE;
  return dtype == "float32" || dtype == "complex64" ? Precision::SINGLE : Precision::NONE;
}

}  // namespace

PyObject* reshape(const Function& function, PyObject* array, PyObject* shape) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"reshape"};

  if (!copying.look_at(array)) Py_RETURN_NONE;

  const auto& form = copying.source.form;
  const auto found = shape_from(shape, form.volume);

  if (!found) Py_RETURN_NONE;

  const auto before = squeezed(form.extents, form.dim);
  const auto after = squeezed(found->extents.data(), found->dim);

  // then the original shows the same elements
  if (before.dim == after.dim && before.extents == after.extents) {
    return shown_in_shape(array, found->extents.data(), found->dim);
  }
  return made_or(copying.share(function, *found), [&] { return copying.make(function, *found); });
}

PyObject* copied(const Function& function, PyObject* array, PyObject* key) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"copy"};

  if (!copying.look_at(array, key)) Py_RETURN_NONE;
  return copying.make(function, copying.shape());
}

PyObject* reversed(const Function& function, PyObject* array, std::uint64_t axes, bool turns) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"flip"};

  if (!copying.look_at(array)) Py_RETURN_NONE;

  auto shape = copying.shape();
  auto strides = copying.source.byte_strides();
  std::int64_t distance = 0;

  if (shape.dim == 0 || axes >> shape.dim != 0 || (turns && shape.dim < 2)) Py_RETURN_NONE;
  for (std::int64_t d = 0; d < shape.dim; ++d) {
    if ((axes >> d & 1) == 0) continue;
    distance += (shape.extents[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  if (turns) {
    std::swap(shape.extents[0], shape.extents[1]);
    std::swap(strides[0], strides[1]);
  }
  return copying.reorder(function, shape, distance, strides);
}

PyObject* flipped(const Function& function, PyObject* array, PyObject* axis) {
  const auto shape = nb::steal(shape_of(array));

  if (!shape.is_valid() || !PyTuple_CheckExact(shape.ptr())) Py_RETURN_NONE;

  const auto dim = PyTuple_GET_SIZE(shape.ptr());
  std::uint64_t axes = axis ? 0 : (std::uint64_t{1} << dim) - 1;

  if (axis) {
    const Items items{axis};

    for (Py_ssize_t at = 0; at < items.size(); ++at) {
      const auto along = axis_from(items[at], dim);

      if (!along || (axes >> *along & 1) != 0) Py_RETURN_NONE;
      axes |= std::uint64_t{1} << *along;
    }
  }
  return reversed(function, array, axes);
}

PyObject* turned(const Function& function, PyObject* array, std::int64_t quarters) {
  // of a full turn the original returns the array itself
  if (quarters % 4 == 0) Py_RETURN_NONE;
  if (quarters % 2 == 0) return reversed(function, array, 3);
  return reversed(function, array, (quarters & 3) == 1 ? 2 : 1, true);
}

PyObject* diagonal(const Function& function, PyObject* array, std::int64_t offset) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"diagonal"};

  if (!copying.look_at(array) || copying.source.form.dim != 2) Py_RETURN_NONE;

  const auto& form = copying.source.form;
  const auto row = std::max<std::int64_t>(-offset, 0), column = std::max<std::int64_t>(offset, 0);
  const auto count = std::min(form.extents[0] - row, form.extents[1] - column);
  const auto kind = text_of(copying.source.dtype);

  if (count < 1 || kind == "float16") Py_RETURN_NONE;

  const auto strides = copying.source.byte_strides();

  return copying.reorder(function, {1, {count}}, row * strides[0] + column * strides[1],
                         {strides[0] + strides[1]}, precision_of(kind));
}

PyObject* trace(const Function& function, PyObject* array, std::int64_t offset) {
  static auto* const sum = PyUnicode_InternFromString("sum");

  if (!arrays_are_ready() || !is_array(array) || !is_inexact(dtype_of(array))) Py_RETURN_NONE;

  const auto found = nb::steal(diagonal(function, array, offset));

  if (!found.is_valid()) return nullptr;
  // what the sum of one element is, the original knows
  return !found.is_none() && is_vector(found.ptr()) ? PyObject_CallMethodNoArgs(found.ptr(), sum)
                                                    : Py_NewRef(Py_None);
}

}  // namespace legate_diffuse
