// SPDX-License-Identifier: Apache-2.0

#include "process/product.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "process/arrays.h"
#include "process/blas.h"
#include "process/guard.h"
#include "process/hosted.h"
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

// The same in either order.
bool has_kernel(const Form& first, const Form& second, std::int64_t narrowest) {
  return fit(first, second, narrowest) ||
         (first.dim == 1 && second.dim == 2 && first.extents[0] == second.extents[0] &&
          std::min(second.extents[0], second.extents[1]) >= narrowest);
}

// A matrix of so many elements BLAS walks across faster than a kernel does.
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

// As BLAS multiplies, whatever is infinite.
template <typename T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

float times(float a, float b) {
  return a * b;
}

double times(double a, double b) {
  return a * b;
}

template <typename T>
void multiply_few(const Factor& a, const Factor& b, char* to) {
  const auto depth = a.extents[1];
  // as the original multiplies by single elements, one product may be -0.0
  const auto is_by_one = depth == 1 && (a.extents[0] == 1 || b.extents[1] == 1);

  for (std::int64_t row = 0; row < a.extents[0]; ++row) {
    for (std::int64_t column = 0; column < b.extents[1]; ++column) {
      auto sum = is_by_one ? times(a.at<T>(row, 0), b.at<T>(0, column)) : T{};

      for (std::int64_t term = 0; !is_by_one && term < depth; ++term) {
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
  LocalOperand first, second, result;
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

  if (!multiply || depth != other.extents[0] || depth > MOST_TERMS ||
      first.form.volume * other.extents[1] > MOST_FACTORS ||
      shown.extents[0] * other.extents[1] > MOST_FACTORS) {
    Py_RETURN_NONE;
  }
  if (!shown.is_vector) extents[dim++] = shown.extents[0];
  if (!other.is_vector) extents[dim++] = other.extents[1];

  const auto* const signature = products.arrays->find({first.dtype});

  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, products.arrays->new_layout(extents.data(), dim).ptr()};

  // a finalizer may have come while objects were made
  if (!made.is_here(result) || !look(views, first, second)) Py_RETURN_NONE;

  Run run{"matrix product"};
  const Factor a{first, false}, b{second, true};

  result.small->reserve();
  multiply(a, b, result.small->own_elements());
  return made.done(result, run);
}

// Whether it is large: less so if its rows are far from one element to the next.
bool is_for_blas(const Form& matrix) {
  return matrix.dim == 2 &&
         (is_faster_in_blas(matrix.volume) ||
          (matrix.strides[1] > matrix.strides[0] && matrix.volume >= MANY_ACROSS));
}

PyObject* product_by_kernel(const Products& products, Views views) {
  LocalOperands found;
  auto& result = found[0];
  auto& first = found[1];
  auto& second = found[2];

  if (!look(views, first, second)) Py_RETURN_NONE;

  // a vector times a matrix is the transposed matrix times the vector
  const auto is_transposed = first.form.dim < second.form.dim;

  if (is_transposed) {
    std::swap(views[0], views[1]);
    if (!look(views, first, second) || first.form.dim != 2) Py_RETURN_NONE;
    transpose(first);
  }
  if (!fit(first.form, second.form, products.narrowest) || is_for_blas(first.form)) Py_RETURN_NONE;

  const auto is_matrix = first.form.dim == 2;
  const auto& function = is_matrix ? *products.vectors_of_matrices : *products.vectors;
  const auto* const signature = function.find({first.dtype, second.dtype});

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

// What a view shows of its root, and its type, and whether what waits computes the root; empty if
// the view is not affine, or not known yet.
struct Shown {
  Form form;
  PyObject* dtype;
  bool waits{};
};

std::optional<Shown> shown_by(PyObject* view) {
  LocalOperand operand;

  if (operand.is_in_process(view, false)) return Shown{operand.form, operand.dtype};
  // of a part of an array
  while (auto* const lazy = lazy_thunk(view)) {
    if (!lazy->view || lazy->key) return std::nullopt;
    view = lazy->view;
  }

  const auto& fields = store_fields();
  auto* const words = fields.layout_form.of(fields.view_layout.of(view));
  auto* const root = fields.view_root.of(view);
  auto* const dtype = fields.dtype.of(root);

  if (words == Py_None || dtype == Py_None) return std::nullopt;

  const Form form{words};

  if (!form.is_affine) return std::nullopt;
  return Shown{form, dtype, fields.real.of(root) == Py_None && fields.small.of(root) == Py_None};
}

// How NumPy is given the factors of a product; nothing if it is a loop (`is_product_a_loop` in
// libraries/cupynumeric/tasks.py), with which what waits can be fused. NumPy refuses what does not
// fit.
std::optional<GivenElements> left_to_blas(const Products& products, const Shown& first,
                                          const Shown& second) {
  const auto is_vector_first = first.form.dim == 1;
  const auto& matrix = is_vector_first ? second : first;
  const auto& other = is_vector_first ? first : second;

  if (first.dtype != second.dtype || matrix.form.dim != 2) return {};
  if (other.form.dim == 2) return GivenElements::BROUGHT;
  if (other.form.dim != 1) return {};

  const auto& form = matrix.form;
  const auto least = std::min(form.extents[0], form.extents[1]);
  const auto rows = form.extents[is_vector_first ? 1 : 0];
  const auto columns = form.extents[is_vector_first ? 0 : 1];
  const auto along = form.strides[is_vector_first ? 0 : 1];
  const auto across = form.strides[is_vector_first ? 1 : 0];
  const auto by_rows = across >= along;
  // it need not be stored and read again
  const auto is_fused = by_rows && matrix.waits;

  // the original drops dimensions of one element
  if (least < 2 || columns != other.form.extents[0]) return {};
  if (least < products.narrowest) return GivenElements::HERE;
  if ((by_rows && columns < products.short_row && rows > products.most_short_rows) ||
      (!is_fused && form.volume * itemsize_of(matrix.dtype) >
                        (by_rows ? products.largest : products.largest_transposed))) {
    return GivenElements::BROUGHT;
  }
  if (is_fused) return {};
  if (form.volume > MOST_POINTS || (!by_rows && form.volume >= MANY_ACROSS)) {
    return GivenElements::HERE;
  }
  return {};
}

}  // namespace

PyObject* product(const Arguments& arguments) {
  if (!arrays_are_ready() || !arguments[1] || !arguments.end_at(2)) Py_RETURN_NONE;

  const auto extra = [&](Py_ssize_t place) { return PyTuple_GET_ITEM(arguments.extra, place); };
  const auto number = [&](Py_ssize_t place) { return PyLong_AsLongLong(extra(place)); };
  const Products products{&arguments.arrays,
                          nb::inst_ptr<Function>(extra(0)),
                          nb::inst_ptr<Function>(extra(1)),
                          number(3),
                          number(4),
                          number(5),
                          number(6),
                          number(7)};
  std::array<nb::object, 2> converted;
  std::array<PyObject*, 2> factors{arguments[0], arguments[1]};
  std::array<PyObject*, MAX_OPERANDS> kinds{dtype_of(factors[0]), dtype_of(factors[1])};

  for (std::size_t index = 0; kinds[0] != kinds[1] && index < factors.size(); ++index) {
    converted[index] = products.vectors->converted(kinds, factors[index]);
    if (converted[index].is_valid()) factors[index] = converted[index].ptr();
  }

  const Views views{view_of(factors[0]), view_of(factors[1])};

  if (!views[0].is_valid() || !views[1].is_valid()) Py_RETURN_NONE;
  return made_or(product_by_kernel(products, views), [&] {
    return made_or(product_of_few(products, views), [&]() -> PyObject* {
      auto* const made = product_in_blas(*products.arrays, views[0], views[1]);

      if (made != Py_None) return made;
      Py_DECREF(made);

      const auto one = shown_by(views[0].ptr()), other = shown_by(views[1].ptr());
      const auto given = one && other ? left_to_blas(products, *one, *other) : std::nullopt;

      if (!given) Py_RETURN_NONE;
      return hosted({arguments.arrays, extra(2), factors.data(), 2, nullptr}, *given);
    });
  });
}

}  // namespace legate_diffuse
