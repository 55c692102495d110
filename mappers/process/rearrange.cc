// SPDX-License-Identifier: Apache-2.0

#include "process/rearrange.h"

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
#include "process/shown.h"
#include "program/elements.h"

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
    const auto extent = integer_from(given[d]);

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
  if (copying.share(function, *found)) return copying.done();
  if (!copying.make(function, *found)) Py_RETURN_NONE;
  return copying.all_from(copying.from());
}

PyObject* copied(const Function& function, PyObject* array, PyObject* key) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"copy"};

  if (!copying.look_at(array, key) || !copying.make(function, copying.shape())) Py_RETURN_NONE;
  return copying.all_from(copying.from());
}

PyObject* flipped(const Function& function, PyObject* array, PyObject* axis) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"flip"};

  if (!copying.look_at(array)) Py_RETURN_NONE;

  const auto& form = copying.source.form;
  const auto along = axis_from(axis, form.dim);

  if ((axis != Py_None && !along) || form.dim == 0 || form.volume > MOST_POINTS ||
      !copying.make(function, copying.shape())) {
    Py_RETURN_NONE;
  }

  const auto* from = copying.from();

  for (std::int64_t d = 0; d < form.dim; ++d) {
    auto& stride = copying.strides[d];

    if (along && d != *along) continue;
    from += (form.extents[d] - 1) * stride;
    stride = -stride;
  }
  return copying.all_from(from);
}

PyObject* roll(const Function& function, PyObject* array, PyObject* shift, PyObject* axis) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Copying copying{"roll"};
  const auto distance = integer_from(shift);

  if (!distance || !copying.look_at(array)) Py_RETURN_NONE;

  const auto& form = copying.source.form;
  const auto along =
      axis == Py_None && form.dim == 1 ? std::optional<std::int64_t>{0} : axis_from(axis, form.dim);
  auto shape = copying.shape();

  if (!along || !copying.make(function, shape)) Py_RETURN_NONE;

  const auto itemsize = copying.itemsize();
  const auto strides = row_major_strides(form.dim, form.extents, itemsize);
  const auto extent = shape.extents[*along];
  const auto moved = (*distance % extent + extent) % extent;
  auto* const to = copying.target.small->own_elements();

  // first the part that stays in one piece, then the one that comes round
  for (const auto& [first, count] : {std::pair{moved, extent - moved}, std::pair{0L, moved}}) {
    const auto source = first == 0 && moved > 0 ? extent - moved : 0;

    shape.extents[*along] = count;
    copy_elements(to + first * strides[*along], strides.data(),
                  copying.from() + source * copying.strides[*along], copying.strides.data(),
                  form.dim, shape.extents.data(), itemsize);
  }
  return copying.done();
}

}  // namespace legate_diffuse
