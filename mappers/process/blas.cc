// SPDX-License-Identifier: Apache-2.0

#include "process/blas.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <optional>
#include <string_view>

#include "process/at_once.h"
#include "process/lazy_thunk.h"
#include "process/numbers.h"
#include "process/result.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The kernel of a smaller matrix is as fast.
constexpr std::int64_t LEAST_VOLUME = 1024;
// The same of complex ones.
constexpr std::int64_t LEAST_OF_COMPLEX = 256;
// OpenBLAS uses one processor for a smaller one.
constexpr std::int64_t LEAST_DIVIDED = 4096;
// To compute half of so many products takes less time than NumPy does around it.
constexpr std::int64_t MANY_PRODUCTS = 200'000;
// As in shortcuts/elements.py: with so many processors a task takes no longer, if elements are
// many.
constexpr int AS_FAST = 8;
constexpr std::int64_t MOST_ALONE = std::int64_t{1} << 20;

// CBLAS's names for the order of elements, and for what is done to a matrix.
enum class Order : int { ROWS = 101, COLUMNS = 102 };
enum class Transposition : int { NONE = 111, TRANSPOSED = 112 };

// How BLAS takes a number, and which of its routines are for such numbers.
template <typename T>
struct Number {
  using Given = T;
  static constexpr std::size_t PLACE = sizeof(T) == sizeof(double) ? 0 : 1;
  static Given given(const T& number) { return number; }
};

template <typename T>
struct Number<std::complex<T>> {
  using Given = const void*;
  static constexpr std::size_t PLACE = 2 + Number<T>::PLACE;
  static Given given(const std::complex<T>& number) { return &number; }
};

template <typename T>
using Given = typename Number<T>::Given;

template <typename T>
using Gemv = void (*)(Order, Transposition, std::int64_t rows, std::int64_t columns, Given<T>,
                      const T* matrix, std::int64_t step, const T* vector, std::int64_t stride,
                      Given<T> factor_of_result, T* result, std::int64_t stride_of_result);

template <typename T>
using Gemm = void (*)(Order, Transposition, Transposition, std::int64_t rows, std::int64_t columns,
                      std::int64_t depth, Given<T>, const T* first, std::int64_t step,
                      const T* second, std::int64_t step_of_second, Given<T> factor_of_result,
                      T* result, std::int64_t step_of_result);

// Never destroyed: arrays may outlive the interpreter.
const BlasRoutines* blas = nullptr;

// BLAS uses no more processors as long as it lives.
class Limited {
 public:
  explicit Limited(std::int64_t volume) {
    if (volume < LEAST_DIVIDED) return;
    before_ = reinterpret_cast<int (*)()>(blas->num_threads)();
    if (before_ > blas->processors) set(blas->processors);
  }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;
  ~Limited() {
    if (before_ > blas->processors) set(before_);
  }

 private:
  static void set(int count) { reinterpret_cast<void (*)(int)>(blas->set_num_threads)(count); }

  int before_{};
};

// Calls `visit` with a zero of a type that BLAS has; false if it is another type.
template <typename Visit>
bool with_type_of_blas(PyObject* dtype, const Visit& visit) {
  switch (number_type(dtype)) {
    case NumberType::FLOAT64:
      return visit(double{});
    case NumberType::FLOAT32:
      return visit(float{});
    case NumberType::COMPLEX128:
      return visit(std::complex<double>{});
    case NumberType::COMPLEX64:
      return visit(std::complex<float>{});
    default:
      return false;
  }
}

// From how many elements on BLAS multiplies a matrix with a vector faster than a kernel does.
std::int64_t least_volume(const LocalOperand& matrix) {
  const auto type = number_type(matrix.dtype);

  return type == NumberType::COMPLEX128 || type == NumberType::COMPLEX64 ? LEAST_OF_COMPLEX
                                                                         : LEAST_VOLUME;
}

// Where a matrix has its elements one behind the other: in rows, or in columns.
struct Lines {
  bool are_rows;
  std::int64_t step;  // from one to the next
};

// Nothing if it has no such lines.
std::optional<Lines> lines_of(const LocalOperand& matrix) {
  const auto* const extents = matrix.form.extents;
  const auto* const strides = matrix.form.strides;

  if (matrix.form.dim != 2 || matrix.repeats) return {};
  if (strides[1] == 1 && strides[0] >= extents[1]) return Lines{true, strides[0]};
  if (strides[0] == 1 && strides[1] >= extents[0]) return Lines{false, strides[1]};
  return {};
}

// Lets a matrix of one row, or of one column, be a vector, as NumPy does; false if it is another.
bool be_vector(LocalOperand& matrix, std::int64_t dim) {
  const auto& form = matrix.form;

  if (form.dim != 2 || form.extents[dim] != 1 || form.extents[1 - dim] < 2) return false;

  const auto extent = form.extents[1 - dim], stride = form.strides[1 - dim];

  matrix.show(1, &extent, &stride);
  return true;
}

