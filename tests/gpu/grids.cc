// SPDX-License-Identifier: Apache-2.0

// How the native part launches a nest, for test_grids.py.

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "gpu/grid.h"

using namespace legate_diffuse;

// Takes a launch: `grid` has five numbers, those of blocks and those of the threads of one.
using Visit = void (*)(const std::int64_t* words, std::int64_t num_words, const unsigned* grid,
                       int folds);

// `strides` has `dim` byte strides for each argument, the outermost first. Returns how many
// launches there are.
extern "C" int visit_launches(const GpuKernelCode* code, std::int64_t dim,
                              const std::int64_t* extents, const std::int64_t* firsts,
                              std::int64_t num_arguments, char* const* pointers,
                              const std::int64_t* strides, const ScalarBlock* scalars,
                              Visit visit) {
  GridNest nest;

  nest.reset(num_arguments);
  for (std::int64_t d = 0; d < dim; ++d) nest.add_dim(extents[d], firsts[d]);
  for (std::int64_t index = 0; index < num_arguments; ++index) {
    GridNest::Strides own{};

    std::copy_n(strides + index * dim, dim, own.begin());
    nest.set_argument(index, pointers[index], own);
  }
  auto launches = nest.launches(*code, scalars);

  for (auto& each : launches) {
    const auto& [grid, block] = std::tie(each.grid, each.block);
    const unsigned numbers[] = {grid[0], grid[1], grid[2], block[0], block[1]};

    visit(each.parameters.data(), static_cast<std::int64_t>(each.parameters.size()), numbers,
          each.folds);
  }
  return static_cast<int>(launches.size());
}
