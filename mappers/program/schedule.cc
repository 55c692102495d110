// SPDX-License-Identifier: Apache-2.0

#include "program/schedule.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "program/cache.h"
#include "program/root_rows.h"
#include "program/row_axis.h"

namespace legate_diffuse {

namespace {

// By this factor a core's share of the last-level cache is larger. It is used where not even one
// row fits into the cache.
constexpr std::int64_t LAST_LEVEL = 4;
// Bytes of cache for each point that a nest must take at a time: with fewer points the calls of the
// kernel cost more than the cache saves.
constexpr std::int64_t BYTES_PER_POINT = 1024;
// The same where rows of one point stay in the nearest cache. 22 stencils over 1e6 float64, of two
// arrays: 0.47 ns a point without that, 0.21 with 2,000 points at a time, 0.29 with 500, 0.41 with
// 250 (a Xeon with 2 MiB of second-level cache).
constexpr std::int64_t NEAREST_BYTES_PER_POINT = 64;
// The program's own thread takes a core for a part of each task. Other threads do then what that
// core's does not come to, if there are more tiles than threads: so many for each thread, if each
// has several blocks, as tiles have circular buffers of their own.
constexpr std::int64_t TILES_PER_THREAD = 4;
constexpr std::int64_t BLOCKS_PER_TILE = 8;
// Nests of more points are not blocked.
constexpr std::int64_t MAX_POINTS = std::int64_t{1} << 48;

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

// Builds the bands of a program one after the other.
class Scheduler {
 public:
  Scheduler(const Program& program, const std::vector<RootShape>& arguments, const Sharing& sharing)
      : program_{program},
        nests_{program.nests},
        num_arguments_{arguments.size()},
        num_threads_{sharing.num_threads},
        min_points_of_thread_{sharing.min_points},
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
    if (!is_larger_than(num_threads_ > 1 ? cache_bytes_ : nearest_cache_bytes())) return {};

    RowAxis axis{num_arguments_, roots_.size()};

    schedule_.circular.resize(program_.buffers.size());
    for (const auto& nest : nests_) {
      if (num_points(nest.head) == MAX_POINTS) return {};
    }
    schedule_.begins.resize(nests_.size());
    schedule_.ends.resize(nests_.size());
    for (const auto& [num_nests, begins_axis] : program_.bands) {
      const auto end = first_nest_ + num_nests;

      if (begins_axis) axis = RowAxis{num_arguments_, roots_.size()};
      for (auto nest = first_nest_; nest < end; ++nest) {
        const auto row = axis.place(nests_[nest]);

        if (!row) throw InvalidProgram{"a nest moves along roots in different ways"};
        first_rows_.push_back(*row);
        schedule_.shifts.push_back(first_rows_[nest] + nests_[nest].head.shift);
        if (!join(nest)) {
          close();
          join(nest);
        }
      }
      close();
    }
    return std::move(schedule_);
  }

 private:
  void add_root(std::int64_t itemsize, std::int64_t dim, const std::int64_t* extents,
                const Scratch* scratch) {
    roots_.push_back({dim > 0 ? itemsize * product(extents + 1, extents + dim) : itemsize,
                      dim > 0 ? extents[0] : 1, scratch});
  }

  // Whether all data is more than so many bytes.
  bool is_larger_than(std::int64_t most) const {
    double bytes = 0.0;

    for (const auto& root : roots_) {
      bytes += static_cast<double>(root.num_rows) * static_cast<double>(root.row_bytes);
    }
    return bytes > static_cast<double>(most);
  }

  static std::int64_t num_points(const NestHead& head) {
    return product(head.extents, head.extents + head.dim);
  }

  RootRows& root_of(const Operand& operand) { return roots_[operand.root(num_arguments_)]; }

  std::int64_t num_rows(std::size_t nest) const {
    const auto& head = nests_[nest].head;

    return head.rows < 0 ? 1 : head.extents[head.rows];
  }

  // Adds a nest to the band, unless a block of all its nests would not fit into the cache. The
  // first nest always fits.
  bool join(std::size_t nest) {
    const auto& [head, operands] = nests_[nest];

    for (std::size_t number = 0; number < operands.size(); ++number) {
      if (head.distances[number] == STANDS) continue;
      root_of(operands[number]).uses.push_back({nest, operands[number].low[0]});
    }
    ++num_nests_;
    if (num_nests_ == 1 || fits()) return true;

    for (std::size_t number = 0; number < operands.size(); ++number) {
      if (head.distances[number] != STANDS) root_of(operands[number]).uses.pop_back();
    }
    --num_nests_;
    return false;
  }

