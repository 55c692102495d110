// SPDX-License-Identifier: Apache-2.0

#include "threads/team_runner.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

namespace legate_diffuse {

namespace {

// The program's own thread takes a core for a part of each task. Other threads do then what that
// core's does not come to, if there are more parts than threads. What a thread finds in its own
// cache from the nest before is lost, so parts have at least so many points.
constexpr std::int64_t PARTS_PER_THREAD = 4;
constexpr std::int64_t POINTS_OF_PART = 65536;

// Whether threads may share the rows along a dimension: they write different elements, or they
// reduce to one.
bool is_shared(const ParsedNest& nest, const Kernel& kernel, std::int64_t dim) {
  const auto& [head, operands] = nest;

  for (std::int64_t index = 0; index < head.num_written; ++index) {
    const auto* const dims = operands[index].dims;
    const auto reduces =
        std::any_of(kernel.reductions.begin(), kernel.reductions.end(),
                    [&](const Reduction& reduction) { return reduction.argument == index; });

    if (dims[dim] < 0 && !(reduces && operands[index].stands(head.dim))) {
      return false;
    }
  }
  return true;
}

std::int64_t num_points(const NestHead& head) {
  std::int64_t points = 1;

  for (std::int64_t d = 0; d < head.dim; ++d) points *= head.extents[d];
  return points;
}

// What a point of a kernel writes that it does not read.
std::int64_t written_bytes(const Kernel& kernel) {
  constexpr auto BOTH = KernelArgument::READ | KernelArgument::WRITE;
  const auto& code = *kernel.code;

  return std::accumulate(code.arguments, code.arguments + code.num_arguments, std::int64_t{0},
                         [](std::int64_t bytes, const KernelArgument& argument) {
                           const auto writes = (argument.flags & BOTH) == KernelArgument::WRITE;
                           return bytes + (writes ? argument.itemsize : 0);
                         });
}

}  // namespace

void TeamRunner::run(const ParsedNest& nest) {
  run(nest, kernel_of(nest.head));
}

void TeamRunner::run(const ParsedNest& nest, const Kernel& kernel) {
  const auto dim = longest_dim(nest, kernel);

  once_.num_rows = 0;
  run(nest, kernel, {dim, 0, dim < 0 ? 1 : nest.head.extents[dim]},
      num_tasks_ * num_points(nest.head), once_);
}

void TeamRunner::run(const ParsedNest& nest, const Kernel& kernel, const Rows& rows,
                     std::int64_t unread, PreparedNest& prepared) {
  const auto num_parts = count_parts(nest, kernel, rows);

  if (num_parts < 2) {
    runners_[0].run(nest, kernel, rows, unread, nullptr, prepared);
    return;
  }
  partials_.reset(kernel, num_parts - 1);
  share(num_parts, [&](Runner& runner, std::int64_t part) {
    const auto begin = rows.count * part / num_parts;
    const auto end = rows.count * (part + 1) / num_parts;

    runner.run(nest, kernel, {rows.dim, rows.first + begin, end - begin}, unread,
               partials_.of_thread(part));
  });
  combine(nest, kernel, partials_);
}

void TeamRunner::run_band(const std::vector<ParsedNest>& nests, const Schedule& schedule,
                          const Band& band, std::int64_t first) {
  std::vector<Member> members;

  for (auto number = first; number < first + band.num_nests; ++number) {
    const auto& nest = nests[number];
    const auto row_dim = nest.head.rows;
    const auto num_rows = row_dim < 0 ? 1 : nest.head.extents[row_dim];

    members.push_back({nest, kernel_of(nest.head), row_dim, num_rows, schedule.shifts[number],
                       schedule.begins[number], schedule.ends[number], 0});
  }
  find_unread(members);
  if (band.num_tiles > 1 && has_tiles(members)) {
    run_tiled(members, band);
  } else {
    run_together(members, band.block);
  }
}

// What nothing else in the band uses is not read before its end. Points write several such results
// as copies of their scratch memory, and none of them is read before all are written: bicgstab on
// 2,000 x 2,000 points and two CPUs then spends 12 % less time in kernels. Threads, which write
// results where they compute them, gain nothing.
void TeamRunner::find_unread(std::vector<Member>& members) const {
  std::vector<std::int64_t> uses(runners_[0].bases().size());
  std::int64_t unread_bytes = 0;

  for (const auto& member : members) {
    for (const auto& operand : member.nest.operands) ++uses[runners_[0].bases().number(operand)];
  }
  for (auto& member : members) {
    const auto* const written = member.nest.operands.data();
    const auto is_read = std::any_of(
        written, written + member.nest.head.num_written,
        [&](const Operand& operand) { return uses[runners_[0].bases().number(operand)] > 1; });

    if (!is_read) {
      member.unread = num_tasks_ * num_points(member.nest.head);
      unread_bytes += member.unread * written_bytes(member.kernel);
    }
  }
  if (num_tasks_ == 1) return;
  for (auto& member : members) {
    const auto bytes = written_bytes(member.kernel);

    if (member.unread > 0 && bytes > 0) member.unread = unread_bytes / bytes;
  }
}

// The threads share the rows of every block.
void TeamRunner::run_together(const std::vector<Member>& members, std::int64_t block) {
  auto start = INT64_MAX;
  auto end = INT64_MIN;

  for (const auto& member : members) {
    start = std::min(start, member.shift);
    end = std::max(end, member.shift + member.num_rows);
  }
  std::vector<PreparedNest> prepared(members.size());

  for (auto time = start; time < end; time += block) {
    for (std::size_t index = 0; index < members.size(); ++index) {
      const auto& member = members[index];
      const auto row = std::max(time - member.shift, std::int64_t{0});
      const auto row_end = std::min(time + block - member.shift, member.num_rows);

      if (row >= row_end) continue;
      if (member.row_dim < 0) {
        run(member.nest, member.kernel);
      } else {
        run(member.nest, member.kernel, {member.row_dim, row, row_end - row}, member.unread,
            prepared[index]);
      }
    }
  }
}

// The tiles of a band, which are parts of all rows.
struct TeamRunner::Tiles {
  std::int64_t count;
  std::int64_t num_rows;

