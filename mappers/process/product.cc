// SPDX-License-Identifier: Apache-2.0

#include "process/product.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <string_view>
#include <utility>

#include "process/arrays.h"
#include "process/blas.h"
#include "process/guard.h"
#include "process/hosted.h"
#include "process/numpy_api.h"
#include "process/part.h"
#include "process/result.h"
#include "process/runs.h"
#include "process/shown.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The factors' views, that with more dimensions first.
using Views = std::array<nb::object, 2>;

// False if the elements of one are not here, or are more than `most`.
bool look(const Views& views, LocalOperand& first, LocalOperand& second,
          std::int64_t most = MOST_POINTS) {
  return first.is_here(views[0].ptr(), false, most) && second.is_here(views[1].ptr(), false, most);
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

// The same in either order.
bool has_kernel(const Form& first, const Form& second, std::int64_t narrowest) {
  return fit(first, second, narrowest) ||
         (first.dim == 1 && second.dim == 2 && first.extents[0] == second.extents[0] &&
          std::min(second.extents[0], second.extents[1]) >= narrowest);
}

// A matrix of so many elements, with no others between them, BLAS walks across faster than a
// kernel.
constexpr std::int64_t MANY_ACROSS = 4096;

// A product of no more factors that is no loop of a kernel is computed here: to call NumPy takes
// longer.
constexpr std::int64_t MOST_FACTORS = 4096;
// The terms are added one after the other, which is less exact than BLAS is if they are many.
constexpr std::int64_t MOST_TERMS = 64;

// A factor as a matrix; strides count bytes.
struct Factor {
  // A vector is a row, or a column.
  Factor(const LocalOperand& operand, bool is_column)
      : from{first_element(operand)}, is_vector{operand.form.dim == 1} {
    const auto strides = operand.byte_strides();
    const auto* const all = operand.form.extents;

    if (!is_vector) {
      extents = {all[0], all[1]};
      steps = {strides[0], strides[1]};
    } else {
      extents[is_column ? 0 : 1] = all[0];
      steps[is_column ? 0 : 1] = strides[0];
    }
  }

  template <typename T>
  [[nodiscard]] T at(std::int64_t row, std::int64_t column) const {
    T value;
    std::memcpy(&value, from + row * steps[0] + column * steps[1], sizeof(value));
    return value;
  }

  const char* from;
  bool is_vector;
  std::array<std::int64_t, 2> extents{1, 1}, steps{};
};

// As BLAS multiplies, which adds no search for infinities.
template <typename T>
T times(T one, T other) {
  return one * other;
}

template <typename T>
std::complex<T> times(std::complex<T> one, std::complex<T> other) {
  return {one.real() * other.real() - one.imag() * other.imag(),
          one.real() * other.imag() + one.imag() * other.real()};
}

// Whether one factor is a single element: as the original multiplies by it, one product may be
// -0.0.
bool is_by_one(const Factor& a, const Factor& b) {
  return a.extents[1] == 1 && (a.extents[0] == 1 || b.extents[1] == 1);
}

template <typename T>
void multiply_few(const Factor& a, const Factor& b, char* to) {
  const auto depth = a.extents[1];
  const auto is_single = is_by_one(a, b);

  for (std::int64_t row = 0; row < a.extents[0]; ++row) {
    for (std::int64_t column = 0; column < b.extents[1]; ++column) {
      auto sum = is_single ? times(a.at<T>(row, 0), b.at<T>(0, column)) : T{};

      for (std::int64_t term = 0; !is_single && term < depth; ++term) {
        sum += times(a.at<T>(row, term), b.at<T>(term, column));
      }
      std::memcpy(to, &sum, sizeof(sum));
      to += sizeof(sum);
    }
  }
}

// Null for other types.
auto multiply_few_of(std::string_view dtype) -> void (*)(const Factor&, const Factor&, char*) {
  if (dtype == "float64") return &multiply_few<double>;
  if (dtype == "float32") return &multiply_few<float>;
  if (dtype == "complex128") return &multiply_few<std::complex<double>>;
  if (dtype == "complex64") return &multiply_few<std::complex<float>>;
  return nullptr;
}

// A product of few factors for which there is no kernel; None for others.
PyObject* product_of_few(const Products& products, const Views& views) {
  LocalOperand first, second;
  const auto is_matrix_or_vector = [](const auto& operand) {
    return operand.form.dim == 1 || operand.form.dim == 2;
  };

  if (!look(views, first, second) || !is_matrix_or_vector(first) || !is_matrix_or_vector(second) ||
      first.dtype != second.dtype || has_kernel(first.form, second.form, products.narrowest)) {
    Py_RETURN_NONE;
  }

  const auto multiply = multiply_few_of(text_of(first.dtype));
  const Factor shown{first, false}, other{second, true};
  const auto depth = shown.extents[1];
  std::array<std::int64_t, 2> extents{};
  std::int64_t dim = 0;

  // of complex numbers the original's product by a single element is NumPy's affair
  if ((is_by_one(shown, other) && text_of(first.dtype)[0] == 'c') || !multiply ||
      depth != other.extents[0] || depth > MOST_TERMS ||
      first.form.volume * other.extents[1] > MOST_FACTORS ||
      shown.extents[0] * other.extents[1] > MOST_FACTORS) {
    Py_RETURN_NONE;
  }
  if (!shown.is_vector) extents[dim++] = shown.extents[0];
  if (!other.is_vector) extents[dim++] = other.extents[1];

  return new_result(
      *products.arrays, products.arrays->find({first.dtype}), dim, extents.data(), "matrix product",
      [&] { return look(views, first, second); },
      [&](char* to) {
        multiply(Factor{first, false}, Factor{second, true}, to);
        return true;
      });
}

// Whether it is large: less so if its rows are far from one element to the next.
bool is_for_blas(const LocalOperand& matrix) {
  const auto& form = matrix.form;

  return form.dim == 2 &&
         (is_faster_in_blas(matrix) ||
          (form.strides[0] == 1 && form.strides[1] > 1 && form.volume >= MANY_ACROSS));
}

PyObject* product_by_kernel(const Products& products, Views views) {
  LocalOperands found;
  auto& result = found[0];
  auto& first = found[1];
  auto& second = found[2];

  // of vectors the result is one number, as that of a reduction
  if (!look(views, first, second, MOST_REDUCED)) Py_RETURN_NONE;

  const auto most = first.form.dim == 1 && second.form.dim == 1 ? MOST_REDUCED : MOST_POINTS;

  if (!look(views, first, second, most)) Py_RETURN_NONE;

  // a vector times a matrix is the transposed matrix times the vector
  const auto is_transposed = first.form.dim < second.form.dim;

  if (is_transposed) {
    std::swap(views[0], views[1]);
    if (!look(views, first, second, most) || first.form.dim != 2) Py_RETURN_NONE;
    transpose(first);
  }
  if (!fit(first.form, second.form, products.narrowest) || is_for_blas(first)) Py_RETURN_NONE;

  const auto is_matrix = first.form.dim == 2;
  const auto& function = is_matrix ? *products.vectors_of_matrices : *products.vectors;
  const auto* const signature = function.find({first.dtype, second.dtype});

  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, function.new_layout(first.form.extents, is_matrix ? 1 : 0).ptr()};

  if (!made.is_here(result) || !look(views, first, second, most)) Py_RETURN_NONE;
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

// Whether two matrices are a column and a row, of which many products come: a loop.
bool are_outer(PyObject* column, PyObject* row) {
  const auto extent = [](PyObject* matrix, Py_ssize_t dim) {
    return PyLong_AsLongLong(PyTuple_GET_ITEM(nb::steal(shape_of(matrix)).ptr(), dim));
  };

  return extent(column, 1) == 1 && extent(row, 0) == 1 &&
         extent(column, 0) * extent(row, 1) > MOST_POINTS;
}

// Whether two arrays, and nothing else, are given, of one type that BLAS knows.
bool are_factors(const Arguments& given) {
  if (!arrays_are_ready() || !given[1] || !given.end_at(2)) return false;
  if (!is_array(given[0]) || !is_array(given[1])) return false;

  auto* const dtype = dtype_of(given[0]);

  return is_inexact(dtype) && dtype == dtype_of(given[1]);
}

}  // namespace

