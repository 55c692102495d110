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

template <typename T>
void add_zeros(char* elements, std::int64_t num_bytes) {
  auto* const numbers = reinterpret_cast<T*>(elements);
  for (std::int64_t at = 0; at < num_bytes / std::int64_t{sizeof(T)}; ++at) numbers[at] += T{0};
}

// Adds zeros to numbers of a type, or to both parts of complex ones.
void add_zeros(std::string_view dtype, char* elements, std::int64_t num_bytes) {
  if (dtype == "float64" || dtype == "complex128") add_zeros<double>(elements, num_bytes);
  if (dtype == "float32" || dtype == "complex64") add_zeros<float>(elements, num_bytes);
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

PyObject* diagonal(const Function& function, PyObject* array, std::int64_t offset) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"diagonal"};

  if (!copying.look_at(array) || copying.source.form.dim != 2) Py_RETURN_NONE;

  const auto& form = copying.source.form;
  const auto row = std::max<std::int64_t>(-offset, 0), column = std::max<std::int64_t>(offset, 0);
  const auto count = std::min(form.extents[0] - row, form.extents[1] - column);
  const auto kind = text_of(copying.source.dtype);

  if (count < 1 || count > MOST_POINTS || kind == "float16") Py_RETURN_NONE;
  const auto strides = copying.source.byte_strides();
  const auto step = strides[0] + strides[1], itemsize = copying.itemsize();
  return copying.make(function, {1, {count}}, [&](char* to) {
    const auto* const first = copying.from() + row * strides[0] + column * strides[1];
    copy_in_order(to, first, &step, 1, &count, itemsize);
    add_zeros(kind, to, count * itemsize);
  });
}

}  // namespace legate_diffuse
