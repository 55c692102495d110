// SPDX-License-Identifier: Apache-2.0

#include "gpu/grid.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace legate_diffuse {

namespace {

constexpr std::int64_t VECTOR_BYTES = 16;
// Limits of CUDA.
constexpr std::int64_t MAX_GRID_X = INT32_MAX;
constexpr std::int64_t MAX_GRID_Y = 65535;
// Rows or steps that a thread takes at least where several blocks leave partial results, and rows
// that it takes at most where none do.
constexpr std::int64_t ENOUGH = 8;
// Threads of a grid that keep a GPU busy, with others to follow them.
constexpr std::int64_t BUSY = 1 << 19;

constexpr std::int64_t LOOPS = GpuKernelCode::LOOPS;

static_assert(LEGATE_MAX_DIM <= LOOPS);

std::int64_t divide_up(std::int64_t count, std::int64_t by) {
  return count / by + (count % by != 0 ? 1 : 0);
}

std::int64_t power_of_two_from(std::int64_t least) {
  std::int64_t power = 1;

  while (power < least) power *= 2;
  return power;
}

bool has(const KernelArgument& argument, std::int64_t flag) {
  return (argument.flags & flag) != 0;
}

// An argument that a kernel reduces to.
bool is_reduced(const KernelArgument& argument) {
  return has(argument, KernelArgument::UPDATED);
}

// An argument in memory that is read or written.
bool is_element(const KernelArgument& argument) {
  return !is_reduced(argument) && !has(argument, KernelArgument::INDEX);
}

// The stride along the inner loop with which a kernel uses an element without computing addresses.
std::int64_t unit_stride(const KernelArgument& argument) {
  return has(argument, KernelArgument::INVARIANT) ? 0 : argument.itemsize;
}

// The words of a parameter block, by name.
class Parameters {
 public:
  explicit Parameters(const GpuKernelCode& code)
      : count_{code.num_arguments},
        words_(even(GpuKernelCode::HEAD + count_ * (1 + LOOPS)) + 2 * code.num_scalars) {
    std::fill_n(words_.begin(), LOOPS, 1);
  }

  std::int64_t& extent(std::size_t loop) { return words_[loop]; }
  std::int64_t& rows() { return words_[LOOPS]; }
  std::int64_t& slices() { return words_[LOOPS + 1]; }
  std::int64_t& stores() { return words_[LOOPS + 2]; }
  std::int64_t& layout() { return words_[GpuKernelCode::LAYOUT]; }
  std::int64_t& chunk() { return words_[LOOPS + 6]; }
  std::int64_t& pointer(std::int64_t index) { return words_[GpuKernelCode::HEAD + index]; }
  std::int64_t& stride(std::int64_t index, std::int64_t loop) {
    return words_[GpuKernelCode::HEAD + count_ + index * LOOPS + loop];
  }
  void set_scalars(const ScalarBlock* scalars, std::int64_t count) {
    std::memcpy(words_.data() + words_.size() - 2 * count, scalars, count * sizeof(ScalarBlock));
  }

  [[nodiscard]] const std::int64_t* words() const { return words_.data(); }
  std::vector<std::int64_t> take() { return std::move(words_); }

 private:
  static constexpr std::int64_t even(std::int64_t count) { return count + count % 2; }