PyObject* product(const Arguments& arguments) {
  if (!arrays_are_ready() || !arguments[1] || !arguments.end_at(2)) Py_RETURN_NONE;

  const auto extra = [&](Py_ssize_t place) { return PyTuple_GET_ITEM(arguments.extra, place); };
  const Products products{&arguments.arrays, nb::inst_ptr<Function>(extra(0)),
                          nb::inst_ptr<Function>(extra(1)), PyLong_AsLongLong(extra(3))};
  std::array<nb::object, 2> made, converted;
  std::array<PyObject*, 2> factors{arguments[0], arguments[1]};

  for (std::size_t index = 0; index < factors.size(); ++index) {
    if (!is_array_of_numpy(factors[index])) continue;
    made[index] = array_from(factors[index]);
    if (!made[index].is_valid()) Py_RETURN_NONE;
    factors[index] = made[index].ptr();
  }

  std::array<PyObject*, MAX_OPERANDS> kinds{dtype_of(factors[0]), dtype_of(factors[1])};

  for (std::size_t index = 0; kinds[0] != kinds[1] && index < factors.size(); ++index) {
    converted[index] = products.vectors->converted(kinds, factors[index]);
    if (converted[index].is_valid()) factors[index] = converted[index].ptr();
  }

  const Views views{view_of(factors[0]), view_of(factors[1])};

  if (!views[0].is_valid() || !views[1].is_valid()) Py_RETURN_NONE;
  return made_or(product_by_kernel(products, views), [&] {
    return made_or(product_of_few(products, views), [&]() -> PyObject* {
      auto* const found = product_in_blas(*products.arrays, views[0], views[1]);

      if (found != Py_None) return found;
      Py_DECREF(found);

      const auto first = dim_of(factors[0]), second = dim_of(factors[1]);
      const auto is_of_stack = std::max(first, second) > 2;
      const auto is_of_matrices = first == 2 && second == 2;

      // others may be loops, which Python knows
      if (first == 0 || second == 0 || dtype_of(factors[0]) != dtype_of(factors[1]) ||
          (is_of_stack && second > PyLong_AsLongLong(extra(5))) ||
          (!is_of_stack && (!is_of_matrices || are_outer(factors[0], factors[1])))) {
        Py_RETURN_NONE;
      }
      return hosted({arguments.arrays, extra(is_of_stack ? 4 : 2), factors.data(), 2, nullptr},
                    GivenElements::BROUGHT);
    });
  });
}

PyObject* inner_product(const Arguments& given) {
  return are_factors(given) && is_vector(given[0]) && is_vector(given[1])
             ? PyObject_Vectorcall(given.extra, given.given, 2, nullptr)
             : Py_NewRef(Py_None);
}

PyObject* matrix_product(const Arguments& given) {
  return are_factors(given) ? PyNumber_MatrixMultiply(given[0], given[1]) : Py_NewRef(Py_None);
}

}  // namespace legate_diffuse
