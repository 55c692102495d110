// SPDX-License-Identifier: Apache-2.0

#include "process/product.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <utility>

#include "process/arrays.h"
#include "process/runs.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The factors' views, that with more dimensions first.
using Views = std::array<nb::object, 2>;

// False if the elements of one are not here.
bool look(const Views& views, LocalOperand& first, LocalOperand& second) {
  return first.is_here(views[0].ptr(), false) && second.is_here(views[1].ptr(), false);
}

void transpose(LocalOperand& matrix) {
  const auto form = matrix.form;
  const std::array<std::int64_t, 2> extents{form.extents[1], form.extents[0]};
  const std::array<std::int64_t, 2> strides{form.strides[1], form.strides[0]};

  matrix.show(2, extents.data(), strides.data());
}

// Whether they can be multiplied, and are no single elements.
bool fit(const Form& first, const Form& second, std::int64_t narrowest) {
  return (first.dim == 1 || first.dim == 2) && second.dim == 1 &&
         first.extents[first.dim - 1] == second.extents[0] &&
         *std::min_element(first.extents, first.extents + first.dim) >=
             (first.dim == 1 ? 2 : narrowest);
}

}  // namespace

PyObject* multiply(const Products& products, PyObject* a, PyObject* b) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Views views{view_of(a), view_of(b)};
  LocalOperands found;
  auto& result = found[0];
  auto& first = found[1];
  auto& second = found[2];

  if (!views[0].is_valid() || !views[1].is_valid() || !look(views, first, second)) Py_RETURN_NONE;

  // a vector times a matrix is the transposed matrix times the vector
  const auto is_transposed = first.form.dim < second.form.dim;

  if (is_transposed) {
    std::swap(views[0], views[1]);
    if (!look(views, first, second) || first.form.dim != 2) Py_RETURN_NONE;
    transpose(first);
  }
  if (!fit(first.form, second.form, products.narrowest)) Py_RETURN_NONE;

  const auto is_matrix = first.form.dim == 2;
  const auto& function = is_matrix ? *products.vectors_of_matrices : *products.vectors;
  const auto* const signature = function.find({first.dtype, second.dtype}, 2);

  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, function.new_layout(first.form.extents, is_matrix ? 1 : 0).ptr()};

  if (!made.is_here(result) || !look(views, first, second)) Py_RETURN_NONE;
  if (is_transposed) transpose(first);
  if (is_matrix) {
    const std::array<std::int64_t, 2> strides{1, 0};

    result.show(2, first.form.extents, strides.data());
    second.broadcast(first.form.extents, 2);
  }
  result.small->fill(signature->identity.data());
  if (signature->operation->run(store_fields(), found, nullptr, 0) != Answer::DONE) Py_RETURN_NONE;
  count_fill();
  return made.array.release().ptr();
}

}  // namespace legate_diffuse