// Whether BLAS takes a matrix and a vector, of which the matrix may come first.
bool fit(const LocalOperand& matrix, const LocalOperand& vector, bool comes_first) {
  const auto* const extents = matrix.form.extents;

  return vector.form.dim == 1 && !vector.repeats && is_faster_in_blas(matrix) &&
         std::min(extents[0], extents[1]) >= 2 &&
         extents[comes_first ? 1 : 0] == vector.form.extents[0] && vector.form.strides[0] >= 1;
}

// Whether it takes two matrices. What are many products with one's own transpose NumPy computes
// half of.
bool fit(const LocalOperand& one, const LocalOperand& other) {
  const auto products = one.form.volume * other.form.extents[1];

  return one.form.extents[1] == other.form.extents[0] && one.form.extents[1] >= 2 &&
         std::min(one.form.extents[0], other.form.extents[1]) >= 2 &&
         (one.root != other.root || products < MANY_PRODUCTS);
}

template <typename T>
const T* elements_of(const LocalOperand& operand) {
  return reinterpret_cast<const T*>(first_element(operand));
}

template <typename T>
void multiply(const LocalOperand& one, const LocalOperand& other, char* result) {
  const T factor{1}, of_result{};
  const auto comes_first = one.form.dim == 2;
  const auto& matrix = comes_first ? one : other;
  const auto lines = *lines_of(matrix);
  const Limited limited{std::max(one.form.volume, other.form.volume)};

  if (one.form.dim == other.form.dim) {
    const auto others = *lines_of(other);
    const auto transposed = [](bool rows) {
      return rows ? Transposition::NONE : Transposition::TRANSPOSED;
    };
    const auto columns = other.form.extents[1];

    reinterpret_cast<Gemm<T>>(blas->gemm[Number<T>::PLACE])(
        Order::ROWS, transposed(lines.are_rows), transposed(others.are_rows), one.form.extents[0],
        columns, one.form.extents[1], Number<T>::given(factor), elements_of<T>(one), lines.step,
        elements_of<T>(other), others.step, Number<T>::given(of_result),
        reinterpret_cast<T*>(result), columns);
    return;
  }

  const auto& vector = comes_first ? other : one;

  reinterpret_cast<Gemv<T>>(blas->gemv[Number<T>::PLACE])(
      lines.are_rows ? Order::ROWS : Order::COLUMNS,
      comes_first ? Transposition::NONE : Transposition::TRANSPOSED, matrix.form.extents[0],
      matrix.form.extents[1], Number<T>::given(factor), elements_of<T>(matrix), lines.step,
      elements_of<T>(vector), vector.form.strides[0], Number<T>::given(of_result),
      reinterpret_cast<T*>(result), 1);
}

}  // namespace

void know_blas(const BlasRoutines& routines) {
  blas = new BlasRoutines{routines};
}

std::int64_t most_read_here() {
  return blas && blas->processors < AS_FAST ? INT64_MAX : MOST_ALONE;
}

bool is_faster_in_blas(const LocalOperand& matrix) {
  return blas && matrix.form.volume >= least_volume(matrix) && lines_of(matrix);
}

PyObject* product_in_blas(const Function& arrays, const nb::object& first,
                          const nb::object& second) {
  if (!blas) Py_RETURN_NONE;

  const auto most = most_read_here();
  LocalOperand one, other;
  auto dim = 1;
  const auto look = [&] {
    if (!one.is_here(first.ptr(), false, most) || !other.is_here(second.ptr(), false, most)) {
      return false;
    }
    dim = one.form.dim == 2 && other.form.dim == 2 ? 2 : 1;
    if (dim == 2 && !be_vector(other, 1)) be_vector(one, 0);
    return true;
  };

  if (!look() || one.dtype != other.dtype) Py_RETURN_NONE;

  const auto comes_first = one.form.dim == 2;
  const auto are_matrices = comes_first && other.form.dim == 2;
  const auto& matrix = comes_first ? one : other;
  const auto& vector = comes_first ? other : one;

  const auto is_of_blas = with_type_of_blas(one.dtype, [](auto) { return true; });

  if (!is_of_blas || !lines_of(matrix) ||
      !(are_matrices ? lines_of(other) && fit(one, other) : fit(matrix, vector, comes_first))) {
    Py_RETURN_NONE;
  }

  const auto* const signature = arrays.find({one.dtype});
  const auto rows = comes_first ? one.form.extents[0] : 1;
  const auto columns = other.form.dim == 2 ? other.form.extents[1] : 1;
  const std::array<std::int64_t, 2> extents{dim == 2 ? rows : rows * columns, columns};

  if (!signature) Py_RETURN_NONE;
  return new_result(arrays, signature, dim, extents.data(), "matrix product", look, [&](char* to) {
    const auto bytes = rows * columns * signature->itemsize;

    // BLAS may read what it multiplies by zero
    std::memset(to, 0, static_cast<std::size_t>(bytes));
    return with_type_of_blas(one.dtype, [&](auto zero) {
      multiply<decltype(zero)>(one, other, to);
      return true;
    });
  });
}

}  // namespace legate_diffuse
