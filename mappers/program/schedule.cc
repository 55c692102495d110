// SPDX-License-Identifier: Apache-2.0

#include "program/schedule.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace legate_diffuse {

namespace {

// By this factor a core's share of the last-level cache is larger. It is used where not even one
// row fits into the cache.
constexpr std::int64_t LAST_LEVEL = 4;
// Bytes of cache for each point that a nest must take at a time: with fewer points the calls of the
// kernel cost more than the cache saves.
constexpr std::int64_t BYTES_PER_POINT = 1024;
// Nests of more points are not blocked.
constexpr std::int64_t MAX_POINTS = std::int64_t{1} << 48;

std::int64_t second_level_cache() {
  const auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);

  return bytes > 0 ? bytes : std::int64_t{1} << 20;
}

std::atomic<std::int64_t>& cache_size() {
  static std::atomic<std::int64_t> size{second_level_cache()};
  return size;
}

// At most MAX_POINTS, so that sums and products of some of them do not overflow. Extents of 0 count
// as 1.
std::int64_t product(const std::int64_t* begin, const std::int64_t* end) {
  std::int64_t result = 1;

  for (; begin != end; ++begin) {
    const auto factor = std::clamp(*begin, std::int64_t{1}, MAX_POINTS);

    if (__builtin_mul_overflow(result, factor, &result)) return MAX_POINTS;
    result = std::min(result, MAX_POINTS);
  }
  return result;
}

struct Interval {
  std::int64_t first{};
  std::int64_t last{};
};

// What a nest does with a root.
struct Use {
  std::size_t nest;
  const Operand* operand;
  bool written;
  // The nest's row i touches row low + i of the root; if not, each row may touch all of `rows`.
  bool moves;
  Interval rows;
};

struct RootRows {
  std::int64_t row_bytes;
  std::int64_t num_rows;
  const Scratch* scratch;  // null for an argument
  std::vector<Use> uses;   // of the band's nests
};

// Builds the bands of a program one after the other.
class Scheduler {
 public:
  Scheduler(const Program& program, const std::vector<RootShape>& arguments, const Sharing& sharing)
      : program_{program},
        num_arguments_{arguments.size()},
        num_threads_{sharing.num_threads},
        cache_bytes_{cache_bytes() * sharing.num_threads},
        min_points_{
            std::max(cache_bytes_ / BYTES_PER_POINT,
                     sharing.num_threads > 1 ? sharing.num_threads * sharing.min_points : 0)} {
    for (const auto& [extents, itemsize] : arguments) {
      add_root(itemsize, static_cast<std::int64_t>(extents.size()), extents.data(), nullptr);
    }
    for (const auto& scratch : program.buffers) {
      add_root(scratch.itemsize, scratch.dim, scratch.extents, &scratch);
    }
  }

  Schedule run() {
    if (!is_large()) return {};

    auto words = program_.nests;

    schedule_.circular_rows.resize(program_.buffers.size());
    for (std::int64_t nest = 0; nest < program_.num_nests; ++nest) {
      nests_.emplace_back(words);
      if (num_points(nests_.back().head) == MAX_POINTS) return {};
    }
    for (std::size_t nest = 0; nest < nests_.size(); ++nest) {
      schedule_.row_dims.push_back(row_dim(nests_[nest]));
      schedule_.shifts.push_back(0);
      schedule_.begins.push_back(0);
      schedule_.ends.push_back(0);
      if (!join(nest)) {
        close();
        join(nest);
      }
    }
    close();
    return std::move(schedule_);
  }

 private:
  void add_root(std::int64_t itemsize, std::int64_t dim, const std::int64_t* extents,
                const Scratch* scratch) {
    roots_.push_back({dim > 0 ? itemsize * product(extents + 1, extents + dim) : itemsize,
                      dim > 0 ? extents[0] : 1,
                      scratch,
                      {}});
  }

  // Whether there is more than the cache holds.
  bool is_large() const {
    double bytes = 0.0;

    for (const auto& root : roots_) {
      bytes += static_cast<double>(root.num_rows) * static_cast<double>(root.row_bytes);
    }
    return bytes > static_cast<double>(cache_bytes_);
  }

  static std::int64_t num_points(const NestHead& head) {
    return product(head.extents, head.extents + head.dim);
  }

