// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate/mapping/mapping.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "mapper/program_task.h"

namespace legate_diffuse {

// Leaves every choice to Legate. The default mapping lets overlapping views of one store share an
// instance; asking for exact or fresh instances makes stencils several times slower.
class Mapper final : public legate::mapping::Mapper {
 public:
  std::vector<legate::mapping::StoreMapping> store_mappings(
      const legate::mapping::Task& /*task*/,
      const std::vector<legate::mapping::StoreTarget>& /*options*/) override {
    return {};
  }

  // Asked for program tasks only; fused tasks allocate nothing. Pools of known size are taken when
  // tasks are mapped, long before they run, so that as many of them would exist as tasks wait.
  std::optional<std::size_t> allocation_pool_size(
      const legate::mapping::Task& task, legate::mapping::StoreTarget /*memory_kind*/) override {
    if (program_allocates(task.scalar(0))) return std::nullopt;
    return 0;
  }

  legate::Scalar tunable_value(legate::TunableID /*tunable_id*/) override {
    return legate::Scalar{0};
  }
};

}  // namespace legate_diffuse
