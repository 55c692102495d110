// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate/data/logical_store.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace legate_diffuse {

enum Privilege : std::uint8_t { READ = 1, WRITE = 2, READ_WRITE = READ | WRITE };

// One store that a fused task accesses. The store belongs to the caller.
struct Argument {
  const legate::LogicalStore* store;
  Privilege privilege;
};

// Creates the Legate library with the one task that runs every fused kernel. The Legate runtime has
// to be running; later calls do nothing.
void start_library();

// Submits one fused task. All arguments are partitioned alike, and have the same shape. scalars is
// the kernel's block of scalar values. Throws what Legate throws.
void submit_fused_task(std::uint32_t kernel, const std::vector<Argument>& arguments,
                       std::string_view scalars);

}  // namespace legate_diffuse
