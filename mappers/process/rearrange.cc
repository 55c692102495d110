// SPDX-License-Identifier: Apache-2.0

#include "process/rearrange.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
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

}  // namespace legate_diffuse