  RootRows& root_of(const Operand& operand) {
    return roots_[operand.base >= 0 ? operand.base
                                    : static_cast<std::int64_t>(num_arguments_) + ~operand.base];
  }

  // The rows are those of the operand with the most dimensions.
  static std::int64_t row_dim(const ParsedNest& nest) {
    std::int64_t most = 0;
    std::int64_t found = -1;

    for (const auto& operand : nest.operands) {
      const auto* const end = operand.dims + nest.head.dim;
      const auto* const place = std::find(operand.dims, end, 0);

      if (place != end && operand.root_dim > most) {
        most = operand.root_dim;
        found = place - operand.dims;
      }
    }
    return found;
  }

  std::int64_t num_rows(std::size_t nest) const {
    const auto dim = schedule_.row_dims[nest];

    return dim < 0 ? 1 : nests_[nest].head.extents[dim];
  }

  Use use(std::size_t nest, std::size_t number) const {
    const auto& [head, operands] = nests_[nest];
    const auto& operand = operands[number];
    const auto row_dim = schedule_.row_dims[nest];
    const auto moves = row_dim >= 0 && operand.dims[row_dim] == 0 &&
                       std::count(operand.dims, operand.dims + head.dim, 0) == 1;

    return {nest, &operand, static_cast<std::int64_t>(number) < head.num_written, moves,
            operand.root_dim > 0 ? reach(nest, operand, 0) : Interval{}};
  }

  // The indices along a dimension of the root that an operand touches.
  Interval reach(std::size_t nest, const Operand& operand, std::int64_t root_dim) const {
    const auto& head = nests_[nest].head;
    Interval interval{operand.low[root_dim], operand.low[root_dim]};

    for (std::int64_t d = 0; d < head.dim; ++d) {
      if (operand.dims[d] == root_dim) interval.last += head.extents[d] - 1;
    }
    return interval;
  }

  // Whether two operands of the same root can touch the same element.
  bool meet(const Use& a, const Use& b) const {
    for (std::int64_t d = 0; d < a.operand->root_dim; ++d) {
      const auto of_a = reach(a.nest, *a.operand, d);
      const auto of_b = reach(b.nest, *b.operand, d);

      if (of_a.last < of_b.first || of_b.last < of_a.first) return false;
    }
    return true;
  }

  // The least shift of the later use's nest against the earlier one's with which the earlier nest
  // is first at every element that both touch.
  std::int64_t lag(const Use& earlier, const Use& later) const {
    if (earlier.moves && later.moves) return later.rows.first - earlier.rows.first;

    const auto last = earlier.moves
                          ? std::min(earlier.rows.last, later.rows.last) - earlier.rows.first
                          : num_rows(earlier.nest) - 1;
    const auto first =
        later.moves ? std::max(std::int64_t{0}, earlier.rows.first - later.rows.first) : 0;
    return last - first;
  }

  // Adds a nest to the band, unless a block of all its nests would not fit into the cache. The
  // first nest always fits.
  bool join(std::size_t nest) {
    std::optional<std::int64_t> needed;
    std::optional<std::int64_t> wanted;
    const auto count = nests_[nest].operands.size();

    for (std::size_t number = 0; number < count; ++number) {
      const auto later = use(nest, number);

      for (const auto& earlier : root_of(*later.operand).uses) {
        const auto shift = schedule_.shifts[earlier.nest] + lag(earlier, later);

        if ((earlier.written || later.written) && meet(earlier, later)) {
          needed = std::max(needed.value_or(shift), shift);
        } else if (earlier.moves && later.moves) {
          wanted = std::max(wanted.value_or(shift), shift);
        }
      }
    }
    schedule_.shifts[nest] = needed.value_or(wanted.value_or(0));
    for (std::size_t number = 0; number < count; ++number) {
      const auto added = use(nest, number);

      root_of(*added.operand).uses.push_back(added);
    }
    ++num_nests_;
    if (num_nests_ == 1 || block() > 0) return true;

    for (const auto& operand : nests_[nest].operands) root_of(operand).uses.pop_back();
    --num_nests_;
    return false;
  }

