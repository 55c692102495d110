// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/arguments.h"
#include "program/bases.h"
#include "program/program.h"
#include "program/schedule.h"
#include "program/tiling.h"

namespace legate_diffuse {

// A program of several points, of which one runs a tile. It was checked with its tiling when it was
// submitted.
class TiledProgram {
 public:
  // `words` begin with the tiling.
  TiledProgram(Words words, std::size_t num_arguments)
      : tiling_{words, num_arguments}, text_{words.begin(), words.end()} {}

  [[nodiscard]] const Tiling& tiling() const { return tiling_; }

  // Leaves the points of the tile whose bounds are those of the leader. Called once; what it
  // returns lives as long as this.
  Program restrict_to(const Nest::Strides& lower, const Nest::Strides& upper);

  // The memory of the arguments, of which a task may lack some.
  [[nodiscard]] std::vector<Base> bases(
      const std::vector<std::optional<Elements>>& arguments) const;

 private:
  Tiling tiling_;
  std::vector<std::int64_t> text_;
};

// In a task on a CPU: runs the points of a tile of a program, which `words` begin with.
void run_tile(Words words, const std::vector<std::optional<Elements>>& arguments,
              const Sharing& sharing);

// Lets the points of a task have of each argument what lies within its reach of their tiles.
void divide(legate::AutoTask& task, const Tiling& tiling, const std::vector<TiledShape>& shapes,
            const Program& program, const std::vector<legate::Variable>& partitions,
            const std::vector<legate::Type>& types);

}  // namespace legate_diffuse
