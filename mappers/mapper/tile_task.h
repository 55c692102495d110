// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <optional>
#include <vector>

#include "mapper/arguments.h"
#include "program/program.h"
#include "program/schedule.h"
#include "program/tiling.h"

namespace legate_diffuse {

// In a task: runs the points of a tile. The program, which `words` begin with, was checked with its
// tiling when it was submitted.
void run_tile(Words words, const std::vector<std::optional<Elements>>& arguments,
              const Sharing& sharing);

// Lets the points of a task have of each argument what lies within its reach of their tiles.
void divide(legate::AutoTask& task, const Tiling& tiling, const std::vector<TiledShape>& shapes,
            const std::vector<legate::Variable>& partitions,
            const std::vector<legate::Type>& types);

}  // namespace legate_diffuse
