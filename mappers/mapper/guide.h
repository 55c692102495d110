// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace legate_diffuse {

// Legate before 26.6 leaves a task on one point if the extents along which it may divide a store
// have a small product, however much there is along the others: rows of a matrix, of which there
// are some thousand. A guide has as many rows and a few columns, both of which may be divided; as
// there are fewer columns, the rows are. The tiles of a task's stores are multiples of its tiles.
struct Guide {
  legate::LogicalStore store;
  std::vector<std::uint64_t> factors;  // of a tile, along each dimension
};

// The guide to the rows along one dimension of stores with these extents. None if Legate divides
// the rows without one, or would divide its columns, or no columns go into those of the stores.
std::optional<Guide> find_guide(const std::vector<std::int64_t>& extents, std::int64_t dim);

}  // namespace legate_diffuse
