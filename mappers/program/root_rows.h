// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/program.h"

namespace legate_diffuse {

struct Interval {
  std::int64_t first{}, last{};
};

// A nest that moves along a root: its row i touches row low + i of the root.
struct Use {
  std::size_t nest;
  std::int64_t low;
};

// The rows of a root along which the nests of a band move.
struct RootRows {
  std::int64_t row_bytes;
  std::int64_t num_rows;
  const Scratch* scratch;   // null for an argument
  std::vector<Use> uses{};  // of the band's nests

  // The times, counted in rows of the root, between which a block leaves a row in use; `shifts` are
  // those of all nests.
  [[nodiscard]] std::int64_t spread(const std::vector<std::int64_t>& shifts) const {
    Interval times{INT64_MAX, INT64_MIN};

    for (const auto& use : uses) {
      const auto time = shifts[use.nest] - use.low;

      times = {std::min(times.first, time), std::max(times.last, time)};
    }
    return times.last - times.first;
  }

  // Whether several nests use it.
  [[nodiscard]] bool is_shared() const {
    return std::any_of(uses.begin(), uses.end(),
                       [&](const Use& use) { return use.nest != uses.front().nest; });
  }
};

}  // namespace legate_diffuse
