// SPDX-License-Identifier: Apache-2.0

#include "process/search.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/extremes.h"
#include "process/numbers.h"
#include "process/result.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Calls `visit` with the type of an array's elements; false if there is none for it.
template <typename Visit>
bool with_type_of(std::string_view dtype, const Visit& visit) {
  if (dtype == "bool") return visit(std::uint8_t{}), true;
  switch (number_type(dtype)) {
    case NumberType::FLOAT64:
      return visit(double{}), true;
    case NumberType::FLOAT32:
      return visit(float{}), true;
    case NumberType::INT64:
      return visit(std::int64_t{}), true;
    case NumberType::INT32:
      return visit(std::int32_t{}), true;
    case NumberType::UINT8:
      return visit(std::uint8_t{}), true;
    default:
      return false;
  }
}

// The places of extremes along the axis after which there are so many columns; false if there is
// NaN, or there is no loop for the type.
template <typename T>
bool find_all(const InOrder<T>& found, std::int64_t count, std::int64_t columns,
              std::int64_t* places, bool largest) {
  constexpr auto HAS_LOOP =
      std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, std::int64_t>;
  const auto* const end = found.elements + found.count;

  if (columns == 1) {
    for (const auto* row = found.elements; row < end; row += count) {
      *places = find_extreme(row, count, largest);
      if (*places++ < 0) return false;
    }
    return true;
  }
  if constexpr (HAS_LOOP) {
    std::vector<T> best(static_cast<std::size_t>(columns));

    for (const auto* rows = found.elements; rows < end; rows += count * columns) {
      find_extremes(rows, count, columns, places, best.data(), largest);
      if (std::any_of(best.begin(), best.end(), [](T one) { return one != one; })) return false;
      places += columns;
    }
  }
  return HAS_LOOP;
}

// The elements of an array in this process; false if there are none here.
bool find(PyObject* array, LocalOperand& operand) {
  if (!arrays_are_ready()) return false;

  const auto view = view_of(array);

  return view.is_valid() && operand.is_here(view.ptr(), false) && operand.form.volume > 0;
}

}  // namespace

PyObject* extremes(const Function& function, PyObject* array, PyObject* axis, bool largest) {
  LocalOperand operand;

  if (!find(array, operand)) Py_RETURN_NONE;

  const auto& form = operand.form;
  const auto along = axis_from(axis, form.dim);
  Shape shape;
  std::int64_t count = form.volume, columns = 1;

  // NumPy looks at many in less time
  if ((axis != Py_None && !along) || form.volume > MOST_POINTS) Py_RETURN_NONE;
  if (along) count = form.extents[*along];
  for (std::int64_t d = 0; along && d < form.dim; ++d) {
    if (d != *along) shape.extents[shape.dim++] = form.extents[d];
    if (d > *along) columns *= form.extents[d];
  }
  return new_result(
      function, function.find("int64"), shape.dim, shape.extents.data(),
      largest ? "argmax" : "argmin", [&] { return find(array, operand); },
      [&](char* to) {
        bool is_done = false;

        with_type_of(text_of(operand.dtype), [&](auto like) {
          const InOrder<decltype(like)> found{operand};

          is_done = find_all(found, count, columns, reinterpret_cast<std::int64_t*>(to), largest);
        });
        return is_done;
      });
}

PyObject* count_of_others(const Function& function, PyObject* array) {
  LocalOperand operand;
  std::uint64_t count = 0;

  if (!find(array, operand) || !with_type_of(text_of(operand.dtype), [&](auto like) {
        const InOrder<decltype(like)> found{operand};

        count = static_cast<std::uint64_t>(count_others(found.elements, found.count));
      })) {
    Py_RETURN_NONE;
  }
  return new_result(
      function, function.find("uint64"), 0, nullptr, "count_nonzero", [] { return true; },
      [&](char* to) { return std::memcpy(to, &count, sizeof(count)); });
}

}  // namespace legate_diffuse
