// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.h"

namespace legate_diffuse {

// Nests on the axis of their rows: which rows of roots lie side by side follows from the first nest
// that moves along both.
class RowAxis {
 public:
  RowAxis(std::size_t num_arguments, std::size_t num_roots)
      : num_arguments_{num_arguments}, origins_(num_roots) {}

  // Where the first row of a nest is, which lays along the axis what it is the first to move along.
  // None if it moves along roots in different ways.
  std::optional<std::int64_t> place(const ParsedNest& nest) {
    const auto& [head, operands] = nest;
    std::optional<std::int64_t> row;

    for (std::size_t number = 0; number < operands.size() && !row; ++number) {
      if (head.distances[number] == STANDS) continue;
      const auto& origin = origin_of(operands[number]);
      if (origin) row = *origin + operands[number].low[0] - head.distances[number];
    }
    for (std::size_t number = 0; number < operands.size(); ++number) {
      if (head.distances[number] == STANDS) continue;
      const auto low = operands[number].low[0] - head.distances[number];
      auto& origin = origin_of(operands[number]);
      if (!row) row = low;
      if (!origin) origin = *row - low;
      if (*row != *origin + low) return {};
    }
    return row.value_or(0);
  }

 private:
  std::optional<std::int64_t>& origin_of(const Operand& operand) {
    return origins_[operand.root(num_arguments_)];
  }

  std::size_t num_arguments_;
  std::vector<std::optional<std::int64_t>> origins_;  // of the first rows of roots
};

}  // namespace legate_diffuse
