// SPDX-License-Identifier: Apache-2.0

#include "gpu/rows.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "gpu/gpu_kernel.h"
#include "program/loops.h"
#include "program/row_axis.h"

namespace legate_diffuse {

namespace {

constexpr std::int64_t LOOPS = GpuKernelCode::LOOPS;
constexpr std::int64_t ALIGNMENT = 16;
// Of a block, which any GPU has without being asked.
constexpr std::int64_t SHARED_BYTES = 48 * 1024;
// Of a block for each word that is reduced: a result of each warp.
constexpr std::int64_t FOLD_BYTES = 8 * 8;
// Points of a row.
constexpr std::int64_t LONG_ROW = 1 << 16;
// Threads that share a row at least if it has as many points: they exchange values at once.
constexpr std::int64_t WARP = 32;
// Threads of a grid that keep a GPU busy. The same for all, as sums depend on it.
constexpr std::int64_t BUSY = 1 << 18;
constexpr std::int64_t MAX_GRID_X = INT32_MAX;

// Which rows a nest has, on the axis of the run.
struct RowRange {
  std::int64_t first;
  std::int64_t end;
};

// The points that a nest has on a row.
class RowNest : public Loops<LEGATE_MAX_DIM> {
 public:
  RowNest(const ParsedNest& nest, const RowRange& rows, const Bases& bases)
      : code_{kernel_of(nest.head).on_gpu->code()}, head_{nest.head}, rows_{rows} {
    reset(nest.operands.size());
    for (std::int64_t d = 0; d < head_.dim; ++d) {
      if (d != head_.rows) add_dim(head_.extents[d], head_.first[d]);
    }
    for (std::size_t index = 0; index < nest.operands.size(); ++index) {
      auto& strides = this->strides(index);

      set_pointer(index, bases.address(nest.operands[index]));
      bases.find_strides(nest.operands[index], head_.dim, strides);
      row_strides_.push_back(strides[head_.rows]);
      std::copy(strides.begin() + head_.rows + 1, strides.end(), strides.begin() + head_.rows);
    }
    row_strides_.resize(code_.num_arguments);
    if (is_empty_ = !has_points(); !is_empty_) simplify(code_.indices);
    pointers_.resize(code_.num_arguments);
    strides_.resize(code_.num_arguments);
    if ((code_.indices >> (head_.dim - 1) & 1) != 0) {
      pointers_.back() = reinterpret_cast<char*>(head_.first[0]);
      row_strides_.back() = 1;
    }
  }

  // Whether a block can run a row: it finds the index along rows, and has one element for each
  // reduction.
  [[nodiscard]] bool suits() const {
    if (code_.indices != 0 && head_.rows != 0) return false;
    for (std::int64_t index = 0; index < code_.num_arguments; ++index) {
      const auto& strides = strides_[index];
      const auto is_reduced = (code_.arguments[index].flags & KernelArgument::UPDATED) != 0;

      if (is_reduced &&
          std::any_of(strides.begin(), strides.begin() + dim_, [](auto each) { return each != 0; }))
        return false;
    }
    return true;
  }

  [[nodiscard]] std::int64_t num_points() const {
    std::int64_t points = is_empty_ ? 0 : 1;

    for (std::size_t d = 0; d < dim_; ++d) {
      points = std::min(points * std::min(extents_[d], LONG_ROW), LONG_ROW);
    }
    return points;
  }

  // Takes the memory of a block for an argument: at `offset` there is the row of its root.
  void set_local(std::size_t index, const Operand& operand, const Base& base, std::int64_t offset,
                 std::int64_t stride) {
    for (std::int64_t d = 1; d < operand.root_dim; ++d) offset += operand.low[d] * base.strides[d];
    pointers_[index] = reinterpret_cast<char*>(offset);
    row_strides_[index] = stride;
  }

  [[nodiscard]] const RowRange& rows() const { return rows_; }

  // Appends the parameters of the nest, where row `origin` of the axis is the first one.
  void write(std::int64_t origin, std::vector<std::int64_t>& words) const {
    const auto begin = words.size();
    std::int64_t lines = 1;

    for (std::size_t d = 0; d + 1 < dim_; ++d) lines *= extents_[d];
    words.resize(begin + GpuKernelCode::HEAD);
    for (std::size_t loop = 0; loop < LOOPS; ++loop) {
      words[begin + loop] = is_empty_ ? 0 : loop < dim_ ? extents_[dim_ - 1 - loop] : 1;
    }
    words[begin + LOOPS] = is_empty_ ? 0 : lines;
    words[begin + LOOPS + 1] = rows_.first - origin;
    words[begin + LOOPS + 2] = rows_.end - origin;
    for (auto* const each : pointers_) words.push_back(reinterpret_cast<std::int64_t>(each));
    for (std::size_t index = 0; index < strides_.size(); ++index) {
      for (std::size_t loop = 0; loop + 1 < LOOPS; ++loop) {
        words.push_back(loop < dim_ ? strides_[index][dim_ - 1 - loop] : 0);
      }
      words.push_back(row_strides_[index]);
    }
    words[begin + GpuKernelCode::LAYOUT] =
        static_cast<std::int64_t>(find_layout(code_, words.data() + begin));
    words.resize(words.size() + words.size() % 2);
    words.insert(words.end(), head_.scalars, head_.scalars + 2 * head_.num_scalars);
  }