  // The rows of a nest before those that are `margin` rows from where a tile begins.
  [[nodiscard]] std::int64_t before(const Member& member, std::int64_t tile,
                                    std::int64_t margin) const {
    if (tile == 0) return 0;
    if (tile == count) return member.num_rows;
    return std::clamp(tile_begin(num_rows, tile, count) + margin, std::int64_t{0}, member.num_rows);
  }

  // The first row of a nest in a tile, and what is behind the last one.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> rows(const Member& member,
                                                           std::int64_t tile) const {
    return {before(member, tile, member.begin), before(member, tile + 1, member.end)};
  }
};

// The threads take tiles, with blocks of their own.
void TeamRunner::run_tiled(const std::vector<Member>& members, const Band& band) {
  std::vector<Partials> partials(members.size());
  Tiles tiles{band.num_tiles, 0};

  for (std::size_t index = 0; index < members.size(); ++index) {
    const auto& member = members[index];

    if (member.row_dim < 0) continue;
    partials[index].reset(member.kernel, tiles.count - 1);
    if (tiles.num_rows == 0) tiles.num_rows = member.num_rows;
  }

  const auto run_rows = [&](Runner& runner, std::int64_t tile, std::size_t index, std::int64_t row,
                            std::int64_t row_end, PreparedNest& prepared) {
    const auto& member = members[index];

    if (row >= row_end) return;
    runner.run(member.nest, member.kernel, {member.row_dim, row, row_end - row}, member.unread,
               partials[index].of_thread(tile), prepared);
  };

  share(tiles.count, [&](Runner& runner, std::int64_t tile) {
    std::vector<PreparedNest> prepared(members.size());
    auto start = INT64_MAX;
    auto finish = INT64_MIN;

    for (const auto& member : members) {
      const auto [row, row_end] = tiles.rows(member, tile);

      if (row >= row_end) continue;
      start = std::min(start, member.shift + row);
      finish = std::max(finish, member.shift + row_end);
    }
    for (auto time = start; time < finish; time += band.block) {
      for (std::size_t index = 0; index < members.size(); ++index) {
        const auto shift = members[index].shift;
        const auto [row, row_end] = tiles.rows(members[index], tile);

        run_rows(runner, tile, index, std::max(time - shift, row),
                 std::min(time + band.block - shift, row_end), prepared[index]);
      }
    }
  });
  // What lies between the tiles.
  share(tiles.count - 1, [&](Runner& runner, std::int64_t tile) {
    for (std::size_t index = 0; index < members.size(); ++index) {
      const auto& member = members[index];
      PreparedNest prepared;

      run_rows(runner, tile, index, tiles.before(member, tile + 1, member.end),
               tiles.before(member, tile + 1, member.begin), prepared);
    }
  });
  for (std::size_t index = 0; index < members.size(); ++index) {
    if (members[index].row_dim < 0) continue;
    combine(members[index].nest, members[index].kernel, partials[index]);
  }
}

