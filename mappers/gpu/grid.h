// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate_defines.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/kernel_code.h"
#include "program/kernel_table.h"
#include "program/loops.h"

namespace legate_diffuse {

// How the arguments of a launch lie, as codegen/gpu/parameters.py numbers it: what moves is
// contiguous, and aligned to 16 bytes; is contiguous; moves in any steps; or in any steps, where
// threads of a block reduce to elements of their own.
enum class GridLayout : std::int64_t { ALIGNED, UNIT, STRIDED, COLUMNS };

// One launch of a kernel.
struct GridLaunch {
  std::array<unsigned, 3> grid;
  std::array<unsigned, 2> block;
  // Of a block, for rows.
  std::int64_t shared_bytes;
  // Whether blocks leave partial results and take tickets, for which there must be memory.
  bool folds;
  // The parameter block without the addresses of that memory.
  std::vector<std::int64_t> parameters;
};

// How the arguments of a launch lie whose parameter block has all extents, pointers and strides; by
// columns is another's choice.
GridLayout find_layout(const GpuKernelCode& code, const std::int64_t* words);

// A loop nest that runs on a GPU.
class GridNest : public Loops<LEGATE_MAX_DIM> {
 public:
  // How to run a kernel over all points: one launch, or several if it reduces along different
  // loops. None if there are no points. The grids follow from the extents and the strides alone,
  // and with them the order in which values are combined.
  std::vector<GridLaunch> launches(const GpuKernelCode& code, const ScalarBlock* scalars);

 private:
  // Along which loops some reduced elements move.
  using Moves = std::array<bool, LEGATE_MAX_DIM>;

  [[nodiscard]] Moves moves_of(std::size_t index) const;
  [[nodiscard]] std::vector<Moves> patterns(const GpuKernelCode& code) const;
  [[nodiscard]] bool is_short_reduction(const Moves& kept) const;
  [[nodiscard]] std::size_t longest_kept(const Moves& kept) const;
  [[nodiscard]] std::vector<std::size_t> order(const GpuKernelCode& code, const Moves& kept) const;
  [[nodiscard]] GridLaunch launch(const GpuKernelCode& code, const ScalarBlock* scalars,
                                  const Moves& kept, bool stores) const;
};

}  // namespace legate_diffuse