  std::int64_t count_;
  std::vector<std::int64_t> words_;
};

// Sets the grid and the block of a launch, and whether it folds.
void set_grid(const GpuKernelCode& code, Parameters& parameters, GridLayout layout,
              GridLaunch& launch) {
  const auto extent = parameters.extent(0);
  const auto rows = parameters.rows();
  const auto slices = parameters.slices();
  const auto by_columns = layout == GridLayout::COLUMNS;
  const auto steps = layout == GridLayout::ALIGNED ? divide_up(extent, code.lanes) : extent;
  const auto groups = layout == GridLayout::ALIGNED || layout == GridLayout::UNIT ? code.groups : 1;
  // Threads along rows that there are not would have nothing to do.
  const auto alone = code.threads / std::min(code.threads, power_of_two_from(rows));
  const auto most = by_columns ? COLUMNS : std::max(std::min(code.block_x, code.threads), alone);
  const auto block_x = std::min(most, power_of_two_from(divide_up(steps, groups)));
  const auto block_y = code.threads / block_x;
  auto grid_x = divide_up(steps, block_x * groups);
  auto grid_y = divide_up(rows, block_y);

  if (by_columns) {
    const auto limit = std::max(MAX_BLOCKS / (grid_x * slices), std::int64_t{1});

    grid_y = std::clamp(divide_up(grid_y, ENOUGH), std::int64_t{1}, limit);
    launch.folds = grid_y > 1;
  } else if (code.reduces != 0) {
    const auto limit = std::max(MAX_BLOCKS / slices, std::int64_t{1});

    grid_x = std::clamp(divide_up(grid_x * groups, ENOUGH), std::int64_t{1}, limit);
    grid_y = std::clamp(divide_up(grid_y, ENOUGH), std::int64_t{1}, limit / grid_x);
    launch.folds = grid_x * grid_y > 1;
  } else {
    const auto rows_each = grid_x * block_x * rows / BUSY;

    grid_y = divide_up(rows, block_y * std::clamp(rows_each, std::int64_t{1}, ENOUGH));
  }
  // a thread counts the rows of a chunk with 32 bits
  parameters.chunk() = std::min(divide_up(rows, block_y * grid_y), std::int64_t{INT32_MAX});
  launch.grid = {static_cast<unsigned>(std::min(grid_x, MAX_GRID_X)),
                 static_cast<unsigned>(std::min(grid_y, MAX_GRID_Y)),
                 static_cast<unsigned>(std::min(slices, MAX_GRID_Y))};
  launch.block = {static_cast<unsigned>(block_x), static_cast<unsigned>(block_y)};
}

}  // namespace

GridLayout find_layout(const GpuKernelCode& code, const std::int64_t* words) {
  const auto* const pointers = words + GpuKernelCode::HEAD;
  auto layout = GridLayout::ALIGNED;

  for (std::int64_t index = 0; index < code.num_arguments; ++index) {
    const auto& argument = code.arguments[index];
    const auto* const strides = pointers + code.num_arguments + index * LOOPS;

    if (!is_element(argument)) continue;
    if (strides[0] != unit_stride(argument)) return GridLayout::STRIDED;
    if (has(argument, KernelArgument::INVARIANT) || layout == GridLayout::UNIT) continue;

    auto offsets = pointers[index];
    for (std::int64_t loop = 1; loop < LOOPS; ++loop) offsets |= strides[loop];
    if (offsets % VECTOR_BYTES != 0) layout = GridLayout::UNIT;
  }
  return layout;
}

std::vector<GridLaunch> GridNest::launches(const GpuKernelCode& code, const ScalarBlock* scalars) {
  std::vector<GridLaunch> found;

  if (!has_points()) return found;
  simplify(code.indices);
  const auto all = patterns(code);

  // All launches read what was there before the nest: the last one stores.
  for (const auto& kept : all) {
    found.push_back(launch(code, scalars, kept, &kept == &all.back()));
  }
  return found;
}

GridNest::Moves GridNest::moves_of(std::size_t index) const {
  Moves moves{};

  for (std::size_t dim = 0; dim < dim_; ++dim) moves[dim] = strides_[index][dim] != 0;
  return moves;
}

// Along which loops the elements move that are reduced to, each set once. Where nothing is reduced
// there is one, with no meaning.
std::vector<GridNest::Moves> GridNest::patterns(const GpuKernelCode& code) const {
  std::vector<Moves> found;

  if (code.reduces == 0) return {Moves{}};
  for (std::int64_t index = 0; index < code.num_arguments; ++index) {
    if (!is_reduced(code.arguments[index])) continue;
    const auto moves = moves_of(index);

    if (std::find(found.begin(), found.end(), moves) == found.end()) found.push_back(moves);
  }
  return found;
}

