// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

namespace legate_diffuse {

// Registers a task under an id that copies its input to its output, which is aligned with it.
void register_copy_task(legate::Library library, legate::LocalTaskID id);

}  // namespace legate_diffuse
