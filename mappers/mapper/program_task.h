// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>
#include <legate/mapping/mapping.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapper/arguments.h"

namespace legate_diffuse {

// Registers the task under an id; profiles and Legion's messages show the name.
void register_program_task(legate::Library library, legate::LocalTaskID id, std::string name);

// How much of Legate's memory of a kind a program task allocates; empty if that is not known.
std::optional<std::size_t> program_pool_size(const legate::mapping::Task& task,
                                             legate::mapping::StoreTarget memory);

// Submits a program (program.h) as one task. That runs on one point, whatever partitions the stores
// have, and no privilege reduces; or, if it is partitioned, on as many points as Legate chooses:
// all arguments have the same shape then. Throws InvalidProgram, and what Legate throws.
void submit_program_task(legate::LocalTaskID id, const std::vector<Access>& arguments,
                         const std::vector<std::int64_t>& program, bool partitioned);

// The memory that the scratch buffers of a program take when it is submitted now, on arguments of
// these shapes, undivided. Throws InvalidProgram.
std::int64_t scratch_bytes(const std::vector<RootShape>& shapes,
                           const std::vector<std::int64_t>& program);

}  // namespace legate_diffuse
