// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include "process/small_array.h"

namespace legate_diffuse {

// Registers the task under an id.
void register_store_task(legate::Library library, legate::LocalTaskID id);

// Gives Legate's store of an array the array's value, in the order of the tasks that are submitted.
// A large array gives its memory away, and has no value then. Throws what Legate throws.
void store_small_array(const legate::LogicalStore& store, SmallArray& array);

}  // namespace legate_diffuse