  // Whether nests of several rows move along a root.
  bool has_moving_rows(const RootRows& root) const {
    return std::any_of(root.uses.begin(), root.uses.end(),
                       [&](const Use& use) { return nests_[use.nest].head.rows >= 0; });
  }

  // Whether blocks of the band fit into the cache: of each thread if they take tiles, else there is
  // a row for each of them in a block.
  bool fits() const {
    return can_be_tiled() ? block() > 0 && own_block() > 0 : block() >= num_threads_;
  }

  // How many rows the band's nests can take at a time; 0 if blocking does not pay.
  std::int64_t block() const { return block(cache_bytes_, min_points_); }

  // The same for a thread alone.
  std::int64_t own_block() const { return block(cache_bytes(), cache_bytes() / BYTES_PER_POINT); }

  // How many of a thread's rows stay in the nearest cache, if a row is one point; else 0. Several
  // points are loops of their own, which gain nothing: 0.65 to 1.1 times as fast.
  std::int64_t nearest_block() const {
    const auto bytes = nearest_cache_bytes();

    return bytes < cache_bytes() && has_single_points()
               ? rows_in(bytes, bytes / NEAREST_BYTES_PER_POINT)
               : 0;
  }

  bool has_single_points() const {
    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      if (num_points(nests_[nest].head) != num_rows(nest)) return false;
    }
    return true;
  }

  // How many rows all threads take at a time, where one alone would take so many.
  std::int64_t shared_block(std::int64_t nearest) const {
    if (num_threads_ == 1 && nearest > 0) return nearest;
    return is_larger_than(cache_bytes_) ? block() : 0;
  }

  std::int64_t block(std::int64_t bytes, std::int64_t min_points) const {
    const auto rows = rows_in(bytes, min_points);

    return rows > 0 ? rows : rows_in(LAST_LEVEL * bytes, min_points);
  }

