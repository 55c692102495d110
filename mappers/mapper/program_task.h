// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstdint>
#include <vector>

#include "mapper/fused_task.h"

namespace legate_diffuse {

void register_program_task(const legate::Library& library);

// Whether a program task allocates Legate's memory, given its only scalar.
bool program_allocates(const legate::Scalar& launch);

// Submits a program (program.h) as one task on one point, whatever partitions the stores have.
// No privilege reduces. Throws InvalidProgram, and what Legate throws.
void submit_program_task(const std::vector<Access>& arguments,
                         const std::vector<std::int64_t>& program);

}  // namespace legate_diffuse
