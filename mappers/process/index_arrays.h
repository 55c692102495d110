// SPDX-License-Identifier: Apache-2.0

// What index arrays have in common, whichever they are.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/numbers.h"

namespace legate_diffuse {

inline bool is_mask_array(PyObject* object) {
  auto* const dtype = dtype_of(object);

  return dtype && number_type(dtype) == NumberType::BOOL;
}

// Whether a part of an index is all of a dimension, with no bound.
inline bool is_all(PyObject* part) {
  if (!PySlice_Check(part)) return false;

  const auto& bounds = *reinterpret_cast<PySliceObject*>(part);

  return bounds.start == Py_None && bounds.stop == Py_None && bounds.step == Py_None;
}

// Whether an index is a mask and, behind it, all of other dimensions.
inline bool is_mask_of_rows(PyObject* key) {
  auto* const* const parts = &PyTuple_GET_ITEM(key, 0);
  const auto count = PyTuple_GET_SIZE(key);

  return count > 1 && is_array(parts[0]) && is_mask_array(parts[0]) &&
         std::all_of(parts + 1, parts + count, is_all);
}

// Calls `visit` with the distance of the first element of each row from the first one of all, in
// row-major order.
template <typename Visit>
void for_each_row(const Form& form, const Strides& strides, const Visit& visit) {
  std::array<std::int64_t, LEGATE_MAX_DIM> index{};
  std::int64_t distance = 0;
  const auto rows = form.dim == 0 ? 1 : form.volume / form.extents[form.dim - 1];

  for (std::int64_t row = 0; row < rows; ++row) {
    visit(distance);
    for (auto d = form.dim - 1; d-- > 0;) {
      distance += strides[d];
      if (++index[d] < form.extents[d]) break;
      distance -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

// Calls `visit` with the rows of an array of integers, in row-major order: a zero of their type,
// where the first one is, how many there are, and how many bytes apart. False if an int64 does not
// have all of the type.
template <typename Visit>
bool for_each_row_of_integers(const LocalOperand& integers, const Visit& visit) {
  const auto strides = integers.byte_strides();
  const auto& form = integers.form;
  const auto* const first = first_element(integers);
  const auto count = form.dim == 0 ? 1 : form.extents[form.dim - 1];
  const auto step = form.dim == 0 ? 0 : strides[form.dim - 1];

  return with_integer(number_type(integers.dtype), [&](auto like) {
    if constexpr (std::is_same_v<decltype(like), std::uint64_t>) return false;
    if (integers.is_in_order()) {
      visit(like, first, form.volume, std::int64_t{sizeof(like)});
    } else if (form.volume > 0) {
      for_each_row(form, strides,
                   [&](std::int64_t distance) { visit(like, first + distance, count, step); });
    }
    return true;
  });
}

// Calls `visit` with what copies an element of so many bytes.
template <typename Visit>
void with_copy(std::int64_t itemsize, const Visit& visit) {
  const auto copy = [](auto size) {
    return [](char* to, const char* from) { std::memcpy(to, from, decltype(size)::value); };
  };

  switch (itemsize) {
    case 1:
      return visit(copy(std::integral_constant<std::size_t, 1>{}));
    case 2:
      return visit(copy(std::integral_constant<std::size_t, 2>{}));
    case 4:
      return visit(copy(std::integral_constant<std::size_t, 4>{}));
    case 8:
      return visit(copy(std::integral_constant<std::size_t, 8>{}));
    default:
      return visit([size = static_cast<std::size_t>(itemsize)](char* to, const char* from) {
        std::memcpy(to, from, size);
      });
  }
}

}  // namespace legate_diffuse
