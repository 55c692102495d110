// SPDX-License-Identifier: Apache-2.0

// What arrays of places have in common, whichever they are.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "process/at_once.h"
#include "process/numbers.h"

namespace legate_diffuse {

// Calls `visit` with each element of an array of integers, in row-major order.
template <typename T, typename Visit>
void for_each_place_of(const LocalOperand& places, Visit visit) {
  const auto strides = places.byte_strides();
  const auto& form = places.form;
  std::array<std::int64_t, LEGATE_MAX_DIM> index{};
  const auto* from = first_element(places);

  if (form.dim == 1) {
    for (std::int64_t count = 0; count < form.volume; ++count, from += strides[0]) {
      T place{};

      std::memcpy(&place, from, sizeof(place));
      visit(static_cast<std::int64_t>(place));
    }
    return;
  }
  for (std::int64_t count = 0; count < form.volume; ++count) {
    T place{};

    std::memcpy(&place, from, sizeof(place));
    visit(static_cast<std::int64_t>(place));
    for (auto d = form.dim; d-- > 0;) {
      from += strides[d];
      if (++index[d] < form.extents[d]) break;
      from -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

// The same for any type; false if it is none of integers that an int64 has.
template <typename Visit>
bool for_each_place(const LocalOperand& places, const Visit& visit) {
  switch (number_type(places.dtype)) {
    case NumberType::INT64:
      for_each_place_of<std::int64_t>(places, visit);
      return true;
    case NumberType::INT32:
      for_each_place_of<std::int32_t>(places, visit);
      return true;
    case NumberType::UINT32:
      for_each_place_of<std::uint32_t>(places, visit);
      return true;
    case NumberType::INT16:
      for_each_place_of<std::int16_t>(places, visit);
      return true;
    case NumberType::UINT16:
      for_each_place_of<std::uint16_t>(places, visit);
      return true;
    case NumberType::INT8:
      for_each_place_of<std::int8_t>(places, visit);
      return true;
    case NumberType::UINT8:
      for_each_place_of<std::uint8_t>(places, visit);
      return true;
    default:
      return false;
  }
}

inline bool are_inside(const LocalOperand& places, std::int64_t extent) {
  bool found = true;

  return for_each_place(places, [&](auto place) { found &= place >= -extent && place < extent; }) &&
         found;
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
