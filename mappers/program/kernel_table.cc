// SPDX-License-Identifier: Apache-2.0

#include "program/kernel_table.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "program/interpreter.h"

namespace legate_diffuse {

namespace {

std::atomic<bool> on_gpus{false};

struct Table {
  std::shared_mutex mutex;
  std::deque<Kernel> kernels;
};

// Never destroyed: tasks may still run while the process exits.
Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

}  // namespace

bool Kernel::is_ready() const {
  return code && !(interpreter && interpreter->is_worn());
}

std::uint32_t register_kernel(Kernel kernel) {
  const std::unique_lock lock{table().mutex};

  table().kernels.push_back(std::move(kernel));
  return static_cast<std::uint32_t>(table().kernels.size() - 1);
}

void forget_kernel(std::uint32_t id) {
  const std::unique_lock lock{table().mutex};

  if (id >= table().kernels.size()) return;

  auto& kernel = table().kernels[id];

  kernel = {nullptr, {}, kernel.clock, nullptr, nullptr};
}

const Kernel* find_kernel(std::uint32_t id) {
  const std::shared_lock lock{table().mutex};

  if (id >= table().kernels.size()) return nullptr;

  const auto& kernel = table().kernels[id];

  return kernel.code || kernel.on_gpu ? &kernel : nullptr;
}

bool kernels_run_on_gpus() {
  return on_gpus;
}

void run_kernels_on_gpus() {
  on_gpus = true;
}

std::vector<std::int64_t> kernel_nanoseconds() {
  const std::shared_lock lock{table().mutex};
  std::vector<std::int64_t> times;

  for (const auto& kernel : table().kernels) {
    times.push_back(kernel.clock ? kernel.clock->nanoseconds.load() : 0);
  }
  return times;
}

}  // namespace legate_diffuse
