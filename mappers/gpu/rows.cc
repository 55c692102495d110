// SPDX-License-Identifier: Apache-2.0

#include "gpu/rows.h"

#include <algorithm>
#include <cstdint>

#include "gpu/gpu_kernel.h"
#include "program/loops.h"

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
constexpr std::int64_t MAX_GRID_X = INT32_MAX;

// Which rows a nest has, on the axis of the run.
struct RowRange {
  std::int64_t first;
  std::int64_t end;
};

// The nests of a run on the axis of their rows. As in schedule.cc, a nest has the place of what it
// shares with those before it.
class RowAxis {
 public:
  explicit RowAxis(const Bases& bases) : bases_{bases}, origins_(bases.size()) {}

  // None if a nest has no rows, or not those of all its roots.
  std::optional<RowRange> place(const ParsedNest& nest) {
    const auto& [head, operands] = nest;
    std::optional<std::int64_t> first;

    if (head.rows < 0) return {};
    for (std::size_t number = 0; number < operands.size() && !first; ++number) {
      if (head.distances[number] == STANDS) continue;
      const auto origin = origins_[bases_.number(operands[number])];
      if (origin) first = *origin + operands[number].low[0] - head.distances[number];
    }
    for (std::size_t number = 0; number < operands.size(); ++number) {
      if (head.distances[number] == STANDS) continue;
      const auto low = operands[number].low[0] - head.distances[number];
      auto& origin = origins_[bases_.number(operands[number])];
      if (!first) first = low;
      if (!origin) origin = *first - low;
      if (*first != *origin + low) return {};
    }
    if (!first) return {};
    return RowRange{*first, *first + head.extents[head.rows]};
  }

 private:
  const Bases& bases_;
  std::vector<std::optional<std::int64_t>> origins_;
};