  std::int64_t rows_in(std::int64_t left, std::int64_t min_points) const {
    std::int64_t bytes = 0, points = 1, all_points = 0;

    for (const auto& root : roots_) {
      if (!has_moving_rows(root)) continue;

      std::int64_t kept = 0;
      if (__builtin_mul_overflow(root.spread(schedule_.shifts), root.row_bytes, &kept) ||
          kept >= left)
        return 0;
      left -= kept;
      bytes += root.row_bytes;
    }
    if (bytes == 0 || left < bytes) return 0;

    const auto rows = left / bytes;

    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      const auto points_of_nest = num_points(nests_[nest].head);

      points = std::max(points, points_of_nest / std::max(num_rows(nest), std::int64_t{1}));
      all_points += points_of_nest;
    }
    // many short rows beside a few long ones would take turns of a few points
    const auto turns = std::max(duration() / rows, std::int64_t{1});
    return rows * points < min_points || all_points / turns < min_points ? 0 : rows;
  }

  // Whether several nests of the band use the same data.
  bool shares() const {
    return num_nests_ > 1 && std::any_of(roots_.begin(), roots_.end(),
                                         [](const RootRows& root) { return root.is_shared(); });
  }

  void close() {
    if (num_nests_ == 0) return;

    Band band{num_nests_};
    const auto pays = shares();
    const auto nearest = pays ? nearest_block() : 0;
    const auto rows = pays ? shared_block(nearest) : 0;

    if (rows > 0 && rows < duration()) {
      const auto own_rows = can_be_tiled() ? own_block() : 0;

      if (own_rows > 0) {
        set_margins();
        band.num_tiles = std::max(count_tiles(own_rows), std::int64_t{1});
      }
      if (band.num_tiles > 1) {
        band.block = std::min(nearest > 0 ? nearest : own_rows, duration());
      } else if (rows >= num_threads_) {
        band.block = rows;
      }
      if (band.block > 0) set_circular_buffers(band);
    }
    schedule_.bands.push_back(band);
    for (auto& root : roots_) root.uses.clear();
    first_nest_ += num_nests_;
    num_nests_ = 0;
  }

  void set_circular_buffers(const Band& band) {
    for (auto number = num_arguments_; number < roots_.size(); ++number) {
      const auto& root = roots_[number];
      if (!can_be_circular(root)) continue;

      CircularBuffer buffer{band.block + root.scratch->spread, band.num_tiles};
      if (band.num_tiles > 1) {
        Interval seam{INT64_MAX, INT64_MIN};

        for (const auto& use : root.uses) {
          seam = {std::min(seam.first, schedule_.ends[use.nest] + use.low),
                  std::max(seam.last, schedule_.begins[use.nest] + use.low)};
        }
        buffer.tiled_rows = tiled_rows();
        buffer.seam_begin = seam.first;
        buffer.seam_rows = seam.last - seam.first;
        if (buffer.seam_rows > buffer.tiled_rows / band.num_tiles) continue;
      }
      if (buffer.num_places() < root.num_rows) {
        schedule_.circular[number - num_arguments_] = buffer;
      }
    }
  }

  // The first nest of the band that has several rows, if there is one; tiles divide them.
  std::optional<std::size_t> tiled_nest() const {
    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      if (nests_[nest].head.rows >= 0) return nest;
    }
    return {};
  }

  std::int64_t tiled_rows() const { return num_rows(*tiled_nest()); }

  // Whether there are threads to take tiles of the band, and it is known how far from the ends of
  // these its nests stay.
  bool can_be_tiled() const {
    return num_threads_ > 1 && tiled_nest() &&
           std::all_of(nests_.begin() + first_nest_, nests_.begin() + first_nest_ + num_nests_,
                       [](const ParsedNest& nest) { return nest.head.before != NO_MARGIN; });
  }

  // Finds where the nests of a tile begin and end. Bands before this one are done then, so what all
  // of its nests leave alone near the ends is no margin: only how far they are apart matters.
  void set_margins() {
    const auto tiled = tiled_nest();
    Interval least{INT64_MAX, INT64_MAX};

    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      const auto& head = nests_[nest].head;
      least = {std::min(least.first, head.before), std::min(least.last, head.after)};
    }
    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      const auto& head = nests_[nest].head;
      const auto from_tiled = first_rows_[*tiled] - first_rows_[nest];
      schedule_.begins[nest] = from_tiled + head.before - least.first;
      schedule_.ends[nest] = from_tiled - head.after + least.last;
    }
  }

  // How many tiles of the band threads take, if a block has so many rows. A tile must be large
  // enough, and the rows between two tiles must not touch those between others.
  std::int64_t count_tiles(std::int64_t block) const {
    const auto most = std::clamp(tiled_rows() / (BLOCKS_PER_TILE * block), num_threads_,
                                 TILES_PER_THREAD * num_threads_);
    std::int64_t points = 0;
    std::int64_t width = 1;

    for (auto nest = first_nest_; nest < first_nest_ + num_nests_; ++nest) {
      points = std::max(points, num_points(nests_[nest].head));
      width = std::max(width, schedule_.begins[nest] - schedule_.ends[nest]);
    }
    return std::min({most, points / min_points_of_thread_, tiled_rows() / (4 * width)});
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
    return root.scratch->spread != ALL_ROWS && !root.uses.empty() &&
           root.scratch->first_nest >= static_cast<std::int64_t>(first_nest_) &&
           root.scratch->last_nest < static_cast<std::int64_t>(first_nest_) + num_nests_;
  }

  const Program& program_;
  const std::vector<ParsedNest>& nests_;
  std::size_t num_arguments_;
  std::int64_t num_threads_;
  std::int64_t min_points_of_thread_;
  std::int64_t cache_bytes_;              // of all threads
  std::int64_t min_points_;               // of a block
  std::vector<std::int64_t> first_rows_;  // of the nests, on the axes of their bands
  std::vector<RootRows> roots_;
  Schedule schedule_;
  std::size_t first_nest_{};  // of the band
  std::int64_t num_nests_{};
};

}  // namespace

Schedule make_schedule(const Program& program, const std::vector<RootShape>& arguments,
                       const Sharing& sharing) {
  if (program.nests.size() < 2 || cache_bytes() <= 0) return {};
  return Scheduler{program, arguments, sharing}.run();
}

}  // namespace legate_diffuse
