// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "program/loop_nest.h"

namespace legate_diffuse {

using Nest = LoopNest<LEGATE_MAX_DIM>;

// One argument's elements in memory. `lower` is the point that `pointer` belongs to; strides are in
// bytes.
struct Elements {
  char* pointer{};
  Nest::Strides strides{};
  Nest::Strides lower{};
  Nest::Strides upper{};
  std::int64_t dim{};
  bool is_future{};
  std::int64_t itemsize{};
};

// The strides of elements in row-major order, in bytes.
inline Nest::Strides row_major_strides(std::int64_t dim, const std::int64_t* extents,
                                       std::int64_t itemsize) {
  Nest::Strides strides{};

  for (auto d = dim; d-- > 0; itemsize *= extents[d]) strides[d] = itemsize;
  return strides;
}

// Whether strides are such, in steps of any unit; along an extent of 1 all are.
inline bool are_in_order(std::int64_t dim, const std::int64_t* extents, const std::int64_t* strides,
                         std::int64_t step) {
  for (auto d = dim; d-- > 0; step *= extents[d]) {
    if (extents[d] != 1 && strides[d] != step) return false;
  }
  return true;
}

// Makes one dimension of two where two places go on in equal steps; returns how many are left.
std::int64_t merge_dims(std::int64_t dim, std::int64_t* extents, std::int64_t* to,
                        std::int64_t* from);

// Copies elements of `itemsize` bytes from one place to another; strides are in bytes.
void copy_elements(char* to, const std::int64_t* to_strides, const char* from,
                   const std::int64_t* from_strides, std::int64_t dim, const std::int64_t* extents,
                   std::size_t itemsize);

// Empty when the argument has no elements here. For the elements that a task reduces to these are
// those that the task is to update, which Legate has initialised.
std::optional<Elements> find_elements(const legate::PhysicalStore& store);

}  // namespace legate_diffuse