  // The times, counted in rows of the root, between which a block leaves a row of a root in use.
  std::int64_t spread(const RootRows& root) const {
    Interval times{INT64_MAX, INT64_MIN};

    for (const auto& use : root.uses) {
      const auto time = schedule_.shifts[use.nest] - use.rows.first;

      times = {std::min(times.first, time), std::max(times.last, time)};
    }
    return times.last - times.first;
  }

  // How many rows the band's nests can take at a time; 0 if blocking does not pay.
  std::int64_t block() const { return block(cache_bytes_, min_points_); }

  std::int64_t block(std::int64_t bytes, std::int64_t min_points) const {
    const auto rows = rows_in(bytes, min_points);

    return rows > 0 ? rows : rows_in(LAST_LEVEL * bytes, min_points);
  }

  std::int64_t rows_in(std::int64_t left, std::int64_t min_points) const {
    std::int64_t bytes = 0;
    std::int64_t points = 1;

    for (const auto& root : roots_) {
      if (std::none_of(root.uses.begin(), root.uses.end(), [](auto& use) { return use.moves; })) {
        continue;
      }
      std::int64_t kept = 0;
      if (__builtin_mul_overflow(spread(root), root.row_bytes, &kept) || kept >= left) return 0;
      left -= kept;
      bytes += root.row_bytes;
    }
    if (bytes == 0) return 0;

    const auto rows = left / bytes;

    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      const auto rows_of_nest = std::max(num_rows(nest), std::int64_t{1});

      points = std::max(points, num_points(nests_[nest].head) / rows_of_nest);
    }
    return rows * points < min_points ? 0 : rows;
  }

  // Whether several nests of the band use the same data.
  bool shares() const {
    return std::any_of(roots_.begin(), roots_.end(), [](const RootRows& root) {
      return std::any_of(root.uses.begin(), root.uses.end(), [&](const Use& use) {
        return use.moves && use.nest != root.uses.front().nest;
      });
    });
  }

  void close() {
    if (num_nests_ == 0) return;

    const auto rows = num_nests_ > 1 && shares() ? block() : 0;
    Band band{num_nests_, rows > 0 && rows < duration() ? rows : 0, false};

    if (band.block > 0 && !set_circular_buffers(rows) && num_threads_ > 1 && set_margins()) {
      const auto own_rows = block(cache_bytes(), cache_bytes() / BYTES_PER_POINT);

      if (own_rows > 0) band = {num_nests_, std::min(own_rows, duration()), true};
    }
    schedule_.bands.push_back(band);
    for (auto& root : roots_) root.uses.clear();
    first_nest_ += num_nests_;
    num_nests_ = 0;
  }

  // Returns whether there are any.
  bool set_circular_buffers(std::int64_t rows) {
    bool found = false;

    for (auto number = num_arguments_; number < roots_.size(); ++number) {
      const auto& root = roots_[number];
      if (!can_be_circular(root)) continue;

      const auto circular_rows = rows + spread(root);
      if (circular_rows >= root.num_rows) continue;

      schedule_.circular_rows[number - num_arguments_] = circular_rows;
      found = true;
    }
    return found;
  }

  // Finds where the nests of a tile begin and end. Returns false if the band cannot be tiled.
  bool set_margins() {
    std::optional<std::int64_t> origin;

    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      const auto has_rows = schedule_.row_dims[nest] >= 0;
      std::optional<std::int64_t> low;
      std::vector<Use> uses;

      for (std::size_t number = 0; number < nests_[nest].operands.size(); ++number) {
        uses.push_back(use(nest, number));
        if (uses.back().moves && !low) low = uses.back().rows.first;
      }
      if (has_rows && !low) return false;
      if (has_rows && !origin) origin = low;

      auto begin = origin.value_or(0) - low.value_or(0);
      auto end = begin;

      for (const auto& later : uses) {
        for (const auto& earlier : root_of(*later.operand).uses) {
          const auto conflicts = (earlier.written || later.written) && meet(earlier, later);
          if (earlier.nest >= nest || !conflicts) continue;

          const auto earlier_has_rows = schedule_.row_dims[earlier.nest] >= 0;
          if (!earlier_has_rows) continue;
          if (!earlier.moves || !later.moves) return false;

          const auto distance = later.rows.first - earlier.rows.first;
          begin = std::max(begin, schedule_.begins[earlier.nest] - distance);
          end = std::min(end, schedule_.ends[earlier.nest] - distance);
        }
      }
      schedule_.begins[nest] = begin;
      schedule_.ends[nest] = end;
    }
    return origin.has_value();
  }

  // The times from the first to the last row of the band.
  std::int64_t duration() const {
    auto times = Interval{INT64_MAX, INT64_MIN};

    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      times = {std::min(times.first, schedule_.shifts[nest]),
               std::max(times.last, schedule_.shifts[nest] + num_rows(nest))};
    }
    return times.last - times.first;
  }

  // A buffer that no other band uses needs memory only for the rows that are live at a time.
  bool can_be_circular(const RootRows& root) const {
    return root.scratch != nullptr && !root.uses.empty() &&
           root.scratch->first_nest >= static_cast<std::int64_t>(first_nest_) &&
           root.scratch->last_nest < static_cast<std::int64_t>(first_nest_) + num_nests_ &&
           std::all_of(root.uses.begin(), root.uses.end(), [](auto& use) { return use.moves; });
  }

  const Program& program_;
  std::size_t num_arguments_;
  std::int64_t num_threads_;
  std::int64_t cache_bytes_;  // of all threads
  std::int64_t min_points_;   // of a block
  std::vector<ParsedNest> nests_;
  std::vector<RootRows> roots_;
  Schedule schedule_;
  std::size_t first_nest_{};  // of the band
  std::int64_t num_nests_{};
};

