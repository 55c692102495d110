// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// One store that a task accesses. The store belongs to the caller.
struct Access {
  const legate::LogicalStore* store;
  Privilege privilege;
};

// Registers the task under an id; profiles and Legion's messages show the name.
void register_fused_task(legate::Library library, legate::LocalTaskID id, std::string name);

// Submits one fused task. All arguments have the same shape and are partitioned alike. Each point
// task reduces to an instance of its own, which Legate then combines with the value that the store
// had. scalars is the kernel's block of scalar values. Throws what Legate throws.
void submit_fused_task(legate::LocalTaskID id, std::uint32_t kernel,
                       const std::vector<Access>& arguments, std::string_view scalars);

}  // namespace legate_diffuse
