// SPDX-License-Identifier: Apache-2.0

// What differs between the versions of Legate, from 26.1 on.

#pragma once

#include <legate.h>
#include <legate/version.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace legate_diffuse {

#if LEGATE_VERSION_MAJOR * 100 + LEGATE_VERSION_MINOR >= 2606

// From how many elements on Legate partitions an array.
inline std::uint64_t partitioning_threshold(const legate::ParallelPolicy& policy,
                                            legate::mapping::TaskTarget target) {
  return policy.partitioning_threshold(target);
}

// What a task may divide stays in one piece if its extents have at most this product.
inline std::int64_t undivided_extent() {
  return 0;
}

// Whether a task's arguments stay in one piece, and cannot be aligned.
inline bool needs_inline_execution(const legate::AutoTask& task) {
  return task.needs_inline_execution_();
}

template <typename Task, template <typename...> typename Variant>
void record_variant(const legate::Library& library, const legate::TaskConfig&,
                    legate::TaskInfo* info) {
  legate::detail::VariantHelper<Task, Variant>::record(library, {}, info);
}

inline legate::TaskInfo task_info(std::string name, const legate::TaskConfig& config) {
  return legate::TaskInfo{std::move(name), config};
}

#else

// Legate keeps the numbers to itself: what LEGATE_CONFIG says of a processor's chunks comes before
// what the environment says (src/cpp/legate/runtime/detail/argument_parsing/parse.cc), and that
// before the defaults (src/cpp/legate/utilities/detail/env_defaults.h).
inline std::uint64_t chunk_of(const char* option, const char* variable, std::uint64_t usual) {
  const auto* const config = std::getenv("LEGATE_CONFIG");
  const auto* const found = config ? std::strstr(config, option) : nullptr;
  const auto* const test = std::getenv("LEGATE_TEST");

  if (found) return std::strtoull(found + std::strlen(option) + 1, nullptr, 10);
  if (const auto* const set = std::getenv(variable)) return std::strtoull(set, nullptr, 10);
  return test && *test == '1' ? 2 : usual;
}

inline std::uint64_t partitioning_threshold(const legate::ParallelPolicy&,
                                            legate::mapping::TaskTarget target) {
  static const auto cpu = chunk_of("--min-cpu-chunk", "LEGATE_MIN_CPU_CHUNK", 1 << 14);
  static const auto omp = chunk_of("--min-omp-chunk", "LEGATE_MIN_OMP_CHUNK", 1 << 17);
  static const auto gpu = chunk_of("--min-gpu-chunk", "LEGATE_MIN_GPU_CHUNK", 1 << 20);

  switch (target) {
    case legate::mapping::TaskTarget::GPU:
      return gpu;
    case legate::mapping::TaskTarget::OMP:
      return omp;
    default:
      return cpu;
  }
}

// Legate compares that number with the product of the extents that may be divided
// (compute_launch_shape in src/cpp/legate/runtime/detail/partition_manager.cc).
inline std::int64_t undivided_extent() {
  return static_cast<std::int64_t>(
      partitioning_threshold({}, legate::Scope::machine().preferred_target()));
}

// The program does not run fused if there are such tasks.
inline bool needs_inline_execution(const legate::AutoTask&) {
  return false;
}

template <typename Task, template <typename...> typename Variant>
void record_variant(const legate::Library& library, const legate::TaskConfig& config,
                    legate::TaskInfo* info) {
  legate::detail::VariantHelper<Task, Variant>::record(library, config, {}, info);
}

inline legate::TaskInfo task_info(std::string name, const legate::TaskConfig&) {
  return legate::TaskInfo{std::move(name)};
}

#endif

// A store as tasks and fills take it, and an argument's store in a task: 26.07 has removed the
// arrays in between, as it has in what net.cc intercepts.
inline legate::LogicalArray as_argument(const legate::LogicalStore& store) {
  return legate::LogicalArray{store};
}

inline legate::PhysicalStore store_of(const legate::PhysicalArray& argument) {
  return argument.data();
}

// LegateTask::register_variants names a task as its C++ type, and does the same.
template <typename Task>
void register_task(legate::Library library, const legate::TaskConfig& config, std::string name) {
  auto info = task_info(std::move(name), config);

  record_variant<Task, legate::detail::CPUVariant>(library, config, &info);
  record_variant<Task, legate::detail::OMPVariant>(library, config, &info);
  record_variant<Task, legate::detail::GPUVariant>(library, config, &info);
  library.register_task(config.task_id(), info);
}

}  // namespace legate_diffuse
