// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <string>

namespace legate_diffuse {

constexpr legate::LocalTaskID PROGRAM_TASK{0};
constexpr legate::LocalTaskID STORE_TASK{1};
constexpr legate::LocalTaskID COPY_TASK{2};

// Creates the Legate library with the task that runs kernels. The Legate runtime has to be running;
// later calls do nothing.
void start_library();

// Throws if the library was not started.
legate::Library library();

// Returns the id of a task with a name. If there are as many names as Legate has ids for, it
// returns PROGRAM_TASK, which has none. Every rank names the same tasks in the same order.
legate::LocalTaskID name_task(std::string name);

}  // namespace legate_diffuse