std::int64_t round_up(std::int64_t size) {
  return (size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

std::int64_t scratch_bytes(const Scratch& scratch, std::int64_t circular_rows) {
  const auto is_circular = circular_rows > 0;

  return round_up(std::accumulate(scratch.extents + is_circular, scratch.extents + scratch.dim,
                                  scratch.itemsize * (is_circular ? circular_rows : 1),
                                  std::multiplies<>{}));
}

// The nests of a blocked band run at the same time, so that a buffer that one of them uses lives
// as long as all of them do.
Interval life(const Scratch& scratch, const Schedule& schedule) {
  Interval life{scratch.first_nest, scratch.last_nest};
  std::int64_t first = 0;

  for (const auto& [num_nests, block, tiled] : schedule.bands) {
    const auto last = first + num_nests - 1;

    if (block > 0 && first <= life.last && life.first <= last) {
      life = {std::min(life.first, first), std::max(life.last, last)};
    }
    first = last + 1;
  }
  return life;
}

}  // namespace

std::int64_t cache_bytes() {
  return cache_size();
}

std::int64_t set_cache_bytes(std::int64_t bytes) {
  return cache_size().exchange(bytes);
}

Schedule make_schedule(const Program& program, const std::vector<RootShape>& arguments,
                       const Sharing& sharing) {
  if (program.num_nests < 2 || cache_bytes() <= 0) return {};
  return Scheduler{program, arguments, sharing}.run();
}

// The largest buffers are placed first, each at the lowest offset where no buffer lies that lives
// at the same time.
ScratchPlan place_scratch(const std::vector<Scratch>& buffers, const Schedule& schedule) {
  const auto count = buffers.size();
  std::vector<std::int64_t> sizes(count);
  std::vector<Interval> lives(count);
  std::vector<std::size_t> order(count);
  std::vector<std::size_t> placed;  // by offset
  ScratchPlan plan{std::vector<std::int64_t>(count), 0};

  for (std::size_t index = 0; index < count; ++index) {
    sizes[index] = scratch_bytes(
        buffers[index], schedule.circular_rows.empty() ? 0 : schedule.circular_rows[index]);
    lives[index] = life(buffers[index], schedule);
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return sizes[a] > sizes[b]; });
  for (const auto index : order) {
    std::int64_t offset = 0;
    for (const auto other : placed) {
      if (lives[other].last < lives[index].first || lives[index].last < lives[other].first) {
        continue;
      }
      if (offset + sizes[index] <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + sizes[other]);
    }
    plan.offsets[index] = offset;
    plan.size = std::max(plan.size, offset + sizes[index]);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), index,
                         [&](auto a, auto b) { return plan.offsets[a] < plan.offsets[b]; }),
        index);
  }
  return plan;
}

}  // namespace legate_diffuse
