// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <string>
#include <utility>

namespace legate_diffuse {

// Which body a task has. The ids of those without a name.
constexpr legate::LocalTaskID FUSED_TASK{0};
constexpr legate::LocalTaskID PROGRAM_TASK{1};

// Creates the Legate library with the tasks that run kernels. The Legate runtime has to be running;
// later calls do nothing.
void start_library();

// Throws if the library was not started.
legate::Library library();

// Returns the id of a task that has the body of `unnamed` and a name. If there are as many names
// as Legate has ids for, it returns `unnamed`. Every rank names the same tasks in the same order.
legate::LocalTaskID name_task(legate::LocalTaskID unnamed, std::string name);

// Registers a task. LegateTask::register_variants names it as its C++ type, and does the same.
template <typename Task>
void register_task(legate::Library library, const legate::TaskConfig& config, std::string name) {
  namespace detail = legate::detail;
  legate::TaskInfo info{std::move(name), config};

  detail::VariantHelper<Task, detail::CPUVariant>::record(library, {}, &info);
  detail::VariantHelper<Task, detail::OMPVariant>::record(library, {}, &info);
  library.register_task(config.task_id(), info);
}

}  // namespace legate_diffuse
