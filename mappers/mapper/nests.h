// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "program/elements.h"
#include "program/program.h"
#include "program/schedule.h"
#include "threads/team_runner.h"

namespace legate_diffuse {

Base base_of(const Elements& elements);

// Runs the nests of a program, which `words` begin with.
void run_nests(Words words, std::int64_t num_nests, const Schedule& schedule, TeamRunner& runner);

}  // namespace legate_diffuse
