// SPDX-License-Identifier: Apache-2.0

#include "process/product.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/numbers.h"
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

// From so many products of two elements on BLAS is faster, even though it is called by a task.
constexpr std::int64_t MOST_PRODUCTS = 1 << 18;

template <typename Real>
struct Complex {
  void operator+=(const Complex& other) { real += other.real, imaginary += other.imaginary; }

  // as BLAS computes it, also of infinities
  Complex operator*(const Complex& other) const {
    return {real * other.real - imaginary * other.imaginary,
            real * other.imaginary + imaginary * other.real};
  }

  Real real, imaginary;
};

template <typename Element>
const Element* elements(const LocalOperand& operand) {
  return reinterpret_cast<const Element*>(first_element(operand));
}

// Adds the products of rows and columns to zeros in row-major order. A row of the result is a sum
// of rows of the second factor.
template <typename Element>
void add_products(const LocalOperand& result, const LocalOperand& first,
                  const LocalOperand& second) {
  const auto rows = first.form.extents[0];
  const auto depth = first.form.extents[1];
  const auto columns = second.form.extents[1];
  const auto* const left = elements<Element>(first);
  const auto* right = elements<Element>(second);
  auto right_step = second.form.strides[0];
  auto* to = reinterpret_cast<Element*>(result.small->elements());
  std::vector<Element> packed;

  if (second.form.strides[1] != 1) {
    packed.resize(depth * columns);
    for (std::int64_t k = 0; k < depth; ++k) {
      for (std::int64_t j = 0; j < columns; ++j) {
        packed[k * columns + j] = right[k * right_step + j * second.form.strides[1]];
      }
    }
    right = packed.data();
    right_step = columns;
  }
  for (std::int64_t i = 0; i < rows; ++i, to += columns) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const auto factor = left[i * first.form.strides[0] + k * first.form.strides[1]];

      for (std::int64_t j = 0; j < columns; ++j) to[j] += factor * right[k * right_step + j];
    }
  }
}

using AddProducts = void (*)(const LocalOperand&, const LocalOperand&, const LocalOperand&);

AddProducts adder_for(std::string_view dtype) {
  if (dtype == "float64") return add_products<double>;
  if (dtype == "float32") return add_products<float>;
  if (dtype == "complex128") return add_products<Complex<double>>;
  return dtype == "complex64" ? add_products<Complex<float>> : nullptr;
}

PyObject* multiply_matrices(const Function& function, const Views& views) {
  LocalOperand first, second, result;

  if (!look(views, first, second)) Py_RETURN_NONE;

  const std::array<std::int64_t, 2> shape{first.form.extents[0], second.form.extents[1]};
  const auto depth = first.form.extents[1];
  const auto* const signature = function.find({first.dtype}, 1);

  if (!signature || second.dtype != first.dtype || depth != second.form.extents[0] ||
      std::min({shape[0], shape[1], depth}) < 1 || shape[0] * shape[1] > MOST_PRODUCTS / depth) {
    Py_RETURN_NONE;
  }

  NewArray made{*signature, function.new_layout(shape.data(), 2).ptr()};

  if (!made.is_here(result) || !look(views, first, second)) Py_RETURN_NONE;
  Run run{"matrix product"};

  result.small->fill(signature->identity.data());
  adder_for(text_of(first.dtype))(result, first, second);
  count_fill();
  run.done();
  return made.array.release().ptr();
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

  if (first.form.dim == 2 && second.form.dim == 2) {
    return multiply_matrices(*products.matrices, views);
  }

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
