// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "process/small_array.h"
#include "program/privilege.h"
#include "program/program.h"
#include "program/schedule.h"

namespace legate_diffuse {

// Runs a program over arrays of this process, in this thread and those that help it. The program
// was checked. Of each array it says what the program does with it; those that it reads have a
// value. Throws std::bad_alloc before it has changed anything.
void run_here(const Program& program, const std::vector<SmallArray*>& arguments,
              const Privilege* privileges, const Sharing& sharing);

// The same; in the background, from a copy of its words, if it takes longer than that, and nobody
// else uses the arrays.
void run_apart(const std::vector<std::int64_t>& words, const Program& program,
               const std::vector<SmallArray*>& arguments, const Privilege* privileges,
               const Sharing& sharing);

// Programs over fewer points of loops do not run in the background. Returns what it was before.
std::int64_t set_least_apart(std::int64_t points);

}  // namespace legate_diffuse
