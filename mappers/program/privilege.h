// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace legate_diffuse {

// How a task accesses a store: one of these, or REDUCE plus a legate::ReductionOpKind.
using Privilege = std::uint8_t;

constexpr Privilege READ = 1;
constexpr Privilege WRITE = 2;
constexpr Privilege READ_WRITE = READ | WRITE;
constexpr Privilege REDUCE = 4;

constexpr bool reduces(Privilege privilege) {
  return privilege >= REDUCE;
}
constexpr bool reads(Privilege privilege) {
  return !reduces(privilege) && (privilege & READ) != 0;
}
constexpr bool writes(Privilege privilege) {
  return !reduces(privilege) && (privilege & WRITE) != 0;
}

}  // namespace legate_diffuse
