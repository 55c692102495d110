// SPDX-License-Identifier: Apache-2.0

#include "kernel_table.h"

#include <mutex>
#include <shared_mutex>
#include <vector>

namespace legate_diffuse {

namespace {

struct Table {
  std::shared_mutex mutex;
  std::vector<Kernel> kernels;
};

// Never destroyed: tasks may still run while the process exits.
Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

}  // namespace

std::uint32_t register_kernel(Kernel kernel) {
  const std::unique_lock lock{table().mutex};

  table().kernels.push_back(kernel);
  return static_cast<std::uint32_t>(table().kernels.size() - 1);
}

Kernel find_kernel(std::uint32_t id) {
  const std::shared_lock lock{table().mutex};

  return id < table().kernels.size() ? table().kernels[id] : nullptr;
}

}  // namespace legate_diffuse