 private:
  const GpuKernelCode& code_;
  const NestHead& head_;
  RowRange rows_;
  std::vector<std::int64_t> row_strides_;
  bool is_empty_{};
};

static_assert(LEGATE_MAX_DIM <= LOOPS);

// The nests of a run; none if a block cannot run a row of all of them.
std::vector<RowNest> place_nests(const std::vector<ParsedNest>& nests, const Bases& bases) {
  RowAxis axis{bases.num_arguments(), bases.size()};
  std::vector<RowNest> placed;

  for (const auto& nest : nests) {
    const auto& head = nest.head;
    const auto first = head.rows < 0 ? std::nullopt : axis.place(nest);

    if (!first) return {};

    const RowRange rows{*first, *first + head.extents[head.rows]};

    if (!placed.emplace_back(nest, rows, bases).suits()) return {};
  }
  return placed;
}

// What only the nests of a run use, of which a block has rows in memory of its own.
class LocalRows {
 public:
  LocalRows(const GpuKernelCode& code, const std::vector<ParsedNest>& nests, const Bases& bases)
      : code_{code}, nests_{nests}, bases_{bases} {
    visit([&](std::size_t nest, std::size_t index, std::size_t number) {
      const auto bytes = bases_.of(nests_[nest].operands[index]).strides[0];

      row_bytes_.resize(std::max(row_bytes_.size(), number + 1));
      row_bytes_[number] = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    });
  }

  // Of one row of everything; more than a block can have if one alone has.
  [[nodiscard]] std::int64_t row_bytes() const {
    std::int64_t sum = 0;

    for (const auto bytes : row_bytes_) sum += std::min(bytes, SHARED_BYTES + 1);
    return sum;
  }

  // Lets the nests of a block find so many rows.
  void place(std::int64_t num_rows, std::vector<RowNest>& placed) const {
    std::vector<std::int64_t> offsets;
    std::int64_t offset = 0;

    for (const auto bytes : row_bytes_) {
      offsets.push_back(offset);
      offset += bytes * num_rows;
    }
    visit([&](std::size_t nest, std::size_t index, std::size_t number) {
      const auto& operand = nests_[nest].operands[index];

      placed[nest].set_local(index, operand, bases_.of(operand), offsets[number],
                             row_bytes_[number]);
    });
  }

 private:
  template <typename Visit>
  void visit(const Visit& visit) const {
    const auto* local = code_.local;

    for (std::size_t nest = 0; nest < nests_.size(); ++nest) {
      for (std::size_t index = 0; index < nests_[nest].operands.size(); ++index) {
        if (const auto number = *local++; number >= 0) {
          visit(nest, index, static_cast<std::size_t>(number));
        }
      }
    }
  }

  const GpuKernelCode& code_;
  const std::vector<ParsedNest>& nests_;
  const Bases& bases_;
  std::vector<std::int64_t> row_bytes_;
};

// The threads of a block: so many share a row, and so many rows are beside each other. They are
// more than a warp where there are few rows. None if the rows do not fit into the block's memory,
// or are too long for one block.
std::optional<std::array<std::int64_t, 2>> find_block(const GpuKernelCode& code,
                                                      const std::vector<RowNest>& placed,
                                                      std::int64_t num_rows,
                                                      std::int64_t row_bytes) {
  const auto most = SHARED_BYTES - FOLD_BYTES * code.partial_words;
  std::int64_t points = 1;
  std::int64_t x = 1;

  for (const auto& nest : placed) points = std::max(points, nest.num_points());

  const auto has_work = [&] { return x < points && (x < WARP || x * num_rows < BUSY); };

  while (x < code.threads && (has_work() || row_bytes * (code.threads / x) > most)) x *= 2;

  const auto y = code.threads / x;
  if (points == LONG_ROW || row_bytes * y > most) return {};
  return std::array{x, y};
}

// The rows of a run.
RowRange find_rows(const std::vector<RowNest>& placed) {
  auto found = placed.front().rows();

  for (const auto& nest : placed) {
    found.first = std::min(found.first, nest.rows().first);
    found.end = std::max(found.end, nest.rows().end);
  }
  return found;
}

}  // namespace

std::optional<GridLaunch> launch_rows(const GpuKernelCode& code,
                                      const std::vector<ParsedNest>& nests, const Bases& bases) {
  auto placed = place_nests(nests, bases);
  if (placed.empty()) return {};

  const LocalRows local{code, nests, bases};
  const auto rows = find_rows(placed);
  const auto num_rows = rows.end - rows.first;
  const auto block = find_block(code, placed, num_rows, local.row_bytes());
  if (!block) return {};

  const auto [block_x, block_y] = *block;
  GridLaunch launch{};

  local.place(block_y, placed);
  launch.parameters.resize(GpuKernelCode::ROW_HEAD);

  for (const auto& nest : placed) nest.write(rows.first, launch.parameters);

  const auto num_blocks = (num_rows + block_y - 1) / block_y;

  launch.parameters[0] = num_rows;
  launch.grid = {static_cast<unsigned>(std::clamp(num_blocks, std::int64_t{1}, MAX_GRID_X)), 1, 1};
  launch.block = {static_cast<unsigned>(block_x), static_cast<unsigned>(block_y)};
  launch.shared_bytes = local.row_bytes() * block_y;
  return launch;
}

}  // namespace legate_diffuse