// The points that a nest has on a row.
class RowNest : public Loops<LEGATE_MAX_DIM> {
 public:
  RowNest(const GpuKernelCode& code, const ParsedNest& nest, const Bases& bases)
      : code_{code}, head_{nest.head} {
    reset(nest.operands.size());
    for (std::int64_t d = 0; d < head_.dim; ++d) {
      if (d != head_.rows) add_dim(head_.extents[d], head_.first[d]);
    }
    for (std::size_t index = 0; index < nest.operands.size(); ++index) {
      auto strides = bases.strides(nest.operands[index], head_.dim);

      row_strides_.push_back(strides[head_.rows]);
      std::copy(strides.begin() + head_.rows + 1, strides.end(), strides.begin() + head_.rows);
      set_argument(index, bases.address(nest.operands[index]), strides);
    }
    row_strides_.resize(code.num_arguments);
    if (is_empty_ = !has_points(); !is_empty_) simplify(code.indices);
    pointers_.resize(code.num_arguments);
    strides_.resize(code.num_arguments);
    if ((code.indices >> (head_.dim - 1) & 1) != 0) {
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

  void write(const RowRange& rows, std::vector<std::int64_t>& words) const {
    const auto begin = words.size();
    std::int64_t lines = 1;

    for (std::size_t d = 0; d + 1 < dim_; ++d) lines *= extents_[d];
    words.resize(begin + GpuKernelCode::HEAD);
    for (std::size_t loop = 0; loop < LOOPS; ++loop) {
      words[begin + loop] = is_empty_ ? 0 : loop < dim_ ? extents_[dim_ - 1 - loop] : 1;
    }
    words[begin + LOOPS] = is_empty_ ? 0 : lines;
    words[begin + LOOPS + 1] = rows.first;
    words[begin + LOOPS + 2] = rows.end;
    for (auto* const each : pointers_) words.push_back(reinterpret_cast<std::int64_t>(each));
    for (std::size_t index = 0; index < strides_.size(); ++index) {
      for (std::size_t loop = 0; loop + 1 < LOOPS; ++loop) {
        words.push_back(loop < dim_ ? strides_[index][dim_ - 1 - loop] : 0);
      }
      words.push_back(row_strides_[index]);
    }
    words.resize(words.size() + words.size() % 2);
    words.insert(words.end(), head_.scalars, head_.scalars + 2 * head_.num_scalars);
  }

 private:
  const GpuKernelCode& code_;
  const NestHead& head_;
  std::vector<std::int64_t> row_strides_;
  bool is_empty_{};
};

static_assert(LEGATE_MAX_DIM <= LOOPS);

}  // namespace

std::optional<GridLaunch> launch_rows(const GpuKernelCode& code,
                                      const std::vector<ParsedNest>& nests, const Bases& bases) {
  RowAxis axis{bases};
  std::vector<RowNest> found;
  std::vector<RowRange> ranges;
  std::int64_t points = 1;

  for (const auto& nest : nests) {
    const auto range = axis.place(nest);
    if (!range) return {};
    const auto& each = found.emplace_back(kernel_of(nest.head).on_gpu->code(), nest, bases);

    if (!each.suits()) return {};
    points = std::max(points, each.num_points());
    ranges.push_back(*range);
  }
  if (points == LONG_ROW) return {};

  std::vector<std::int64_t> row_bytes;
  const auto visit_locals = [&](const auto& visit) {
    const auto* local = code.local;

    for (std::size_t nest = 0; nest < nests.size(); ++nest) {
      for (std::size_t index = 0; index < nests[nest].operands.size(); ++index) {
        if (const auto number = *local++; number >= 0) visit(nest, index, number);
      }
    }
  };
  visit_locals([&](std::size_t nest, std::size_t index, std::int64_t number) {
    const auto bytes = bases.of(nests[nest].operands[index]).strides[0];

    row_bytes.resize(std::max(row_bytes.size(), static_cast<std::size_t>(number) + 1));
    row_bytes[number] = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  });
  const auto most = SHARED_BYTES - FOLD_BYTES * code.partial_words;
  std::int64_t shared = 0;

  for (const auto bytes : row_bytes) {
    if (bytes > most) return {};
    shared += bytes;
  }

  std::int64_t block_x = 1;
  while (block_x < code.threads && (block_x < points || shared * (code.threads / block_x) > most)) {
    block_x *= 2;
  }
  const auto block_y = code.threads / block_x;
  if (shared * block_y > most) return {};

  std::vector<std::int64_t> offsets;
  std::int64_t offset = 0;
  for (const auto bytes : row_bytes) {
    offsets.push_back(offset);
    offset += bytes * block_y;
  }
  visit_locals([&](std::size_t nest, std::size_t index, std::int64_t number) {
    const auto& operand = nests[nest].operands[index];

    found[nest].set_local(index, operand, bases.of(operand), offsets[number], row_bytes[number]);
  });

  const auto first = std::min_element(ranges.begin(), ranges.end(), [](auto& one, auto& other) {
                       return one.first < other.first;
                     })->first;
  std::int64_t num_rows = 0;
  GridLaunch launch{};

  launch.parameters.resize(GpuKernelCode::ROW_HEAD);
  for (std::size_t nest = 0; nest < nests.size(); ++nest) {
    const RowRange range{ranges[nest].first - first, ranges[nest].end - first};

    num_rows = std::max(num_rows, range.end);
    found[nest].write(range, launch.parameters);
  }
  const auto num_blocks = (num_rows + block_y - 1) / block_y;

  launch.parameters[0] = num_rows;
  launch.variant = GridVariant::ROWS;
  launch.grid = {static_cast<unsigned>(std::clamp(num_blocks, std::int64_t{1}, MAX_GRID_X)), 1, 1};
  launch.block = {static_cast<unsigned>(block_x), static_cast<unsigned>(block_y)};
  launch.shared_bytes = offset;
  return launch;
}

}  // namespace legate_diffuse
