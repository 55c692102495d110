// SPDX-License-Identifier: Apache-2.0

#include "process/blas.h"

#include <algorithm>
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
constexpr std::int64_t LEAST_VOLUME = 2048;
// OpenBLAS uses one processor for a smaller one.
constexpr std::int64_t LEAST_DIVIDED = 4096;
// As in shortcuts/elements.py: with so many processors a task takes no longer, if elements are
// many.
constexpr int AS_FAST = 8;

// CBLAS's names for the order of elements, and for what is done to a matrix.
enum class Order : int { ROWS = 101, COLUMNS = 102 };
enum class Transposition : int { NONE = 111, TRANSPOSED = 112 };

template <typename T>
using Gemv = void (*)(Order, Transposition, std::int64_t rows, std::int64_t columns, T factor,
                      const T* matrix, std::int64_t step, const T* vector, std::int64_t stride,
                      T factor_of_result, T* result, std::int64_t stride_of_result);

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

struct Product {
  Order order;
  Transposition transposition;
  std::int64_t step;
  std::int64_t extent;  // of the result
};

// How BLAS is called; nothing if elements are not one behind the other along a dimension of the
// matrix, or extents do not fit.
std::optional<Product> product_of(const LocalOperand& matrix, const LocalOperand& vector,
                                  bool comes_first) {
  if (matrix.form.dim != 2 || vector.form.dim != 1 || matrix.repeats || vector.repeats) return {};

  const auto* const extents = matrix.form.extents;
  const auto* const strides = matrix.form.strides;
  const auto by_rows = strides[1] == 1 && strides[0] >= extents[1];

  if (!is_faster_in_blas(matrix.form.volume) || std::min(extents[0], extents[1]) < 2 ||
      extents[comes_first ? 1 : 0] != vector.form.extents[0] || vector.form.strides[0] < 1 ||
      !(by_rows || (strides[0] == 1 && strides[1] >= extents[0]))) {
    return {};
  }
  return Product{by_rows ? Order::ROWS : Order::COLUMNS,
                 comes_first ? Transposition::NONE : Transposition::TRANSPOSED,
                 strides[by_rows ? 0 : 1], extents[comes_first ? 0 : 1]};
}

template <typename T>
void multiply(std::uintptr_t routine, const Product& product, const LocalOperand& matrix,
              const LocalOperand& vector, char* result) {
  const Limited limited{matrix.form.volume};

  reinterpret_cast<Gemv<T>>(routine)(
      product.order, product.transposition, matrix.form.extents[0], matrix.form.extents[1], T{1},
      reinterpret_cast<const T*>(first_element(matrix)), product.step,
      reinterpret_cast<const T*>(first_element(vector)), vector.form.strides[0], T{},
      reinterpret_cast<T*>(result), 1);
}

}  // namespace

void know_blas(const BlasRoutines& routines) {
  blas = new BlasRoutines{routines};
}

bool is_faster_in_blas(std::int64_t volume) {
  return blas && volume >= LEAST_VOLUME;
}

PyObject* product_in_blas(const Function& arrays, const nb::object& first,
                          const nb::object& second) {
  if (!blas) Py_RETURN_NONE;

  const auto most = blas->processors < AS_FAST ? INT64_MAX : MOST_REDUCED;
  LocalOperand one, other;
  const auto look = [&] {
    return one.is_here(first.ptr(), false, most) && other.is_here(second.ptr(), false, most);
  };

  if (!look() || one.dtype != other.dtype) Py_RETURN_NONE;

  const auto comes_first = one.form.dim == 2;
  const auto& matrix = comes_first ? one : other;
  const auto& vector = comes_first ? other : one;
  const auto product = product_of(matrix, vector, comes_first);
  const auto type = number_type(one.dtype);
  const auto* const signature = product ? arrays.find({one.dtype}) : nullptr;

  if (!signature || (type != NumberType::FLOAT64 && type != NumberType::FLOAT32)) Py_RETURN_NONE;

  return new_result(arrays, signature, 1, &product->extent, "matrix product", look, [&](char* to) {
    // BLAS may read what it multiplies by zero
    std::memset(to, 0, static_cast<std::size_t>(product->extent * signature->itemsize));
    if (type == NumberType::FLOAT64) {
      multiply<double>(blas->double_gemv, *product, matrix, vector, to);
    } else {
      multiply<float>(blas->float_gemv, *product, matrix, vector, to);
    }
    return true;
  });
}

}  // namespace legate_diffuse
