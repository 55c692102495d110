// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/bases.h"
#include "program/program.h"
#include "program/schedule.h"
#include "program/tiling.h"
#include "threads/runner.h"

namespace legate_diffuse {

// A scratch buffer of what a point gathers and computes again: the elements of a vector that the
// columns of its rows name.
struct GatheredBuffer {
  std::int64_t buffer;
  std::int64_t maker;  // the nest that computes the elements, each from others at its place
  std::int64_t rows;   // the argument that has for each row where its columns begin and end
  std::int64_t columns;
  std::int64_t moment;  // stands for the elements of both (tiling.h)
  Interval columns_here;
  Interval made;  // the elements of the vector that the buffer has
  // The argument that has the same elements of the point's own tile once the nests before those
  // that gather have run, or none if it is negative.
  std::int64_t own;
  Interval own_here;
};

// Turns of nests of which the later ones gather what the earlier ones make:
//
//   nest 0: write p, read r, read p_before
//   nest 1: write buffer, read r, read p_before      as the columns tell
//   nest 2: write q, gather buffer, read p
//
// How far the first nests must be ahead of a block of rows of the last ones follows from the
// columns of these rows. With a matrix of a grid that is a few rows, so that vectors come once from
// memory, and not once for each nest. A block whose columns lie in the point's own tile gathers
// what the point has made for itself; for the others what they need is computed again in the
// buffer. To look for the smallest and the largest column takes a fifth of the time of an iteration
// of conjugate gradients. So a point does that when it comes with the same columns for the second
// time, and remembers what it has found; before, it computes all of the buffer. The blocks are the
// same, and so are sums.
class GatheredTurns {
 public:
  // Finds a band of the schedule that gathers what the one before it makes, and makes one of both,
  // as scratch buffers of both are in use at a time.
  static std::optional<GatheredTurns> join(const Program& program,
                                           const std::vector<GatheredBuffer>& buffers,
                                           Schedule& schedule);

  [[nodiscard]] std::int64_t first_nest() const { return first_nest_; }

  // Runs the nests of the band, with which `words` begin.
  void run(Words& words, const Schedule& schedule, const std::vector<Base>& bases,
           std::size_t num_arguments, std::int64_t num_tasks) const;

 private:
  // Whether a nest computes elements of a buffer.
  [[nodiscard]] bool is_maker(std::int64_t nest) const;

  std::int64_t first_nest_{};
  std::int64_t num_leaders_{};
  std::int64_t num_nests_{};
  std::int64_t block_{};  // rows of the nests that gather
  std::vector<GatheredBuffer> buffers_;
  std::vector<bool> is_needed_later_;  // by buffer: whether nests after the band gather from it
};

}  // namespace legate_diffuse