template <typename Run>
void TeamRunner::share(std::int64_t num_tiles, const Run& run) {
  std::atomic<std::int64_t> next{0};

  Team::run(std::min(num_threads(), num_tiles), [&](std::int64_t thread) {
    for (auto tile = next++; tile < num_tiles; tile = next++) run(runners_[thread], tile);
  });
}

void TeamRunner::combine(const ParsedNest& nest, const Kernel& kernel, Partials& partials) {
  for (std::size_t index = 0; index < kernel.reductions.size(); ++index) {
    const auto& reduction = kernel.reductions[index];
    const auto& target = nest.operands[reduction.argument];

    if (!target.stands(nest.head.dim)) continue;
    partials.combine(index, reduction, runners_[0].bases().address(target));
  }
}

// The outermost dimension that has rows enough for all threads, else the longest one; -1 if there
// is none that they may share.
std::int64_t TeamRunner::longest_dim(const ParsedNest& nest, const Kernel& kernel) const {
  constexpr std::int64_t ENOUGH = 16;  // rows of a thread, so that they all have as much to do
  const auto* const extents = nest.head.extents;
  std::int64_t found = -1;

  if (num_threads() == 1) return found;
  for (std::int64_t dim = 0; dim < nest.head.dim; ++dim) {
    if (!is_shared(nest, kernel, dim)) continue;
    if (found < 0 || extents[dim] > extents[found]) found = dim;
    if (extents[dim] >= ENOUGH * num_threads()) break;
  }
  return found;
}

std::int64_t TeamRunner::count_parts(const ParsedNest& nest, const Kernel& kernel,
                                     const Rows& rows) const {
  const auto& head = nest.head;

  if (num_threads() == 1 || rows.dim < 0 || !is_shared(nest, kernel, rows.dim)) return 1;

  auto points = rows.count;
  for (std::int64_t d = 0; d < head.dim; ++d) {
    if (d != rows.dim) points *= head.extents[d];
  }
  const auto most =
      std::clamp(points / POINTS_OF_PART, num_threads(), PARTS_PER_THREAD * num_threads());

  return std::min({most, rows.count, points / min_points_});
}

// Whether threads may share the rows of all nests of a band.
bool TeamRunner::has_tiles(const std::vector<Member>& members) {
  return std::all_of(members.begin(), members.end(), [](const Member& member) {
    return member.row_dim < 0 || is_shared(member.nest, member.kernel, member.row_dim);
  });
}

}  // namespace legate_diffuse
