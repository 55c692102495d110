// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "program/kernel_table.h"
#include "program/program.h"
#include "program/schedule.h"
#include "threads/runner.h"
#include "threads/team.h"

namespace legate_diffuse {

// Runs nests in several threads, which share the rows of each. Every part of the rows, of a thread
// or a tile, is reduced to values of its own, which are combined in the parts' order when all have
// come to the end: the result depends on the number of parts, and not on who has taken which.
class TeamRunner {
 public:
  TeamRunner(const std::vector<Base>& bases, std::size_t num_arguments, const Sharing& sharing)
      : runners_(sharing.num_threads, Runner{bases, num_arguments}),
        min_points_{sharing.min_points},
        num_tasks_{sharing.num_tasks} {}

  // Runs a whole nest.
  void run(const ParsedNest& nest);

  // Runs the nests of a blocked band; `first` is the number of the first one.
  void run_band(const std::vector<ParsedNest>& nests, const Schedule& schedule, const Band& band,
                std::int64_t first);

 private:
  // A nest of a band.
  struct Member {
    const ParsedNest& nest;
    const Kernel& kernel;
    std::int64_t row_dim;
    std::int64_t num_rows;
    std::int64_t shift;
    std::int64_t begin;
    std::int64_t end;
    // For how many points results are written, by this nest and others, in all tasks, before any of
    // them is read; 0 if the band reads what it writes.
    std::int64_t unread;
  };

  struct Tiles;

  [[nodiscard]] std::int64_t num_threads() const {
    return static_cast<std::int64_t>(runners_.size());
  }

  void run(const ParsedNest& nest, const Kernel& kernel);
  void run(const ParsedNest& nest, const Kernel& kernel, const Rows& rows, std::int64_t unread,
           PreparedNest& prepared);
  void find_unread(std::vector<Member>& members) const;
  void run_together(const std::vector<Member>& members, std::int64_t block);
  // Calls a function for each tile; each thread takes the next one when it has done one.
  template <typename Run>
  void share(std::int64_t num_tiles, const Run& run);
  void run_tiled(const std::vector<Member>& members, const Band& band);
  void combine(const ParsedNest& nest, const Kernel& kernel, Partials& partials);
  [[nodiscard]] std::int64_t longest_dim(const ParsedNest& nest, const Kernel& kernel) const;
  [[nodiscard]] std::int64_t count_parts(const ParsedNest& nest, const Kernel& kernel,
                                         const Rows& rows) const;
  [[nodiscard]] static bool has_tiles(const std::vector<Member>& members);

  std::vector<Runner> runners_;
  std::int64_t min_points_;
  std::int64_t num_tasks_;
  Partials partials_;
  PreparedNest once_;
};

}  // namespace legate_diffuse
