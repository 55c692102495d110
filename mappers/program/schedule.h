// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "program/circular_buffer.h"
#include "program/program.h"

namespace legate_diffuse {

// How threads share the loops of a task on one point.
struct Sharing {
  std::int64_t num_threads;
  // What a thread takes of a loop nest at least; less than that is done before another thread has
  // noticed.
  std::int64_t min_points;
  // Tasks of the launch that run beside each other and share the last level of caches.
  std::int64_t num_tasks{1};
};

// A nest often reads what the nest before it has just written. A schedule blocks such nests for the
// cache. A band is a run of nests that share an outer loop over rows; a row has one index along the
// first dimension of a root. The nests of a band take turns on a block of rows. Nest n runs its row
// i at time i + shift(n), and within a block the nests run in program order. Which nests may take
// turns, and with which shifts, was found before (legate_diffuse/fusion/schedule.py); what follows
// from the extents is found here.
//
// Threads share the rows of a block, and wait for each other after each nest of it. Where a band
// allows it, threads take tiles instead: parts of all rows, with blocks of their own, and one
// wait. A tile from row b of the band's first nest along rows to row e has rows b + begin(n) to
// e + end(n) of nest n. They conflict with rows of the same tile only. What lies between two tiles
// runs when all tiles are done.
struct Band {
  std::int64_t num_nests{};
  // Rows of a block; 0 if the nests run one after the other, each as a whole.
  std::int64_t block{};
  // How many tiles threads take; 1 if they share the rows of a block.
  std::int64_t num_tiles{1};
};

struct Schedule {
  // Empty if all nests run one after the other, as what they use fits into the cache.
  std::vector<Band> bands;
  // For each nest its shift, counted from its first row, and where it begins and ends in a tile.
  std::vector<std::int64_t> shifts;
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  // For each scratch buffer.
  std::vector<CircularBuffer> circular;
};

// `program` was checked for `arguments`. Each of the threads that share the rows of a block has a
// cache of its own.
Schedule make_schedule(const Program& program, const std::vector<RootShape>& arguments,
                       const Sharing& sharing);

}  // namespace legate_diffuse
