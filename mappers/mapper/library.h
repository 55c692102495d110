// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

namespace legate_diffuse {

constexpr legate::LocalTaskID FUSED_TASK{0};
constexpr legate::LocalTaskID PROGRAM_TASK{1};

// Creates the Legate library with the tasks that run kernels. The Legate runtime has to be running;
// later calls do nothing.
void start_library();

// Throws if the library was not started.
legate::Library library();

}  // namespace legate_diffuse
