// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"
#include "threads/team.h"

namespace legate_diffuse {

// Loop nests that follow one another often read what the one before has just written. A schedule
// blocks them for the cache: the nests of a segment take turns on a block of rows, a row being what
// has one index along the first dimension of a root. Nest n runs its row i at time i + shift(n),
// the nests of one block of times in program order. Shifts are such that whatever conflicts keeps
// its order (loop fusion with shifting: Darte and Huard, "Loop Shifting for Loop Compaction",
// International Journal of Parallel Programming 28, 2000).
//
// Threads share the rows of a block, and wait for each other after every nest of it; or, where a
// segment allows it, each takes a part of all rows with blocks of its own, and waits once. A part
// from row b of the segment's first nest to row e has the rows from b + begin(n) to e + end(n) of
// nest n, which conflict with rows of the same part only. What lies between two parts is done when
// all are.
struct Segment {
  std::int64_t num_nests{};
  // Rows of a block; 0 if the nests run one after the other, each as a whole.
  std::int64_t block{};
  // Whether threads take parts of their own. Nests of one row then come before all others.
  bool apart{};
};

struct Schedule {
  // Empty if all nests run one after the other, as what they use fits into the cache.
  std::vector<Segment> segments;
  // For each nest the dimension that runs along rows, or -1 if it has one row only, and its shift.
  std::vector<std::int64_t> row_dims;
  std::vector<std::int64_t> shifts;
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  // For each scratch buffer how many rows it has memory for: row i lies in the place of row
  // i % rows. 0 if it has memory for all of them.
  std::vector<std::int64_t> rings;
};

// Bytes of cache that loops are blocked for; 0 if they are not to be. The size of a core's
// second-level cache, unless it was set.
std::int64_t cache_bytes();
// Returns what it was before.
std::int64_t set_cache_bytes(std::int64_t bytes);

// `program` was checked for `arguments`. Each of the threads that share the rows of a block has a
// cache of its own.
Schedule make_schedule(const Program& program, const std::vector<RootShape>& arguments,
                       const Sharing& sharing);

// Where the scratch buffers of a program lie in one block of memory. Buffers whose lives do not
// overlap may lie in the same place.
struct ScratchPlan {
  std::vector<std::int64_t> offsets;
  std::int64_t size{};
};

constexpr std::int64_t SCRATCH_ALIGNMENT = 64;

ScratchPlan place_scratch(const std::vector<Scratch>& buffers, const Schedule& schedule);

}  // namespace legate_diffuse