// Whether so few points are reduced to each of several elements that a block would be slow at them.
bool GridNest::is_short_reduction(const Moves& kept) const {
  constexpr std::int64_t SHORT = 64;
  std::int64_t points = 1;

  for (std::size_t dim = 0; dim < dim_; ++dim) points *= kept[dim] ? 1 : extents_[dim];
  return points < SHORT && std::find(kept.begin(), kept.end(), true) != kept.end();
}

std::size_t GridNest::longest_kept(const Moves& kept) const {
  auto longest = dim_;

  for (std::size_t dim = 0; dim < dim_; ++dim) {
    if (kept[dim] && (longest == dim_ || extents_[dim] > extents_[longest])) longest = dim;
  }
  return longest;
}

// The loops, the inner one first: the one along which most memory is contiguous, those along which
// is reduced, and the others, which is the order of memory otherwise.
std::vector<std::size_t> GridNest::order(const GpuKernelCode& code, const Moves& kept) const {
  std::vector<std::size_t> loops;
  std::size_t inner = dim_;
  std::int64_t best = -1;

  for (auto dim = dim_; dim-- > 0;) {
    std::int64_t suited = 0;

    for (std::int64_t index = 0; index < code.num_arguments; ++index) {
      const auto& argument = code.arguments[index];

      if (is_element(argument) && strides_[index][dim] == unit_stride(argument)) ++suited;
    }
    if (suited > best) {
      best = suited;
      inner = dim;
    }
  }
  if (inner < dim_ && code.reduces != 0 && !kept[inner] && is_short_reduction(kept)) {
    inner = longest_kept(kept);
  }
  if (inner < dim_) loops.push_back(inner);
  for (const auto is_kept : {false, true}) {
    for (auto dim = dim_; dim-- > 0;) {
      if (dim != inner && kept[dim] == is_kept) loops.push_back(dim);
    }
  }
  return loops;
}

GridLaunch GridNest::launch(const GpuKernelCode& code, const ScalarBlock* scalars,
                            const Moves& kept, bool stores) const {
  const auto loops = order(code, kept);
  Parameters parameters{code};
  GridLaunch launch{};

  for (std::size_t loop = 0; loop < loops.size(); ++loop) {
    parameters.extent(loop) = extents_[loops[loop]];
  }
  for (std::int64_t index = 0; index < code.num_arguments; ++index) {
    const auto& argument = code.arguments[index];

    if (is_reduced(argument) && moves_of(index) != kept) continue;  // by another launch
    parameters.pointer(index) = reinterpret_cast<std::int64_t>(pointers_[index]);
    for (std::size_t loop = 0; loop < loops.size(); ++loop) {
      parameters.stride(index, static_cast<std::int64_t>(loop)) = strides_[index][loops[loop]];
    }
    if (loops.empty() && is_element(argument)) parameters.stride(index, 0) = unit_stride(argument);
  }
  parameters.rows() = parameters.slices() = 1;
  for (std::size_t loop = 1; loop < loops.size(); ++loop) {
    (kept[loops[loop]] ? parameters.slices() : parameters.rows()) *= parameters.extent(loop);
  }
  parameters.stores() = stores ? 1 : 0;
  parameters.set_scalars(scalars, code.num_scalars);

  const auto layout = !loops.empty() && kept[loops.front()] ? GridLayout::COLUMNS
                                                            : find_layout(code, parameters.words());

  parameters.layout() = static_cast<std::int64_t>(layout);
  set_grid(code, parameters, layout, launch);
  launch.parameters = parameters.take();
  return launch;
}

}  // namespace legate_diffuse
