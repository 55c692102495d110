// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "program/elements.h"

namespace legate_diffuse {

// Copies elements of `itemsize` bytes, as `copy_elements` does; the threads of this process share
// what is large. Strides are in bytes, and the two places have no element in common.
void copy_by_threads(char* to, const std::int64_t* to_strides, const char* from,
                     const std::int64_t* from_strides, std::int64_t dim,
                     const std::int64_t* extents, std::size_t itemsize);

// The same to places in row-major order.
inline void copy_in_order(char* to, const char* from, const std::int64_t* from_strides,
                          std::int64_t dim, const std::int64_t* extents, std::int64_t itemsize) {
  copy_by_threads(to, row_major_strides(dim, extents, itemsize).data(), from, from_strides, dim,
                  extents, static_cast<std::size_t>(itemsize));
}

}  // namespace legate_diffuse
