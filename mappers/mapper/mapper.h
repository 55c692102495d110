// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate/mapping/mapping.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "mapper/program_task.h"

namespace legate_diffuse {

// Leaves every choice to Legate. The default mapping lets overlapping views of one store share an
// instance; exact or new instances make stencils several times slower.
class Mapper final : public legate::mapping::Mapper {
 public:
  std::vector<legate::mapping::StoreMapping> store_mappings(
      const legate::mapping::Task& /*task*/,
      const std::vector<legate::mapping::StoreTarget>& /*options*/) override {
    return {};
  }

  // A pool of known size is made when a task is mapped, long before it runs, so that there are as
  // many pools as waiting tasks.
  std::optional<std::size_t> allocation_pool_size(
      const legate::mapping::Task& task, legate::mapping::StoreTarget memory_kind) override {
    return program_pool_size(task, memory_kind);
  }

  legate::Scalar tunable_value(legate::TunableID /*tunable_id*/) override {
    return legate::Scalar{0};
  }
};

}  // namespace legate_diffuse
